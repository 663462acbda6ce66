"""The figures of the product's gate and term selection, averaged over data sets, beside simple baselines."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from bench.rewriting.crossing import PARTS, can_be_crossed, crossed
from bench.rewriting.scores import Judgements, Rewrites, by_dataset, content
from bench.rewriting.turns import FollowUp, follow_ups
from mrpvm.conversation.rewriting import needs_rewrite, rewrite
from mrpvm.conversation.rewriting.rewrite import meaning_of
from mrpvm.conversation.rewriting.said import exchanges_of, mentions_in, words_of
from mrpvm.conversation.rewriting.signals import need_probability
from mrpvm.conversation.rewriting.weights import RewritingWeights, learned

LEAST_PROBABILITY = 0.3
"""From here on a term counts as added: there the precision of added terms is above .45, in held-out folds too."""
LEAST_NEED = 0.5
"""Above this a message counts as one that needs what was said before it."""
LEARNED = "the product's weights"
_PRONOUNS = frozenset("it its this that they them their these those he she him his her".split())  # noqa: SIM905  easier to read
_GATE_GOALS = {"bal. acc.": 0.70, "AUC": 0.77}
_TERM_GOALS = {"F1c": 0.70, "MR": 0.27, "P": 0.45}
_GATE_HEAD, _TERMS_HEAD = f"needs what was said before, p > {LEAST_NEED}", f"what it means, p >= {LEAST_PROBABILITY}"


@dataclass(frozen=True, slots=True)
class Gate:
    """A way to judge whether a message needs the earlier messages."""

    name: str
    judge: Callable[[FollowUp], bool]


@dataclass(frozen=True, slots=True)
class Rewriter:
    """A way to rewrite a message."""

    name: str
    write: Callable[[FollowUp], str]


def _naive(turn: FollowUp) -> bool:
    words = words_of(turn.message)
    leans = not _PRONOUNS.isdisjoint(words) or words[:2] in (["what", "about"], ["how", "about"])
    return leans or len(mentions_in(turn.message)) <= 2


def _with_last_question(turn: FollowUp) -> str:
    return " ".join([turn.message, *[item.content for item in turn.history if item.role == "user"][-1:]])


GATES = (
    Gate("always", lambda turn: True),
    Gate("pronoun, ellipsis or short", _naive),
    Gate("the seed's rule", lambda turn: needs_rewrite(turn.message)),
)
REWRITERS = (
    Rewriter("as it is", lambda turn: turn.message),
    Rewriter("with the last question", _with_last_question),
    Rewriter("the rules' sentence", lambda turn: rewrite(turn.message, turn.history).rewritten_query),
)


def report(directory: Path) -> Iterator[str]:
    """Yield each line of the report as soon as it is measured."""
    turns = list(follow_ups(directory))
    if not turns:
        yield f"rewriting over {directory.name}: skipped, the directory holds no rewrite*.json"
        return
    names = list(dict.fromkeys(turn.dataset for turn in turns))
    yield f"rewriting over {directory.name}: {len(turns)} follow-ups of {len(names)} data sets ({', '.join(names)})"
    yield f"{_GATE_HEAD:36}{'bal. acc.':>10}{'AUC':>8}"
    for gate in GATES:
        verdicts = ((turn, gate.judge(turn)) for turn in turns)
        yield _row(gate.name, _gate_figures((turn, float(verdict), verdict) for turn, verdict in verdicts))
    yield f"{_TERMS_HEAD:36}{'F1c':>10}{'MR':>8}{'P':>8}"
    for rewriter in REWRITERS:
        yield _row(rewriter.name, _term_figures((turn, rewriter.write(turn)) for turn in turns))
    yield f"{'both, by learned weights':36}{'bal. acc.':>10}{'AUC':>8}{'F1c':>8}{'MR':>8}{'P':>8}"
    yield from _learned_rows(LEARNED, ((turn, learned()) for turn in turns))
    yield from _crossed_rows(turns)


def _crossed_rows(turns: list[FollowUp]) -> Iterator[str]:
    """Return the cross-validated figures."""
    if not can_be_crossed(turns):
        yield "  learned from others: skipped, the directory holds too little that may be learned from"
        return
    for name, part_of in PARTS.items():
        yield from _learned_rows(name, crossed(turns, part_of))


def _learned_rows(name: str, judged: Iterable[tuple[FollowUp, RewritingWeights]]) -> Iterator[str]:
    gate: list[tuple[FollowUp, float, bool]] = []
    written: list[tuple[FollowUp, str]] = []
    for turn, weights in judged:
        need, terms = meaning_of(turn.message, turn.history, weights)
        gate.append((turn, need_probability(turn.message, exchanges_of(turn.history), weights), need > LEAST_NEED))
        meant = (item.word for item in terms if item.probability >= LEAST_PROBABILITY)
        written.append((turn, " ".join([turn.message, *meant])))
    figures = _gate_figures(gate) | _term_figures(written)
    goals = _GATE_GOALS | _TERM_GOALS
    yield _row(name, figures)
    held = (f"{key} {'>=' if figures[key] >= least else '<'} {least:.2f}" for key, least in goals.items())
    yield f"    {', '.join(held)}"


def _gate_figures(judged: Iterable[tuple[FollowUp, float, bool]]) -> dict[str, float]:
    tallies = by_dataset(Judgements)
    for turn, probability, verdict in judged:
        tallies[turn.dataset].add(bool(content(turn.manual) - content(turn.message)), probability, verdict)
    return {
        "bal. acc.": mean(tally.balanced_accuracy for tally in tallies.values()),
        "AUC": mean(tally.area for tally in tallies.values()),
    }


def _term_figures(written: Iterable[tuple[FollowUp, str]]) -> dict[str, float]:
    tallies = by_dataset(Rewrites)
    for turn, text in written:
        tallies[turn.dataset].add(turn.message, turn.manual, text)
    columns = zip(*(tally.figures for tally in tallies.values()), strict=True)
    return dict(zip(_TERM_GOALS, map(mean, columns), strict=True))


def _row(name: str, figures: Mapping[str, float]) -> str:
    values = list(figures.values())
    return f"  {name:34}{values[0]:10.3f}" + "".join(f"{value:8.3f}" for value in values[1:])
