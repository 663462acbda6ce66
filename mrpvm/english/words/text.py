"""Words, terms and sentences: the tokenizer for both queries and units."""

import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise

import Stemmer

from mrpvm.english.words.lexicon import BASE_FORMS, SPELLINGS, STOP_WORDS, groups, pattern, word_class
from mrpvm.text_cache import TextCache

KNOWN_WORD_CHARS = 64
"""Results for longer words are not cached."""
STEMMER_VERSION = f"snowball-english-{Stemmer.version()}+terms-3"
"""The version of `terms`; its number is raised whenever the results change. Part of `indexing.INDEX_VERSION`."""

_GAP = re.compile(r"[\s\u2014\u2015\u2026]+|\.{3,}|--+|(?<=\w)[,;:!?()\[\]{}\"\u201c\u201d](?=[^\W\d])")
_POSSESSIVE = re.compile(r"(?<=\w)'s$")
_JOINT = re.compile(r"[-\u2010-\u2013/]+")
UNSPACED = re.compile(
    "[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u3096\u30a1-\u30fa\u30fc-\u30ff\u3400-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003ffff]+"
)
"""Runs of scripts without spaces between words (Thai, Lao, Burmese, Khmer, kana, Han), and of Hangul."""
SENTENCE_MARKS = ".!?\u3002\uff01\uff1f\uff0e\u061f"
QUESTION_MARKS = ("?", "\uff1f", "\u061f")
"""Question marks: the usual, the full-width and the Arabic one."""
_ABBREVIATIONS = word_class("dr mr mrs ms prof sr jr st vs no fig e.g i.e etc approx ca inc ltd co dept")
_DOTTED_LETTERS = re.compile(r"(?:[a-z]\.)+[a-z]")
_ALWAYS_PROTECTED = word_class("dr mr mrs ms prof sr jr st vs e.g i.e ca")
_SENTENCE_END = re.compile(
    r"(?<![.!?\u2026])[.!?\u2026]+[\"'\u201d\u2019)\]]*(?=\s|$)"
    r"|[\u3002\uff01\uff1f\uff0e\u061f]+[\"'\u201d\u2019)\]\u300d\u300f\uff09]*"
    r"|\n[ \t]*\n"
)
"""The end of a sentence; in scripts without spaces their own full stop ends a sentence, whatever follows.

A run of marks is matched only from its first one, because a match from each would take quadratic time.
"""

_UNACCENTED = {
    ord(letter): base
    for letter in map(chr, (*range(0xC0, 0x250), *range(0x1E00, 0x1F00)))
    if (base := unicodedata.normalize("NFD", letter)[0]).isascii()
} | str.maketrans("\u00f8\u0142\u0111", "old")
"""The plain forms of Latin letters with accents: a person who asks types "Malmo" for "Malm\u00f6", or the other way."""
_stemmers = threading.local()


def _stem_word(word: str) -> str:
    # PyStemmer objects are not re-entrant: one for each thread.
    stemmer = getattr(_stemmers, "english", None)
    if stemmer is None:
        stemmer = _stemmers.english = Stemmer.Stemmer("english", 0)
    return str(stemmer.stemWord(word if word.isascii() else word.translate(_UNACCENTED)))


def stem(word: str) -> str:
    """Return the Snowball English stem of a lower-case word without the accents of Latin letters.

    Irregular inflections go to their base form first.
    """
    return _stem(word) if len(word) <= KNOWN_WORD_CHARS else _stem_word(word)


@lru_cache(maxsize=16_384)
def _stem(word: str) -> str:
    return _stem_word(BASE_FORMS.get(word, word))


def _strip_edges(word: str) -> str:
    start, end = 0, len(word)
    while start < end and not word[start].isalnum():
        start += 1
    while end > start and not word[end - 1].isalnum():
        end -= 1
    return word[start:end]


@TextCache  # a turn needs the words of its message, evidence and plugins many times
def words(text: str) -> tuple[str, ...]:
    """Return the lower-case words of `text` in order, stop words included, edge punctuation and possessive removed."""
    normal = unicodedata.normalize("NFC", text).replace("\u2019", "'").lower()
    stripped = (_POSSESSIVE.sub("", _strip_edges(part)) for part in _GAP.split(normal))
    return tuple(word for word in stripped if word)


def _content_words(text: str) -> Iterator[str]:
    for word in words(text):
        if word in STOP_WORDS:
            continue
        if word.isascii() and word.isalnum():  # nearly every word: there is nothing to split
            yield word
            continue
        if not word.isascii() and UNSPACED.search(word):
            yield from _pieces(word)
            continue
        yield word
        parts = [part for part in (_strip_edges(part) for part in _JOINT.split(word)) if part]
        if len(parts) > 1:
            yield from (part for part in parts if part not in STOP_WORDS)


