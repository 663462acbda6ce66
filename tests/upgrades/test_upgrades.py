"""Data of every released version opens in this one, and its conversations go on."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from mrpvm.settings import MRPVM_VERSION
from tests.command_line import CommandRunner
from tests.server import ServerProcess
from tests.upgrades.kept import ANSWER, ANSWER_OF_SOURCE, ASKED, ASKED_OF_SOURCE, KEPT, KEY, Caller, make_database

CHANGELOG = Path("CHANGELOG.md").read_text()
RELEASED = re.findall(r"^## (\d\S*), \d{4}-\d\d-\d\d$", CHANGELOG, re.MULTILINE)


def test_the_changelog_names_this_version_and_each_release() -> None:
    named = re.findall(r"^## (\d\S*), (.+)$", CHANGELOG, re.MULTILINE)
    assert named[0][0] == MRPVM_VERSION
    assert [version for version, at in named if version not in RELEASED and at != "not released"] == []


def test_a_database_of_each_release_is_kept() -> None:
    # stored with `python -m tests.upgrades` at each release
    assert sorted(path.stem for path in KEPT.glob("*.zip")) == sorted(RELEASED)


@pytest.mark.parametrize("version", sorted({*RELEASED, MRPVM_VERSION}))
def test_conversations_of_a_version_go_on_in_this_one(
    version: str, commands: CommandRunner, tmp_path: Path, migrated_data: Callable[..., Path]
) -> None:
    if version in RELEASED:
        kept = KEPT / f"{version}.zip"
    else:
        commands.use(migrated_data("made"))
        kept = make_database(tmp_path / "made", tmp_path, commands.run)
    data = tmp_path / "data"
    data.mkdir()
    commands.use(data)
    code, output = commands.run("restore", str(kept))
    assert code == 0, output
    with ServerProcess(data, "--no-bootstrap", MRPVM_API_KEY=KEY) as server:
        caller = Caller(server)
        sessions = caller.sessions()
        assert len(sessions) == 2
        for session_id in sessions:
            assert ANSWER in caller.say(ASKED, session_id=session_id)
            turns = caller.http.get(f"/sessions/{session_id}/explainability").json()["turns"]
            assert {turn["status"] for turn in turns} == {"succeeded"}
            for turn in turns:
                caller.http.get(f"/sessions/{session_id}/turns/{turn['requestId']}").raise_for_status()
        answers = [caller.say(ASKED_OF_SOURCE, session_id=session_id) for session_id in sessions]
        assert [answer for answer in answers if ANSWER_OF_SOURCE in answer]
        code, output = commands.run("doctor")
        assert code == 0, output
