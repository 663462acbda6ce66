"""A scripted OpenAI-compatible server on the loopback interface: a test chooses its reaction to each request."""

import itertools
import json
import threading
from collections import deque
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Behaviour = Callable[["Asked"], None]
"""Answers one request."""
_numbers = itertools.count(1)
"""Every response has an id of its own."""
KEY = "sk-the-providers-own-key-0123456789"


class Asked:
    """A request, with methods to answer it."""

    def __init__(self, handler: BaseHTTPRequestHandler, body: dict[str, Any], released: threading.Event) -> None:
        self.handler = handler
        self.path = handler.path
        self.headers = {name.lower(): value for name, value in handler.headers.items()}
        self.body = body
        self.released = released
        self.is_chat = self.path.endswith("/chat/completions")
        self.streams = bool(body.get("stream"))

    def send(self, status: int, content: bytes, kind: str = "application/json", **headers: str) -> None:
        """Send a complete answer."""
        self.handler.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(content)), **headers}.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.end_headers()
        self.handler.wfile.write(content)

    def begin_stream(self) -> None:
        """Send the headers of a stream."""
        self.handler.send_response(200)
        self.handler.send_header("Content-Type", "text/event-stream")
        self.handler.send_header("Transfer-Encoding", "chunked")
        self.handler.end_headers()

    def event(self, data: Any) -> None:
        """Send one event of a stream."""
        named = f"event: {data['type']}\n" if isinstance(data, dict) and "type" in data else ""
        text = data if isinstance(data, str) else json.dumps(data)
        self._chunk(f"{named}data: {text}\n\n".encode())

    def piece(self, text: str) -> None:
        """Send one piece of text."""
        self.event(_chat_chunk({"content": text}) if self.is_chat else _delta(text))

    def finish(self, reason: str = "stop", usage: dict[str, int] | None = None, text: str = "") -> None:
        """End a stream in the form of its API."""
        if self.is_chat:
            self.event(_chat_chunk({}, reason))
            if usage:
                self.event({**_chat_chunk({}), "choices": [], "usage": _chat_usage(usage)})
            self.event("[DONE]")
        else:
            self.event({"type": "response.completed", "sequence_number": 9, "response": _response(text, usage)})
        self._chunk(b"")

    def _chunk(self, content: bytes) -> None:
        self.handler.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")
        self.handler.wfile.flush()


def _chat_chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "served", "choices": [choice]}


def _delta(text: str) -> dict[str, Any]:
    return {
        "type": "response.output_text.delta", "sequence_number": 1, "item_id": "m-1", "output_index": 0,
        "content_index": 0, "delta": text, "logprobs": [],
    }  # fmt: skip


def _chat_usage(usage: dict[str, int]) -> dict[str, int]:
    total = usage["input"] + usage["output"]
    return {"prompt_tokens": usage["input"], "completion_tokens": usage["output"], "total_tokens": total}


def _response(text: str, usage: dict[str, int] | None, status: str = "completed") -> dict[str, Any]:
    said = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    counted = usage and {
        "input_tokens": usage["input"],
        "output_tokens": usage["output"],
        "total_tokens": usage["input"] + usage["output"],
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    return {
        "id": f"r-{next(_numbers)}", "object": "response", "created_at": 1, "status": status, "model": "served",
        "error": None, "incomplete_details": None, "instructions": None, "metadata": {}, "parallel_tool_calls": True,
        "tools": [], "tool_choice": "auto", "temperature": 1, "top_p": 1, "usage": counted,
        "output": [{"id": "m-1", "type": "message", "role": "assistant", "status": "completed", "content": [said]}],
    }  # fmt: skip


def say(text: str, *, usage: dict[str, int] | None = None, reason: str = "stop", piece_chars: int = 5) -> Behaviour:
    """Answer with a text, in pieces if the request asks for a stream."""

    def answer(asked: Asked) -> None:
        if asked.streams:
            asked.begin_stream()
            for start in range(0, len(text), piece_chars):
                asked.piece(text[start : start + piece_chars])
            asked.finish(reason, usage, text)
        elif asked.is_chat:
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message, "finish_reason": reason}
            whole = {"id": "c-1", "object": "chat.completion", "created": 1, "model": "served", "choices": [choice]}
            asked.send(200, json.dumps(whole | ({"usage": _chat_usage(usage)} if usage else {})).encode())
        else:
            asked.send(200, json.dumps(_response(text, usage)).encode())

    return answer


def refuse(
    status: int, message: str = "no", *, param: str | None = None, code: str | None = "some_code", **headers: str
) -> Behaviour:
    """Answer with an error object of the API."""
    error = {"error": {"message": message, "type": "some_error", "param": param, "code": code}}
    return lambda asked: asked.send(status, json.dumps(error).encode(), **headers)


def send(content: bytes, kind: str = "application/json") -> Behaviour:
    """Answer 200 with these bytes."""
    return lambda asked: asked.send(200, content, kind)


def hang(asked: Asked) -> None:
    """Send nothing until the test ends, then close the connection."""
    asked.released.wait(30)
    asked.handler.close_connection = True


def reset(asked: Asked) -> None:
    """Close the connection without an answer."""
    asked.handler.close_connection = True
    asked.handler.connection.close()


def cut(*pieces: str) -> Behaviour:
    """Start a stream and break the connection in the middle."""

    def answer(asked: Asked) -> None:
        asked.begin_stream()
        for piece in pieces:
            asked.piece(piece)
        reset(asked)

    return answer


def end_early(*pieces: str) -> Behaviour:
    """Start a stream and end it correctly before the answer is complete."""

    def answer(asked: Asked) -> None:
        asked.begin_stream()
        for piece in pieces:
            asked.piece(piece)
        asked._chunk(b"")

    return answer


def break_off(*pieces: str) -> Behaviour:
    """Start a stream and send an error in it."""

    def answer(asked: Asked) -> None:
        asked.begin_stream()
        for piece in pieces:
            asked.piece(piece)
        message = {"message": "overloaded", "type": "server_error", "code": "overloaded", "param": None}
        asked.event({"error": message} if asked.is_chat else {"type": "error", "sequence_number": 2, **message})
        asked._chunk(b"")

    return answer


def stall(*pieces: str) -> Behaviour:
    """Start a stream and send no more."""

    def answer(asked: Asked) -> None:
        asked.begin_stream()
        for piece in pieces:
            asked.piece(piece)
        asked.released.wait(30)

    return answer


class Provider:
    """The server: uses the reactions of `script` in order, then `otherwise`; `asked` holds every request."""

    def __init__(self, *script: Behaviour, otherwise: Behaviour | None = None) -> None:
        self.script = deque(script)
        self.otherwise = otherwise or say("So it is.")
        self.asked: list[Asked] = []
        self.models: Sequence[str] = ("served", "other")
        self.released = threading.Event()
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # a body waits up to 40 ms for the acknowledgement of its headers

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                asked = Asked(self, json.loads(self.rfile.read(length)), provider.released)
                provider.asked.append(asked)
                behaviour = provider.script.popleft() if provider.script else provider.otherwise
                behaviour(asked)

            def do_GET(self) -> None:
                asked = Asked(self, {}, provider.released)
                data = [{"id": name, "object": "model", "created": 1, "owned_by": "test"} for name in provider.models]
                asked.send(200, json.dumps({"object": "list", "data": data}).encode())

            def log_message(self, *arguments: Any) -> None:
                """Say nothing."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *arguments: Any) -> None:
                """Ignore clients that disconnect."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """Return the bodies of all requests."""
        return [asked.body for asked in self.asked]
