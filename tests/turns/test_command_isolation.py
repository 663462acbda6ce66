"""Random commands to two sessions, interleaved: no command affects the other session."""

import json
from datetime import UTC
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django import Settings

from sessions_app.actions.sessions.session import create_session
from sessions_app.commands.messages import answer_message
from sessions_app.models import Project, Session
from sessions_app.queries.sessions import frozen_content
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import TurnResult
from tests.assistants.skill_files import front, write_skill

FROZEN = (
    "active_agent", "active_persona", "active_style", "skills_id", "snapshot_version", "personas_id", "agents_id",
    "model_config", "message_sequence", "remembered_count", "system_prompt", "preferred_model", "unit_count",
    "preferred_goal_solver_plugin", "mounted_kb_id", "draft_id",
)  # fmt: skip
MAY_CHANGE = {
    "reload_skills": {"skills_id", "snapshot_version"},
    "agent": {"active_agent"},
    "persona": {"active_persona", "active_style"},
    "reload_persona": {"personas_id", "active_persona", "active_style"},
    "style": {"active_style"},
    "remember": {"remembered_count"},
    "memory": {"remembered_count"},
    "calc": {"message_sequence"},
    "skill": {"message_sequence"},
}
COMMANDS = (
    "/skills", "/skills x", "/help arithmetic", "/help own", "/calc 1+1", "/calc x", "/skill own",
    "/skill arithmetic 2*3",
    "/agent reader", "/agent use default", "/agent list", "/agent nobody", "/persona use coach", "/persona show",
    "/persona use own", "/style focus", "/style Playful", "/style loud", "/reload_skills", "/reload_persona",
    "/nothing", "/", "/memory show", "/remember Doors open at nine.", "/memory long consolidate",
    "/memory long consolidate --dry-run", "/memory long verify mem_0", "/memory long show --domain working_rules",
    "/memory evidence ingest notes.txt", "/memory evidence ingest ../SOUL.md", "/memory evidence show",
    "/memory long archive mem_0", "/memory long show --include-archived --include-expired",
)  # fmt: skip
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from((0, 1)), st.sampled_from(COMMANDS)),
        st.tuples(st.just("file"), st.sampled_from(("a", "b"))),
        st.just(("restart", "")),
    ),
    max_size=10,
)


@pytest.fixture(autouse=True)
def own_files(tmp_path: Path, settings: Settings) -> None:
    """Use a separate data directory for the test."""
    settings.MRPVM_DATA_DIR = tmp_path


def give(session: Session, text: str) -> TurnResult:
    """Run a command in a session that is read anew by its key, as in any process."""
    return answer_message(Session.objects.only("pk").get(pk=session.pk), TurnCall(message=text))


def held(session: Session) -> dict[str, object]:
    """Return the session's frozen state."""
    row = Session.objects.get(pk=session.pk)
    messages = [*row.messages.values_list("sequence", "role", "content")]
    return {name: getattr(row, name) for name in FROZEN} | {"messages": messages}


def write_files(folder: Path, version: str) -> None:
    """Change a file of every kind that sessions freeze."""
    write_skill(folder / "skills", "own", front(summary=version))
    (folder / "personas").mkdir(exist_ok=True)
    (folder / "personas" / "own.md").write_text(f"Be {version}.")
    evidence = folder / "workspace" / "default" / "evidence"
    evidence.mkdir(parents=True, exist_ok=True)
    (evidence / "notes.txt").write_text(f"The gate is {version}. {'Waves are wet. ' * 40}")


def restart() -> None:
    """Clear the process's caches."""
    for read in (frozen_content._skills, frozen_content._personas, frozen_content._agents):
        read.cache_clear()


@pytest.mark.rule("SESSION-5")
@given(steps=STEPS)
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_files_change_nothing_until_a_reload(
    project: Project, tmp_path: Path, steps: list[tuple[int | str, str]]
) -> None:
    """Each command changes only its fields in its session, and gives the same result twice in the same state."""
    sessions = [create_session(project), create_session(project)]
    give(sessions[0], "My name is Ann. I prefer tea.")
    for who, what in steps:
        if who == "file":
            before = [held(session) for session in sessions]
            write_files(tmp_path, what)
            assert [held(session) for session in sessions] == before
            continue
        if who == "restart":
            restart()
            continue
        one, other = sessions[int(who)], sessions[1 - int(who)]
        before_one, before_other = held(one), held(other)
        result = give(one, what)
        after_one = held(one)
        assert held(other) == before_other
        changed = {name for name in FROZEN if after_one[name] != before_one[name]}
        assert changed <= MAY_CHANGE.get(what[1:].split(" ")[0], set())
        envelope = result.turn.command_result
        assert envelope is not None
        if envelope["status"] == "error":
            assert after_one == before_one
        if not changed:
            restart()
            again = give(one, what).turn.command_result
            assert json.dumps(again) == json.dumps(envelope)


@pytest.mark.rule("FROZEN-54")
@given(
    values=st.fixed_dictionaries(
        {
            "title": st.sampled_from((None, "/skills", "x" * 200)),
            "first_message": st.sampled_from(("", "/style focus")),
            "failed_turn_count": st.integers(0, 10_000),
            "created_at": st.datetimes(timezones=st.just(UTC)),
            "last_activity_at": st.datetimes(timezones=st.just(UTC)),
        }
    )
)
@settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_optional_fields_change_no_output(project: Project, values: dict[str, object]) -> None:
    plain, odd = create_session(project), create_session(project)
    Session.objects.filter(pk=odd.pk).update(**values)
    for text in ("/skills", "/help arithmetic", "/persona show", "/agent list", "/calc 6*7", "/style loud", "/nothing"):
        outputs = {json.dumps(give(session, text).turn.command_result) for session in (plain, odd)}
        assert len(outputs) == 1
