"""Start and stop: what an operator sees, and what stays [O-26]."""

import http.client
import json
import re
import signal
import socket
import stat
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.server import ServerProcess

STOP_SECONDS = 2.0
GIVEN_KEY = "mrp_0123456789abcdefghijklmnopqrstuvwxyz"


def status_of(url: str, **headers: str) -> int:
    """Give the status of a GET that follows no redirect."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=10)
    connection.request("GET", f"{parts.path}?{parts.query}", headers=headers)
    status = connection.getresponse().status
    connection.close()
    return status


def sessions(url: str, key: str) -> list[dict[str, object]]:
    """Give the sessions that the key sees."""
    request = urllib.request.Request(f"{url}/api/sessions", headers={"Authorization": f"Bearer {key}"})  # noqa: S310
    with urllib.request.urlopen(request, timeout=10) as response:  # noqa: S310
        listed: list[dict[str, object]] = json.load(response)["sessions"]
        return listed


def create_session(url: str, key: str) -> None:
    """Make one session."""
    request = urllib.request.Request(  # noqa: S310
        f"{url}/api/sessions",
        data=b"{}",
        headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as response:  # noqa: S310
        assert response.status == 201


def test_first_start_second_start_and_stop(tmp_path: Path) -> None:
    with ServerProcess(tmp_path) as server:
        assert status_of(f"{server.url}/health") == 200
        assert status_of(f"{server.url}/ready") == 200
        assert str(tmp_path) in server.output
        assert f"curl {server.url}/api/chat/completions" in server.output
        key, first_link = server.api_key, server.login_link
        assert key
        assert sessions(server.url, key) == []
        create_session(server.url, key)
        code, seconds, rest = server.stop(signal.SIGINT)
    assert (code, rest.strip()) == (0, "")
    assert seconds < STOP_SECONDS
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600

    with ServerProcess(tmp_path) as server:
        assert server.api_key is None, "a key is printed once"
        assert server.login_link.split("/", 3)[3] != first_link.split("/", 3)[3], "the link is new at each start"
        assert len(sessions(server.url, key)) == 1
        code, seconds, rest = server.stop(signal.SIGTERM)
    assert code == 0
    assert "Traceback" not in rest
    assert seconds < STOP_SECONDS


def test_a_given_key_and_the_login_link_work_and_stay_out_of_the_log(tmp_path: Path) -> None:
    with ServerProcess(tmp_path, MRPVM_API_KEY=GIVEN_KEY) as server:
        assert sessions(server.url, GIVEN_KEY) == []
        assert status_of(f"{server.url}/api/sessions", Authorization="Bearer mrp_" + "x" * 40) == 401
        first, second = status_of(server.login_link), status_of(server.login_link)
        assert first < 400
        assert first != second, "the link works once"
        _, _, rest = server.stop()
    token = max(re.split(r"[/?=&]", server.login_link), key=len)
    assert token not in rest
    assert GIVEN_KEY not in server.output + rest, "a given key is never printed"


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        (
            {"PORT": "abc", "DATABASE_URL": "mysql://me:hunter2@host/db"},
            [
                "PORT is 'abc': expected a whole number from 0 to 65535.",
                "DATABASE_URL is (value not shown): expected ",
            ],
        ),
        ({"HOST": "nowhere.invalid"}, ["HOST is 'nowhere.invalid': expected an address of this machine"]),
    ],
)
def test_a_bad_value_stops_the_start_with_one_line(
    tmp_path: Path, variables: dict[str, str], expected: list[str]
) -> None:
    code, output = ServerProcess(tmp_path, **variables).refused()
    assert code == 1
    for line, beginning in zip(output.splitlines(), expected, strict=True):
        assert line.startswith(beginning)
    assert not (tmp_path / "db.sqlite3").exists()


def test_a_port_in_use_stops_the_start_with_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        code, output = ServerProcess(tmp_path, PORT=str(port)).refused()
    assert code == 1
    assert output.startswith(f"PORT is {port}: another program uses it already")
    assert output.count("\n") == 1


def test_a_second_process_on_the_same_data_needs_redis(tmp_path: Path) -> None:
    with ServerProcess(tmp_path) as server:
        code, output = ServerProcess(tmp_path, "--no-bootstrap").refused()
        assert code == 1
        assert f"process {server.process.pid} serves it already" in output
        assert "REDIS_URL" in output
        assert output.count("\n") == 1
