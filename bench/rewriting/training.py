"""`python -m bench.rewriting.training DIRECTORY`: learns the weights of the need and of the meant terms.

Provenance: CAsT 2019 to 2022 (daltonj/treccastweb, MIT), iKAT 2023 and 2024 (irlabamsterdam/iKAT, MIT) and MTRAG
(IBM/mt-rag-benchmark, Apache-2.0), nothing else: data sets of other licences in the directory are passed over. What is
kept are weights, and in how many conversations a stem was said. It runs once, and
gives the same file for the same data.
"""

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np  # type: ignore[import-not-found,unused-ignore]

from bench.rewriting.scores import content
from bench.rewriting.turns import FollowUp, follow_ups
from mrpvm.conversation.rewriting.said import Exchange, exchanges_of, mentions_in
from mrpvm.conversation.rewriting.signals import signs
from mrpvm.conversation.rewriting.terms import Model, candidates_of, first_signs, second_signs
from mrpvm.conversation.rewriting.weights import PATH

PERMISSIVE = frozenset({"cast19", "cast20", "cast21", "cast22", "ikat23", "ikat24", "mtrag"})
QUOTES_OTHERS = frozenset({"cast21", "cast22"})
"""Their answers quote passages of other licences: no word of them is counted."""
FOLDS = 5
LEAST_COUNT = 4
NEED_PENALTY, TERM_PENALTY = 40.0, 5.0
NOISY = {"mtrag": 0.5}
"""Weight of the data set whose people rewrite for style as well: whether one needs it says little there."""
type Row = Mapping[str, float]
type Weights = dict[str, float]


def fit(rows: Sequence[Row], targets: Any, weights: Any, penalty: float) -> Weights:
    """Give the weights of a logistic model with an L2 penalty, by Newton's method."""
    names = sorted({name for row in rows for name in row})
    place = {name: number for number, name in enumerate(names)}
    table = np.zeros((len(rows), len(names)))
    for number, row in enumerate(rows):
        for name, value in row.items():
            table[number, place[name]] = value
    found = np.zeros(len(names))
    for _ in range(25):
        expected = 1 / (1 + np.exp(-table @ found))
        slope = table.T @ (weights * (expected - targets)) + penalty * found
        curve = (table * (weights * expected * (1 - expected))[:, None]).T @ table + penalty * np.eye(len(names))
        found -= np.linalg.solve(curve, slope)
    return {name: round(float(value), 4) for name, value in zip(names, found, strict=True)}


def probabilities(model: Weights, rows: Sequence[Row]) -> Any:
    """Give what the model expects of each row."""
    scores = [sum(model.get(name, 0.0) * value for name, value in row.items()) for row in rows]
    return 1 / (1 + np.exp(-np.array(scores)))


def fold_of(turn: FollowUp) -> int:
    """Give the part of the data that a conversation belongs to."""
    return blake2b(turn.conversation.encode(), digest_size=1).digest()[0] % FOLDS


def crossed(rows: Sequence[Row], targets: Any, weights: Any, folds: Any, penalty: float) -> Any:
    """Give for each row what a model expects that was learned from the other folds."""
    found = np.zeros(len(rows))
    for fold in range(FOLDS):
        inside = np.flatnonzero(folds != fold)
        outside = np.flatnonzero(folds == fold)
        model = fit([rows[number] for number in inside], targets[inside], weights[inside], penalty)
        found[outside] = probabilities(model, [rows[number] for number in outside])
    return found


def balanced(datasets: Sequence[str], *, noisy: Mapping[str, float]) -> Any:
    """Give each row the weight by which a large data set counts more than a small one, but not as much more."""
    counts = Counter(datasets)
    found = np.array([noisy.get(name, 1.0) / counts[name] ** 0.5 for name in datasets])
    return found * len(found) / found.sum()


def learn_need(turns: Sequence[FollowUp], exchanges: Sequence[list[Exchange]]) -> tuple[Weights, Any]:
    """Give the weights of the need, and each turn's need as the other folds see it."""
    rows = [signs(turn.message, said) for turn, said in zip(turns, exchanges, strict=True)]
    seen = Counter(name for row in rows for name in row)
    rows = [{name: value for name, value in row.items() if seen[name] >= 2 * LEAST_COUNT} for row in rows]
    targets = np.array([float(bool(content(turn.manual) - content(turn.message))) for turn in turns])
    weights = balanced([turn.dataset for turn in turns], noisy=NOISY)
    for kind in (0.0, 1.0):
        weights[targets == kind] *= len(turns) / 2 / weights[targets == kind].sum()
    folds = np.array([fold_of(turn) for turn in turns])
    return fit(rows, targets, weights, NEED_PENALTY), crossed(rows, targets, weights, folds, NEED_PENALTY)


def learn_terms(
    turns: Sequence[FollowUp], exchanges: Sequence[list[Exchange]], needs: Any, empty: Model
) -> tuple[Weights, Weights]:
    """Give the weights of both stages; the second learns from what the first says of conversations it did not see."""
    rows: list[Row] = []
    places: list[int] = []
    found = [candidates_of(turn.message, said) for turn, said in zip(turns, exchanges, strict=True)]
    targets: list[float] = []
    for number, (turn, said) in enumerate(zip(turns, exchanges, strict=True)):
        wanted = content(turn.manual)
        for term, row in first_signs(turn.message, said, found[number], float(needs[number]), empty):
            rows.append(row)
            places.append(number)
            targets.append(float(any(content(word) & wanted for word in found[number][term].words)))
    wanted_terms = np.array(targets)
    weights = balanced([turns[number].dataset for number in places], noisy={})
    folds = np.array([fold_of(turns[number]) for number in places])
    first = fit(rows, wanted_terms, weights, TERM_PENALTY)
    expected = crossed(rows, wanted_terms, weights, folds, TERM_PENALTY)
    later: list[Row] = []
    start = 0
    for candidates in found:
        own = dict(zip(candidates, map(float, expected[start : start + len(candidates)]), strict=True))
        own_rows = list(zip(candidates, rows[start : start + len(candidates)], strict=True))
        start += len(candidates)
        later += [row for _, row in second_signs(own_rows, candidates, own)] if candidates else []
    return first, fit(later, wanted_terms, weights, TERM_PENALTY)


def conversation_counts(turns: Sequence[FollowUp]) -> tuple[dict[str, int], int]:
    """Give in how many conversations each stem was said, and how many conversations there are."""
    said: defaultdict[str, set[str]] = defaultdict(set)
    for turn in turns:
        for message in turn.history:
            if message.role == "user" or turn.dataset not in QUOTES_OTHERS:
                said[turn.conversation] |= {mention.term for mention in mentions_in(message.content)}
    counts = Counter(term for terms in said.values() for term in terms)
    return {term: count for term, count in sorted(counts.items()) if count >= LEAST_COUNT}, len(said)


def main() -> None:
    """Learn and write the weights."""
    turns = [turn for turn in follow_ups(Path(sys.argv[1])) if turn.dataset in PERMISSIVE]
    exchanges = [exchanges_of(turn.history) for turn in turns]
    counts, conversation_count = conversation_counts(turns)
    need, needs = learn_need(turns, exchanges)
    first, second = learn_terms(turns, exchanges, needs, Model({}, {}, counts, conversation_count))
    learned = {
        "provenance": "bench/rewriting/training.py over CAsT (MIT), iKAT (MIT) and MTRAG (Apache-2.0)",
        "conversation_count": conversation_count, "need": need, "first": first, "second": second, "counts": counts,
    }  # fmt: skip
    PATH.write_text(json.dumps(learned, indent=0, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
