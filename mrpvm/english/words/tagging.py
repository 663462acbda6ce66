"""The class of a word, by closed classes and endings.

A word in the list of verbs can be a verb; whether it is one depends on its sentence. As everywhere in the lexicon, no
entry may come from a particular text.
"""

import re
from unicodedata import category

from mrpvm.english.words import lexicon
from mrpvm.text_cache import TextCache

YEAR = re.compile(r"1\d{3}|20\d{2}")
CLOCK = re.compile(r"\d{1,2}[:.]\d{2}|\d{1,2}(?:am|pm)")
_DAY = re.compile(r"\d{1,2}(?:st|nd|rd|th)?")
_EDGES = lexicon.word_class("end beginning start middle close latest")
SUBJECT_PRONOUNS = lexicon.word_class("i we you he she it they who everyone everybody nobody someone anyone")
OBJECT_PRONOUNS = lexicon.word_class("me us him them her it you whom himself herself itself themselves")
PRONOUNS = (
    SUBJECT_PRONOUNS
    | OBJECT_PRONOUNS
    | lexicon.word_class("whoever whatever this that these those both all none something nothing")
)
SUBORDINATORS = lexicon.listed("subordinators")
RELATIVES = lexicon.word_class("who which that whose whom where")
CONTRACTED = {
    f"{word}n't": (word, True)
    for word in lexicon.word_class("could would do does did is are was were has have had must should")
} | {"can't": ("can", True), "won't": ("will", True), "cannot": ("can", True)}
NEGATORS = lexicon.word_class("not never hardly neither")
_ADVERBS = lexicon.listed("adverbs")
MORE_PREPOSITIONS = lexicon.listed("more_prepositions")
PLURALS = lexicon.word_class("people men women children feet teeth mice geese police sheep fish birds")
PARTICLES = lexicon.word_class("off up out down away back over on")


def is_auxiliary(token: str) -> bool:
    """Return whether a word is a form of be, have, do or a modal, contracted or not."""
    return (
        token in lexicon.AUXILIARIES or token in lexicon.BE_FORMS or token in lexicon.HAVE_FORMS or token in CONTRACTED
    )


def is_money_sign(token: str) -> bool:
    return len(token) == 1 and category(token) == "Sc"


def is_adverb(token: str) -> bool:
    """Return whether a word only modifies its clause."""
    return token in _ADVERBS or (token.endswith("ly") and len(token) > 4 and token not in _NOT_ADVERBS)


def bare_adverbs(tokens: tuple[str, ...]) -> frozenset[str]:
    """Return the adverbs of place and company without a noun after them: "outside", not "outside the house"."""
    return frozenset(
        token
        for token, following in zip(tokens, (*tokens[1:], ""), strict=True)
        if token in _NEVER_BEFORE_NOUN
        or (token in _BARE and (not following or not following[0].isalnum() or following in lexicon.PREPOSITIONS))
    )


_BARE = lexicon.word_class(
    "home abroad away outside inside outdoors indoors upstairs downstairs alone together here there"
)
_NEVER_BEFORE_NOUN = frozenset(("here", "abroad", "together", "alone"))
_NOT_ADVERBS = lexicon.listed("not_adverbs")


@TextCache
def is_nominal(token: str) -> bool:
    """Return whether a word can follow the determiner in a noun phrase: noun, adjective, number or name."""
    return (
        token[0].isalnum()
        and not is_auxiliary(token)
        and token not in lexicon.DETERMINERS
        and token not in lexicon.POSSESSIVES
        and token not in lexicon.PREPOSITIONS
        and token not in lexicon.CONJUNCTIONS
        and token not in NEGATORS
        and token not in SUBORDINATORS
        and token not in PRONOUNS
        and token not in MORE_PREPOSITIONS
        and token not in ("to", "than", "not", "no", "who", "which", "whose", "why", "how", "what")
        and not is_adverb(token)
    )


def is_number(token: str) -> bool:
    if token[:1].isdigit() or token in lexicon.NUMBER_WORDS:
        return True
    return "-" in token and all(part in lexicon.NUMBER_WORDS for part in token.split("-"))


COMMON_VERBS = lexicon.listed("common_verbs")
_SAME_PAST = lexicon.listed("same_past")
"""Verbs whose past form is their base form."""
_NOT_PAST = lexicon.listed("not_past")
_NOT_ING = lexicon.listed("not_ing")


def _s_form(base: str) -> str:
    if base.endswith(("s", "sh", "ch", "x", "z")) or base in ("go", "do"):
        return base + "es"
    return base[:-1] + "ies" if base.endswith("y") and base[-2:-1] not in "aeou" else base + "s"


PREDICATE_ADJECTIVES = lexicon.listed("predicate_adjectives")
"""Adjectives that often follow a form of be: in a question they follow the subject directly."""


S_FORMS = {_s_form(base): base for base in COMMON_VERBS - {"be", "have"}}
S_FORM_OF = {base: form for form, base in S_FORMS.items()} | {"have": "has", "do": "does"}


@TextCache
def verb_forms(word: str) -> frozenset[str]:
    """Return the verb forms that a lower-case word can be: "base", "s", "past" or "ing"; empty if it is no verb.

    Unknown words with regular endings count too: "amputated" is a past form even if the list lacks "amputate".
    """
    if word in lexicon.AUXILIARIES or word in lexicon.BE_FORMS or word in lexicon.HAVE_FORMS or not word.isalpha():
        return frozenset()
    forms = set()
    if word in COMMON_VERBS:
        forms.add("base")
        if word in _SAME_PAST:
            forms.add("past")
    if word in S_FORMS:
        forms.add("s")
    if word in lexicon.PAST_FORMS or (word.endswith("ed") and len(word) > 3 and word not in _NOT_PAST):
        forms.add("past")
    if word.endswith("ing") and len(word) > 4 and word not in _NOT_ING:
        forms.add("ing")
    return frozenset(forms)


def names_time(head: str) -> bool:
    """Return whether a head makes its phrase a time: "Friday", "9:00", "the end"."""
    return head in lexicon.TIME_WORDS or head in _EDGES or bool(
        YEAR.fullmatch(head) or CLOCK.fullmatch(head) or _DAY.fullmatch(head)
    )  # fmt: skip
