"""The statements that answer a question by the roles of its clause."""

from collections.abc import Sequence
from dataclasses import dataclass

from mrpvm.plugins.goal_solvers.symbolic.frames.asking import Asked, asked_by
from mrpvm.plugins.goal_solvers.symbolic.frames.discourse import Discourse
from mrpvm.plugins.goal_solvers.symbolic.frames.fitting import Fit, fits
from mrpvm.plugins.goal_solvers.symbolic.statements import Statement


@dataclass(frozen=True, slots=True)
class Framed:
    """Statements that answer, with the bare values; `is_undecided` where they give more than one answer."""

    statements: tuple[Statement, ...]
    values: tuple[str, ...]
    is_undecided: bool = False
    verdict: bool | None = None


def framed_answer(text: str, statements: Sequence[Statement]) -> Framed | None:
    """Give the answer to a question that asks for a value, or None."""
    asked = asked_by(text)
    if asked is None or asked.wants in ("verdict", "reason"):
        return None
    found = fits(asked, Discourse(statements))
    return _decided(asked, found) if found else None


def _decided(asked: Asked, found: list[Fit]) -> Framed:
    first = found[0]
    rivals = [fit for fit in found[1:] if not _agree(first, fit)]
    statements = [fit.told.statement for fit in found] if rivals else [first.told.statement]
    return Framed(tuple(statements), first.values, is_undecided=bool(rivals))


def _agree(left: Fit, right: Fit) -> bool:
    one, other = (set(" ".join(fit.values).lower().split()) for fit in (left, right))
    return one <= other or other <= one