def _pieces(word: str) -> Iterator[str]:
    """Return the pairs of adjacent characters of scripts without word boundaries, and the text between unchanged."""
    for run in UNSPACED.findall(word):
        yield from (run[at : at + 2] for at in range(max(1, len(run) - 1)))
    yield from (part for part in (_strip_edges(part) for part in UNSPACED.split(word)) if part)


@TextCache
def terms(text: str) -> tuple[str, ...]:
    """Return the stemmed content terms of `text` in order with repeats; hyphenated words as a whole and in parts.

    Scripts without spaces between words give pairs of adjacent characters.
    """
    return tuple(stem(word) for word in _content_words(text))


def unique_terms(text: str) -> tuple[str, ...]:
    """Return the distinct terms of `text` in order of first appearance."""
    return tuple(dict.fromkeys(terms(text)))


_BEFORE_CHARS, _AFTER_CHARS = 60, 60
"""How many characters around a full stop are examined, so that the time is linear in the length of the text."""


_NUMBERED = re.compile(r"(?:^|\n|[.!?:][*_)\]]*\s)[^\S\n]*\d{1,3}$")
"""A number at the beginning of a line or sentence."""


def _is_sentence_end(text: str, start: int, end: int) -> bool:
    if text[start] != ".":
        return True
    line = text[max(0, start - _BEFORE_CHARS) : start]
    following = text[end : end + _AFTER_CHARS].lstrip()
    match = re.search(r"(?<![\w.])[\w.]+$", line[-24:])
    last = match.group().lower() if match else ""
    if last in _ALWAYS_PROTECTED:
        return False
    continues = following[:1].islower() or following[:1].isdigit()
    if continues and (last in _ABBREVIATIONS or _DOTTED_LETTERS.fullmatch(last)):
        return False
    if _NUMBERED.search(line):
        return False  # the number of a list item
    return not (len(last) == 1 and last.isalpha() and _is_initial(line, following))


def _is_initial(line: str, following: str) -> bool:
    """Return whether the single letter at the end of `line` abbreviates a name, as in "J. Smith", "John F. Kennedy"."""
    letter, before = line[-1], line[:-1].split()
    name = re.match(r"\w+", following)
    return (
        letter.isupper()
        and (not before or before[-1][:1].isupper() or before[-1][-1] in ".!?")
        and name is not None
        and name.group()[:1].isupper()
        and name.group().lower() not in STOP_WORDS
    )


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return start and end (exclusive) of every sentence, without surrounding white space."""
    cuts = [0]
    for match in _SENTENCE_END.finditer(text):
        if "\n" in match.group() or _is_sentence_end(text, match.start(), match.end()):
            cuts.append(match.end())
    cuts.append(len(text))
    spans = []
    for left, right in pairwise(cuts):
        piece = text[left:right]
        stripped = piece.strip()
        if stripped:
            start = left + len(piece) - len(piece.lstrip())
            spans.append((start, start + len(stripped)))
    return spans


def sentences(text: str) -> list[str]:
    """Return the sentences of `text` in order, with runs of white space collapsed."""
    return [" ".join(text[start:end].split()) for start, end in sentence_spans(text)]


def collapse(text: str) -> str:
    """Return `text` as NFC with every run of white space as one space, trimmed."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def cut_at_word(text: str, limit_chars: int) -> str:
    """Return `text` cut at a word boundary to at most `limit_chars`, with an ellipsis if it was cut."""
    if len(text) <= limit_chars:
        return text
    head = text[: limit_chars - 1]
    boundary = head.rfind(" ")
    return (head[:boundary] if boundary > limit_chars // 2 else head).rstrip() + "\u2026"


def overlap(left: Iterable[str], right: Iterable[str]) -> float:
    """Return the Jaccard similarity of two collections of terms, 0 if both are empty."""
    first, second = set(left), set(right)
    union = first | second
    return len(first & second) / len(union) if union else 0.0


MEASURES: Mapping[str, tuple[str, ...]] = {noun: tuple(others) for noun, *others in groups("measures")}
"""The noun of each measure with its other words; the first of these is the word after "how"."""
_MEASURE_ASKED = pattern("expansion.measure_asked")


def measure_terms(question: str) -> tuple[str, ...]:
    """Return the stems of words for the same measure: "weight" for "how heavy", and the reverse.

    Args:
        question: without its "how" if that only marks the question.
    """
    named = {(match["how"] or match["noun"]).lower() for match in _MEASURE_ASKED.finditer(question)}
    related = [word for noun, others in MEASURES.items() if named & {noun, *others} for word in (noun, *others)]
    return unique_terms(" ".join(related))


_OTHER_SPELLINGS = {word: [other for other in group if other != word] for group in SPELLINGS for word in group}


def spelling_terms(question: str) -> tuple[str, ...]:
    """Return the stems of other spellings of a question's words."""
    return tuple(stem(other) for word in words(question) for other in _OTHER_SPELLINGS.get(word, ()))
