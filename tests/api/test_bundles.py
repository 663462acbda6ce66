"""Bundles by the API, the command and the pages."""

import errno
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest
from asgiref.sync import async_to_sync
from django.core.management import CommandError, call_command
from django.http import StreamingHttpResponse

from sessions_app.models import Session
from tests.api.conftest import Caller


async def _read(answer: StreamingHttpResponse) -> bytes:
    return b"".join([chunk async for chunk in answer])  # type: ignore[union-attr]


@pytest.fixture
def bundle(editor: Caller, talked: Session) -> bytes:
    answer = editor.get(f"/api/sessions/{talked.session_id}/bundle")
    assert answer["Content-Type"] == "application/zip"
    return async_to_sync(_read)(answer)


def test_a_bundle_is_imported_and_read(editor: Caller, bundle: bytes, talked: Session) -> None:
    answer = editor.upload("/api/bundles", "s.zip", bundle)
    stored = answer.json()
    assert (answer.status_code, stored["turn_count"], stored["left_out"]) == (201, 2, [])
    turns = editor.get(f"/api/sessions/{stored['session_id']}/explainability").json()["turns"]
    assert len(turns) == 2
    refused = editor.chat("Who is Rex?", stored["session_id"])
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "SESSION_READ_ONLY")


def test_what_is_no_bundle_is_refused(editor: Caller) -> None:
    answer = editor.upload("/api/bundles", "s.zip", b"PK no zip")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "BUNDLE_REFUSED")


def test_a_viewer_imports_nothing(caller: Callable[..., Caller], bundle: bytes) -> None:
    assert caller("viewer").upload("/api/bundles", "s.zip", bundle).status_code == 403


def test_strangers_get_no_bundle(stranger: Caller, talked: Session) -> None:
    assert stranger.get(f"/api/sessions/{talked.session_id}/bundle").status_code == 404


def test_the_command_writes_checks_and_stores(talked: Session, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    file, slug = tmp_path / "session.zip", talked.project.slug
    call_command("bundle", "export", talked.session_id, str(file), "--project", slug)
    call_command("bundle", "verify", str(file))
    call_command("bundle", "import", str(file), "--project", slug)
    assert "2 turns, read-only" in capsys.readouterr().out
    cut = tmp_path / "cut.zip"
    cut.write_bytes(file.read_bytes()[:500])
    with pytest.raises(CommandError):
        call_command("bundle", "verify", str(cut))


def test_an_export_writes_over_nothing_and_leaves_no_part(
    talked: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, export = tmp_path / "session.zip", ("bundle", "export", talked.session_id)
    file.write_bytes(b"mine")
    before = set(tmp_path.iterdir())
    with pytest.raises(CommandError, match=r"session\.zip cannot be written: it exists already; name another file"):
        call_command(*export, str(file))
    assert file.read_bytes() == b"mine"

    def fill_disk(session: Session, target: IO[bytes]) -> None:
        target.write(b"PK")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("sessions_app.management.commands.bundle.write_bundle", fill_disk)
    with pytest.raises(CommandError, match=r"other\.zip cannot be written: No space left on device"):
        call_command(*export, str(tmp_path / "other.zip"))
    with pytest.raises(CommandError, match=r"absent\.zip cannot be read: No such file"):
        call_command("bundle", "verify", str(tmp_path / "absent.zip"))
    assert set(tmp_path.iterdir()) == before
