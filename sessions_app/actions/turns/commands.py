"""The entry of a command that was answered without a model."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from mrpvm.commands import CommandResult
from mrpvm.preview import preview
from sessions_app.actions.settings.audit import asking_name
from sessions_app.actions.turns.conditions import digest_of, store_conditions
from sessions_app.models import ExplainabilityTurn, Session


def record_command(
    locked: Session,
    text: str,
    result: CommandResult,
    duration_ms: int,
    client_request: Mapping[str, Any] | None,
    conditions: Mapping[str, Any],
) -> ExplainabilityTurn:
    """Store and return the entry of a command in the locked session, whose `turn_sequence` the caller saves.

    Args:
        conditions: the conditions that it shares with other commands.
    """
    locked.turn_sequence += 1
    return ExplainabilityTurn.objects.create(
        session=locked,
        turn_index=locked.turn_sequence,
        kind=ExplainabilityTurn.Kind.COMMAND,
        status=ExplainabilityTurn.Status.SUCCEEDED,
        outcome=ExplainabilityTurn.Outcome.COMMAND,
        finished_at=timezone.now(),
        duration_ms=duration_ms,
        user_message=text,
        asked_by=asking_name(),
        assistant_preview=preview(result.message),
        deliberation_level=locked.preferred_deliberation_level,
        command_result=result.as_record(),
        client_request=client_request,
        conditions_id=store_conditions(locked.project_id, digest_of(conditions), conditions),
    )
