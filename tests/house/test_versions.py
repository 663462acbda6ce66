"""A database can be used only by versions of the server that know its tables."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from sessions_app.actions.versions import record_version
from sessions_app.management.server import CannotStart
from sessions_app.management.versions import check_version
from sessions_app.models import DatabaseVersion
from sessions_app.queries.versions import latest_migration
from tests.command_line import CommandRunner

pytestmark = pytest.mark.django_db


def test_a_database_of_a_newer_version_is_refused() -> None:
    check_version(must_be_prepared=True)
    MigrationRecorder(connection).record_applied("sessions_app", "9999_what_the_future_holds")
    DatabaseVersion.objects.create(version="99.1.2", latest_migration="9999_what_the_future_holds")
    with pytest.raises(CannotStart) as refused:
        check_version(must_be_prepared=False)
    for part in ("mrpvm 99.1.2", "9999_what_the_future_holds", f"mrpvm {settings.MRPVM_VERSION}", latest_migration()):
        assert part in str(refused.value)


def test_tables_of_applications_taken_away_are_in_nobodys_way() -> None:
    MigrationRecorder(connection).record_applied("some_plugin", "0001_initial")
    check_version(must_be_prepared=True)


def test_a_further_process_refuses_tables_that_are_not_complete() -> None:
    MigrationRecorder(connection).record_unapplied("sessions_app", latest_migration())
    record_version("0.0.9")
    check_version(must_be_prepared=False)
    with pytest.raises(CannotStart, match=r"those of mrpvm 0\.0\.9"):
        check_version(must_be_prepared=True)


def test_a_version_is_noted_once() -> None:
    record_version("1.0")
    record_version("1.0")
    assert DatabaseVersion.objects.filter(version="1.0").count() == 1


def test_the_start_says_so_in_one_line(commands: CommandRunner, migrated_data: Callable[..., Path]) -> None:
    commands.use(migrated_data("newer"))
    MigrationRecorder(connection).record_applied("sessions_app", "9999_future")
    record_version(settings.MRPVM_VERSION)
    code, output = commands.run("serve", "--port", "0")
    assert code == 1
    assert len(output.splitlines()) == 1
    assert f"mrpvm {settings.MRPVM_VERSION} has changed this database (sessions_app.9999_future)" in output
