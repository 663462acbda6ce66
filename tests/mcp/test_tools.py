"""MCP tools that find a conversation, explain an answer, and ask a question."""

import re
from collections.abc import Callable

import httpx2
import pytest
from django.conf import settings
from pydantic import AnyUrl
from pytest_django import Settings

from mrpvm.llm.redaction import REDACTED
from sessions_app.actions.knowledge.bases import ensure_default_base
from sessions_app.actions.sessions.session import create_session
from sessions_app.commands.messages import answer_message
from sessions_app.mcp import reading
from sessions_app.models import Project, Session
from sessions_app.models.turns.explainability_turn import ExplainabilityTurn
from sessions_app.turns.call import TurnCall
from tests.live import LiveServer
from tests.mcp.conftest import Agent
from tests.planted import planted_secrets
from tests.stored import CONVERSATION, assert_nowhere, finder, stored_texts

# One process imports the SDK.
pytestmark = pytest.mark.xdist_group("mcp")

EXPERIMENTERS = {"try_turn", "diagnose_turn", "run_suite"}


def test_reading_tools_are_marked_and_writing_ones_not(agent: Callable[..., Agent]) -> None:
    listed = agent("viewer").send("list_tools").tools
    reads = {tool.name: bool(tool.annotations and tool.annotations.readOnlyHint) for tool in listed}
    writers = {name for name, is_reader in reads.items() if not is_reader}
    assert writers == {"ask", *EXPERIMENTERS}
    assert len(reads) == 15
    assert all(tool.description and "caller" not in tool.inputSchema["properties"] for tool in listed)


def test_the_server_names_its_own_version(agent: Callable[..., Agent]) -> None:
    told = agent("viewer").send("initialize").serverInfo
    assert (told.name, told.version) == ("mrpvm", settings.MRPVM_VERSION)


def test_an_agent_tells_and_asks_in_one_session(agent: Callable[..., Agent]) -> None:
    editor = agent()
    names = r"\[session (?P<session_id>\S+), turn (?P<turn_id>\S+):"
    told = re.search(names, editor.text("ask", message="My dog is called Rex."))
    assert told
    answer = editor.text("ask", message="What is my dog called?", session_id=told["session_id"])
    assert answer.startswith("My dog is called Rex.")
    asked = re.search(names, answer)
    assert asked
    assert asked["session_id"] == told["session_id"]
    assert asked["turn_id"] in editor.text("read_turn", **asked.groupdict())


def test_what_an_agent_says_leaves_no_secret_in_what_tells_of_it(agent: Callable[..., Agent]) -> None:
    planted = planted_secrets(seed=6, a_form=1)
    secrets, editor = finder(planted), agent()
    for item in planted:
        editor.text("ask", message=item.text)
        assert_nowhere(secrets, "an answer", editor.text("search_turns", query=f'"{item.secret}"').encode())
    stored = list(stored_texts(CONVERSATION))
    assert sum(text.count(REDACTED.encode()) for _, text in stored) >= len(planted)
    for place, text in stored:
        assert_nowhere(secrets, place, text)


def test_an_agent_walks_from_a_list_to_a_cause(agent: Callable[..., Agent], talked: dict[str, str]) -> None:
    viewer, session_id = agent("viewer"), talked["session_id"]
    assert session_id in viewer.text("list_sessions", query="dog")
    assert talked["turn_id"] in viewer.text("search_turns", query='"dog called" status:succeeded')
    assert "What is my dog called?" in viewer.text("read_session", session_id=session_id)
    explained = viewer.text("read_turn", **talked)
    execution = re.search(r"(exec-\S+) goal-solver \S+: \w+", explained)
    cited = re.search(r"Cites (\S+): My dog is called Rex\.", explained)
    assert "Answered: My dog is called Rex." in explained
    assert execution
    assert cited
    assert '"output"' in viewer.text("read_execution", **talked, node_id=execution[1])
    assert cited[1] in viewer.text("list_units", session_id=session_id)
    life = viewer.text("explain_unit", session_id=session_id, unit_id=cited[1])
    assert f"cited in {talked['turn_id']}" in life
    assert "Came from: turn req-" in life


def test_a_turn_that_asked_of_its_own_message_is_explained(agent: Callable[..., Agent], project: Project) -> None:
    call = TurnCall(message="My cat is called Tom. What is my cat called?")
    turn = answer_message(create_session(project), call).turn
    named = {"session_id": turn.session.session_id, "turn_id": turn.request_id}
    assert re.search(r"Cites \S+: My cat is called Tom\.", agent("viewer").text("read_turn", **named))


def test_resources_are_what_the_tools_read(agent: Callable[..., Agent], talked: dict[str, str]) -> None:
    viewer, session_id, turn_id = agent("viewer"), talked["session_id"], talked["turn_id"]

    def content(address: str) -> str:
        read = viewer.send("read_resource", AnyUrl(address))
        return read.contents[0].text  # type: ignore[union-attr]

    assert session_id in content("mrpvm://sessions")
    assert "dog" in content(f"mrpvm://sessions/{session_id}")
    assert content(f"mrpvm://sessions/{session_id}/turns/{turn_id}") == viewer.text("read_turn", **talked)
    templates = viewer.send("list_resource_templates").resourceTemplates
    assert len(templates) == 3


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("mrpvm://sessions/sess-none", "SESSION_NOT_FOUND: "),
        ("mrpvm://sessions/sess-none/turns/req-none", "SESSION_NOT_FOUND: "),
        ("mrpvm://nothing", "NOT_FOUND: There is no resource 'mrpvm://nothing'."),
    ],
)
def test_an_error_of_a_resource_begins_with_its_code(agent: Callable[..., Agent], address: str, error: str) -> None:
    refusal = agent("viewer").refusal("read_resource", AnyUrl(address))
    assert refusal.startswith(error)


