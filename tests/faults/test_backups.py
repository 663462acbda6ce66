"""A backup of a running server restores its conversations; restoring a damaged or newer one changes nothing."""

import errno
import hashlib
import io
import json
import re
import urllib.request
import zipfile
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django import Settings

from sessions_app.actions.settings.projects import ensure_default_project
from sessions_app.actions.upkeep import copies
from sessions_app.actions.upkeep.copies import copies_directory, database_file, make_daily_copy
from sessions_app.management import backups
from sessions_app.management.backups import BackupError, BackupManifest, verified
from sessions_app.management.files import open_whole_file
from sessions_app.models import AuditEntry, Project
from tests.command_line import CommandRunner
from tests.server import ServerProcess


def ask(server: ServerProcess, key: str, message: str, session_id: str | None = None) -> tuple[str, str]:
    """Return the session and the answer to one message."""
    body = {"messages": [{"role": "user", "content": message}]} | ({"session_id": session_id} if session_id else {})
    request = urllib.request.Request(  # noqa: S310
        f"{server.url}/api/chat/completions",
        data=json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310
        answer = json.load(response)
    return answer["session_id"], answer["choices"][0]["message"]["content"]


def rewritten(file: Path, target: Path, **changes: str) -> Path:
    """Return a copy of a backup with a changed manifest."""
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, json.dumps(json.loads(data) | changes) if name == "manifest.json" else data)
    return target


def test_conversations_go_on_after_a_restore(
    commands: CommandRunner, tmp_path: Path, own_services: dict[str, str], settings: Settings
) -> None:
    data, file = tmp_path, tmp_path / "backup.zip"
    commands.use(data, **own_services)
    with ServerProcess(data, **own_services) as server:
        key = server.api_key
        assert key
        session_id, _ = ask(server, key, "My dog is called Rex.")
        (data / "workspace" / "default").mkdir(parents=True, exist_ok=True)
        (data / "workspace" / "default" / "note.txt").write_text("kept")
        settings.SECRET_KEY = (data / "secret_key").read_text()
        code, output = commands.run("backup", str(file), "--with-secret-key")
        assert code == 0, output
        ask(server, key, "My dog is called Max now.", session_id)
        code, output = commands.run("restore", str(file))
        assert code == 1
        assert "serves it already. Stop the server, with all of its processes, then restore again." in output
        server.stop()
    (data / "workspace" / "default" / "note.txt").write_text("changed")
    another = {"SECRET_KEY": "another key than the file's, " * 2}
    commands.use(data, **own_services, **another)
    code, output = commands.run("restore", str(file), "--with-secret-key")
    assert code == 0, output
    assert "the server uses the one in SECRET_KEY" in output
    entry = AuditEntry.objects.first()
    assert entry is not None
    assert (entry.kind, entry.actor, entry.subject) == ("import.made", "server", f"backup {file}")
    assert (data / "workspace" / "default" / "note.txt").read_text() == "kept"
    with ServerProcess(data, **own_services, **another) as again:
        assert again.api_key is None, "it is no first start"
        assert ask(again, key, "What is my dog called?", session_id)[1].startswith("My dog is called Rex.")
        again.stop()


