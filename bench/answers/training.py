"""`python -m bench.answers.training DIRECTORY`: learn the scorer's weights and threshold.

Provenance: SQuAD 2.0 development set (Rajpurkar et al., CC BY-SA 4.0), of which only weights and document frequencies
of stems are kept. Each question is asked of its paragraph and of its whole article. The weights are learned
from both, and the threshold keeps within the risk in both. The printed calibration figures are of articles
that the weights were not learned from (five folds). All vectors are computed before
the first question, so that the same data and grammar give the same file.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from copy import replace
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path

import numpy as np
from msgspec import to_builtins

from bench.databases import django_on_new_database
from mrpvm.english.scoring.scorer import Passage, Scored, signs_of, sure_signs
from mrpvm.english.scoring.weights import PATH, Model, Weights, probability

PROVENANCE = "bench/answers/training.py over SQuAD 2.0 (Rajpurkar et al., CC BY-SA 4.0), ten articles"
FOLDS = 5
LEAST_COUNT = 4
ENCODED_SAMPLE = 16
"""Paragraphs of an article whose questions the model with vectors is learned from."""
RANK_PENALTY, SURE_PENALTY = 3.0, 10.0
MOST_WRONG, MOST_MISLED = 0.015, 0.088
"""The risk that the cut is chosen for, grammar and scorer together: of the answerable questions stated wrongly, and of
the unanswerable ones stated at all."""
BANDS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.01)
"""Ranges of confidence that are compared with how often it was justified."""
LEAST_SHARED = 0.12
"""What a passage has to share with a question to be quoted, of the most that it could: off-topic ones share less."""
type Row = dict[str, float]


@dataclass(frozen=True, slots=True)
class Example:
    """A question, the sentences that the machine found for it, and which of them contain the answer.

    `is_whole` says that the base held the whole article and not only the paragraph.
    """

    article: str
    is_whole: bool
    question: str
    is_answerable: bool
    passages: tuple[Passage, ...]
    right: tuple[bool, ...]
    may_state: tuple[bool, ...]
    signs: tuple[Row, ...]
    by_grammar: bool | None
    """Whether the grammar stated the answer rightly, None where it stated none."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A held-out question: the probability of its best sentence, and whether that sentence is right."""

    example: Example
    sure: float
    is_right: bool
    may_state: bool


def fit(rows: Sequence[Row], targets: Sequence[bool], penalty: float) -> Row:
    """Return the weights of a logistic model with an L2 penalty, by Newton's method."""
    names = sorted({name for row in rows for name in row})
    table = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    wanted = np.array(targets, float)
    fitted = np.zeros(len(names))
    for _ in range(30):
        expected = 1 / (1 + np.exp(-table @ fitted))
        slope = table.T @ (expected - wanted) + penalty * fitted
        curve = (table * (expected * (1 - expected))[:, None]).T @ table + penalty * np.eye(len(names))
        step = np.linalg.solve(curve, slope)
        fitted -= step
        if np.abs(step).max() < 1e-6:
            break
    return {name: round(float(value), 4) for name, value in zip(names, fitted, strict=True)}


def rank_model(examples: Sequence[Example]) -> Row:
    """Return the model that orders the sentences of a question."""
    answerable = [example for example in examples if example.is_answerable]
    rows = [row for example in answerable for row in example.signs]
    return fit(rows, [right for example in answerable for right in example.right], RANK_PENALTY)


def ranked(example: Example, rank: Row) -> list[Scored]:
    """Return the sentences, the best first."""
    scored = [Scored(place, probability(rank, row), row) for place, row in enumerate(example.signs)]
    return sorted(scored, key=lambda item: (-item.probability, item.place))


def sure_model(examples: Sequence[Example]) -> Row:
    """Return the model of the best sentence's probability, learned from the ranks of held-out articles."""
    rows, targets = [], []
    articles = sorted({example.article for example in examples})
    for part in (articles[0::2], articles[1::2]):
        rank = rank_model([example for example in examples if example.article not in part])
        for example in examples:
            if example.article in part and example.signs:
                order = ranked(example, rank)
                rows.append(sure_signs(order))
                targets.append(example.right[order[0].place])
    return fit(rows, targets, SURE_PENALTY)


def held_out(examples: Sequence[Example]) -> Iterator[Judged]:
    """Yield every question, judged by a model of the other articles."""
    articles = sorted({example.article for example in examples})
    for fold in range(FOLDS):
        part = articles[fold::FOLDS]
        others = [example for example in examples if example.article not in part]
        rank, sure = rank_model(others), sure_model(others)
        for example in examples:
            if example.article in part and example.signs:
                order = ranked(example, rank)
                best = order[0].place
                likely = probability(sure, sure_signs(order))
                yield Judged(example, likely, example.right[best], example.may_state[best])


def chosen_cut(judged: Sequence[Judged]) -> float:
    """Return the lowest threshold that keeps stated answers, the grammar's included, within the risk."""
    answerable = sum(item.example.is_answerable for item in judged) or 1
    misleading = (len(judged) - answerable) or 1
    by_grammar = [item for item in judged if item.example.by_grammar is not None]
    wrong = sum(item.example.is_answerable and not item.example.by_grammar for item in by_grammar)
    misled = sum(not item.example.is_answerable for item in by_grammar)
    cut = 1.0
    scored = [item for item in judged if item.example.by_grammar is None and item.may_state]
    for item in sorted(scored, key=lambda item: -item.sure):
        wrong += item.example.is_answerable and not item.is_right
        misled += not item.example.is_answerable
        if wrong <= MOST_WRONG * answerable and misled <= MOST_MISLED * misleading:
            cut = item.sure
    return round(cut, 4)


