"""What a unit is found by: its weighted terms, the number that represents a term in the index, its words for pages."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection
from datetime import date
from functools import lru_cache
from hashlib import blake2b

from msgspec import Struct

from mrpvm.english.sentences.dialogue import UTTERANCE
from mrpvm.english.words.text import KNOWN_WORD_CHARS, STEMMER_VERSION, UNSPACED, terms
from mrpvm.values import KnowledgeUnit

INDEX_VERSION = f"{STEMMER_VERSION}+fields-1"
"""Names everything that decides what a unit is found by: its terms and, with a number of their own that is raised with
them, their weights, their ids and the words for pages. What another version wrote has to be written again."""
WHOLE_FREQUENCY = 10
"""Frequencies are whole numbers of tenths, so that sums are exact and every database gives the same score."""
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_TOPIC_WEIGHT, _STATEMENT_WEIGHT, _REMARK_WEIGHT = 15, 10, 6
WORD_CHARS = 64
"""Longer words are cut, in the index and in what is asked: one line of five million letters is one word."""
WORDS_A_UNIT = 10_000
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(f"({UNSPACED.pattern})")
_WEIGHED = ("topic", "title", "claim", "procedure", "text_body", "condition", "utility_note")
_SEARCHED = ("topic", "title", "claim", "procedure", "condition", "text_body")


class IndexEntry(Struct, frozen=True):
    """What a unit is found by; computed from the unit alone, so wherever there is time for it.

    Args:
        postings: the numbers of its terms with their frequencies in tenths; none for what is no evidence.
        length: the sum of the frequencies, the speaker's name left out.
        words: what pages find it by, see `searched_words`.
    """

    postings: tuple[tuple[int, int], ...]
    length: int
    words: str


def index_entry(unit: KnowledgeUnit) -> IndexEntry:
    """Return what a unit is found by."""
    if not unit.is_evidence:
        return IndexEntry((), 0, searched_words(unit))
    weighted = weighted_terms(unit)
    postings = [(term_id(term), frequency) for term, frequency in weighted.items()]
    postings += [(term_id(term), WHOLE_FREQUENCY) for term in speaker_terms(unit)]
    return IndexEntry(tuple(postings), weighted.total(), searched_words(unit))


def searched_words(unit: object) -> str:
    """Return the words of a unit's texts, a space after each and one more after each text.

    Args:
        unit: anything that has a unit's texts under their names.
    """
    texts = (getattr(unit, name) for name in _SEARCHED)
    words = [word for text in texts for word in (*(index_words_of(text) if text else ()), "")]
    return " ".join(words[:WORDS_A_UNIT])


def index_words_of(text: str) -> list[str]:
    """Return the words of a text, case-folded and with the variants of a letter made one.

    In scripts without spaces each character is a word; a search there is for a phrase of characters.
    """
    return [word for words in pieces_of(text) for word in words]


def pieces_of(text: str) -> list[list[str]]:
    """Return the parts of each word: one, but for the signs of scripts that put no space between words."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return [
        [word[:WORD_CHARS]] if word.isascii() else [piece[:WORD_CHARS] for piece in _signs(word)]
        for word in _WORD.findall(folded)
    ]


def _signs(word: str) -> list[str]:
    return [
        piece for part in _UNSPACED.split(word) for piece in (part if UNSPACED.fullmatch(part) else [part]) if piece
    ]


def term_id(term: str) -> int:
    """Return the signed 64-bit number of a stemmed term."""
    return _term_id(term) if len(term) <= KNOWN_WORD_CHARS else _number_of(term)


@lru_cache(maxsize=16_384)
def _term_id(term: str) -> int:
    return _number_of(term)


def _number_of(term: str) -> int:
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big", signed=True)


def weighted_terms(unit: KnowledgeUnit) -> Counter[str]:
    """Return the unit's terms with their frequencies in tenths: topic 1.5, statement 1.0, remarks 0.6.

    A title says what the topic says and a body what the claim says, so of each pair the higher count holds. Role and
    acts are not indexed: they raise a unit's rank elsewhere, and as words they would match every unit. What
    somebody said is found by its day too, because questions about conversations ask for days.
    """
    weighted: Counter[str] = Counter()
    statement: Counter[str] = Counter()
    for text in dict.fromkeys((unit.claim, unit.procedure, unit.text_body)):  # a body often is its claim once more
        statement |= _counts(text)
    if unit.unit_type == UTTERANCE:
        statement += _counts(_day(unit.knowledge_date))
    for weight, counts in (
        (_TOPIC_WEIGHT, _counts(unit.topic) | _counts(unit.title)),
        (_STATEMENT_WEIGHT, statement),
        (_REMARK_WEIGHT, _counts(unit.condition) + _counts(unit.utility_note)),
    ):
        for term, count in counts.items():
            weighted[term] += weight * count
    return weighted


def matched_fields(unit: KnowledgeUnit, wanted: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return, for each of the terms, the fields of a unit of evidence that it is found by, in the order of their
    weight.

    Of texts that say the same the first counts. A term that is in none has none: that of an utterance's neighbours.
    """
    said = {text: name for name in reversed(_WEIGHED) if (text := getattr(unit, name))}
    if unit.unit_type == UTTERANCE:
        said = {_day(unit.knowledge_date): "day"} | said
    held = [(name, frozenset(terms(text))) for text, name in reversed(said.items())]
    return {term: tuple(name for name, inside in held if term in inside) for term in wanted}


def _counts(text: str | None) -> Counter[str]:
    return Counter(terms(text)) if text else Counter()


def speaker_terms(unit: KnowledgeUnit) -> tuple[str, ...]:
    """Return the terms that find what somebody said by the speaker's name, none for other units."""
    return tuple(speaker_term(term) for term in _counts(unit.topic)) if unit.unit_type == UTTERANCE else ()


def speaker_term(term: str) -> str:
    """Return the term for a speaker whose name has this term; no text can hold it."""
    return f"@{term}"


def _day(moment: str | None) -> str:
    """Return the day of an ISO-8601 moment in words, empty if there is none."""
    try:
        day = date.fromisoformat((moment or "")[:10])
    except ValueError:
        return ""
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"
