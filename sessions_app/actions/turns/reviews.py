"""Add turns to the review queue, skip them and remove them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db import transaction

from mrpvm.errors import Conflict
from sessions_app.actions.experiments.experiments import Author
from sessions_app.actions.settings.audit import record
from sessions_app.models import AuditKind, ExplainabilityTurn, Project, QueuedTurn, TurnScore

MOST_QUEUED = 10_000
"""Turns of a project's review queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueResult:
    """How many turns were added, were in the queue already, or have no answer to rate."""

    added: int
    known: int
    unanswered: int


@transaction.atomic
def queue_turns(project: Project, turns: Sequence[ExplainabilityTurn], author: Author) -> QueueResult:
    """Add turns to the end of the project's queue, the oldest first.

    Raises:
        Conflict: the queue would have too many; none is added.
    """
    answered = [turn for turn in turns if turn.status == ExplainabilityTurn.Status.SUCCEEDED]
    known = set(QueuedTurn.objects.filter(turn__in=answered).values_list("turn_id", flat=True))
    new = sorted((turn for turn in answered if turn.pk not in known), key=lambda turn: turn.pk)
    count = QueuedTurn.objects.filter(project=project).count()
    if count + len(new) > MOST_QUEUED:
        raise Conflict(f"A review queue has at most {MOST_QUEUED} turns; this one has {count}.")
    QueuedTurn.objects.bulk_create(
        (QueuedTurn(project=project, turn=turn, added_by_name=author.name[:150]) for turn in new),
        ignore_conflicts=True,  # a concurrent request may have added one
    )
    if new:
        record(AuditKind.REVIEW_QUEUED, project.pk, "review queue", count=len(new))
    return QueueResult(added=len(new), known=len(known), unanswered=len(turns) - len(answered))


@transaction.atomic
def unqueue_turns(project: Project, request_ids: Collection[str] | None = None) -> int:
    """Remove the named turns from the queue, or all if none is named; return how many. Their scores stay."""
    queued = QueuedTurn.objects.filter(project=project)
    if request_ids is not None:
        queued = queued.filter(turn__request_id__in=request_ids)
    count, _ = queued.delete()
    if count:
        record(AuditKind.REVIEW_UNQUEUED, project.pk, "review queue", count=count)
    return count


def skip_turn(turn: ExplainabilityTurn, author: Author) -> None:
    """Store that a person has skipped a turn; an earlier rating by the person stays."""
    skipped = {"user": author.user, "value": TurnScore.Value.SKIPPED}
    with transaction.atomic():
        TurnScore.objects.get_or_create(turn=turn, person=author.name[:150], defaults=skipped)