class TestFolders:
    """A restore leaves the folders as the backup holds them, and as they were if it fails."""

    ADDED = ("skills/added.md", "personas/added.md", "workspace/default/added.txt")

    @pytest.fixture
    def backup(self, commands: CommandRunner, tmp_path: Path, own_services: dict[str, str]) -> Path:
        """Return a backup with one skill; skills, personas and a workspace were added since."""
        commands.use(tmp_path, **own_services)
        assert commands.run("migrate", "--verbosity", "0")[0] == 0
        (tmp_path / "skills").mkdir()
        (tmp_path / "skills" / "kept.md").write_text("A skill.")
        assert commands.run("backup", str(tmp_path / "backup.zip"))[0] == 0
        for name in self.ADDED:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("Later.")
        return tmp_path / "backup.zip"

    @staticmethod
    def held(data: Path) -> dict[str, str]:
        """Return the texts of the operator's files by their names, without what a restore set aside."""
        files = [path for name in ("skills", "personas", "workspace") for path in (data / name).rglob("*.*")]
        return {str(path.relative_to(data)): path.read_text() for path in files}

    def test_what_the_backup_lacks_goes(self, commands: CommandRunner, tmp_path: Path, backup: Path) -> None:
        code, output = commands.run("restore", str(backup))
        assert code == 0, output
        assert self.held(tmp_path) == {"skills/kept.md": "A skill."}
        for name in self.ADDED:
            folder, _, rest = name.partition("/")
            (aside,) = tmp_path.glob(f"{folder}.*.before-restore")
            assert (aside / rest).read_text() == "Later."

    @pytest.mark.parametrize("failing", ["skills", "workspace", "database"])
    def test_all_stays_if_it_fails_halfway(
        self, commands: CommandRunner, tmp_path: Path, backup: Path, monkeypatch: pytest.MonkeyPatch, failing: str
    ) -> None:
        ensure_default_project()
        before = self.held(tmp_path)
        put = backups._put

        def failed(source: Path, place: Path, *more: Any) -> None:
            put(source, place, *more)
            if place.name == {"database": "db.sqlite3"}.get(failing, failing):
                raise OSError(errno.ENOSPC, "No space left on device")

        def no_program(*_: str) -> None:
            raise BackupError("pg_restore failed: No space left on device")

        monkeypatch.setattr(backups, "_put", failed)
        monkeypatch.setattr(backups, "_run_postgresql", no_program)
        code, output = commands.run("restore", str(backup))
        assert (code, "No space left on device" in output) == (1, True)
        assert self.held(tmp_path) == before
        assert list(tmp_path.glob("*before-restore*")) == []
        assert Project.objects.filter(is_default=True).exists()

    def test_a_backup_without_its_database_is_refused(
        self, commands: CommandRunner, tmp_path: Path, backup: Path
    ) -> None:
        with zipfile.ZipFile(backup) as old, zipfile.ZipFile(tmp_path / "less.zip", "w") as new:
            manifest = json.loads(old.read("manifest.json"))
            del manifest["checksums"][f"database.{'sqlite3' if connection.vendor == 'sqlite' else 'pgdump'}"]
            new.writestr("files/skills/kept.md", old.read("files/skills/kept.md"))
            new.writestr("manifest.json", json.dumps(manifest))
        before = self.held(tmp_path)
        code, output = commands.run("restore", str(tmp_path / "less.zip"))
        assert (code, "holds no database" in output) == (1, True)
        assert self.held(tmp_path) == before


