"""The longest transaction of each kind of retention over many turns."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from statistics import median
from typing import Any

import django
from django.db import transaction
from django.db.models import F

from bench.copied_rows import analyze, copy_rows
from sessions_app import models
from sessions_app.actions.sessions.removal import purge_batch
from sessions_app.actions.sessions.session import UNDO_PERIOD, create_session
from sessions_app.actions.settings.projects import ensure_default_project
from sessions_app.actions.settings.retention import choose_retention
from sessions_app.actions.upkeep import retention as work
from sessions_app.models import ExplainabilityTurn, Project, RetentionKind, Session
from sessions_app.queries.settings.retention import removal_preview
from sessions_app.turns.call import TurnCall
from sessions_app.turns.machine import install_plugins
from sessions_app.turns.pipeline import run_turn

TURNS_A_SESSION = 100
TRIALS_AN_EXPERIMENT, SPANS_A_TRACE = 100, 2_000
KINDS = ("trials", "imported-traces", "model-exchanges", "payloads", "audit", "traces", "messages")
SECONDS_A_KIND = 15.0
"""So long each kind is removed: every batch does the same work, so that the first thousand tell of all."""
AIM_MS = 200
_AGE_DAYS = 100


def report(turn_count: int) -> Iterator[str]:
    """Yield the lines of the report while it is measured."""
    project = ensure_default_project()
    began = time.perf_counter()
    _fill(project, turn_count)
    yield f"{'s to make the rows':44}{time.perf_counter() - began:10.0f}"
    began = time.perf_counter()
    removal_preview(project, dict.fromkeys(KINDS, 1))
    yield f"{'ms for a preview of all kinds':44}{(time.perf_counter() - began) * 1000:10.0f}"
    yield f"\n{'ms of a transaction':44}{'count':>10}{'p50':>10}{'longest':>10}"
    for kind in KINDS:
        with _timed_transactions() as times:
            _carry_out(project, kind)
        longest = max(times)
        verdict = "ok" if longest <= AIM_MS else f"more than {AIM_MS}"
        yield f"{kind:44}{len(times):10}{median(times):10.2f}{longest:10.2f}   {verdict}"
    with _timed_transactions() as times:
        _purge()
    yield f"{'purge of deleted sessions':44}{len(times):10}{median(times):10.2f}{max(times):10.2f}"


def _carry_out(project: Project, kind: str) -> None:
    choose_retention(project, {other.value: 0 for other in RetentionKind} | {kind: 1})
    work.SECONDS_AT_ONCE = SECONDS_A_KIND
    work.carry_out_retention()


def _purge() -> None:
    deleted = Session.objects.filter(deleted_at__isnull=False)
    deleted.update(deleted_at=django.utils.timezone.now() - 2 * UNDO_PERIOD)
    until = time.monotonic() + SECONDS_A_KIND
    for pk in list(deleted.values_list("pk", flat=True)):
        while time.monotonic() < until and purge_batch(pk):
            pass


@contextmanager
def _timed_transactions() -> Iterator[list[float]]:
    """Collect the milliseconds of each outermost transaction of this thread until the block ends."""
    times: list[float] = []
    begin, end, depth, began = transaction.Atomic.__enter__, transaction.Atomic.__exit__, 0, 0.0

    def enter(atomic: Any) -> None:
        nonlocal depth, began
        if not depth:
            began = time.perf_counter()
        depth += 1
        begin(atomic)

    def leave(atomic: Any, *error: Any) -> None:
        nonlocal depth
        try:
            end(atomic, *error)
        finally:
            depth -= 1
            if not depth:
                times.append((time.perf_counter() - began) * 1000)

    transaction.Atomic.__enter__, transaction.Atomic.__exit__ = enter, leave  # type: ignore[method-assign]
    try:
        yield times
    finally:
        transaction.Atomic.__enter__, transaction.Atomic.__exit__ = begin, end  # type: ignore[method-assign]


def _fill(project: Project, turn_count: int) -> None:
    """Store copies of one turn with all its rows, old enough to be removed, `TURNS_A_SESSION` a session."""
    install_plugins()
    session = create_session(project)
    run_turn(session, TurnCall(message="My dog is called Rex, and I like tea."))
    turn = run_turn(models.Session.objects.get(pk=session.pk), TurnCall(message="What is my dog called?")).turn
    by = timedelta(days=_AGE_DAYS)
    models.ExplainabilityTurn.objects.update(created_at=F("created_at") - by, turn_index=F("turn_index") + 1_000)
    models.Session.objects.update(
        last_activity_at=F("last_activity_at") - by,
        turn_sequence=TURNS_A_SESSION,
        event_sequence=TURNS_A_SESSION,
        message_sequence=2 * TURNS_A_SESSION,
    )
    # Stored before the copies, which take further keys, and dated today, so that trials and traces are removed first.
    trying, importing = create_session(project), create_session(project)
    first = models.Session.objects.order_by("-pk").values_list("pk", flat=True)[0] + 1
    of_session, of_turn = f"{first} + (n.i / {TURNS_A_SESSION})", f"{turn.pk} + 1 + n.i"
    sessions = turn_count // TURNS_A_SESSION
    copy_rows(models.Session, f"id = {session.pk}", sessions, {"id": f"{first} + n.i", "session_id": "'s-' || n.i"})
    own = {"id": of_turn, "session_id": of_session, "request_id": "'r-' || n.i"}
    copy_rows(
        models.ExplainabilityTurn, f"id = {turn.pk}", turn_count, {**own, "turn_index": f"n.i % {TURNS_A_SESSION}"}
    )
    copy_rows(models.TurnEvents, f"turn_id = {turn.pk}", turn_count, {"id": "1000 + n.i", "turn_id": of_turn})
    for number, message in enumerate(turn.messages.order_by("pk")):
        place = {"sequence": f"2 * (n.i % {TURNS_A_SESSION}) + {number + 1}", "id": f"1000 + 2 * n.i + {number}"}
        places = {**place, "session_id": of_session, "turn_id": of_turn}
        copy_rows(models.Message, f"id = {message.pk}", turn_count, places)
    event = models.SessionEvent.objects.filter(session=session, kind="turn.committed").latest("pk")
    place = {"id": "1000 + n.i", "session_id": of_session, "sequence": f"n.i % {TURNS_A_SESSION} + 1"}
    copy_rows(models.SessionEvent, f"id = {event.pk}", turn_count, place)
    step = models.UnitEvent.objects.filter(session=session).latest("pk")
    own = {"id": "1000 + n.i", "session_id": of_session, "turn_id": of_turn}
    copy_rows(models.UnitEvent, f"id = {step.pk}", turn_count, own)
    entry = models.AuditEntry.objects.create(
        project=project, kind="base.renamed", actor_kind="server", actor="server", subject="x",
        at=session.created_at - by,
    )  # fmt: skip
    copy_rows(models.AuditEntry, f"id = {entry.pk}", turn_count, {"id": "1000 + n.i"})
    _fill_trials(trying, turn, session.created_at - by, turn_count)
    _fill_imported(importing, turn, session.created_at - by, turn_count)
    analyze()


def _fill_trials(session: Session, turn: ExplainabilityTurn, at: "datetime", count: int) -> None:
    """Store a tenth as many trials, each with its trace."""
    first, trial_count = 10 * count, count // 10
    experiment = models.Experiment.objects.create(
        project=session.project, session=session, kind="trials", status="finished", created_at=at
    )
    numbered = {"id": f"{first} + n.i", "experiment_id": "'e-' || n.i"}
    copy_rows(models.Experiment, f"id = {experiment.pk}", trial_count // TRIALS_AN_EXPERIMENT, numbered)
    own = {"id": f"{first} + n.i", "session_id": str(session.pk)}
    numbered = {"request_id": "'t-' || n.i", "trial_number": f"{first} + n.i"}
    copy_rows(models.ExplainabilityTurn, f"id = {turn.pk}", trial_count, {**own, **numbered})
    of_turn = {"id": f"{first} + n.i", "turn_id": f"{first} + n.i"}
    copy_rows(models.TurnEvents, f"turn_id = {turn.pk}", trial_count, of_turn)
    trial = models.Trial.objects.create(experiment=experiment, position=0)
    place = {"experiment_id": f"{first} + (n.i / {TRIALS_AN_EXPERIMENT})", "position": f"n.i % {TRIALS_AN_EXPERIMENT}"}
    copy_rows(models.Trial, f"id = {trial.pk}", trial_count, {**place, "id": own["id"], "trace_id": own["id"]})


def _fill_imported(session: Session, turn: ExplainabilityTurn, at: "datetime", count: int) -> None:
    """Store this many spans in displayable traces of the largest size, and as many others."""
    first = 20 * count
    own = {"id": f"{first} + n.i", "session_id": str(session.pk), "request_id": "'i-' || n.i"}
    drawn = {**own, "turn_index": "n.i + 1", "kind": "'imported'"}
    copy_rows(models.ExplainabilityTurn, f"id = {turn.pk}", count // SPANS_A_TRACE, drawn)
    content = {"name": "chat", "attributes": {"gen_ai.input.messages": "My dog is called Rex. " * 20}}
    span = models.ImportedSpan.objects.create(
        project=session.project, trace_id="x", span_id="x", span=content, received_at=at
    )
    copy_rows(models.ImportedSpan, f"id = {span.pk}", count, {"id": "1000 + n.i", "span_id": "'s-' || n.i"})
    drawn = {"id": f"{first} + n.i", "span_id": "'d-' || n.i", "turn_id": f"{first} + (n.i / {SPANS_A_TRACE})"}
    copy_rows(models.ImportedSpan, f"id = {span.pk}", count, drawn)