def test_lists_and_long_texts_come_in_pages(
    agent: Callable[..., Agent], talked: dict[str, str], settings: Settings
) -> None:
    editor = agent()
    editor.text("ask", message="My cat is called Tom.")
    first = editor.text("list_sessions", limit=1)
    cursor = re.search(r"cursor=(\S+)\]", first)
    assert cursor
    second = editor.text("list_sessions", limit=1, cursor=cursor[1])
    assert first.split()[0] != second.split()[0]
    assert "cursor=" not in second
    whole = editor.text("read_turn", **talked)
    settings.MRPVM_MCP_PAGE_CHARS = 300
    read, offset = "", 0
    while True:
        part = editor.text("read_turn", **talked, offset=offset)
        body, _, more = part.rpartition("\n[")
        following = re.search(r"offset=(\d+)\]$", more)
        read += body if following else part
        if not following:
            break
        offset = int(following[1])
    assert read == whole


def test_a_role_or_project_that_may_not_is_refused(agent: Callable[..., Agent], talked: dict[str, str]) -> None:
    other = Project.objects.create(name="Other", slug="other")
    ensure_default_base(other)
    stranger = agent("admin", other)
    assert stranger.text("list_sessions") == "No matching sessions."
    assert "SESSION_NOT_FOUND" in stranger.error("read_turn", **talked)
    assert "SESSION_NOT_FOUND" in stranger.error("ask", message="Hello", session_id=talked["session_id"])
    before = Session.objects.count(), ExplainabilityTurn.objects.count()
    assert "FORBIDDEN" in agent("viewer").error("ask", message="Hello")
    assert (Session.objects.count(), ExplainabilityTurn.objects.count()) == before


def test_a_viewer_may_change_no_conversation(agent: Callable[..., Agent]) -> None:
    viewer = agent("viewer")
    listed = viewer.send("list_tools").tools
    writers = [tool for tool in listed if tool.annotations and not tool.annotations.readOnlyHint]
    writers = [tool for tool in writers if tool.name not in EXPERIMENTERS]
    assert writers
    for tool in writers:
        arguments = dict.fromkeys(tool.inputSchema.get("required", ()), "x")
        assert "FORBIDDEN" in viewer.error(tool.name, **arguments), tool.name


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "said"),
    [
        ("no_such_tool", {}, "NOT_FOUND", "no_such_tool"),
        ("list_sessions", {"limit": 1_000}, "INVALID_INPUT", "limit: Input should be less than or equal to 100"),
        ("list_sessions", {"cursor": "!"}, "INVALID_INPUT", "cursor"),
        ("list_sessions", {"query": "status:faild"}, "INVALID_INPUT", "status:failed"),
        ("list_sessions", {"query": "a\0b"}, "INVALID_INPUT", "NUL"),
        ("read_turn", {"session_id": "x", "turn_id": "y"}, "SESSION_NOT_FOUND", "'x'"),
        ("ask", {"message": "x" * 9_000}, "NORMALIZER_INPUT_TOO_LARGE", "9000"),
        ("ask", {"message": "x", "goal_solver": "none"}, "INVALID_GOAL_SOLVER_PLUGIN", "'none'"),
        ("ask", {}, "INVALID_INPUT", "message: Field required"),
        (
            "try_turn",
            {"session_id": "x", "turn_id": "y", "trials": [{"kb_id": "z"}]},
            "INVALID_INPUT",
            "trials.0.kb_id: Extra inputs are not permitted",
        ),
    ],
)
def test_bad_calls_get_an_error_that_begins_with_its_code(
    agent: Callable[..., Agent], tool: str, arguments: dict[str, object], code: str, said: str
) -> None:
    error = agent().error(tool, **arguments)
    assert error.startswith(f"{code}: ")
    assert said in error
    assert "pydantic" not in error
    assert not Session.objects.exists()


def test_a_defect_shows_nothing(agent: Callable[..., Agent], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> None:
        raise ValueError("a secret")

    monkeypatch.setattr(reading.turns, "turn_or_trial", broken)
    told = agent().error("read_turn", session_id="x", turn_id="y")
    assert "SERVER_INTERNAL_ERROR" in told
    assert "secret" not in told


@pytest.mark.parametrize(
    ("body", "status"),
    [("[" * 100_000, 400), ('{"id": 1, "params": ' + "[" * 100_000 + "]" * 100_000 + "}", 400), ("{", 400)],
)
def test_a_body_that_is_no_request_is_refused(agent: Callable[..., Agent], body: str, status: int) -> None:
    one = agent()
    headers = {"Authorization": f"Bearer {one.key}", "Content-Type": "application/json"}
    accept = {"Accept": "application/json, text/event-stream"}
    answer = httpx2.post(f"{one.url}/mcp", headers=headers | accept, content=body)
    assert answer.status_code == status
    assert answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("POST", {}, 401),
        ("POST", {"Authorization": "Bearer mrp_wrong"}, 401),
        ("POST", {"Origin": "https://evil.example"}, 403),
        ("POST", {"Origin": "http://["}, 403),
        ("POST", {"Host": "evil.example"}, 403),
        ("GET", {}, 401),
    ],
)
def test_strangers_do_not_get_in(
    live_asgi: LiveServer, project: Project, method: str, headers: dict[str, str], status: int
) -> None:
    answer = httpx2.request(method, f"{live_asgi.url}/mcp", headers=headers, json={} if method == "POST" else None)
    assert answer.status_code == status
    assert answer.json()["error"]["message"]
