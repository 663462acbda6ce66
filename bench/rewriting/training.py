"""`python -m bench.rewriting.training DIRECTORY`: learn the weights of the gate, the need and the terms.

Provenance: CAsT 2019 to 2022 (daltonj/treccastweb, MIT), iKAT 2023 and 2024 (irlabamsterdam/iKAT, MIT) and MTRAG
(IBM/mt-rag-benchmark, Apache-2.0), and as unrelated questions those about our own stories (stories/) and
those of SQuAD 2.0 (Rajpurkar et al., CC BY-SA 4.0). Data sets of other licences in the directory are
skipped. Only weights and document frequencies of stems are kept. The same data give the same file.
"""

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from copy import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import to_builtins

from bench.answers.collections import read_articles
from bench.evaluation.suites import DEVELOPMENT, FURTHER, load_suites
from bench.rewriting.scores import content
from bench.rewriting.turns import FollowUp, follow_ups
from mrpvm.conversation.rewriting.said import Exchange, exchanges_of, mentions_in
from mrpvm.conversation.rewriting.signals import signs, with_crossed
from mrpvm.conversation.rewriting.terms import TermCandidate, first_signs, second_signs
from mrpvm.conversation.rewriting.weights import PATH, RewritingWeights

PERMISSIVE = frozenset({"cast19", "cast20", "cast21", "cast22", "ikat23", "ikat24", "mtrag"})
QUOTES_OTHERS = frozenset({"cast21", "cast22"})
"""Their answers quote passages of other licences: no word of them is counted."""
FOLDS = 5
LEAST_COUNT = 4
FEWEST_ROWS = 8
"""A sign that fewer messages have is not learned from."""
NEED_PENALTY, TERM_PENALTY = 10.0, 5.0
NOISY = {"mtrag": 0.5}
"""Weight of the data set whose people rewrite for style as well: whether one needs it says little there."""
REWRITTEN = 0.1
"""Weight of a message as people rewrote it, beside the message itself: it needs nothing that was said before."""
OWN_SHARE, ASKED_SHARE = 0.25, 0.5
"""What questions about our own stories count among those of other matters, and those that people asked of articles."""
OF_CONVERSATIONS = frozenset({"unanswered", *(f"turns {count}" for count in range(1, 5))})
"""Signs of a conversation, not of a message, from which nothing is learned about who goes on from it."""
STEPS, SMALL_STEP = 25, 1e-6
type Row = Mapping[str, float]
type Model = dict[str, float]


def fit(rows: Sequence[Row], targets: Any, weights: Any, penalty: float) -> Model:
    """Return the weights of a logistic model with an L2 penalty, by Newton's method."""
    names = sorted({name for row in rows for name in row})
    place = {name: number for number, name in enumerate(names)}
    table = np.zeros((len(rows), len(names)))
    for number, row in enumerate(rows):
        for name, value in row.items():
            table[number, place[name]] = value
    fitted = np.zeros(len(names))
    for _ in range(STEPS):
        expected = 1 / (1 + np.exp(-table @ fitted))
        slope = table.T @ (weights * (expected - targets)) + penalty * fitted
        curve = (table * (weights * expected * (1 - expected))[:, None]).T @ table + penalty * np.eye(len(names))
        step = np.linalg.solve(curve, slope)
        fitted -= step
        if np.abs(step).max() < SMALL_STEP:
            break
    return {name: round(float(value), 4) for name, value in zip(names, fitted, strict=True)}


def probabilities(model: Model, rows: Sequence[Row]) -> Any:
    """Return the model's probability for each row."""
    scores = [sum(model.get(name, 0.0) * value for name, value in row.items()) for row in rows]
    return 1 / (1 + np.exp(-np.array(scores)))


def fold_of(turn: FollowUp, salt: str = "") -> int:
    """Return the fold of a conversation."""
    return blake2b((salt + turn.conversation).encode(), digest_size=1).digest()[0] % FOLDS


def balanced(datasets: Sequence[str], *, noisy: Mapping[str, float]) -> Any:
    """Return the weight of each row. A large data set counts more than a small one, but less than in proportion."""
    counts = Counter(datasets)
    weights = np.array([noisy.get(name, 1.0) / counts[name] ** 0.5 for name in datasets])
    return weights * len(weights) / weights.sum()


