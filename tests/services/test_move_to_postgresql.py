"""A backup of SQLite is restored to PostgreSQL: what a server does that has outgrown its file."""

import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import httpx2 as httpx
import pytest

from sessions_app.management import backups
from sessions_app.models import Message
from tests.command_line import CommandRunner
from tests.server import ServerProcess
from tests.services.node import KEY
from tests.services.test_bundles_elsewhere import bundle_of, filled, replays

pytestmark = pytest.mark.services


def client_of(process: ServerProcess) -> httpx.Client:
    return httpx.Client(base_url=process.url, headers={"Authorization": f"Bearer {KEY}"}, timeout=60)


@pytest.fixture
def moved(migrated_data: Callable[..., Path], tmp_path: Path) -> tuple[Path, str, bytes]:
    """Return a backup of a SQLite server, and of one of its sessions the id and the bundle."""
    file = tmp_path / "backup.zip"
    with ServerProcess(migrated_data("sqlite"), MRPVM_API_KEY=KEY) as process:
        api = client_of(process)
        session_id = filled(api)
        code, output = process.manage("backup", str(file))
        assert code == 0, output
        return file, session_id, bundle_of(api, session_id)


def test_everything_is_there_and_goes_on(
    moved: tuple[Path, str, bytes], migrated_data: Callable[..., Path], own_services: dict[str, str]
) -> None:
    file, session_id, bundle = moved
    process = ServerProcess(migrated_data("postgresql"), MRPVM_API_KEY=KEY, **own_services)
    for _ in range(2):  # the second replaces what the database then holds
        code, output = process.manage("restore", str(file))
        assert code == 0, output
    code, output = process.manage("doctor")
    assert code == 0, output
    with process:
        api, browser = client_of(process), httpx.Client(follow_redirects=True, timeout=60)
        assert bundle_of(api, session_id) == bundle
        assert set(replays(api, session_id)) == {"identical"}
        browser.get(process.login_link).raise_for_status()
        base = api.get("/api/kbs/default").raise_for_status().json()["id"]
        page = browser.get(f"{process.url}/knowledge/{base}", params={"q": "ferry Nore"}).raise_for_status()
        assert "leaves from gate B." in page.text
        body = {"session_id": session_id, "messages": [{"role": "user", "content": "My cat is called Tom."}]}
        api.post("/api/chat/completions", json=body).raise_for_status()
        api.post("/api/sessions", json={}).raise_for_status()


def test_what_cannot_be_moved_changes_nothing(
    moved: tuple[Path, str, bytes],
    migrated_data: Callable[..., Path],
    own_services: dict[str, str],
    commands: CommandRunner,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file, _, _ = moved
    data = migrated_data("postgresql")
    commands.use(data, **own_services)
    assert commands.run("restore", str(file))[0] == 0
    count = Message.objects.count()
    assert count
    (data / "skills").mkdir()
    (data / "skills" / "later.md").write_text("Later.")
    code, output = commands.run("restore", str(without_tables(file, tmp_path / "empty.zip")))
    assert (code, "no such table" in output) == (1, True)
    monkeypatch.setattr(backups, "latest_migration", lambda: "0002_next")
    code, output = commands.run("restore", str(file))
    assert (code, "an earlier version" in output) == (1, True)
    assert Message.objects.count() == count
    assert (data / "skills" / "later.md").read_text() == "Later."


def without_tables(file: Path, target: Path) -> Path:
    """Return a copy of a backup whose database has no tables."""
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(target, "w") as new:
        manifest = json.loads(old.read("manifest.json"))
        manifest["checksums"] = {"database.sqlite3": hashlib.sha256(b"").hexdigest()}
        new.writestr("database.sqlite3", b"")
        new.writestr("manifest.json", json.dumps(manifest))
    return target
