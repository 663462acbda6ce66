"""How likely a sentence answers a question: learned logistic models over features of both.

The first model ranks the sentences. The second gives the probability that the best one answers, given its lead over
the others.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from itertools import pairwise
from math import log

from msgspec import Struct, field

from mrpvm.english.scoring.weights import Model, Weights, probability
from mrpvm.english.words.lexicon import AUXILIARIES, NUMBER_WORDS, STOP_WORDS, TIME_WORDS, listed, word_class
from mrpvm.english.words.text import stem, terms

_TOKEN = re.compile(r"\d[\d.,]*\d|\w+(?:['\u2019]\w+)?|[%$\u20ac\u00a3]")
_YEAR = re.compile(r"^(?:1\d{3}|20\d{2})s?$")
_K1, _B = 1.2, 0.5
_LEAST_WEIGHT = 0.05
_NEGATIONS = listed("scored_negations")
_MODALS = word_class("may might could would should can possibly perhaps probably likely if unless suppose")
_TIMES = TIME_WORDS | {"ago"}
_NUMBERS = NUMBER_WORDS | word_class("third quarter percent % first second")
_PLACES = word_class("in at from near to on into outside inside across through between")
_REASONS = word_class("because since due so therefore thus result cause caused led reason as for to")
_WAYS = word_class("by through using with via means")
_EXTREMES = listed("scored_extremes")
_PERSONS = listed("scored_persons")
_KINDS = {"who": "who", "whom": "who", "whose": "whose", "when": "when", "where": "where", "why": "why"}
_EXTENTS_ASKED = word_class("long far old often high large big tall fast")
_YEARS_ASKED = word_class("year date century decade month day time")
_AMOUNTS_ASKED = word_class("number percentage percent amount population rate cost price size height length")


class Passage(Struct, frozen=True, kw_only=True):
    """A sentence that may answer, with its context.

    `around` is the text of the sentences before and after it, `heading` the heading above it, `score` the retriever's
    score of its unit, `likeness` the cosine similarity of its unit's vector and the question's.
    """

    text: str
    around: str = ""
    heading: str = ""
    score: float = 0.0
    likeness: float | None = None


class Scored(Struct, frozen=True):
    """A passage, its index in the input, and the probability that it answers."""

    place: int
    probability: float
    signs: Mapping[str, float] = field(default_factory=dict)


class _Read(Struct, frozen=True):
    """The tokens of a text, their stems, and the names and numbers among them."""

    tokens: tuple[str, ...]
    stems: tuple[str, ...]
    content: frozenset[str]
    names: frozenset[str]
    numbers: frozenset[str]
    lowered: frozenset[str]


@lru_cache(maxsize=4_096)
def _read(text: str) -> _Read:
    tokens = _TOKEN.findall(text)
    lowered = [word.lower().replace("\u2019", "'").removesuffix("'s") for word in tokens]
    stems = tuple(stem(word) for word in lowered)
    names = frozenset(
        stems[place]
        for place, word in enumerate(tokens)
        if word[0].isupper() and (place > 0 or word[1:].lower() != word[1:]) and lowered[place] not in STOP_WORDS
    )
    numbers = frozenset(word for word in lowered if word[0].isdigit() or word in _NUMBERS)
    content = frozenset(
        found_stem for word, found_stem in zip(lowered, stems, strict=True) if word not in STOP_WORDS and word.isalnum()
    )
    return _Read(tuple(lowered), stems, content | frozenset(terms(text)), names, numbers, frozenset(lowered))


def kind_of(question: str) -> str:
    """Return the kind of answer that a question asks for, one of a dozen."""
    tokens = _read(question).tokens
    for word, following in zip(tokens, (*tokens[1:], ""), strict=False):
        if word in _KINDS:
            return _KINDS[word]
        if word == "how":
            return "many" if following in ("many", "much") else "long" if following in _EXTENTS_ASKED else "how"
        if word in ("what", "which"):
            if following in _YEARS_ASKED:
                return "when"
            is_choice = word == "which" or following not in AUXILIARIES
            return "many" if following in _AMOUNTS_ASKED else "which" if is_choice else "what"
    return "yes" if tokens and tokens[0] in AUXILIARIES else "other"


def model_of(passages: Sequence[Passage], weights: Weights) -> Model:
    """Return the models for passages with vectors, or for words alone."""
    return weights.meaning if any(passage.likeness is not None for passage in passages) else weights.words


def score(question: str, passages: Sequence[Passage], weights: Weights) -> list[Scored]:
    """Return the passages, best first; the probability of the first comes from the second model."""
    rows = signs_of(question, passages, weights)
    model = model_of(passages, weights)
    ranked = sorted(
        (Scored(place, probability(model.rank, row), row) for place, row in enumerate(rows)),
        key=lambda item: (-item.probability, item.place),
    )
    if not ranked:
        return []
    sure = probability(model.sure, sure_signs(ranked))
    return [Scored(ranked[0].place, sure, ranked[0].signs), *ranked[1:]]


def sure_signs(ranked: Sequence[Scored]) -> dict[str, float]:
    """Return the features of the second model: those of the best passage, and its lead over the others."""
    best = ranked[0]
    second = ranked[1].probability if len(ranked) > 1 else 0.0
    signs = dict(best.signs)
    signs["rank"] = _odds(best.probability)
    signs["lead"] = _odds(best.probability) - _odds(second)
    signs["others"] = sum(item.probability for item in ranked[1:])
    return signs


def _odds(value: float) -> float:
    bounded = min(max(value, 1e-3), 1 - 1e-3)
    return log(bounded / (1 - bounded))


def signs_of(question: str, passages: Sequence[Passage], weights: Weights) -> list[dict[str, float]]:
    """Return the features of each passage by name; a missing feature is 0."""
    question_read = _read(question)
    kind = kind_of(question)
    reads = [_read(passage.text) for passage in passages]
    arounds = [_read(passage.around).content if passage.around else frozenset() for passage in passages]
    headings = [_read(passage.heading).content if passage.heading else frozenset() for passage in passages]
    wanted = _wanted(question_read, weights, reads)
    total = sum(wanted.values()) or 1.0
    bm25 = _bm25(wanted, reads)
    best = max(bm25, default=0.0) or 1.0
    top = max((passage.score for passage in passages), default=0.0) or 1.0
    held = Counter(name for read in reads for name in wanted.keys() & read.content)
    known = [passage.likeness for passage in passages if passage.likeness is not None]
    rows = []
    for passage, read, around, heading, own in zip(passages, reads, arounds, headings, bm25, strict=True):
        lacking = {name: weight for name, weight in wanted.items() if name not in read.content}
        nearby = {name: weight for name, weight in lacking.items() if name not in around and name not in heading}
        row = {
            "always": 1.0,
            f"asks {kind}": 1.0,
            "bm25": own / best,
            "bm25 whole": own / total,
            "retrieved": passage.score / top,
            "coverage": 1 - sum(lacking.values()) / total,
            "coverage headed": 1 - sum(weight for name, weight in lacking.items() if name not in heading) / total,
            "coverage around": 1 - sum(nearby.values()) / total,
            "rarest lacking": max(lacking.values(), default=0.0),
            "rarest lacking around": max(nearby.values(), default=0.0),
            "lacking": min(len(lacking), 6) / 6,
            "lacking around": min(len(nearby), 6) / 6,
            "nothing lacking": float(not lacking),
            "alone": sum(wanted[name] for name in wanted.keys() & read.content if held[name] == 1) / total,
            "wanted": min(len(wanted), 12) / 12,
        }
        row |= _named_signs(question_read, read, around | heading)
        row |= _answer_signs(kind, question_read, read)
        row |= _order_signs(question_read, read, wanted)
        row |= _mood_signs(question_read, read)
        if known:
            own = passage.likeness if passage.likeness is not None else sum(known) / len(known)
            row |= {"compared by meaning": 1.0, "likeness": own}
        rows.append(row)
    return rows


def _wanted(question: _Read, weights: Weights, reads: Sequence[_Read]) -> dict[str, float]:
    """Return the weight of each content stem of the question: rare ones, and ones of few passages, weigh more."""
    count = len(reads) or 1
    wanted = {}
    for name in question.content:
        among = sum(name in read.content for read in reads)
        wanted[name] = max(
            _LEAST_WEIGHT, weights.rarity(name) * (0.6 + 0.4 * log((count + 1) / (among + 0.5)) / log(2 * count + 2))
        )
    return wanted


def _bm25(wanted: Mapping[str, float], reads: Sequence[_Read]) -> list[float]:
    mean = (sum(len(read.stems) for read in reads) / len(reads) if reads else 0.0) or 1.0
    scores = []
    for read in reads:
        said = Counter(read.stems)
        counts = {name: max(said[name], name in read.content) for name in wanted}
        shrunk = _K1 * (1 - _B + _B * len(read.stems) / mean)
        scores.append(sum(wanted[name] * count * (_K1 + 1) / (count + shrunk) for name, count in counts.items()))
    return scores


def _named_signs(question: _Read, read: _Read, near: frozenset[str]) -> dict[str, float]:
    lacking_names = question.names - read.content
    lacking_numbers = question.numbers - read.numbers
    return {
        "names": min(len(question.names), 4) / 4,
        "lacks a name": float(bool(lacking_names)),
        "lacks a name around": float(bool(lacking_names - near)),
        "names lacking": len(lacking_names) / len(question.names) if question.names else 0.0,
        "lacks a number": float(bool(lacking_numbers)),
        "lacks a year": float(any(_YEAR.match(number) for number in lacking_numbers)),
        "holds a year asked": float(any(_YEAR.match(number) for number in question.numbers & read.numbers)),
        "lacks an extreme": float(bool((_EXTREMES & question.lowered) - read.lowered)),
    }


def _answer_signs(kind: str, question: _Read, read: _Read) -> dict[str, float]:
    """Return features for new words of the kind asked for in the sentence."""
    new_names = read.names - question.content
    new_numbers = read.numbers - question.numbers
    new = read.content - question.content
    signs = {
        "new": min(len(new), 20) / 20,
        "new names": min(len(new_names), 4) / 4,
        "length": min(len(read.tokens), 60) / 60,
    }
    fits = {
        "who": bool(new_names) or bool(_PERSONS & read.lowered),
        "whose": bool(new_names),
        "when": any(number[0].isdigit() for number in new_numbers) or bool((_TIMES - question.lowered) & read.lowered),
        "where": bool(new_names) and bool(_PLACES & read.lowered),
        "why": bool(_REASONS & read.lowered),
        "many": bool(new_numbers),
        "long": bool(new_numbers),
        "how": bool(_WAYS & read.lowered),
    }
    if kind in fits:
        signs[f"fits {kind}" if fits[kind] else f"does not fit {kind}"] = 1.0
        signs["fits" if fits[kind] else "does not fit"] = 1.0
    if kind == "when" and any(_YEAR.match(number) for number in new_numbers):
        signs["new year"] = 1.0
    return signs


def _order_signs(question: _Read, read: _Read, wanted: Mapping[str, float]) -> dict[str, float]:
    """Return features for the distance and order of the question's words in the sentence."""
    first: dict[str, int] = {}
    for place, found_stem in enumerate(read.stems):
        if found_stem in wanted:
            first.setdefault(found_stem, place)
    places = [first[found_stem] for found_stem in question.stems if found_stem in first]
    pairs = list(pairwise(question.stems))
    said_pairs = set(pairwise(read.stems))
    content_pairs = [pair for pair in pairs if pair[0] in wanted and pair[1] in wanted]
    signs = {
        "pairs": _share_among(said_pairs, pairs),
        "content pairs": _share_among(said_pairs, content_pairs),
        "broken pairs": float(sum(pair not in said_pairs and {*pair} <= read.content for pair in content_pairs) > 0),
    }
    if len(places) > 1:
        signs["in order"] = sum(one < two for one, two in pairwise(places)) / (len(places) - 1)
        signs["dense"] = len(places) / (max(places) - min(places) + 1)
    triples = list(zip(question.stems, question.stems[1:], question.stems[2:], strict=False))
    said_triples = set(zip(read.stems, read.stems[1:], read.stems[2:], strict=False))
    signs["triples"] = _share_among(said_triples, triples)
    return signs


def _share_among(said: Set[object], asked: Sequence[object]) -> float:
    return sum(item in said for item in asked) / len(asked) if asked else 0.0


def _mood_signs(question: _Read, read: _Read) -> dict[str, float]:
    asks_not, says_not = bool(_NEGATIONS & question.lowered), bool(_NEGATIONS & read.lowered)
    return {
        "negated otherwise": float(asks_not != says_not),
        "asks negated": float(asks_not),
        "only possible": float(bool(_MODALS & read.lowered) and not _MODALS & question.lowered),
    }
