"""The figures of the product's gate and term selection, macro over data sets, beside naive ways of the same run."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from bench.rewriting.scores import Judgements, Rewrites, by_dataset, content
from bench.rewriting.turns import FollowUp, follow_ups
from mrpvm.conversation.rewriting import needs_rewrite, rewrite
from mrpvm.conversation.rewriting.said import mentions_in, words_of

LEAST_PROBABILITY = 0.27
"""From here on a term counts as added: where the precision of added terms is at least .45."""
_PRONOUNS = frozenset("it its this that they them their these those he she him his her".split())  # noqa: SIM905  easier to read


@dataclass(frozen=True, slots=True)
class Gate:
    """A way to judge whether a message needs what was said before: its probability and its verdict."""

    name: str
    judge: Callable[[FollowUp], tuple[float, bool]]


@dataclass(frozen=True, slots=True)
class Rewriter:
    """A way to say what a message means."""

    name: str
    write: Callable[[FollowUp], str]


def _product_gate(turn: FollowUp) -> tuple[float, bool]:
    need = rewrite(turn.message, turn.history).need_probability
    return need, need > 0.5


def _product_words(turn: FollowUp) -> str:
    found = rewrite(turn.message, turn.history).terms
    return " ".join([turn.message, *(item.word for item in found if item.probability >= LEAST_PROBABILITY)])


def _naive(turn: FollowUp) -> tuple[float, bool]:
    words = words_of(turn.message)
    leans = not _PRONOUNS.isdisjoint(words) or words[:2] in (["what", "about"], ["how", "about"])
    verdict = leans or len(mentions_in(turn.message)) <= 2
    return float(verdict), verdict


def _with_last_question(turn: FollowUp) -> str:
    return " ".join([turn.message, *[item.content for item in turn.history if item.role == "user"][-1:]])


def _by_rule(turn: FollowUp) -> tuple[float, bool]:
    verdict = needs_rewrite(turn.message)
    return float(verdict), verdict


GATES = (
    Gate("always", lambda turn: (1.0, True)),
    Gate("pronoun, ellipsis or short", _naive),
    Gate("the seed's rule", _by_rule),
    Gate("learned probability > .5", _product_gate),
)
REWRITERS = (
    Rewriter("as it is", lambda turn: turn.message),
    Rewriter("with the last question", _with_last_question),
    Rewriter("the rules' sentence", lambda turn: rewrite(turn.message, turn.history).rewritten_query),
    Rewriter(f"selected terms, p >= {LEAST_PROBABILITY}", _product_words),
)


def report(directory: Path) -> Iterator[str]:
    """Give the lines of the report."""
    turns = list(follow_ups(directory))
    if not turns:
        yield f"rewriting over {directory.name}: skipped, the directory holds no rewrite*.json"
        return
    names = list(dict.fromkeys(turn.dataset for turn in turns))
    yield f"rewriting over {directory.name}: {len(turns)} follow-ups of {len(names)} data sets ({', '.join(names)})"
    yield f"{'needs what was said before':36}{'bal. acc.':>10}{'AUC':>8}"
    for gate in GATES:
        judged = by_dataset(Judgements)
        for turn in turns:
            judged[turn.dataset].add(bool(content(turn.manual) - content(turn.message)), *gate.judge(turn))
        accuracy, area = (
            mean(getattr(item, name) for item in judged.values()) for name in ("balanced_accuracy", "area")
        )
        goal = _verdict({"bal. acc.": (accuracy, 0.70), "AUC": (area, 0.77)}) if gate is GATES[-1] else ""
        yield f"  {gate.name:34}{accuracy:10.3f}{area:8.3f}{goal}"
    yield f"{'what it means':36}{'F1c':>10}{'MR':>8}{'P':>8}"
    for rewriter in REWRITERS:
        yield _rewriting_row(rewriter, turns)


def _rewriting_row(rewriter: Rewriter, turns: list[FollowUp]) -> str:
    tallies = by_dataset(Rewrites)
    for turn in turns:
        tallies[turn.dataset].add(turn.message, turn.manual, rewriter.write(turn))
    f1, recall, precision = (mean(column) for column in zip(*(item.figures for item in tallies.values()), strict=True))
    goals = {"F1c": (f1, 0.70), "MR": (recall, 0.27), "P": (precision, 0.45)}
    goal = _verdict(goals) if rewriter is REWRITERS[-1] else ""
    return f"  {rewriter.name:34}{f1:10.3f}{recall:8.3f}{precision:8.3f}{goal}"


def _verdict(goals: Mapping[str, tuple[float, float]]) -> str:
    return "   " + ", ".join(
        f"{name} {'>=' if value >= least else '<'} {least:.2f}" for name, (value, least) in goals.items()
    )
