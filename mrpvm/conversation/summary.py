"""The rolling summary: what the model still knows of the messages that it no longer sees.

It grows by whole exchanges and stays within its length: the sentences that tell least are removed first.
Each sentence keeps the place of the message it was taken from.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import NotRequired, TypedDict

from msgspec import Struct

from mrpvm.conversation.answers import words_told
from mrpvm.conversation.asking import PreparationModel
from mrpvm.conversation.facts import details_in
from mrpvm.conversation.window import NEWEST_MESSAGES, OVERHEAD_CHARS, kept_chars
from mrpvm.english.words.lexicon import STOP_WORDS, listed
from mrpvm.english.words.text import QUESTION_MARKS, stem
from mrpvm.text_cache import TextCache
from mrpvm.values import HistoryMessage

BATCH_MESSAGES = 4
"""Messages summarised at once; fewer where fewer stay."""
SHOWN_CHARS = 300
"""How much of a message a model gets to summarise."""
MODEL_MESSAGES = 40
"""The newest messages that a model summarises at once; rules summarise older ones of an imported history."""
FALLBACK_CHARS = 150
CHARS_PER_WORD = 6
"""Of English text, with the blank behind the word."""
MODEL_PLUGIN_ID, MODEL_ROLE, MODEL_TIMEOUT_MS = "conversation-summary", "conversation", 15_000
MODEL_SYSTEM = (
    "You keep the running summary of a conversation. Write the new summary in at most {words} words: plain sentences, "
    "nothing that was not said. Keep every number, amount, date and name exactly as it was written."
)
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?!\s|$)[^.!?\n]*)*[.!?]*", re.UNICODE)
_WORD = re.compile(r"[^\W_]+(?:['’.,][^\W_]+)*")
_FACT_WEIGHT, _QUESTION_WEIGHT, _NEWS_WEIGHT, _MAX_SENTENCE = 2.0, 0.25, 1.05, 240
_SAME_SHARE = 0.75
_SENTENCE_CHARS = 10
"""Added to the length of a sentence as its cost, so that very short sentences are not preferred."""
_COMMON = STOP_WORDS | listed("common_words")


class PlacedMessage(HistoryMessage, frozen=True, kw_only=True):
    """One stored message; `sequence` is its place in the conversation."""

    sequence: int


class SummaryRecord(TypedDict):
    """A summary as stored data: pairs of place and sentence."""

    through: int
    sentences: Sequence[tuple[int, str]]
    origin: str
    note: NotRequired[str]


class Summary(Struct, frozen=True, kw_only=True):
    """What was said up to the message `through`: `(place, sentence)` in order; a model's text has the place of its end.

    `origin` is `rules`, or `model` with `note` saying what had to be added to the model's words.
    """

    through: int = 0
    sentences: tuple[tuple[int, str], ...] = ()
    origin: str = "rules"
    note: str = ""

    @property
    def text(self) -> str:
        """Return the summary as it is told."""
        return "; ".join(sentence for _, sentence in self.sentences)

    def as_record(self) -> SummaryRecord:
        """Return the summary as stored data."""
        return {"through": self.through, "sentences": self.sentences, "origin": self.origin, "note": self.note}


def summary_of(record: SummaryRecord | None) -> Summary:
    """Return a stored summary; an empty one for none."""
    if not record:
        return Summary()
    sentences = tuple((place, text) for place, text in record["sentences"])
    return Summary(through=record["through"], sentences=sentences, origin=record["origin"], note=record.get("note", ""))


def due_through(message_count: int, through: int, verbatim_count: int) -> int:
    """Return up to where the summary should reach, so that at most `verbatim_count` messages stay verbatim."""
    while message_count - through > verbatim_count:
        through += min(BATCH_MESSAGES, verbatim_count)
    return through


def through_within(messages: Sequence[PlacedMessage], through: int, max_chars: int) -> int:
    """Return up to where the summary should reach, so that what stays verbatim has at most `max_chars`.

    It grows by whole exchanges, and the newest one stays whatever it costs.

    Args:
        messages: those behind `through`, the oldest first.
    """
    costs = [min(len(item.content), kept_chars(item, max_chars)) + len(item.role) + OVERHEAD_CHARS for item in messages]
    first, room = 0, max_chars - sum(costs)
    while room < 0 and len(messages) - first > NEWEST_MESSAGES:
        step = min(NEWEST_MESSAGES, len(messages) - first - NEWEST_MESSAGES)
        room += sum(costs[first : first + step])
        first += step
    return messages[first - 1].sequence if first else through


def extend_by_rules(summary: Summary, messages: Sequence[PlacedMessage], max_chars: int) -> Summary:
    """Return the summary that takes these messages up too: the sentences that tell most, old and new alike.

    Sentences are chosen one by one for the facts and rare words that no chosen one has; nothing worth telling gives
    the beginnings of the messages.
    """
    old = summary.sentences
    fresh = [(item.sequence, sentence) for item in messages for sentence in _sentences(words_told(item.content))]
    candidates = list({sentence.lower(): (place, sentence) for place, sentence in [*old, *fresh]}.values())
    chosen = _chosen(candidates, max_chars, summary.through) or _beginnings(messages, max_chars)
    through = messages[-1].sequence if messages else summary.through
    return Summary(through=through, sentences=tuple(sorted(chosen)))


def summarise(model: PreparationModel, summary: Summary, messages: Sequence[PlacedMessage], max_chars: int) -> Summary:
    """Return the summary with these messages: in a model's words if there is one, else by the rules.

    Raises:
        MRPError: the model did not answer.
    """
    if not model.available:
        return extend_by_rules(summary, messages, max_chars)
    system = MODEL_SYSTEM.format(words=max_chars // CHARS_PER_WORD)
    text = request_for_model(summary, messages)
    reply = model.ask(MODEL_PLUGIN_ID, MODEL_ROLE, system, text, timeout_ms=MODEL_TIMEOUT_MS)
    return extend_by_model(summary, messages, reply, max_chars)


def request_for_model(summary: Summary, messages: Sequence[PlacedMessage]) -> str:
    """Return what a model is asked to summarise."""
    lines = [f"{item.role.capitalize()}: {words_told(item.content)[:SHOWN_CHARS]}" for item in messages]
    return "\n".join(["Summary so far:", summary.text or "(none yet)", "", "New messages:", *lines])


def extend_by_model(summary: Summary, messages: Sequence[PlacedMessage], reply: str, max_chars: int) -> Summary:
    """Return the summary in a model's words, with the facts that it left out put behind them.

    They take half of the room at most; the note says how many did not fit.

    Args:
        reply: what the model wrote; the rules summarise if it is empty.
    """
    text = " ".join(reply.split())
    by_rules = extend_by_rules(summary, messages, max_chars)
    if not text:
        return by_rules
    known = " ".join([*filter(None, [summary.text]), *(item.content for item in messages)])
    missing = [fact for fact in details_in(known) if fact not in text]
    kept = _fitting(missing, max_chars // 2)
    tail = f" Also: {', '.join(kept)}." if kept else ""
    whole = _cut(text, max_chars - len(tail)) + tail
    note = f"{len(kept)} facts were put behind the model's words" if kept else ""
    if len(kept) < len(missing):
        note += f"{', ' if note else ''}{len(missing) - len(kept)} more did not fit"
    return Summary(through=by_rules.through, sentences=((by_rules.through, whole),), origin="model", note=note)


def _fitting(facts: Sequence[str], max_chars: int) -> list[str]:
    """Return the newest of the facts whose list fits, in their order: the older ones were told before."""
    room, kept = max_chars - len(" Also: ."), list[str]()
    for fact in reversed(facts):
        room -= len(fact) + 2
        if room < 0:
            break
        kept.insert(0, fact)
    return kept


def _sentences(text: str) -> list[str]:
    sentences = (" ".join(part.split()).strip(" ;") for part in _SENTENCE.findall(text))
    return [_cut(sentence, _MAX_SENTENCE) for sentence in sentences if len(sentence) > 2]


def _cut(text: str, limit: int) -> str:
    """Return a text whole, or up to a word's end with a mark that it continues."""
    return text if len(text) <= limit else text[: max(0, limit - 1)].rsplit(" ", 1)[0] + "…"


