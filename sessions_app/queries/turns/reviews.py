"""The review queue of a project, and what people think of its turns."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet

from sessions_app.models import ExplainabilityTurn, Project, QueuedTurn, TurnScore


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCounts:
    """How many turns the queue has, and how many of them a person has rated or skipped."""

    queued: int
    done: int


def queued_turns(project: Project) -> QuerySet[QueuedTurn]:
    """Return the queue, the oldest first; turns of deleted sessions are left out."""
    alive = QueuedTurn.objects.filter(project=project, turn__session__deleted_at=None)
    return alive.select_related("turn__session").order_by("id")


def is_done_by(person: str) -> Exists:
    """Return the condition that a person has rated or skipped a queued turn."""
    return Exists(TurnScore.objects.filter(turn=OuterRef("turn"), person=person))


def queue_counts(project: Project, person: str) -> QueueCounts:
    """Return how far a person is; two queries."""
    queue = queued_turns(project)
    return QueueCounts(queued=queue.count(), done=queue.filter(is_done_by(person)).count())


def next_queued(project: Project, person: str, after: int = 0) -> QueuedTurn | None:
    """Return the oldest queued turn behind the key `after` that a person has neither rated nor skipped; from there on
    from the beginning. None where all are done.
    """
    waiting = queued_turns(project).exclude(is_done_by(person))
    return waiting.filter(pk__gt=after).first() or waiting.first()


def queued_turn(project: Project, request_id: str) -> QueuedTurn | None:
    """Return a turn's place in the queue, None where it has none."""
    return queued_turns(project).filter(turn__request_id=request_id).first()


def scores_of(turn: ExplainabilityTurn) -> Sequence[TurnScore]:
    """Return what people think of a turn's answer, the oldest first."""
    return list(turn.scores.order_by("scored_at", "id"))