def learn_need(turns: Sequence[FollowUp], exchanges: Sequence[list[Exchange]], counted: RewritingWeights) -> Model:
    """Return the weights of the need, learned from messages and from people's rewrites of those that needed one."""
    pairs = list(zip(turns, exchanges, strict=True))
    own = [signs(turn.message, said, counted.rarity) for turn, said in pairs]
    needed = [bool(content(turn.manual) - content(turn.message)) for turn in turns]
    rewritten = [number for number, needs in enumerate(needed) if needs]
    rows = own + [signs(turns[number].manual, exchanges[number], counted.rarity) for number in rewritten]
    seen = Counter(name for row in own for name, value in row.items() if value)
    rows = [{name: value for name, value in row.items() if seen[name] >= FEWEST_ROWS} for row in rows]
    targets = np.array([*map(float, needed), *(0.0 for _ in rewritten)])
    weights = balanced([turn.dataset for turn in turns], noisy=NOISY)
    weights = np.concatenate([weights, weights[rewritten] * REWRITTEN])
    for kind in (0.0, 1.0):
        weights[targets == kind] *= len(turns) / 2 / weights[targets == kind].sum()
    return fit(rows, targets, weights, NEED_PENALTY)


def learn_follows(
    turns: Sequence[FollowUp], exchanges: Sequence[list[Exchange]], counted: RewritingWeights, questions: Sequence[str]
) -> Model:
    """Return the weights that tell messages that need their conversation from unrelated questions.

    Unrelated are rewritten messages of other conversations, questions about our own stories, which are
    short, and `questions` of articles. Each conversation is paired with all of them, so its length and whether it was
    answered carry no information.
    """
    needing = [number for number, turn in enumerate(turns) if content(turn.manual) - content(turn.message)]
    strangers = [stranger_to(turn, turns) for turn in turns]
    shares = {OWN_SHARE: own_questions(), ASKED_SHARE: questions}
    others = [(chosen(texts, turn), share) for share, texts in shares.items() if texts for turn in turns]
    rows = [with_crossed(signs(turns[number].message, exchanges[number], counted.rarity)) for number in needing]
    rows += [
        with_crossed(signs(turn.manual, said, counted.rarity)) for turn, said in zip(strangers, exchanges, strict=True)
    ]
    rows += [
        with_crossed(signs(message, exchanges[place % len(turns)], counted.rarity))
        for place, (message, _) in enumerate(others)
    ]
    seen = Counter(name for row in rows for name, value in row.items() if value)
    known = {name for name, count in seen.items() if count >= FEWEST_ROWS and name not in OF_CONVERSATIONS}
    rows = [{name: value for name, value in row.items() if name in known} for row in rows]
    targets = np.array([1.0] * len(needing) + [0.0] * (len(rows) - len(needing)))
    datasets = [turns[number].dataset for number in needing], [turn.dataset for turn in strangers]
    needing_weights, stranger_weights = (balanced(names, noisy={}) / len(names) for names in datasets)
    other_weights = np.array([share for _, share in others]) / len(turns)
    stranger_weights = stranger_weights * (1 - other_weights.sum())
    weights = np.concatenate([needing_weights, stranger_weights, other_weights]) * len(needing)
    return fit(rows, targets, weights, NEED_PENALTY)


def asked_of_articles(directory: Path) -> list[str]:
    """Return the questions of the directory's `squad*.json` files."""
    articles = read_articles(directory)
    return [question.text for article in articles for passage in article for question in passage.questions]


def own_questions() -> list[str]:
    """Return the questions of our own stories, without the held-out ones."""
    suites = (*load_suites(DEVELOPMENT), *load_suites(FURTHER))
    return [question.input for suite in suites for question in suite.questions]


def stranger_to(turn: FollowUp, turns: Sequence[FollowUp]) -> FollowUp:
    """Return a turn of another conversation."""
    return chosen([other for other in turns if opening_of(other) != opening_of(turn)], turn)


def chosen[Item](items: Sequence[Item], turn: FollowUp) -> Item:
    """Return one of the items, always the same for the same turn."""
    digest = blake2b(f"{turn.conversation}:{turn.message}".encode(), digest_size=8).digest()
    return items[int.from_bytes(digest) % len(items)]