def whole_database() -> bytes:
    """Return the tests' SQLite database as one file would hold it."""
    connection.ensure_connection()
    content: bytes = connection.connection.serialize()
    return content


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="What changed is seen in SQLite's file.")
def test_a_bad_backup_changes_nothing(tmp_path: Path, settings: Settings) -> None:
    settings.MRPVM_DATA_DIR = tmp_path / "data"
    settings.MRPVM_DATA_DIR.mkdir()
    ensure_default_project()
    file, torn, changed = (tmp_path / f"{name}.zip" for name in ("backup", "torn", "changed"))
    call_command("backup", str(file), stdout=io.StringIO())
    call_command("backup", "--verify", str(file), stdout=io.StringIO())
    before, whole = whole_database(), file.read_bytes()
    torn.write_bytes(whole[: len(whole) // 2])
    changed.write_bytes(whole[:2_000] + bytes(100) + whole[2_100:])
    newer = rewritten(file, tmp_path / "newer.zip", version="9.0", latest_migration="9999_x")
    other = rewritten(file, tmp_path / "other.zip", database="postgresql")
    for command, said in (
        (("backup", file), "exists already"),
        (("backup", "--verify", torn), "no whole backup"),
        (("restore", torn), "no whole backup"),
        (("restore", changed), "changed.zip is "),
        (("restore", newer), "mrpvm 9.0 (9999_x)"),
        (("restore", other), "a backup of postgresql"),
        (("restore", tmp_path / "none.zip"), "none.zip cannot be read: No such file or directory"),
        (("restore", file, "--with-secret-key"), "holds no signing key"),
    ):
        with pytest.raises(CommandError, match=re.escape(said)):
            call_command(*map(str, command), stdout=io.StringIO())
    assert file.read_bytes() == whole
    assert whole_database() == before
    assert list(database_file().parent.glob("*before-restore*")) == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="pg_dump may not be installed.")
def test_a_backup_is_in_the_audit_log(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MRPVM_DATA_DIR = tmp_path
    file = tmp_path / "backup.zip"
    call_command("backup", str(file), stdout=io.StringIO())
    call_command("backup", "--verify", str(file), stdout=io.StringIO())
    with pytest.raises(CommandError, match="exists already"):
        call_command("backup", str(file), stdout=io.StringIO())
    (tmp_path / "secret_key").write_text("an earlier key, from before SECRET_KEY was set")
    with pytest.raises(CommandError, match="it comes from SECRET_KEY"):
        call_command("backup", str(tmp_path / "key.zip"), "--with-secret-key", stdout=io.StringIO())
    entry = AuditEntry.objects.get()
    assert (entry.kind, entry.project_id, entry.actor_kind) == ("export.made", None, "server")
    assert (entry.subject, entry.facts) == (f"backup {file}", {"has_secret_key": False})

    def full(*_: object, **__: object) -> None:
        raise OperationalError("database or disk is full")

    monkeypatch.setattr("sessions_app.management.commands.backup.record", full)
    told = io.StringIO()
    call_command("backup", str(tmp_path / "second.zip"), stdout=io.StringIO(), stderr=told)
    assert verified(tmp_path / "second.zip")
    assert "The audit log has no entry of this backup: database or disk is full" in told.getvalue()


@pytest.fixture(scope="module")
def small_backup() -> bytes:
    members = {"database.sqlite3": bytes(range(256)) * 2 + b"unit " * 500, "files/skills/a.md": b"A skill."}
    checksums = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    manifest = BackupManifest(
        version="0.1.0", latest_migration="0001", database="sqlite", made_at="", has_secret_key=False,
        checksums=checksums,
    )  # fmt: skip
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (members | {"manifest.json": json.dumps(asdict(manifest)).encode()}).items():
            archive.writestr(name, content)
    return file.getvalue()


@given(data=st.data())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damage_is_said_or_harmless(tmp_path: Path, small_backup: bytes, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(small_backup) - 1))
    damage = data.draw(st.binary(min_size=1, max_size=100))
    whole, damaged = tmp_path / "whole.zip", tmp_path / "damaged.zip"
    whole.write_bytes(small_backup)
    damaged.write_bytes(small_backup[:start] + damage + small_backup[start + len(damage) :])
    with suppress(BackupError):
        assert verified(damaged) == verified(whole)


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL is not copied")
def test_one_copy_a_day_is_made_and_seven_are_kept(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MRPVM_DATA_DIR = tmp_path

    def on(day: int) -> None:
        class Clock(datetime):
            @classmethod
            def now(cls, tz: object = None) -> datetime:
                return datetime(2026, 11, day, tzinfo=UTC)

        monkeypatch.setattr(copies, "datetime", Clock)

    made = []
    for day in range(1, 11):
        on(day)
        made.append((make_daily_copy(), make_daily_copy()))
    assert made == [(1, 0)] * 10
    names = sorted(path.name for path in copies_directory().iterdir())
    assert names == [f"db-2026-11-{day:02}.sqlite3" for day in range(4, 11)]
    settings.MRPVM_DAILY_COPIES = 0
    on(12)
    assert make_daily_copy() == 0


def test_files_of_one_name_are_each_whole(tmp_path: Path) -> None:
    """Neither what a killed process left nor another one that writes at the same time is in the way."""
    file = tmp_path / "backup.zip"
    with pytest.raises(KeyError), open_whole_file(file):
        raise KeyError
    with open_whole_file(file) as first:
        with open_whole_file(file) as second:
            second.write(b"second")
        assert file.read_bytes() == b"second"
        first.write(b"first")
    assert file.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [file]
    with pytest.raises(FileExistsError), open_whole_file(file):
        pass
