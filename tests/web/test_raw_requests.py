"""Any bytes sent to the port get an answer and cause no defect."""

import logging
import socket

import pytest

from tests.live import LiveServer

SECONDS = 5
UPGRADE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)
REQUESTS = {
    "no HTTP": "\x16\x03\x01\x02\x00\r\n\r\n",
    "unknown method": "FOO / HTTP/1.1\r\n",
    "two hosts": "GET / HTTP/1.1\r\nHost: evil.example\r\n",
    "another's address": "GET http://evil.example/ HTTP/1.1\r\n",
    "bytes of no text": "GET /%ff%fe%00 HTTP/1.1\r\n",
    "above the root": "GET //../../etc/passwd HTTP/1.1\r\n",
    "static file above": "GET /static/../../etc/passwd HTTP/1.1\r\n",
    "static NUL": "GET /static/%00 HTTP/1.1\r\n",
    "static long": f"GET /static/{'a' * 5_000} HTTP/1.1\r\n",
    "static range": "GET /static/css/app.css HTTP/1.1\r\nRange: bytes=99999999999999999999-\r\n",
    "large header": f"GET /login HTTP/1.1\r\nX-Large: {'a' * 100_000}\r\n",
    "cookies": 'GET / HTTP/1.1\r\nCookie: mrpvm_session="; =;;\xff; messages=abc\r\n',
    "long cookie": f"GET / HTTP/1.1\r\nCookie: mrpvm_session={'a' * 10_000}\r\n",
    "key of no text": "GET /api/sessions HTTP/1.1\r\nAuthorization: Bearer \xff\xfe\r\n",
    "basic": "GET /api/sessions HTTP/1.1\r\nAuthorization: Basic !!!\r\n",
    "many kinds accepted": f"GET /api/health HTTP/1.1\r\nAccept: {'a/b;q=1,' * 2_000}\r\n",
    "trace headers": f"GET /api/health HTTP/1.1\r\ntraceparent: 00-z-\xff\r\nX-Request-Id: {'a' * 5_000}\r\n",
    "proxy headers": "GET /login HTTP/1.1\r\nX-Forwarded-For: \xff,, ,'\r\nX-Forwarded-Proto: \xff\r\n",
    "addresses": "GET /login HTTP/1.1\r\nHX-Request: true\r\nHX-Current-URL: http://[\r\nReferer: http://[\r\n",
    "dates": "GET /login HTTP/1.1\r\nIf-Modified-Since: 99999999999999\r\nIf-None-Match: \xff\r\n",
    "form of nowhere": "POST /login HTTP/1.1\r\nOrigin: http://[\r\nReferer: http://[\r\nContent-Length: 0\r\n",
    "negative length": "POST /login HTTP/1.1\r\nContent-Length: -5\r\n",
    "two lengths": "POST /login HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n",
    "endless length": f"POST /login HTTP/1.1\r\nContent-Length: {10**30}\r\n",
    "length with zeros": f"POST /login HTTP/1.1\r\nContent-Length: {'0' * 5_000}\r\n",
    "form without boundary": "POST /login HTTP/1.1\r\nContent-Type: multipart/form-data\r\nContent-Length: 0\r\n",
    "login link": "GET /login/link/%00 HTTP/1.1\r\n",
    "MCP from nowhere": "POST /mcp HTTP/1.1\r\nOrigin: http://[\r\nContent-Length: 0\r\n",
    "socket to nowhere": f"GET /nothing HTTP/1.1\r\nOrigin: {{url}}\r\n{UPGRADE}",
    "socket to a page": f"GET /api/sessions HTTP/1.1\r\nOrigin: {{url}}\r\n{UPGRADE}",
    "socket from nowhere": f"GET /live/sessions/x HTTP/1.1\r\nOrigin: http://[\r\n{UPGRADE}",
    "socket from a large port": f"GET /live/sessions/x HTTP/1.1\r\nOrigin: http://127.0.0.1:99999\r\n{UPGRADE}",
    "socket with a bad extension": (
        f"GET /live/sessions/x HTTP/1.1\r\nOrigin: null\r\n{UPGRADE}"
        "Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=99\r\n"
    ),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_no_request_is_a_defect(live_asgi: LiveServer, name: str, caplog: pytest.LogCaptureFixture) -> None:
    host, _, port = live_asgi.address.partition(":")
    written = REQUESTS[name].replace("{url}", live_asgi.url)
    with socket.create_connection((host, int(port)), SECONDS) as connection:
        connection.sendall(f"{written}Host: {live_asgi.address}\r\n\r\n".encode("latin-1"))
        answer = connection.recv(4_096).decode("latin-1")
    status = int(answer.split()[1])
    assert status < 500
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


CHUNKED = "Transfer-Encoding: chunked\r\n"
UNCLEAR = {
    "length and chunks": (f"Content-Length: 5\r\n{CHUNKED}", "0\r\n\r\n"),
    "two lengths": ("Content-Length: 2\r\nContent-Length: 50\r\n", "{}"),
    "list of lengths": ("Content-Length: 2, 2\r\n", "{}"),
    "signed length": ("Content-Length: +2\r\n", "{}"),
    "folded length": ("Content-Length:\r\n 2\r\n", "{}"),
    "unknown coding": ("Content-Length: 2\r\nTransfer-Encoding: xchunked\r\n", "{}"),
    "chunks are not the last coding": ("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"),
    "two codings": (f"{CHUNKED}Transfer-Encoding: identity\r\n", "0\r\n\r\n"),
    "space before the colon": ("Transfer-Encoding : chunked\r\nContent-Length: 2\r\n", "{}"),
    "header behind a carriage return": ("X-A: b\rTransfer-Encoding: chunked\r\nContent-Length: 2\r\n", "{}"),
    "header behind a line feed": ("X-A: b\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n", "{}"),
    "negative chunk": (CHUNKED, "-2\r\n{}\r\n0\r\n\r\n"),
    "chunk of another base": (CHUNKED, "0x2\r\n{}\r\n0\r\n\r\n"),
    "chunk ended by a line feed": (CHUNKED, "2\n{}\n0\n\n"),
    "extension with a line feed": (CHUNKED, "2;a\nxx\r\n{}\r\n0\r\n\r\n"),
}
"""Headers and body of requests whose end a proxy and a server may see at different places."""


@pytest.mark.parametrize("name", UNCLEAR)
def test_a_request_whose_end_is_unclear_is_the_last(live_asgi: LiveServer, name: str) -> None:
    """A request that could hide another one is refused, and nothing after it is read."""
    host, _, port = live_asgi.address.partition(":")
    headers, body = UNCLEAR[name]
    head = f"POST /api/sessions HTTP/1.1\r\nHost: {live_asgi.address}\r\n{headers}\r\n"
    smuggled = f"GET /api/health HTTP/1.1\r\nHost: {live_asgi.address}\r\n\r\n"
    with socket.create_connection((host, int(port)), SECONDS) as connection:
        connection.sendall(f"{head}{body}{smuggled}".encode())
        answer = b""
        while piece := connection.recv(4_096):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1
