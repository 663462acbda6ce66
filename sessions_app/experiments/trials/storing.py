"""Stores the outcome of a trial: its row, and its trace in the form of a turn's."""

from datetime import timedelta

from django.db import transaction

from mrpvm.wire import to_wire
from sessions_app.experiments.replays.recorded import RecordedTurn
from sessions_app.experiments.trials.trial import TrialOutcome
from sessions_app.models import ExplainabilityTurn, Trial
from sessions_app.models.named_sql import write_all
from sessions_app.turns.entry import fill_answer, fill_end
from sessions_app.turns.trace_writer import TraceWriter


def fill_trial(trial: Trial, recorded: RecordedTurn, outcome: TrialOutcome) -> Trial:
    """Fill a trial's unsaved row with its outcome."""
    trial.turn = recorded.turn if recorded.turn.pk else None
    trial.changes = outcome.changes.as_record()
    trial.status = outcome.status
    trial.answer = outcome.answer
    trial.answer_status, trial.basis = outcome.answer_status or "", outcome.basis
    trial.cited_unit_ids = list(outcome.cited_unit_ids)
    trial.plugins = to_wire(outcome.used)
    trial.token_count, trial.duration_ms = outcome.token_count, outcome.duration_ms
    trial.cost = outcome.cost
    trial.has_effect = outcome.has_effect
    trial.error = dict(outcome.error) if outcome.error else None
    trial.missing_request = dict(outcome.missing_request) if outcome.missing_request else None
    return trial


@transaction.atomic
def store_trial(trial: Trial, recorded: RecordedTurn, outcome: TrialOutcome) -> None:
    """Store a trial's outcome and trace."""
    fill_trial(trial, recorded, outcome).save()
    trial.trace = _store_trace(trial, recorded, outcome)
    trial.save(update_fields=["trace"])


def _store_trace(trial: Trial, recorded: RecordedTurn, outcome: TrialOutcome) -> ExplainabilityTurn:
    origin, session = recorded.turn, recorded.turn.session
    turn = ExplainabilityTurn(
        session=session,
        turn_index=origin.turn_index,
        trial_number=trial.pk,
        user_message=outcome.message,
        # Its pages show the session as it was at the turn that was tried.
        created_at=origin.created_at,
        deliberation_level=outcome.deliberation_level,
        model=recorded.state.asked.model,
        context_report=outcome.report.as_record(),
        token_count=outcome.token_count,
        error=dict(outcome.error) if outcome.error else None,
    )
    if outcome.document is not None:
        fill_answer(turn, outcome.document, outcome.answer)
    is_answered = outcome.document is not None
    status = ExplainabilityTurn.Status.SUCCEEDED if is_answered else ExplainabilityTurn.Status.FAILED
    fill_end(turn, status, outcome.answer_status, outcome.used, outcome.basis)
    turn.duration_ms = outcome.duration_ms
    turn.finished_at = turn.created_at + timedelta(milliseconds=outcome.duration_ms)
    turn.save(force_insert=True)
    writer = TraceWriter(turn)
    for event in outcome.events:
        writer.add(event)
    write_all(writer.finish(with_ledger=is_answered))
    return turn
