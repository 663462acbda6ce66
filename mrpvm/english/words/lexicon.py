"""Word classes, groups of words and patterns of general English, read from a file in this directory."""

import re
import tomllib
from pathlib import Path
from typing import Any, TypedDict

_LEXICON: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_NAMED = re.compile(r"\{\{(\w+)\}\}")


def word_class(listing: str) -> frozenset[str]:
    """Return the words of a listing as a set."""
    return frozenset(listing.split())


def listed(name: str) -> frozenset[str]:
    """Return the words that the lexicon lists under a name."""
    return word_class(_LEXICON[name])


def groups(name: str) -> list[list[str]]:
    """Return the groups of words of a table of the lexicon."""
    return [group.split() for group in _LEXICON[name].strip().split("|")]


def classes(name: str) -> dict[str, frozenset[str]]:
    """Return the groups of a table by their first word, which is not repeated in the group."""
    return {first: frozenset(others) for first, *others in groups(name)}


def by_form(name: str) -> dict[str, str]:
    """Return for each further word of a group its first word."""
    return {form: base for base, *forms in groups(name) for form in forms}


def _entry(name: str) -> Any:
    entry = _LEXICON
    for key in name.split("."):
        entry = entry[key]
    return entry


def filled(text: str, part: str) -> str:
    """Return a text of a section with its lines joined and names in double braces replaced by entries or lists."""

    def named(match: re.Match[str]) -> str:
        inner = _LEXICON[part].get(match[1])
        if inner is None:
            return "|".join(sorted(_LEXICON[match[1]].split()))
        return filled("|".join(inner.values()) if isinstance(inner, dict) else inner, part).removeprefix("(?i)")

    return _NAMED.sub(named, text.replace("\n", ""))


def section(name: str) -> dict[str, str]:
    """Return the texts of a section, filled in."""
    return {key: filled(text, name.partition(".")[0]) for key, text in _entry(name).items()}


def pattern(name: str) -> re.Pattern[str]:
    """Return the pattern with this section and name: "requests.lead"."""
    return re.compile(filled(_entry(name), name.partition(".")[0]))


def patterns(name: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the patterns of a section in order, each with its name."""
    return tuple((key, re.compile(text)) for key, text in section(name).items())


class Rule(TypedDict, total=False):
    """A pattern, and the properties of text that matches it."""

    pattern: re.Pattern[str]
    act: str
    topic: str
    said: list[str]


def rules(name: str) -> list[Rule]:
    """Return the rules of a section."""
    return [rule | {"pattern": re.compile(filled(rule["pattern"], name))} for rule in _LEXICON[name]["rules"]]


INTERROGATIVES = listed("interrogatives")
AUXILIARIES = listed("auxiliaries")
BE_FORMS = listed("be_forms")
DO_FORMS = listed("do_forms")
HAVE_FORMS = listed("have_forms")
MODALS = listed("modals")
DETERMINERS = listed("determiners")
POSSESSIVES = listed("possessives")
SPEAKERS = listed("speakers")
"""Pronouns for the partners of the conversation: they are arguments and do not refer back."""
REFERRING_PRONOUNS = listed("referring_pronouns")
PREPOSITIONS = listed("prepositions")
CONJUNCTIONS = listed("conjunctions")
CONNECTIVES = listed("connectives")
"""Words that connect a sentence to the one before it."""
NEGATIONS = listed("negations")
MONTHS = listed("months")
WEEKDAYS = listed("weekdays")
AUDIENCE = listed("audience")
"""Words for the readers that a document addresses if it names nobody else."""
NO_PLACES = listed("no_places")
"""Nouns that are not places after a preposition: "on request"."""
COLOURS = listed("colours")
NUMBER_WORDS = listed("number_words")
TIME_WORDS = listed("time_words") | MONTHS | WEEKDAYS

STOP_WORDS = frozenset[str]().union(
    *map(
        listed,
        ("interrogatives", "auxiliaries", "be_forms", "have_forms", "determiners", "possessives", "speakers",
         "referring_pronouns", "conjunctions", "negations", "other_stop_words"),
    )
)  # fmt: skip
"""Words that never help to find a unit."""


PAST_FORMS = by_form("irregular_verbs")
"""Irregular past forms and participles with their base form."""
BASE_FORMS = PAST_FORMS | by_form("irregular_plurals")
"""Irregular inflections and their base form, which a suffix stemmer cannot relate."""

SPELLINGS = groups("spellings")
"""Words with several spellings or forms."""
SYNONYMS: dict[str, str] = {other: first for first, *others in SPELLINGS for other in others} | {
    word: group[0] for group in groups("synonyms") for word in group
}
"""Words of general English that mean the same in questions and statements; each maps to one word of its group."""

ATTITUDE_VERBS = listed("attitude_verbs")
"""Verbs whose clause is not stated as a fact."""
FEMALE, MALE = listed("female_words"), listed("male_words")
PERSON_WORDS = listed("person_words") | FEMALE | MALE
BELONGING = listed("belonging")
"""Capitalised words after "I am" that are not names."""
NOW_WORDS = listed("now_words")
PARTIAL_ADVERBS = listed("partial_adverbs")
"""Adverbs that restrict a statement to a part."""


def _contraries(name: str) -> dict[str, frozenset[str]]:
    pairs = groups(name)
    return {
        word: frozenset(other for pair in pairs if word in pair for other in pair if other != word)
        for pair in pairs
        for word in pair
    }


COMPLEMENTS = _contraries("either_or")
"""Pairs of words of which exactly one holds: what is not open is closed."""
ANTONYMS = {
    word: COMPLEMENTS.get(word, frozenset()) | ends
    for word, ends in (COMPLEMENTS | _contraries("opposite_ends")).items()
}
"""Words that exclude each other when said of the same thing."""
