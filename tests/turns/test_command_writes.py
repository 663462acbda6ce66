"""For any command, files are written only in the data directory."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from pytest_django import Settings

from mrpvm.commands import BUILTINS
from sessions_app.actions.sessions.session import create_session
from sessions_app.commands.messages import answer_message
from sessions_app.models import Project, Session
from sessions_app.turns.call import TurnCall

_watching: list[list[str]] = []
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_CHANGES = {
    "os.mkdir": 0, "os.rename": 1, "os.remove": 0, "os.rmdir": 0, "os.symlink": 1, "os.link": 1, "os.truncate": 0,
}  # fmt: skip
"""Events of the interpreter that change files, and which argument names the file."""


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if not _watching:
        return
    if event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITES:
        _watching[-1].append(str(arguments[0]))
    elif event in _CHANGES:
        _watching[-1].append(str(arguments[_CHANGES[event]]))


sys.addaudithook(_hear)  # an audit hook cannot be removed; this one does nothing unless a test watches


@pytest.fixture
def changed() -> Iterator[list[str]]:
    """Return a list to which files are added that are written, created or removed from now on."""
    _watching.append([])
    yield _watching[-1]
    _watching.pop()


@pytest.fixture(autouse=True)
def own_files(tmp_path: Path, settings: Settings) -> Path:
    """Return the data directory of the test."""
    settings.MRPVM_DATA_DIR = tmp_path / "data"
    settings.MRPVM_DATA_DIR.mkdir()
    return tmp_path / "data"


def test_the_watch_sees_what_is_written(tmp_path: Path, changed: list[str]) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("x")
    (tmp_path / "folder" / "file").read_text()
    assert changed == [str(tmp_path / "folder"), str(tmp_path / "folder" / "file")]


def test_making_a_session_writes_in_the_data_directory_alone(
    project: Project, own_files: Path, changed: list[str]
) -> None:
    create_session(project)
    assert changed
    assert all(Path(path).is_relative_to(own_files) for path in changed), changed


PATHS = st.sampled_from(("../x", "/etc/x", "../../etc/passwd", "~/x.md", "C:\\x", "a/b", "SOUL.md", "..", "%2e%2e"))
TEXTS = st.one_of(
    st.tuples(st.sampled_from(tuple(BUILTINS)), st.lists(PATHS, max_size=3)),
    st.tuples(
        st.sampled_from(("persona export default", "persona import", "persona use", "agent use", "skill", "help",
                         "memory evidence ingest", "memory long tool remember", "remember")),
        st.lists(PATHS, min_size=1, max_size=2),
    ),
).map(lambda parts: f"/{parts[0]} {' '.join(parts[1])}")  # fmt: skip


@given(texts=st.lists(TEXTS, min_size=1, max_size=6))
@examples(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_command_writes_a_file(project: Project, own_files: Path, changed: list[str], texts: list[str]) -> None:
    session = create_session(project)
    answer_message(session, TurnCall(message="/skills"))
    changed.clear()
    for text in texts:
        answer_message(Session.objects.get(pk=session.pk), TurnCall(message=text))
    assert [path for path in changed if not Path(path).is_relative_to(own_files)] == []
    assert {Path(path).name for path in changed} <= {"skills"}, "the project's own folder, if it is not there yet"
