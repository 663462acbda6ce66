"""The protocol's server: tools and resources by name, each run on a thread that may use the database."""

import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable
from functools import cache, partial, wraps
from typing import Any
from urllib.parse import unquote

from django.conf import settings
from django.core.exceptions import PermissionDenied
from mcp.server.fastmcp import FastMCP
from mcp.server.fastmcp.exceptions import ResourceError, ToolError
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.types import ToolAnnotations
from pydantic import AnyUrl, ValidationError
from pydantic_core import to_jsonable_python

from mrpvm.errors import InvalidInput, MRPError
from mrpvm.llm.storable import is_storable
from sessions_app.actions.settings.audit import acting_as
from sessions_app.database import as_unavailable
from sessions_app.identifiers import new_request_id
from sessions_app.mcp import experimenting, reading, writing
from sessions_app.mcp.caller import Caller, current_caller
from sessions_app.mcp.threads import Threads, with_database
from sessions_app.queries.settings.projects import is_at_least

INSTRUCTIONS = (
    "mrpvm keeps conversations and records how every answer came about. Start with list_sessions or search_turns,"
    " then read_turn: it tells what was asked, answered and cited, which plugins ran and why. read_execution shows what"
    " one of them got and gave, explain_unit where a piece of knowledge came from. replay_turn tells whether a turn"
    " still comes out as recorded, diagnose_turn what its answer depends on, try_turn what it would be with something"
    " changed, run_suite whether the project's tests pass; none of them changes a conversation. Long texts come in"
    " pages: call again with the offset or cursor that the last line names."
)
READERS: tuple[Callable[..., str], ...] = (
    reading.list_sessions,
    reading.read_session,
    reading.search_turns,
    reading.read_turn,
    reading.read_execution,
    reading.list_units,
    reading.explain_unit,
    experimenting.replay_turn,
    experimenting.read_experiment,
    experimenting.list_suites,
    experimenting.read_suite,
)
EXPERIMENTERS: tuple[Callable[..., str], ...] = (
    experimenting.try_turn,
    experimenting.diagnose_turn,
    experimenting.run_suite,
)
"""Tools that keep what they find out and change no conversation."""
WRITERS: tuple[Callable[..., str], ...] = (writing.ask,)

logger = logging.getLogger(__name__)


class _Tools(FastMCP[Any]):
    """The SDK's server, whose errors of tools and resources begin with a code instead of the SDK's words."""

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        """Call a tool.

        Raises:
            ToolError: with the code and message of the error.
        """
        try:
            return await super().call_tool(name, arguments)
        except ToolError as wrapped:
            raise _coded(wrapped, name) from None

    async def read_resource(self, uri: AnyUrl | str) -> Iterable[ReadResourceContents]:
        """Read a resource.

        Raises:
            ResourceError: with the code and message of the error.
        """
        try:
            return await super().read_resource(uri)
        except (ValueError, ResourceError) as wrapped:
            raise ResourceError(_said(wrapped) or f"NOT_FOUND: There is no resource '{uri}'.") from None


def _said(error: BaseException | None) -> str:
    """Return the text of the tool error that the SDK's own errors followed; empty without one."""
    while error is not None and not isinstance(error, ToolError):
        error = error.__context__
    return str(error or "")


def _coded(wrapped: ToolError, name: str) -> ToolError:
    cause = wrapped.__cause__
    if isinstance(cause, ToolError):
        return cause
    if isinstance(cause, ValidationError):
        wrong = (f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in cause.errors(include_url=False))
        return ToolError(f"INVALID_INPUT: {'; '.join(wrong)}.")
    if cause is None:
        return ToolError(f"NOT_FOUND: There is no tool '{name}'.")
    return wrapped


@cache
def protocol_server(threads: Threads) -> Server[Any, Any]:
    """Return the server with every tool and resource; it keeps nothing of a request."""
    server = _Tools("mrpvm", instructions=INSTRUCTIONS)
    for tool in READERS:
        annotations = ToolAnnotations(readOnlyHint=True, openWorldHint=False)
        server.add_tool(_called(threads, tool, "viewer"), annotations=annotations, structured_output=False)
    for tools, role in ((EXPERIMENTERS, "viewer"), (WRITERS, "editor")):
        for tool in tools:
            annotations = ToolAnnotations(
                readOnlyHint=False, destructiveHint=False, idempotentHint=False, openWorldHint=False
            )
            server.add_tool(_called(threads, tool, role), annotations=annotations, structured_output=False)
    _add_resources(server, threads)
    server._mcp_server.version = settings.MRPVM_VERSION  # else the SDK's own
    return server._mcp_server


def _add_resources(server: FastMCP[Any], threads: Threads) -> None:
    """Register resources, each of which reads the first page of what a tool reads."""
    text = partial(server.resource, mime_type="text/plain")

    @text("mrpvm://sessions", description="The sessions with the latest activity.")
    async def latest_sessions() -> str:
        return await _called(threads, reading.list_sessions, "viewer")()

    @text("mrpvm://sessions/{session_id}", description=inspect.getdoc(reading.read_session))
    async def session(session_id: str) -> str:
        return await _called(threads, reading.read_session, "viewer")(session_id=unquote(session_id))

    @text("mrpvm://sessions/{session_id}/turns/{turn_id}", description=inspect.getdoc(reading.read_turn))
    async def turn(session_id: str, turn_id: str) -> str:
        parts = {"session_id": unquote(session_id), "turn_id": unquote(turn_id)}
        return await _called(threads, reading.read_turn, "viewer")(**parts)

    @text("mrpvm://sessions/{session_id}/units/{unit_id}", description=inspect.getdoc(reading.explain_unit))
    async def unit(session_id: str, unit_id: str) -> str:
        parts = {"session_id": unquote(session_id), "unit_id": unquote(unit_id)}
        return await _called(threads, reading.explain_unit, "viewer")(**parts)


def _called(threads: Threads, tool: Callable[..., str], role: str) -> Callable[..., Awaitable[str]]:
    """Return the tool as the SDK calls it: without its first parameter, the caller, and off the event loop.

    A deliberate error is returned to the client as a tool error; a defect is logged, and the client gets no details.
    """

    @wraps(tool)
    async def call(**arguments: Any) -> str:
        caller = current_caller.get()
        if not is_at_least(caller.role, role):
            raise ToolError(f"FORBIDDEN: this key has the role {caller.role}; {tool.__name__} needs {role}.")
        return await with_database(threads, partial(_answer, tool, caller, arguments))

    signature = inspect.signature(tool, eval_str=True)
    call.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=list(signature.parameters.values())[1:]
    )
    return call


def _answer(tool: Callable[..., str], caller: Caller, arguments: dict[str, Any]) -> str:
    """Return the tool's text.

    Raises:
        ToolError: for the client, with the code and message of the error.
    """
    try:
        if not is_storable(to_jsonable_python(arguments)):
            raise InvalidInput("A text holds a NUL or half of a surrogate pair: no text that could be stored.")
        with acting_as(lambda: caller.actor):
            return tool(caller, **arguments)
    except PermissionDenied as refused:
        raise ToolError(f"FORBIDDEN: {refused}") from None
    except Exception as raised:
        error = as_unavailable(raised)
        if isinstance(error, MRPError):
            raise ToolError(f"{error.code}: {error.message}") from None
        request_id = new_request_id()
        logger.exception("request %s: the tool %s failed", request_id, tool.__name__)
        raise ToolError(
            f"SERVER_INTERNAL_ERROR: the server has a defect; its log says more under {request_id}."
        ) from None
