"""The body limit: 413 with an error object, with and without a Content-Length."""

import asyncio
import errno
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.api.shell.body_limit import ASGIApplication, BodyLimit

LIMIT = 100
UPLOAD_LIMIT = 400


async def echo_length(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Answer with the number of bytes received."""
    length, more = 0, True
    while more:
        message = await receive()
        length += len(message.get("body", b""))
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(length).encode()})


def post(
    chunks: list[bytes], headers: dict[str, str], application: ASGIApplication = echo_length
) -> tuple[int, bytes, int]:
    """Send the chunks; return the status, the body and how many chunks were read."""
    sent: list[dict[str, Any]] = []
    read = 0

    async def receive() -> dict[str, Any]:
        nonlocal read
        chunk = chunks[read] if read < len(chunks) else b""
        read += 1
        return {"type": "http.request", "body": chunk, "more_body": read < len(chunks)}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "path": "/api/chat/completions",
        "headers": [(k.encode(), v.encode()) for k, v in headers.items()],
    }
    limited = BodyLimit(application, max_bytes=LIMIT, max_upload_bytes=UPLOAD_LIMIT, timeout_ms=60_000)
    asyncio.run(limited(scope, receive, send))
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    return sent[0]["status"], sent[1]["body"], read


@pytest.mark.rule("API-1")
@given(st.lists(st.binary(max_size=60), min_size=1, max_size=6), st.booleans())
def test_a_body_passes_exactly_up_to_the_limit(chunks: list[bytes], stated: bool) -> None:
    length = sum(map(len, chunks))
    status, body, read = post(chunks, {"content-length": str(length)} if stated else {})
    assert read == len(chunks), "the client is heard out"
    if length <= LIMIT:
        assert (status, body) == (200, str(length).encode())
    else:
        assert status == 413
        error = json.loads(body)["error"]
        assert error["code"] == "BODY_TOO_LARGE"
        assert error["details"] == {"max_bytes": LIMIT}


@pytest.mark.rule("DECISION-33")
@pytest.mark.parametrize(("length", "expected"), [(400, 200), (401, 413)])
def test_an_upload_has_a_limit_of_its_own(length: int, expected: int) -> None:
    status, _, _ = post([b"x" * length], {"content-type": "multipart/form-data; boundary=b"})
    assert status == expected


def test_a_client_that_never_ends_is_cut_off() -> None:
    status, _, read = post([b"x" * LIMIT] * 1_000, {})
    assert status == 413
    assert read < 30


def test_a_length_that_is_not_a_number_is_not_believed() -> None:
    assert post([b"x" * 101], {"content-length": "few"})[0] == 413


async def keep_body(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Fail as a full disk does."""
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_body_without_room_on_the_disk_is_refused() -> None:
    status, body, _ = post([b"x"], {}, keep_body)
    error = json.loads(body)["error"]
    assert (status, error["code"], error["type"]) == (507, "INSUFFICIENT_STORAGE", "processing_error")


async def lose_client(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Fail as with a client that has disconnected."""
    raise ConnectionResetError


def test_other_failures_of_a_connection_are_passed_on() -> None:
    with pytest.raises(ConnectionResetError):
        post([b"x"], {}, lose_client)