def opening_of(turn: FollowUp) -> str:
    """Return the first message of the conversation. Several conversations of a topic may begin alike."""
    return turn.history[0].content if turn.history else turn.message


def learn(turns: Sequence[FollowUp], questions: Sequence[str] = ()) -> RewritingWeights:
    """Return what is learned. Each stage learns from held-out predictions of the stage before."""
    counts, conversation_count = conversation_counts(turns)
    counted = RewritingWeights(
        follows={}, need={}, first={}, second={}, counts=counts, conversation_count=conversation_count
    )
    exchanges = [exchanges_of(turn.history) for turn in turns]
    folds = np.array([fold_of(turn) for turn in turns])
    candidates: list[dict[str, TermCandidate]] = [{}] * len(turns)
    rows: list[list[tuple[str, dict[str, float]]]] = [[]] * len(turns)
    for inside, outside in _parts(folds):
        need = learn_need([turns[at] for at in inside], [exchanges[at] for at in inside], counted)
        judging = replace(counted, need=need)
        for at in outside:
            message, said = turns[at].message, exchanges[at]
            expected = float(probabilities(need, [signs(message, said, counted.rarity)])[0])
            candidates[at], rows[at] = first_signs(message, said, expected, judging)
    first, second = _learn_terms(turns, folds, candidates, rows)
    need, follows = learn_need(turns, exchanges, counted), learn_follows(turns, exchanges, counted, questions)
    return replace(counted, follows=follows, need=need, first=first, second=second)


def _parts(folds: Any) -> Iterator[tuple[Any, Any]]:
    """Return for each fold the indexes outside of it, to learn from, and those in it."""
    for fold in range(FOLDS):
        inside, outside = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        if len(inside) and len(outside):
            yield inside, outside


def _learn_terms(
    turns: Sequence[FollowUp], folds: Any, all_candidates: Sequence[dict[str, TermCandidate]],
    rows: Sequence[Sequence[tuple[str, dict[str, float]]]],
) -> tuple[Model, Model]:  # fmt: skip
    """Return the weights of both stages."""
    places = [at for at, own in enumerate(rows) for _ in own]
    flat = [row for own in rows for _, row in own]
    wanted = [content(turn.manual) for turn in turns]
    targets = np.array(
        [
            float(any(content(word) & wanted[at] for word in all_candidates[at][term].words))
            for at, own in enumerate(rows)
            for term, _ in own
        ]
    )
    weights = balanced([turns[at].dataset for at in places], noisy={})
    expected = np.zeros(len(flat))
    for inside, outside in _parts(folds[places]):
        model = fit([flat[at] for at in inside], targets[inside], weights[inside], TERM_PENALTY)
        expected[outside] = probabilities(model, [flat[at] for at in outside])
    later: list[Row] = []
    start = 0
    for candidates, own in zip(all_candidates, rows, strict=True):
        judged = dict(zip(candidates, map(float, expected[start : start + len(own)]), strict=True))
        start += len(own)
        later += [row for _, row in second_signs(own, candidates, judged)] if own else []
    return fit(flat, targets, weights, TERM_PENALTY), fit(later, targets, weights, TERM_PENALTY)


def conversation_counts(turns: Sequence[FollowUp]) -> tuple[dict[str, int], int]:
    """Return the number of conversations that contain each stem, and the number of all conversations."""
    said: defaultdict[str, set[str]] = defaultdict(set)
    for turn in turns:
        for message in turn.history:
            if message.role == "user" or turn.dataset not in QUOTES_OTHERS:
                said[turn.conversation] |= {mention.term for mention in mentions_in(message.content)}
    counts = Counter(term for terms in said.values() for term in terms)
    return {term: count for term, count in sorted(counts.items()) if count >= LEAST_COUNT}, len(said)


def main() -> None:
    """Learn and write the weights."""
    directory = Path(sys.argv[1])
    turns = [turn for turn in follow_ups(directory) if turn.dataset in PERMISSIVE]
    weights = learn(turns, asked_of_articles(directory))
    provenance = (
        "bench/rewriting/training.py over CAsT (MIT), iKAT (MIT), MTRAG (Apache-2.0), questions of SQuAD 2.0 "
        "(Rajpurkar et al., CC BY-SA 4.0) and own questions"
    )
    PATH.write_text(json.dumps({"provenance": provenance} | to_builtins(weights), indent=0, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
