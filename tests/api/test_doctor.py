"""`mrpvm doctor` finds inconsistencies, repairs them on request, and finds none in data that the server wrote."""

import shutil
from collections.abc import Callable
from datetime import timedelta
from io import StringIO

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from sessions_app.actions.sessions.histories import remove_message
from sessions_app.actions.settings.statistics_buffer import statistics_buffer
from sessions_app.background.doctor import findings
from sessions_app.models import (
    DamagedValue,
    ExplainabilityTurn,
    KnowledgeLayer,
    LayerUnit,
    Message,
    PluginStatistics,
    Posting,
    Session,
    SessionEvent,
    TurnEvents,
)


def doctor(*options: str) -> str:
    """Return the command's output, with its error at the end."""
    said = StringIO()
    try:
        call_command("doctor", *options, stdout=said)
    except CommandError as left:
        return f"{said.getvalue()}{left}"
    return said.getvalue()


def found() -> list[str]:
    """Return the checks with findings, without the one of the disk, which depends on the machine."""
    return [finding.check for finding in findings() if finding.check != "disk"]


def break_counter(session: Session) -> None:
    Session.objects.update(message_sequence=1)


def lose_event(session: Session) -> None:
    SessionEvent.objects.filter(session=session, sequence=2).delete()


def lose_rows(session: Session) -> None:
    """Delete a turn that messages, units and events refer to."""
    connection.disable_constraint_checking()
    with connection.cursor() as cursor:
        table = connection.ops.quote_name(ExplainabilityTurn._meta.db_table)
        cursor.execute(f"DELETE FROM {table} WHERE turn_index = 1")  # noqa: S608
    connection.enable_constraint_checking()


def break_count(session: Session) -> None:
    Session.objects.update(unit_count=99)


def break_layer(session: Session) -> None:
    KnowledgeLayer.objects.filter(pk=session.journal_id).update(own_unit_count=99)


def leave_turn_running(session: Session) -> None:
    running = ExplainabilityTurn.Status.RUNNING
    ExplainabilityTurn.objects.filter(turn_index=2).update(
        status=running, lease_until=timezone.now() - timedelta(hours=1)
    )


def leave_layer(session: Session) -> None:
    KnowledgeLayer.objects.create(index_version="x", kind=KnowledgeLayer.Kind.DRAFT)


def damage_value(session: Session) -> None:
    table = connection.ops.quote_name(ExplainabilityTurn._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {table} SET context_report = %s", [b"torn"])  # noqa: S608


def break_statistics(session: Session) -> None:
    statistics_buffer.flush()
    assert PluginStatistics.objects.filter(success_count__gt=0).update(attempt_count=0)


def lose_postings(session: Session) -> None:
    Posting.objects.filter(unit=LayerUnit.objects.filter(length__gt=0).latest("pk")).delete()


@pytest.mark.parametrize(
    ("harm", "check"),
    [
        (break_counter, "sequences"),
        (lose_event, "sequences"),
        (break_count, "counts"),
        (break_layer, "counts"),
        (leave_turn_running, "turns"),
        (leave_layer, "layers"),
        (damage_value, "values"),
        (break_statistics, "statistics"),
    ],
)
def test_what_can_be_mended_is_found_and_mended(talked: Session, harm: Callable[[Session], None], check: str) -> None:
    harm(talked)
    assert f"{check}: " in doctor()
    assert found() == [check], "without --mend nothing is changed"
    said = doctor("--mend")
    assert "mended: " in said
    assert "Everything that was found is mended." in said
    assert found() == []


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL checks foreign keys when they are written")
def test_pointers_at_nothing_are_emptied_or_their_rows_removed(talked: Session) -> None:
    messages, batches = Message.objects.count(), TurnEvents.objects.count()
    lose_rows(talked)
    assert found() == ["foreign keys"]
    assert "must point at something" in doctor()
    doctor("--mend")
    assert found() == []
    assert (Message.objects.count(), Message.objects.filter(turn=None).count()) == (messages, 2)
    assert TurnEvents.objects.count() == batches - 1


def test_a_lost_index_is_written_again(talked: Session) -> None:
    lose_postings(talked)
    assert found() == ["index"]
    assert doctor().endswith("1 finding left. Run doctor --mend after a backup to mend what can be mended.")
    doctor("--mend")
    left = doctor()
    assert "run reindex" in left
    assert left.endswith("1 finding left."), "what waits for another command is not to be mended again"
    call_command("reindex", stdout=StringIO())
    assert "No problem was found." in doctor()


def test_a_lost_message_is_told_and_a_removed_one_is_none(talked: Session) -> None:
    remove_message(talked, 1)
    assert found() == []
    Message.objects.filter(session=talked, sequence=2).delete()
    assert "messages are missing in 1 session, a backup may have them" in doctor()
    assert talked.session_id in doctor("--mend")
    assert found() == []
    talked.refresh_from_db()
    assert talked.removed_message_count == 2


def set_clock_back(patched: pytest.MonkeyPatch) -> None:
    Message.objects.filter(sequence=1).update(created_at=timezone.now() + timedelta(days=2))


def fill_disk(patched: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")
    patched.setattr("sessions_app.background.doctor.shutil.disk_usage", lambda _: usage._replace(free=1_048_576))


def change_by_newer_version(patched: pytest.MonkeyPatch) -> None:
    MigrationRecorder(connection).record_applied("sessions_app", "9999_newer")


def leave_out_migration(patched: pytest.MonkeyPatch) -> None:
    MigrationRecorder(connection).record_unapplied("sessions_app", "0001_initial")


def misspell_setting(patched: pytest.MonkeyPatch) -> None:
    patched.setattr(settings, "ENVIRONMENT_PROBLEMS", ["MRPVM_PORT must be a number."])


@pytest.mark.parametrize(
    ("harm", "check", "told"),
    [
        (set_clock_back, "clock", "yet to come"),
        (fill_disk, "disk", "1 MB are free"),
        (change_by_newer_version, "version", "9999_newer"),
        (leave_out_migration, "version", "0001_initial"),
        (misspell_setting, "settings", "MRPVM_PORT"),
    ],
)
def test_what_nobody_can_mend_is_told(
    talked: Session, monkeypatch: pytest.MonkeyPatch, harm: Callable[[pytest.MonkeyPatch], None], check: str, told: str
) -> None:
    kept = MigrationRecorder(connection).applied_migrations().keys()
    try:
        harm(monkeypatch)
        for options in ((), ("--mend",), ()):
            said = doctor(*options)
            assert f"{check}: " in said
            assert told in said
            assert "cannot be mended here" in said
        assert not DamagedValue.objects.exists()
    finally:  # emptying the tables does not restore these rows
        for recorded in kept ^ MigrationRecorder(connection).applied_migrations().keys():
            record = "record_applied" if recorded in kept else "record_unapplied"
            getattr(MigrationRecorder(connection), record)(*recorded)
