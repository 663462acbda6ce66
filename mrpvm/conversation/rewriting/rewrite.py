"""One message in the light of what was said before: its sentence by itself, and the terms it means.

The sentence is a trace for people; what retrieval searches for are the message's own terms and those it means, each
weighted by its probability and by the square root of the message's need.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, TypedDict

from msgspec import Struct, field

from mrpvm.conversation.rewriting.by_model import AskModel, taken_from
from mrpvm.conversation.rewriting.said import Exchange, before_repeats, exchanges_of
from mrpvm.conversation.rewriting.sentence import NO_CHANGE, NO_SUBJECT, rewritten
from mrpvm.conversation.rewriting.signals import needs_rewrite, points_back, signs, with_crossed
from mrpvm.conversation.rewriting.terms import MeantTerm, meant_terms
from mrpvm.conversation.rewriting.weights import RewritingWeights, learned
from mrpvm.english.scoring.weights import probability
from mrpvm.english.words.text import unique_terms
from mrpvm.values import HistoryMessage

NO_HISTORY = "No history (first turn)"
DISABLED = "Rewriting disabled"
NO_SIGNALS = "No coreference signals detected"
STANDS_ALONE = "The message stands alone"
NO_MODEL = "No LLM function provided"
FAILED = "LLM error"
LEAST_PROBABILITY = 0.1
"""Terms below this probability are left out: they would cost a search more than they find."""
MOST_TERMS = 8
FOLLOWS_UP = 0.5
"""Above this need a message counts as a follow-up, and documents in use are preferred."""
LEAST_NEED = 0.2
"""Below this need no terms are looked for; above it they are weighted by their probability, which depends on it."""
LEAST_FOLLOWING = 0.35
"""A message that is less likely than this to continue the conversation is searched for by its own words alone."""


type RewrittenBy = Literal["rules", "model"]


class TermRecord(TypedDict):
    """A meant term as stored data."""

    term: str
    word: str
    probability: float
    weight: float


class RewritingRecord(TypedDict):
    """A rewriting as stored data and in the answer's `query_rewriting`."""

    original_query: str
    rewritten_query: str
    was_rewritten: bool
    skip_reason: str | None
    skip_code: str | None
    by: RewrittenBy
    need_probability: float
    terms: list[TermRecord]
    read_as: NotRequired[list[str]]


