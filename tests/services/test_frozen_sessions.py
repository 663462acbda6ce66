"""Frozen sessions on two server processes, each with its own files."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.assistants.skill_files import front, write_skill
from tests.server import ServerProcess
from tests.services.node import KEY, Node, kinds_until

pytestmark = pytest.mark.services

COMMANDS = (
    "/skills", "/help arithmetic", "/calc 6*7", "/calc x", "/skill own", "/agent reader", "/agent default",
    "/agent list", "/persona use coach", "/persona use own", "/persona show", "/persona use nobody", "/style focus",
    "/style loud", "/nothing", "/", "/memory show",
)  # fmt: skip
READING = {
    "/skills", "/help arithmetic", "/agent list", "/persona show", "/nothing", "/", "/style loud", "/calc x",
    "/memory show",
}  # fmt: skip
TWO = st.sampled_from((0, 1))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), TWO, TWO, st.sampled_from(COMMANDS)),
        st.tuples(st.just("file"), TWO, TWO, st.sampled_from(("first words", "other words"))),
        st.tuples(st.just("reload"), TWO, TWO, st.sampled_from(("/reload_skills", "/reload_persona"))),
    ),
    min_size=4,
    max_size=10,
)
FROZEN = ("active_agent", "active_persona", "style", "effective_style", "skill_snapshot", "model_config")


def command(node: Node, session_id: str, text: str) -> dict[str, Any]:
    """Return a command's envelope."""
    answer = node.say(session_id, text)
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["command"])


def frozen(node: Node, session_id: str) -> dict[str, Any]:
    """Return the session's frozen state."""
    session = node.http.get(f"/api/sessions/{session_id}").json()
    return {name: session[name] for name in FROZEN}


def write_files(data: Path, words: str) -> None:
    """Change a file of every kind that sessions freeze."""
    write_skill(data / "skills", "own", front(summary=words))
    write_skill(data / "skills", "arithmetic" if words == "other words" else "another", front(summary=words))
    for kind, name, text in (
        ("personas", "own.md", f"Be {words}."), ("agents", "own.agent.yaml", f"id: own\nsummary: {words}\n"),
    ):  # fmt: skip
        (data / kind).mkdir(exist_ok=True)
        (data / kind / name).write_text(text)


@given(steps=STEPS)
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_commands_mean_the_same_in_both_processes(
    nodes: tuple[Node, Node], tmp_path: Path, steps: list[tuple[str, int, int, str]]
) -> None:
    """Both processes run commands of two sessions in any order, while the files of both processes change.

    A changed file has no effect before a reload. A reload changes only its session, which then has the state of a
    session created in the same process at that moment.
    """
    folders = (tmp_path / "first", tmp_path / "second")
    write_files(folders[1], "other words")
    sessions = [nodes[0].new_session(), nodes[1].new_session()]
    for kind, place, which, what in steps:
        one, other = sessions[which], sessions[1 - which]
        before = frozen(nodes[0], one), frozen(nodes[0], other)
        if kind == "file":
            write_files(folders[place], what)
            assert (frozen(nodes[1], one), frozen(nodes[1], other)) == before
            continue
        first = command(nodes[place], one, what)
        if kind == "reload" and what == "/reload_skills":
            fresh = frozen(nodes[place], nodes[place].new_session())["skill_snapshot"]
            held = frozen(nodes[place], one)["skill_snapshot"]
            assert held == fresh | {"version": before[0]["skill_snapshot"]["version"] + 1}
        elif what in READING:
            assert command(nodes[1 - place], one, what) == first
            assert frozen(nodes[1], one) == before[0]
        assert frozen(nodes[1], one) == frozen(nodes[0], one)
        assert frozen(nodes[1], other) == before[1]


@pytest.mark.rule("FROZEN-49")
def test_a_restart_changes_nothing(nodes: tuple[Node, Node], own_services: dict[str, str], tmp_path: Path) -> None:
    """A new process reads every session unchanged, even if the files have changed."""
    here = nodes[0]
    session_id = here.new_session()
    for text in ("/persona use coach", "/style focus", "/agent reader", "/remember The key hangs left.", "/calc 6*7"):
        command(here, session_id, text)
    here.http.patch(f"/api/sessions/{session_id}/model-config", json={"verbosity": "low"}).raise_for_status()
    held = frozen(here, session_id)
    said = {text: command(here, session_id, text) for text in (*sorted(READING), "/persona list", "/help compare")}
    messages = here.http.get(f"/api/sessions/{session_id}/messages").json()
    write_files(tmp_path / "first", "other words")
    variables = own_services | {"MRPVM_API_KEY": KEY, "SECRET_KEY": "another-" + "y" * 50}
    with ServerProcess(tmp_path / "first", "--no-bootstrap", **variables) as restarted:
        again = Node(restarted)
        assert frozen(again, session_id) == held
        assert {text: command(again, session_id, text) for text in said} == said
        assert again.http.get(f"/api/sessions/{session_id}/messages").json() == messages
        assert "own" in command(again, again.new_session(), "/skills")["message"], "the new files are read by new ones"


def test_a_reload_in_one_process_holds_in_both(nodes: tuple[Node, Node], tmp_path: Path) -> None:
    here, there = nodes
    session_id, untouched = here.new_session(), here.new_session()
    write_skill(tmp_path / "second" / "skills", "fresh", front(summary="Fresh"))
    assert "fresh" not in command(there, session_id, "/skills")["message"]
    with here.socket(session_id) as socket:
        assert command(there, session_id, "/reload_skills")["data"] == {"version": 2, "count": 5}
        assert kinds_until(socket, "snapshot.reloaded")[-1][1] == "snapshot.reloaded"
    assert "fresh - Fresh" in command(here, session_id, "/skills")["message"]
    assert "fresh" not in command(there, untouched, "/skills")["message"]


def test_commands_and_turns_take_their_places_across_processes(nodes: tuple[Node, Node]) -> None:
    """Every command is counted once, in whichever process it ran."""
    session_id = nodes[0].new_session()
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda place: nodes[place % 2].say(session_id, "/calc 1+1"), range(16)))
    assert {reply.status_code for reply in replies} <= {200, 409}
    answered = sum(reply.status_code == 200 for reply in replies)
    turns = nodes[0].http.get(f"/api/sessions/{session_id}/explainability").json()["turns"]
    assert [turn["turnIndex"] for turn in turns] == list(range(1, answered + 1))
