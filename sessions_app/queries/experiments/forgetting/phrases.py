"""Search for texts to forget in other texts, ignoring case, spaces and punctuation."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mrpvm.llm.redaction import without_secrets

MASK, MASKED_ID = "(forgotten)", "forgotten"
FEWEST_WORDS = 3
"""Shorter texts would also match unrelated texts."""
_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_KEY_WORDS = 3
_KEPT_NAMES = frozenset(
    ("pluginName", "pluginId", "pluginType", "kind", "status", "closureReason", "purpose", "policyId", "model", "name",
     "startedAt", "step", "store")
)  # fmt: skip
"""Members of recorded events that hold no text of a conversation."""

type WordRun = tuple[str, ...]


def word_run_of(text: str) -> WordRun:
    """Return the words of a text, case folded."""
    return tuple(_folded(match[0]) for match in _WORD.finditer(text))


def sentences_of(text: str) -> Iterator[str]:
    """Return the sentences of a text; a line break ends a sentence too."""
    return (match[0].strip() for match in _SENTENCE.finditer(text))


def phrases_of(text: str) -> set[WordRun]:
    """Return a text and its sentences as phrases to look for, as they are and with secrets redacted.

    A command's arguments are a phrase too. Those with fewer than `FEWEST_WORDS` words are left out.
    """
    statement = text.partition(" ")[2] if text.startswith("/") else text
    forms = {form for said in (text, statement) for form in (said, without_secrets(said))}
    phrases = {word_run_of(part) for form in forms for part in (form, *sentences_of(form))}
    return {phrase for phrase in phrases if len(phrase) >= FEWEST_WORDS}


def _folded(word: str) -> str:
    return word.casefold() if word.isascii() else unicodedata.normalize("NFKC", word).casefold()


class Phrases:
    """Word sequences to search for, and sets of words that must all be in one sentence.

    A text that was cut (it ends with an ellipsis, or its column is full) may also end with the beginning of a phrase.
    """

    def __init__(self, phrases: Iterable[Sequence[str]], together: Iterable[Sequence[str]] = ()) -> None:
        self._by_start: defaultdict[WordRun, list[WordRun]] = defaultdict(list)
        for phrase in {tuple(each) for each in phrases if each}:
            self._by_start[phrase[:_KEY_WORDS]].append(phrase)
        for same_start in self._by_start.values():
            same_start.sort(key=len, reverse=True)
        self._first_words = {start[0] for start in self._by_start}
        self._long_words = {max(start, key=len) for start in self._by_start}
        self._sizes = sorted({len(start) for start in self._by_start}, reverse=True)
        self._together = [frozenset(each) for each in together if each]

    def __bool__(self) -> bool:
        return bool(self._by_start or self._together)

    def is_in(self, text: str, *, is_cut: bool = False) -> bool:
        """Return whether the text holds one of them."""
        return next(self._spans(text, is_cut=is_cut), None) is not None

    def masked(self, text: str, *, is_cut: bool = False) -> str:
        """Return the text with the phrases masked, or the same object if it holds none."""
        spans = list(self._spans(text, is_cut=is_cut))
        if not spans:
            return text
        mask = MASK if " " in text else MASKED_ID  # an id becomes the same masked id wherever it occurs
        parts, end = [], 0
        for start, stop in sorted(spans):
            if start >= end:
                parts += [text[end:start], mask]
            end = max(end, stop)
        return "".join((*parts, text[end:]))

    def _spans(self, text: str, *, is_cut: bool) -> Iterator[tuple[int, int]]:
        if self._by_start:
            yield from self._phrase_spans(text, is_cut=is_cut or text.endswith(("…", "...")))
        for wanted in self._together:
            for sentence in _SENTENCE.finditer(text):
                if wanted.issubset(word_run_of(sentence[0])):
                    yield sentence.span()

    def _phrase_spans(self, text: str, *, is_cut: bool) -> Iterator[tuple[int, int]]:
        if text.isascii():  # then its words, case folded, are parts of it case folded
            folded = text.casefold()
            if not any(word in folded for word in self._long_words):
                return
        places = [(match.span(), _folded(match[0])) for match in _WORD.finditer(text)]
        words = tuple(word for _, word in places)
        number = 0
        while number < len(words):
            length = self._length_at(words, number, is_cut=is_cut) if words[number] in self._first_words else 0
            if length:
                yield places[number][0][0], places[number + length - 1][0][1]
            number += length or 1

    def _length_at(self, words: WordRun, number: int, *, is_cut: bool) -> int:
        """Return the length in words of a phrase that begins at this word, 0 for none."""
        rest = words[number:] if is_cut else ()
        for size in self._sizes:
            for phrase in self._by_start.get(words[number : number + size], ()):
                if words[number : number + len(phrase)] == phrase:
                    return len(phrase)
                is_beginning = FEWEST_WORDS < len(rest) < len(phrase) + 1 and rest[:-1] == phrase[: len(rest) - 1]
                if is_beginning and phrase[len(rest) - 1].startswith(rest[-1]):
                    return len(rest)
        return 0

    def are_in_value(self, value: Any, *, is_cut: bool = False) -> bool:
        """Return whether a column's value holds a phrase; it may be a text, JSON, or bytes of text."""
        if isinstance(value, bytes | memoryview):
            return self.is_in(decoded_text(bytes(value)))
        return any(self.is_in(text, is_cut=is_cut) for text in json_texts(value))

    def masked_value(self, value: Any) -> Any:
        """Return a JSON value with the phrases masked, or the same object if it holds none."""
        return _mapped(value, lambda text, _: self.masked(text))


def decoded_text(data: bytes) -> str:
    """Return bytes as text; line breaks and tabs are written as two characters in JSON."""
    return data.decode("utf-8", "replace").replace("\\n", "\n").replace("\\t", "\t")


def blanked_value(value: Any) -> Any:
    """Return a JSON value of a turn's record with all prose masked; ids, counts and names stay."""
    return _mapped(value, lambda text, name: MASK if name not in _KEPT_NAMES and _may_be_prose(text, name) else text)


_PROSE_NAMES = frozenset(
    ("inputMessage", "inputSnippet", "outputSnippet", "outputPreview", "intents", "intent", "focus", "label", "summary",
     "prompt", "answer", "answerMarkdown", "message", "text", "claim", "topic", "title", "subject", "object", "reason",
     "procedure", "condition", "textBody", "input", "output", "relation")
)  # fmt: skip


def _may_be_prose(text: str, name: str) -> bool:
    return bool(text) and (" " in text or name in _PROSE_NAMES)


def json_texts(value: Any) -> Iterator[str]:
    """Return the texts in a JSON value, including the names of members."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, member in value.items():
            yield name
            yield from json_texts(member)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from json_texts(item)


def _mapped(value: Any, change: Any, name: str = "") -> Any:
    """Return a JSON value with `change` applied to each text and the name of its member."""
    if isinstance(value, str):
        return change(value, name)
    if isinstance(value, Mapping):
        made = {change(key, ""): _mapped(member, change, key) for key, member in value.items()}
        return value if made == value else made
    if isinstance(value, list | tuple):
        items = [_mapped(item, change, name) for item in value]
        return value if items == list(value) else items
    return value