def _beginnings(messages: Sequence[PlacedMessage], max_chars: int) -> list[tuple[int, str]]:
    chosen: list[tuple[int, str]] = []
    for item in messages:
        text = _cut(" ".join(words_told(item.content).split()), FALLBACK_CHARS)
        if text and sum(len(known) + 2 for _, known in chosen) + len(text) <= max_chars:
            chosen.append((item.sequence, text))
    return chosen


def _chosen(candidates: list[tuple[int, str]], max_chars: int, known_through: int) -> list[tuple[int, str]]:
    """Choose greedily by what a sentence adds for its length; new ones count a little more, of equals the later."""
    terms = [_weights(sentence) for _, sentence in candidates]
    counts = Counter(term for terms_of_one in terms for term in terms_of_one)
    weights = [{term: weight / counts[term] ** 0.5 for term, weight in terms_of_one.items()} for terms_of_one in terms]
    covered: set[str] = set()

    def gain(number: int) -> float:
        place, sentence = candidates[number]
        gained: float = sum(weight for term, weight in weights[number].items() if term not in covered)
        news = _NEWS_WEIGHT if place > known_through else 1.0
        return gained * news / (len(sentence) + _SENTENCE_CHARS)

    # A gain only shrinks while others are chosen: the first whose gain is still what it was is the best of all.
    waiting = [(-gain(number), -place, number) for number, (place, _) in enumerate(candidates)]
    heapify(waiting)
    chosen: list[tuple[int, str]] = []
    chosen_weights: list[Mapping[str, float]] = []
    room = max_chars
    while waiting:
        expected, place, number = heappop(waiting)
        if len(candidates[number][1]) > room:
            continue
        if gain(number) < -expected:
            heappush(waiting, (-gain(number), place, number))
            continue
        if expected >= 0:
            break
        if any(_says_the_same(weights[number], earlier) for earlier in chosen_weights):
            continue
        chosen_weights.append(weights[number])
        covered |= weights[number].keys()
        chosen.append(candidates[number])
        room -= len(candidates[number][1]) + 2
    return chosen


def _says_the_same(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """Return whether a sentence tells hardly more than another one: the same fact in other words."""
    return sum(weight for term, weight in one.items() if term in other) >= _SAME_SHARE * sum(one.values())


@TextCache  # what was chosen once is weighed again whenever the summary grows
def _weights(sentence: str) -> Mapping[str, float]:
    """Return what the stems of a sentence's words are worth, those of facts more, and each fact of several words."""
    factor = _QUESTION_WEIGHT if sentence.endswith(QUESTION_MARKS) else 1.0
    weights = dict.fromkeys(_stems(sentence), factor)
    for fact in details_in(sentence):
        words = _stems(fact)
        weights |= dict.fromkeys(words, _FACT_WEIGHT * factor)
        if len(words) > 1:
            weights[fact.lower()] = factor
    return weights


def _stems(text: str) -> list[str]:
    words = (word.lower() for word in _WORD.findall(text))
    return [stem(word) for word in words if word not in _COMMON]
