"""Frozen sessions on two server processes, each with files of its own [C-2, C-3, C-7, L-20 to L-23]."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conversation.skill_files import front, write_skill
from tests.services.test_two_processes import Node, kinds_until, nodes

__all__ = ["nodes"]

pytestmark = pytest.mark.services

COMMANDS = (
    "/skills", "/help arithmetic", "/calc 6*7", "/calc x", "/agent reader", "/agent default", "/agent list",
    "/persona use coach", "/persona show", "/persona use nobody", "/style focus", "/style loud", "/nothing", "/",
)  # fmt: skip
READING = {"/skills", "/help arithmetic", "/agent list", "/persona show", "/nothing", "/", "/style loud", "/calc x"}
STEPS = st.lists(
    st.tuples(st.sampled_from((0, 1)), st.sampled_from((0, 1)), st.sampled_from(COMMANDS)), min_size=1, max_size=8
)
FROZEN = ("active_agent", "active_persona", "style", "effective_style", "skill_snapshot", "model_config")


def command(node: Node, session_id: str, text: str) -> dict[str, Any]:
    """Give a command's envelope."""
    answer = node.say(session_id, text)
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["command"])


def frozen(node: Node, session_id: str) -> dict[str, Any]:
    """Give what the session keeps."""
    session = node.http.get(f"/api/sessions/{session_id}").json()
    return {name: session[name] for name in FROZEN}


@given(steps=STEPS)
@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_commands_mean_the_same_in_both_processes(
    nodes: tuple[Node, Node], tmp_path: Path, steps: list[tuple[int, int, str]]
) -> None:
    """Two sessions, each spoken to through both processes in any order; the second one's files differ all along."""
    write_skill(tmp_path / "second" / "skills", "arithmetic", front(summary="Another one"))
    sessions = [nodes[0].new_session(), nodes[0].new_session()]
    for node, which, text in steps:
        one, other = sessions[which], sessions[1 - which]
        before = frozen(nodes[0], other)
        first = command(nodes[node], one, text)
        if text in READING:
            assert command(nodes[1 - node], one, text) == first
        assert frozen(nodes[1], one) == frozen(nodes[0], one)
        assert frozen(nodes[1], other) == before


def test_a_reload_reads_the_files_of_its_process_and_holds_in_both(nodes: tuple[Node, Node], tmp_path: Path) -> None:
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
    """[C-10]: every command is counted once, whoever took it."""
    session_id = nodes[0].new_session()
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda place: nodes[place % 2].say(session_id, "/calc 1+1"), range(16)))
    assert {reply.status_code for reply in replies} <= {200, 409}
    answered = sum(reply.status_code == 200 for reply in replies)
    turns = nodes[0].http.get(f"/api/sessions/{session_id}/explainability").json()["turns"]
    assert [turn["turnIndex"] for turn in turns] == list(range(1, answered + 1))