def report(judged: Sequence[Judged], cut: float) -> Iterator[str]:
    """Yield the figures of the held-out articles."""
    answerable = [item for item in judged if item.example.is_answerable]
    others = [item for item in judged if not item.example.is_answerable]

    def stated(item: Judged) -> bool:
        return item.example.by_grammar is not None or (item.may_state and item.sure >= cut)

    def right(item: Judged) -> bool:
        return item.is_right if item.example.by_grammar is None else item.example.by_grammar

    yield f"{len(answerable)} answerable, {len(others)} unanswerable questions; stated from {cut:.3f} on"
    yield f"best sentence right   {sum(item.is_right for item in answerable) / len(answerable):.3f}"
    yield f"stated and right      {sum(stated(item) and right(item) for item in answerable) / len(answerable):.3f}"
    yield f"stated and wrong      {sum(stated(item) and not right(item) for item in answerable) / len(answerable):.3f}"
    yield f"unanswerable, stated  {sum(map(stated, others)) / len(others):.3f}"


def calibration(judged: Sequence[Judged]) -> Iterator[str]:
    """Yield the mean confidence and the share of right best sentences for each range of confidence."""
    gaps = 0.0
    for least, most in pairwise(BANDS):
        held = [item for item in judged if least <= item.sure < most]
        if held:
            expected = sum(item.sure for item in held) / len(held)
            observed = sum(item.is_right for item in held) / len(held)
            gaps += abs(expected - observed) * len(held) / len(judged)
            yield f"sure {expected:.2f}, right {observed:.2f} of {len(held)}"
    yield f"mean difference       {gaps:.3f}"


def learn(examples: Sequence[Example]) -> Model:
    """Return what is learned from the examples, and print the figures of held-out articles."""
    judged = list(held_out(examples))
    whole = [item for item in judged if item.example.is_whole]
    alone = [item for item in judged if not item.example.is_whole]
    cut = max(chosen_cut(whole), chosen_cut(alone))
    for name, items in (("articles", whole), ("paragraphs", alone)):
        print(name)
        for line in (*report(items, cut), *calibration(items)):
            print(line, flush=True)
    return Model(rank=rank_model(examples), sure=sure_model(examples), stated=cut)


def examples_of(directory: Path, sample: int, weights: Weights, *, embeds: bool) -> list[Example]:
    """Return what the machine finds for the questions of the directory's articles."""
    from bench.answers.asking import WatchedMachine
    from bench.answers.collections import read_articles, sampled
    from bench.answers.judging import holds
    from mrpvm.plugins.goal_solvers.symbolic.quoting import SCORER, may_be_stated, quotable_sentences

    examples = []
    with WatchedMachine(embeds=embeds) as machine:
        for article in read_articles(directory):
            whole = machine.mounted_text("\n\n".join(passage.text for passage in article), "text.txt")
            for passage in sampled(article, sample):
                alone = machine.mounted_text(passage.text, "text.txt")
                for question, head in product(passage.questions, (whole, alone)):
                    reply = machine.ask(question.text, head)
                    entries = {
                        entry.unit.id: entry
                        for request in machine.solver.requests
                        for evidence in request.evidence
                        for entry in evidence.entries
                    }
                    candidates = quotable_sentences(question.text, tuple(entries.values()))
                    passages = tuple(item.passage for item in candidates)
                    is_grammar = any(not group.reason.startswith(SCORER) for group in reply.groups)
                    examples.append(
                        Example(
                            article=passage.title,
                            is_whole=head is whole,
                            question=question.text,
                            is_answerable=bool(question.answers),
                            passages=passages,
                            right=tuple(holds(item.text, question.answers) for item in passages),
                            may_state=tuple(may_be_stated(question.text, item) for item in candidates),
                            signs=tuple(signs_of(question.text, passages, weights)),
                            by_grammar=holds(reply.shown, question.answers)
                            if is_grammar and reply.basis in ("stated", "composed")
                            else None,
                        )
                    )
    return examples


def main() -> None:
    """Learn, print the held-out figures, and write the weights beside the scorer. The embedding model is needed."""
    parser = argparse.ArgumentParser(prog="python -m bench.answers.training", description="Learn the scorer's weights.")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--sample", type=int, default=1000, help="paragraphs of an article")
    given = parser.parse_args()
    with django_on_new_database():
        from bench.answers.collections import read_articles
        from mrpvm.english.words.text import unique_terms

        texts = [passage.text for article in read_articles(given.directory) for passage in article]
        counts = Counter(term for text in texts for term in unique_terms(text))
        empty = Model(rank={}, sure={}, stated=1.0)
        known = {name: count for name, count in sorted(counts.items()) if count >= LEAST_COUNT}
        learned = Weights(words=empty, meaning=empty, quoted=LEAST_SHARED, counts=known, paragraph_count=len(texts))
        models = {}
        # Those with vectors first: what is mounted for words alone needs none.
        for name, count in (("meaning", min(given.sample, ENCODED_SAMPLE)), ("words", given.sample)):
            print(name, flush=True)
            models[name] = learn(examples_of(given.directory, count, learned, embeds=name == "meaning"))
    learned = replace(learned, **models)
    PATH.write_text(json.dumps({"provenance": PROVENANCE} | to_builtins(learned), indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
