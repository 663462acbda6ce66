"""The MCP SDK as a client of the real server."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import anyio
import httpx
import pytest

from sessions_app.actions.knowledge.bases import ensure_default_base
from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.settings.api_keys import create_key
from sessions_app.commands.messages import answer_message
from sessions_app.models import Project, Session
from sessions_app.plugin_threads import workers
from sessions_app.turns.call import TurnCall
from sessions_app.turns.machine import install_plugins
from tests.live import LiveServer


@pytest.fixture(scope="session", autouse=True)
def plugins() -> None:
    """Install the plugins as the server does when it starts."""
    install_plugins()


@pytest.fixture
def project(transactional_db: None) -> Iterator[Project]:
    """Return the default project."""
    made = Project.objects.create(name="Default", slug="default", is_default=True)
    ensure_default_base(made)
    yield made
    workers.close()


@dataclass(frozen=True)
class ToolResult:
    """The only text of a tool's result."""

    text: str
    is_error: bool


@dataclass(frozen=True)
class Agent:
    """A coding agent with a key."""

    url: str
    key: str

    def send(self, request: str, *arguments: Any) -> Any:
        """Return the answer to a request of the SDK's `ClientSession`, in an MCP session of its own."""
        # Importing the SDK takes two seconds, which only processes that run these tests should spend.
        from mcp import ClientSession
        from mcp.client.streamable_http import streamable_http_client

        async def run() -> Any:
            headers = {"Authorization": f"Bearer {self.key}"}
            async with (
                httpx.AsyncClient(headers=headers, timeout=30) as client,
                streamable_http_client(f"{self.url}/mcp", http_client=client) as (reading, writing, _),
                ClientSession(reading, writing) as session,
            ):
                await session.initialize()
                return await getattr(session, request)(*arguments)

        return anyio.run(run)

    def refusal(self, request: str, *arguments: Any) -> str:
        """Return the message of the protocol's error to a request that is refused."""
        with pytest.raises(ExceptionGroup) as refused:
            self.send(request, *arguments)
        error: BaseException = refused.value
        while isinstance(error, ExceptionGroup):
            (error,) = error.exceptions
        return str(error)

    def call(self, tool: str, **arguments: Any) -> ToolResult:
        """Return the result of a tool."""
        result = self.send("call_tool", tool, arguments)
        (content,) = result.content
        assert content.type == "text"
        return ToolResult(content.text, result.isError)

    def text(self, tool: str, **arguments: Any) -> str:
        """Return the text of a tool that succeeds."""
        result = self.call(tool, **arguments)
        assert not result.is_error, result
        return result.text

    def error(self, tool: str, **arguments: Any) -> str:
        """Return the text of a tool that fails."""
        result = self.call(tool, **arguments)
        assert result.is_error, result
        return result.text


@pytest.fixture
def agent(live_asgi: LiveServer, project: Project) -> Callable[..., Agent]:
    """Return agents: `agent("viewer")`, `agent("editor", other_project)`."""

    def make(role: str = "editor", owner: Project = project) -> Agent:
        return Agent(live_asgi.url, create_key(owner, role, role)[1])

    return make


@pytest.fixture
def talked(project: Project) -> dict[str, str]:
    """Return the ids of a session of two turns and of the second one."""
    session = create_session(project)
    answer_message(session, TurnCall(message="My dog is called Rex."))
    asked = answer_message(Session.objects.get(), TurnCall(message="What is my dog called?")).turn
    return {"session_id": session.session_id, "turn_id": asked.request_id}
