"""What was said, read once: each content word of a message with where and how it is there."""

import re
from collections.abc import Sequence

from msgspec import Struct

from mrpvm.conversation.answers import answers_nothing, words_told
from mrpvm.english.messages.small_talk import is_remark
from mrpvm.english.words.lexicon import STOP_WORDS
from mrpvm.english.words.text import stem
from mrpvm.text_cache import TextCache
from mrpvm.values import HistoryMessage

READ_CHARS = 1_000
"""How much of a message is read: what a follow-up refers to stands early, and a giant message must cost little."""
READ_EXCHANGES = 8
"""How many exchanges are read: the first, which names the subject, and the newest."""
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_END = re.compile(r"[.!?:;\n]")
_OWN = "'s"
_UNSPOKEN = ("system", "tool")


class WordMention(Struct, frozen=True):
    """One content word: its stem, as it is written, its sentence's number, the stems beside it, the word before it."""

    term: str
    word: str
    sentence: int
    is_name: bool
    is_last: bool
    before: str
    after: str
    led_by: str


class Exchange(Struct, frozen=True):
    """A message of the user, as it is written and as its words, and what was answered; either possibly empty."""

    text: str
    asked: tuple[WordMention, ...]
    answered: tuple[WordMention, ...]


def words_of(text: str) -> list[str]:
    """Return all words of a message in lower case, function words included."""
    return [match.group().replace("\u2019", "'").lower() for match in _WORD.finditer(text[:READ_CHARS])]


@TextCache  # the same messages are the history of turn after turn
def mentions_in(text: str) -> tuple[WordMention, ...]:
    """Return the content words of a text in order."""
    places: list[tuple[str, str, int, bool, str]] = []
    sentence, end, before = 0, 0, ""
    for match in _WORD.finditer(text[:READ_CHARS]):
        opens = match.start() == 0
        if _END.search(text, end, match.start()):
            sentence, opens, before = sentence + 1, True, ""
        end = match.end()
        word = match.group().replace("\u2019", "'").removesuffix(_OWN)
        plain = word.lower()
        if plain not in STOP_WORDS and "'" not in plain:
            is_name = word[0].isupper() and not (opens and word[1:].islower())
            places.append((stem(plain), word, sentence, is_name, before))
        before = plain
    return tuple(_mention(places, number) for number in range(len(places)))


def _mention(places: Sequence[tuple[str, str, int, bool, str]], number: int) -> WordMention:
    term, word, sentence, is_name, led_by = places[number]
    before = places[number - 1] if number and places[number - 1][2] == sentence else None
    after = places[number + 1] if number + 1 < len(places) and places[number + 1][2] == sentence else None
    return WordMention(
        term, word, sentence, is_name, after is None, before[0] if before else "", after[0] if after else "", led_by
    )


def spoken(history: Sequence[HistoryMessage]) -> list[HistoryMessage]:
    """Return what user and assistant said; a message without a role is the user's."""
    return [item for item in history if item.role not in _UNSPOKEN]


def before_repeats(message: str, history: Sequence[HistoryMessage]) -> Sequence[HistoryMessage]:
    """Return the history without the newest exchanges if they only repeat the message or are small talk.

    A question asked twice then means the same both times.
    """
    questions = [place for place, item in enumerate(history) if item.role not in ("assistant", *_UNSPOKEN)]
    while questions and _adds_nothing(message, *history[questions[-1] :]):
        history = history[: questions.pop()]
    return history


def _adds_nothing(message: str, asked: HistoryMessage, *answers: HistoryMessage) -> bool:
    is_small_talk = is_remark(asked.content) and all(answers_nothing(answer.content) for answer in answers)
    return is_small_talk or is_same(asked.content, message)


def is_same(one: str, other: str) -> bool:
    """Return whether two texts differ in case and final marks alone."""
    return one.rstrip(" .?!").lower() == other.rstrip(" .?!").lower()


def exchanges_of(history: Sequence[HistoryMessage]) -> list[Exchange]:
    """Return the first and the newest exchanges, the oldest first; only the assistant's messages are answers.

    Of an answer the words it tells are read, not the marks of its sources.
    """
    pairs: list[tuple[str, list[str]]] = []
    for message in spoken(history):
        if message.role != "assistant":
            pairs.append((message.content, []))
        elif answers_nothing(message.content):
            continue  # what tells that nothing is known names nothing that could be meant
        elif pairs:
            pairs[-1][1].append(words_told(message.content))
        else:
            pairs.append(("", [words_told(message.content)]))
    if len(pairs) > READ_EXCHANGES:
        pairs = [pairs[0], *pairs[1 - READ_EXCHANGES :]]
    return [
        Exchange(
            question,
            () if is_remark(question) else mentions_in(question),  # "The second one" names nothing that could be meant
            tuple(mention for answer in answers for mention in mentions_in(answer)),
        )
        for question, answers in pairs
    ]
