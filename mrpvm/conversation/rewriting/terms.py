"""Which words of the conversation a message means without saying them: each with a probability, learned in two stages.

The first stage looks at one word: who said it, when, how often and how. The second also knows what the first thinks of
the words beside it and of the others, so that names of several words stay together.
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log, log1p

from msgspec import Struct

from mrpvm.conversation.rewriting.said import Exchange, WordMention, mentions_in, words_of
from mrpvm.conversation.rewriting.signals import PERSONS, is_ellipsis, need_probability
from mrpvm.conversation.rewriting.weights import RewritingWeights
from mrpvm.english.scoring.weights import probability
from mrpvm.english.words.lexicon import listed

_REFERRING = listed("plain_references")
_TOPIC_PREPOSITIONS = listed("topic_prepositions")
_MANY = listed("plural_references")
_RELATING = listed("adding_words")
_CROSSED = (
    ("asked last", "refers"), ("asked first", "refers"), ("answered last", "refers"), ("name", "refers"),
    ("asked last", "need"), ("asked first", "need"), ("answered last", "need"), ("name", "need"), ("rare", "need"),
    ("asked last", "ellipsis"), ("answered last", "ellipsis"), ("name", "person"), ("answered last", "many"),
    ("opens answer", "refers"), ("asked last", "short"), ("asked first", "short"), ("answered last", "rare"),
    ("asked last", "rare"), ("asked last", "relates"), ("answered last", "relates"), ("name", "answered last"),
    ("focus asked", "need"), ("focus answered", "need"), ("focus asked", "last leans"),
)  # fmt: skip
"""Signs that say more together."""

MOST_CANDIDATES = 60
"""Words of the conversation that are looked at closely."""


class MeantTerm(Struct, frozen=True):
    """A stem of the conversation that the message means, as it was written, and how likely."""

    term: str
    word: str
    probability: float


@dataclass(slots=True)
class TermCandidate:
    """A word of the conversation that the message does not say: where it was said and how.

    A focus is 1 where a word is said, and continues as far as the questions after it lean on what was said before them.
    """

    asked_in: list[int] = field(default_factory=list)
    answered_in: list[int] = field(default_factory=list)
    words: Counter[str] = field(default_factory=Counter)
    names: int = 0
    definite: int = 0
    beside_asked: int = 0
    ends_question: bool = False
    after_about: bool = False
    opens_answer: bool = False
    ends_answer: bool = False
    beside: set[str] = field(default_factory=set)
    focus_asked: float = 0.0
    focus_answered: float = 0.0


def _leanings(exchanges: Sequence[Exchange], weights: RewritingWeights) -> list[float]:
    """Return for each question the probability that it cannot be understood alone; 0 for the first."""
    later = range(1, len(exchanges))
    return [0.0, *(need_probability(exchanges[place].text, exchanges[:place], weights) for place in later)]


def addable_stems(message: str, exchanges: Sequence[Exchange], leans: Sequence[float]) -> dict[str, TermCandidate]:
    """Return the stems that were said and are not in the message, in order of first mention.

    There are no more than are worth a look: what the user said, then the newest, so that long answers cost little.
    """
    said = {item.term for item in mentions_in(message)}
    candidates: defaultdict[str, TermCandidate] = defaultdict(TermCandidate)
    for place, exchange in enumerate(exchanges):
        for candidate in candidates.values():
            candidate.focus_asked *= leans[place]
            candidate.focus_answered *= leans[place]
        for mention in exchange.asked:
            if mention.term not in said:
                candidate = candidates[mention.term]
                _take(candidate, mention, candidate.asked_in, place, said)
                candidate.focus_asked = 1.0
                candidate.ends_question |= mention.is_last
                candidate.after_about |= mention.led_by in _TOPIC_PREPOSITIONS
        final = exchange.answered[-1].sentence if exchange.answered else 0
        is_newest = place + 1 == len(exchanges)
        for mention in exchange.answered:
            if mention.term not in said:
                candidate = candidates[mention.term]
                _take(candidate, mention, candidate.answered_in, place, said)
                candidate.focus_answered = 1.0
                candidate.opens_answer |= is_newest and mention.sentence == 0
                candidate.ends_answer |= is_newest and mention.sentence == final
    return _likeliest(candidates)


def _take(candidate: TermCandidate, mention: WordMention, places: list[int], place: int, said: set[str]) -> None:
    if not places or places[-1] != place:
        places.append(place)
    candidate.words[mention.word] += 1
    candidate.names += mention.is_name
    candidate.definite += mention.led_by == "the"
    candidate.beside_asked += mention.before in said or mention.after in said
    candidate.beside.update((mention.before, mention.after))


def meant_terms(
    message: str, exchanges: Sequence[Exchange], need: float, weights: RewritingWeights, least: float
) -> tuple[MeantTerm, ...]:
    """Return the stems that the message means with at least this probability, the likeliest first.

    Args:
        need: the probability that the message needs what was said before.
    """
    candidates, rows = first_signs(message, exchanges, need, weights)
    if not candidates:
        return ()
    first = {term: probability(weights.first, row) for term, row in rows}
    meant = [
        MeantTerm(term, candidates[term].words.most_common(1)[0][0], likely)
        for term, row in second_signs(rows, candidates, first)
        if (likely := probability(weights.second, row)) >= least
    ]
    return tuple(sorted(meant, key=lambda item: (-item.probability, item.term)))


def _likeliest(candidates: Mapping[str, TermCandidate]) -> dict[str, TermCandidate]:
    if len(candidates) <= MOST_CANDIDATES:
        return dict(candidates)
    kept = heapq.nlargest(
        MOST_CANDIDATES, candidates, key=lambda term: (bool(candidates[term].asked_in), _newest(candidates[term]))
    )
    chosen = set(kept)
    return {term: item for term, item in candidates.items() if term in chosen}


def _newest(item: TermCandidate) -> tuple[int, int, int]:
    return max(item.asked_in[-1:] + item.answered_in[-1:]), item.names, item.words.total()


def first_signs(
    message: str, exchanges: Sequence[Exchange], need: float, weights: RewritingWeights
) -> tuple[dict[str, TermCandidate], list[tuple[str, dict[str, float]]]]:
    """Return the candidates, and the signs of each by itself."""
    leans = _leanings(exchanges, weights)
    candidates = addable_stems(message, exchanges, leans)
    words, said_count = words_of(message), len(mentions_in(message))
    about = {
        "refers": float(not _REFERRING.isdisjoint(words)),
        "person": float(not PERSONS.isdisjoint(words)),
        "many": float(not _MANY.isdisjoint(words)),
        "relates": float(not _RELATING.isdisjoint(words)),
        "ellipsis": float(is_ellipsis(words)),
        "short": float(said_count <= 2),
        "need": need,
        "need odds": log((need + 0.02) / (1.02 - need)),
        "content": min(said_count, 8) / 4,
    }
    shared = about | {
        "always": 1.0,
        "candidates": log1p(len(candidates)),
        "answer length": log1p(len(exchanges[-1].answered)),
        "unanswered": float(not exchanges[-1].answered),
        "only one": float(len(exchanges) == 1),
        "last leans": leans[-1],
    }
    rows = [
        (term, _crossed(_own(term, item, len(exchanges)) | {"rare": weights.rarity(term)} | shared))
        for term, item in candidates.items()
    ]
    return candidates, rows


def _own(term: str, item: TermCandidate, exchange_count: int) -> dict[str, float]:
    newest = exchange_count - 1
    asked_share, answered = item.asked_in, item.answered_in
    count = item.words.total()
    asked_last, answered_last = (
        bool(asked_share) and asked_share[-1] == newest,
        bool(answered) and answered[-1] == newest,
    )
    return {
        "name": item.names / count,
        "ever a name": float(item.names > 0),
        "number": float(term[0].isdigit()),
        "brief": float(len(term) <= 3),
        "long": float(len(term) >= 7),
        "asked": float(bool(asked_share)),
        "answered": float(bool(answered)),
        "asked and answered": float(bool(asked_share) and bool(answered)),
        "asked last": float(asked_last),
        "asked only last": float(asked_last and len(asked_share) == 1),
        "asked before": float(bool(asked_share) and newest - 1 in asked_share[-2:]),
        "asked first": float(bool(asked_share) and asked_share[0] == 0),
        "asked first and last": float(asked_last and asked_share[0] == 0),
        "answered last": float(answered_last),
        "answered before": float(bool(answered) and newest - 1 in answered[-2:]),
        "both last": float(asked_last and answered_last),
        "asked share": len(asked_share) / exchange_count,
        "answered share": len(answered) / exchange_count,
        "asked count": log1p(len(asked_share)),
        "answered count": log1p(len(answered)),
        "count": log1p(count),
        "age": log1p(newest - max(asked_share[-1:] + answered[-1:])),
        "opens answer": float(item.opens_answer),
        "ends answer": float(item.ends_answer),
        "definite": float(item.definite > 0),
        "beside asked": log1p(item.beside_asked),
        "ends question": float(item.ends_question),
        "after about": float(item.after_about),
        "focus asked": item.focus_asked,
        "focus answered": item.focus_answered,
    }


def _crossed(row: dict[str, float]) -> dict[str, float]:
    for one, other in _CROSSED:
        row[f"{one} & {other}"] = row[one] * row[other]
    row["answered last & answer length"] = row["answered last"] * row["answer length"]
    return row


def second_signs(
    rows: Sequence[tuple[str, Mapping[str, float]]], candidates: Mapping[str, TermCandidate], first: Mapping[str, float]
) -> list[tuple[str, dict[str, float]]]:
    """Return the first stage's signs of each candidate with those it has among the others, by their probabilities."""
    ranks = {term: rank for rank, term in enumerate(sorted(first, key=lambda term: (-first[term], term)))}
    best, total = max(first.values()), sum(first.values())
    features_by_term = []
    for term, own in rows:
        item = candidates[term]
        odds = log((first[term] + 0.005) / (1.005 - first[term]))
        beside = max((first[other] for other in item.beside if other in first), default=0.0)
        row = {
            **own,
            "odds": odds,
            "rank": log1p(ranks[term]),
            "best": best,
            "sum": log1p(total),
            "beside": beside,
            "beside odds": log(beside + 0.02),
            "name & beside": item.names / item.words.total() * beside,
            "odds & best": odds * best,
            "odds & beside": odds * beside,
            "odds & rank": odds * log1p(ranks[term]),
        }
        features_by_term.append((term, row))
    return features_by_term
