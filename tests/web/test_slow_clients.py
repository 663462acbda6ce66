"""Clients that send or read too slowly are disconnected by a real server with a limit of half a second."""

import asyncio
import secrets
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2 as httpx
import pytest
import uvicorn
from pytest_django import Settings

from sessions_app.management.connections import LimitedConnection
from tests.migrated import migrated_file
from tests.server import ServerProcess

KEY = "mrp_" + "c" * 32
SECONDS, TOO_LONG_SECONDS = 0.5, 60
TCP_ESTABLISHED = 1
HEAD = "POST /api/sessions HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, shared_directory: Path) -> Iterator[ServerProcess]:
    """Return a server with the short client timeout."""
    data = tmp_path_factory.mktemp("data")
    shutil.copyfile(migrated_file(shared_directory), data / "db.sqlite3")
    with ServerProcess(data, MRPVM_CLIENT_TIMEOUT_MS=str(int(SECONDS * 1000)), MRPVM_API_KEY=KEY) as running:
        yield running
        running.stop()
    assert "Traceback" not in running.output


def connected(server: ServerProcess) -> socket.socket:
    """Return a connection to the server with a small receive buffer."""
    address = urlsplit(server.url)
    return connection_to((str(address.hostname), address.port or 0))


def connection_to(address: tuple[str, int]) -> socket.socket:
    """Return a connection to the address with a small receive buffer."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    made.settimeout(TOO_LONG_SECONDS)
    made.connect(address)
    return made


def drip(connection: socket.socket, piece: bytes) -> bytes:
    """Send one piece after another until the server answers or closes the connection; return the answer."""
    connection.settimeout(SECONDS / 5)
    until = time.monotonic() + TOO_LONG_SECONDS
    while time.monotonic() < until:
        try:
            connection.sendall(piece)
            first = connection.recv(65_536)
            connection.settimeout(TOO_LONG_SECONDS)
            return first + connection.recv(65_536)
        except TimeoutError:
            continue
        except ConnectionError:
            return b""
    raise AssertionError("the server waits for ever")


def stay_silent(server: ServerProcess) -> None:
    with closing(connected(server)) as silent:
        assert silent.recv(1) == b""


def send_an_endless_head(server: ServerProcess) -> None:
    with closing(connected(server)) as connection:
        connection.sendall(HEAD.encode())
        assert drip(connection, b"X-A: b\r\n") == b""


def send_a_growing_head(server: ServerProcess) -> None:
    with closing(connected(server)) as connection:
        connection.sendall(HEAD.encode() + b"X-Large: ")
        assert drip(connection, b"a" * 30_000).startswith(b"HTTP/1.1 400 ")


def send_a_body_byte_by_byte(server: ServerProcess) -> None:
    with closing(connected(server)) as connection:
        connection.sendall(f"{HEAD}Content-Length: 1000\r\n\r\n".encode())
        answer = drip(connection, b"a")
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"BODY_TOO_SLOW" in answer


def send_a_body_over_a_slow_line(server: ServerProcess) -> None:
    def pieces() -> Iterator[bytes]:
        yield b'{"name": "slow", "content": "'
        for _ in range(4):
            time.sleep(0.4 * SECONDS)
            yield secrets.token_hex(500).encode()
        yield b'"}'

    with httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {KEY}"}) as client:
        sources = f"/api/sessions/{client.post('/api/sessions', json={}).json()['session_id']}/workspace/sources"
        sent = client.post(sources, content=pieces(), headers={"Content-Type": "application/json"})
        assert sent.status_code == 200


@pytest.mark.xdist_group("slow clients")  # of one server
def test_a_client_that_is_too_slow_is_let_go(server: ServerProcess) -> None:
    clients = (
        stay_silent, send_an_endless_head, send_a_growing_head, send_a_body_byte_by_byte, send_a_body_over_a_slow_line,
    )  # fmt: skip
    with ThreadPoolExecutor(len(clients)) as pool:
        for ended in [pool.submit(client, server) for client in clients]:
            ended.result()


@pytest.mark.xdist_group("slow clients")  # of one server
def test_a_client_that_reads_nothing_is_let_go(server: ServerProcess) -> None:
    request = f"GET /api/schema HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {KEY}\r\n\r\n".encode()
    for count in (1, 20):  # the others wait in the pipeline
        with closing(connected(server)) as connection:
            connection.sendall(request * count)
            assert _is_ended(connection)


@pytest.fixture
def endless(settings: Settings) -> Iterator[tuple[str, int]]:
    """Return the address of an endless answer, without the kernel's own timeouts."""
    settings.MRPVM_CLIENT_TIMEOUT_MS = int(SECONDS * 1000)
    settings.CLIENT_LOWEST_RATE = int(1_000 / SECONDS)

    async def answer(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while True:
            await send({"type": "http.response.body", "body": b"a" * 1_000, "more_body": True})
            await asyncio.sleep(0)  # sending to an ended connection does not block

    server = uvicorn.Server(uvicorn.Config(answer, http=LimitedConnection, lifespan="off", log_config=None))
    with socket.create_server(("127.0.0.1", 0)) as bound:
        thread = threading.Thread(target=server.run, args=([bound],))
        thread.start()
        yield bound.getsockname()
        server.should_exit = server.force_exit = True
        thread.join()


def test_a_client_that_reads_too_slowly_is_let_go(endless: tuple[str, int]) -> None:
    with closing(connection_to(endless)) as slow, closing(connection_to(endless)) as steady:
        for connection in (slow, steady):
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        began, ended = time.monotonic(), 0.0
        while time.monotonic() < (ended + 2 * SECONDS if ended else began + TOO_LONG_SECONDS):
            for connection, bytes_a_second in ((slow, 600), (steady, 10_000)):
                assert not is_open(connection) or connection.recv(int(bytes_a_second * SECONDS / 10))
            time.sleep(SECONDS / 10)
            ended = ended or (0.0 if is_open(slow) else time.monotonic())
        assert ended
        assert is_open(steady)


def is_open(connection: socket.socket) -> bool:
    """Return whether the other end has kept the connection open, with or without unread data."""
    return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == TCP_ESTABLISHED


def _is_ended(connection: socket.socket) -> bool:
    """Return whether the server ends the connection in time, which is noticed only by sending."""
    until = time.monotonic() + TOO_LONG_SECONDS
    while time.monotonic() < until:
        try:
            connection.send(b"G")  # of the next request
        except ConnectionError:
            return True
        time.sleep(0.1)
    return False