class Rewriting(Struct, frozen=True, kw_only=True):
    """The result of rewriting a message; the original is always kept.

    `by` tells who wrote the sentence; `skip_reason` why it is the original. `terms` are what it means by itself.
    `need_probability` is 0 for a message that stands alone. `read_as` is what a detector read the message as, where
    that is more than it says.
    """

    original_query: str
    rewritten_query: str
    skip_reason: str | None = None
    by: RewrittenBy = "rules"
    need_probability: float = 0.0
    terms: tuple[MeantTerm, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    read_as: tuple[str, ...] = ()

    @property
    def was_rewritten(self) -> bool:
        """Return whether the sentence differs from the original."""
        return self.skip_reason is None

    @property
    def stands_alone(self) -> bool:
        """Return whether the message is a question of another matter than the conversation, or begins it."""
        return not self.need_probability

    @property
    def skip_code(self) -> str | None:
        """Return the reason for programs: `no_history`, `llm_error` and so on."""
        if self.skip_reason is None:
            return None
        return next(code for reason, code in SKIP_CODES.items() if self.skip_reason.startswith(reason))

    def as_record(self) -> RewritingRecord:
        """Return the rewriting as stored data."""
        record: RewritingRecord = {
            "original_query": self.original_query,
            "rewritten_query": self.rewritten_query,
            "was_rewritten": self.was_rewritten,
            "skip_reason": self.skip_reason,
            "skip_code": self.skip_code,
            "by": self.by,
            "need_probability": round(self.need_probability, 3),
            "terms": [
                {"term": item.term, "word": item.word, "probability": round(item.probability, 3),
                 "weight": self.weights[item.term]}
                for item in self.terms
            ],
        }  # fmt: skip
        if self.read_as:
            record["read_as"] = list(self.read_as)
        return record


SKIP_CODES: Mapping[str, str] = {
    NO_HISTORY: "no_history", DISABLED: "rewriting_disabled", NO_SIGNALS: "no_signals", NO_MODEL: "no_model",
    STANDS_ALONE: "stands_alone", FAILED: "llm_error", "LLM returned empty": "empty_rewrite",
    "Rewrite identical": "identical_rewrite", NO_SUBJECT: "no_subject", NO_CHANGE: "no_change",
}  # fmt: skip


def rewrite(
    message: str, history: Sequence[HistoryMessage], *, enabled: bool = True, ask: AskModel | None = None
) -> Rewriting:
    """Return a message in the light of a conversation; never raises.

    Args:
        history: the oldest first, without the message.
        ask: a model to write the sentence; the rules write it when None.
    """
    history = before_repeats(message, history)
    if not history or not enabled:
        return Rewriting(
            original_query=message, rewritten_query=message, skip_reason=DISABLED if history else NO_HISTORY
        )
    need, meant = meaning_of(message, history, learned())
    text, reason = _sentence(message, history, need, ask)
    weights = {item.term: round(item.probability * need**0.5, 3) for item in meant}
    if ask is not None and reason is None:
        meant, weights = _said_by_model(message, text, meant, weights)
    return Rewriting(
        original_query=message, rewritten_query=text, skip_reason=reason, by="model" if ask else "rules",
        need_probability=need, terms=meant, weights=weights,
    )  # fmt: skip


def meaning_of(
    message: str, history: Sequence[HistoryMessage], weights: RewritingWeights
) -> tuple[float, tuple[MeantTerm, ...]]:
    """Return how likely a message needs what was said before, and the terms that it means, the likeliest first.

    The need is 0 for a message that stands alone.
    """
    exchanges = exchanges_of(history)
    need = _need(message, exchanges, weights)
    if need < LEAST_NEED:
        return need, ()
    return need, meant_terms(message, exchanges, need, weights, LEAST_PROBABILITY)[:MOST_TERMS]


def need_of(message: str, history: Sequence[HistoryMessage]) -> float:
    """Return how likely a message needs what was said before; 0 for one that stands alone."""
    return _need(message, exchanges_of(before_repeats(message, history)), learned())


def _need(message: str, exchanges: Sequence[Exchange], weights: RewritingWeights) -> float:
    if not exchanges:
        return 0.0
    features = signs(message, exchanges, weights.rarity)
    if not points_back(message) and probability(weights.follows, with_crossed(features)) < LEAST_FOLLOWING:
        return 0.0
    return probability(weights.need, features)


def _sentence(
    message: str, history: Sequence[HistoryMessage], need: float, ask: AskModel | None
) -> tuple[str, str | None]:
    if not needs_rewrite(message):
        return message, NO_SIGNALS
    if not need:
        return message, STANDS_ALONE
    if ask is None:
        return rewritten(message, history)
    try:
        return taken_from(message, ask(message, history))
    except Exception as error:
        return message, f"{FAILED}: {error}"


def _said_by_model(
    message: str, text: str, meant: Sequence[MeantTerm], weights: Mapping[str, float]
) -> tuple[tuple[MeantTerm, ...], dict[str, float]]:
    """Return the terms with those the model wrote: what it says outright counts like a word of the message."""
    said = set(unique_terms(message))
    new = [term for term in unique_terms(text) if term not in said][:MOST_TERMS]
    rest = [item for item in meant if item.term not in new]
    terms = (*(MeantTerm(term, term, 1.0) for term in new), *rest)[:MOST_TERMS]
    return terms, {item.term: 1.0 if item.term in new else weights[item.term] for item in terms}
