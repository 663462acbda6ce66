"""Starting and stopping the server: its output, and the data that is kept."""

import http.client
import json
import os
import re
import signal
import socket
import sqlite3
import stat
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.db import OperationalError, connection, transaction
from pytest_django import Settings

from sessions_app import events
from sessions_app.environment import Environment
from sessions_app.exclusive import wait_for_turn
from sessions_app.management.claim import DatabaseClaim
from sessions_app.management.server import (
    CannotStart,
    check_layer,
    listening_socket,
    run_server,
    unusable_database,
)
from tests.command_line import CommandRunner
from tests.server import ServerProcess

STOP_SECONDS = 2.0
GIVEN_KEY = "mrp_0123456789abcdefghijklmnopqrstuvwxyz"


def status_of(url: str, **headers: str) -> int:
    """Return the status of a GET without following redirects."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=10)
    connection.request("GET", f"{parts.path}?{parts.query}", headers=headers)
    status = connection.getresponse().status
    connection.close()
    return status


def sessions(url: str, key: str) -> list[dict[str, object]]:
    """Return the sessions that the key can read."""
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


def private_files(data: Path) -> set[str]:
    """Return the names in a data directory; assert that no other user can open them."""
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in data.iterdir()}
    assert {name: mode for name, mode in modes.items() if mode & 0o077} == {}
    return set(modes)


@pytest.mark.parametrize("program", ["manage.py", "mrpvm"])
def test_tables_made_before_the_first_start_are_private(commands: CommandRunner, tmp_path: Path, program: str) -> None:
    commands.program = program
    # One application's tables are enough: the file is made with the first of them.
    assert commands.run("migrate", "contenttypes", "--verbosity=0") == (0, "")
    with closing(sqlite3.connect(tmp_path / "db.sqlite3")) as opened:  # an open SQLite database has two more files
        opened.execute("SELECT count(*) FROM django_migrations").fetchone()
        assert {"db.sqlite3", "db.sqlite3-wal", "db.sqlite3-shm"} <= private_files(tmp_path)


@pytest.mark.parametrize("program", ["manage.py", "mrpvm"])
def test_a_command_without_a_database_says_so_in_one_line(
    commands: CommandRunner, tmp_path: Path, program: str
) -> None:
    commands.program = program
    for command in (("createkey", "bot"), ("user", "bo"), ("doctor",), ("changepassword", "admin")):
        code, output = commands.run(*command)
        assert code == 1
        assert f"MRPVM_DATA_DIR is '{tmp_path}': the tables are not those of mrpvm " in output
        assert "Traceback" not in output
        assert ("migrate" in output) == (command[0] == "changepassword")  # Django's own
    (tmp_path / "db.sqlite3").write_bytes(b"not a database" * 1000)
    commands.use(tmp_path)
    for command in (("createkey", "bot"), ("doctor",), ("backup", str(tmp_path / "backup.zip"))):
        code, output = commands.run(*command)
        assert (code, output.count("\n")) == (1, 1), output
        assert "file is not a database" in output
    commands.use(tmp_path, DATABASE_URL="postgresql://x@127.0.0.1:1/x")
    code, output = commands.run("createkey", "bot")
    assert (code, output.count("\n")) == (1, 1), output
    assert "DATABASE_URL is (value not shown): expected a database that can be opened" in output
    with pytest.raises(OperationalError):
        commands.run("createkey", "bot", "--traceback")


@pytest.mark.rule("DECISION-19", "DECISION-26")
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
    assert {"secret_key", "db.sqlite3"} <= private_files(tmp_path)

    with ServerProcess(tmp_path, WEB_CONCURRENCY="") as server:  # an empty variable counts as not set
        assert server.api_key is None, "a key is printed once"
        assert "make another under API keys" in server.output
        assert server.login_link.split("/", 3)[3] != first_link.split("/", 3)[3], "the link is new at each start"
        assert len(sessions(server.url, key)) == 1
        code, seconds, rest = server.stop(signal.SIGTERM)
    assert code == 0
    assert "Traceback" not in rest
    assert seconds < STOP_SECONDS


@pytest.fixture
def _own_signals() -> Iterator[None]:
    """Put back the handlers of pytest."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("_own_signals")
def test_sigterm_during_the_start_is_one_line(
    commands: CommandRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a handler the first process of a container would not see it."""
    monkeypatch.setattr(
        "sessions_app.management.commands.serve.check_connections", lambda: signal.raise_signal(signal.SIGTERM)
    )
    commands.use(tmp_path)
    code, output = commands.run("serve", "--port", "0")
    assert (code, output) == (1, "Stopped before it was ready; the next start goes on from here.\n")


@pytest.mark.usefixtures("_own_signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_before_the_server_listens_is_not_lost(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions_app.language_model.warm", lambda: signal.raise_signal(number))
    with closing(listening_socket("127.0.0.1", 0)) as bound, pytest.raises(KeyboardInterrupt):
        run_server(bound, grace_seconds=0.1, on_started=lambda: None, holds_database=lambda: True)


@pytest.mark.rule("DECISION-26")
def test_a_given_key_and_the_login_link_are_not_logged(migrated_data: Callable[..., Path]) -> None:
    with ServerProcess(migrated_data(), MRPVM_API_KEY=GIVEN_KEY) as server:
        assert sessions(server.url, GIVEN_KEY) == []
        assert status_of(f"{server.url}/api/sessions", Authorization="Bearer mrp_" + "x" * 40) == 401
        first, second = status_of(server.login_link), status_of(server.login_link)
        assert first < 400
        assert first != second, "the link works once"
        _, _, rest = server.stop()
    token = max(re.split(r"[/?=&]", server.login_link), key=len)
    assert token not in rest
    assert GIVEN_KEY not in server.output + rest, "a given key is never printed"


def test_bad_values_stop_the_start_with_one_line_each(tmp_path: Path) -> None:
    code, output = ServerProcess(tmp_path, PORT="abc", DATABASE_URL="mysql://me:hunter2@host/db").refused()
    assert code == 1
    port, database = output.splitlines()
    assert port.startswith("PORT is 'abc': expected a whole number from 0 to 65535.")
    assert database.startswith("DATABASE_URL is (value not shown): expected ")
    assert not (tmp_path / "db.sqlite3").exists()


def test_a_bad_database_stops_the_start_with_one_line(commands: CommandRunner, tmp_path: Path) -> None:
    commands.use(tmp_path, DATABASE_URL="sqlite:////nowhere/db.sqlite3")
    expected = "DATABASE_URL is (value not shown): expected a database that can be opened and written to; it says: "
    code, output = commands.run("serve", "--port", "0")
    assert (code, output.count("\n")) == (1, 1), output
    assert output.startswith(expected)
    assert not (tmp_path / "db.sqlite3").exists()


@pytest.mark.parametrize(
    ("host", "port", "line"),
    [
        ("nowhere.invalid", 0, "HOST is 'nowhere.invalid': expected an address of this machine"),
        ("192.0.2.1", 0, "HOST is '192.0.2.1': expected an address of this machine"),
        ("127.0.0.1", 99_999, "PORT is 99999: expected a whole number from 0 to 65535."),
        ("127.0.0.1", -1, "PORT is -1: expected a whole number from 0 to 65535."),
    ],
)
def test_an_address_that_cannot_be_taken_is_one_line(host: str, port: int, line: str) -> None:
    with pytest.raises(CannotStart, match=f"^{re.escape(line)}"):
        listening_socket(host, port)


def test_a_port_in_use_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(CannotStart, match=f"^PORT is {port}: another program uses it already; expected a free one"):
            listening_socket("127.0.0.1", port)


def test_a_redis_that_does_not_answer_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> bool:
        raise ConnectionError("Error 111 connecting to\nredis://:hunter2@127.0.0.1:1")

    monkeypatch.setattr(events, "layer_answers", refuse)
    with pytest.raises(CannotStart) as refused:
        check_layer()
    assert str(refused.value).startswith("REDIS_URL is (value not shown): expected a Redis server that answers")
    assert "hunter2" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_database_of_something_else_is_one_line(settings: Settings, tmp_path: Path) -> None:
    settings.MRPVM_DATA_DIR, settings.ENVIRONMENT = tmp_path, Environment({})
    line = unusable_database(OperationalError("file is not\na database"))
    assert line.startswith(f"MRPVM_DATA_DIR is {str(tmp_path)!r}: expected its db.sqlite3 ")
    assert line.endswith("file is not a database")


def test_a_second_process_is_refused_until_the_first_ends(
    commands: CommandRunner, tmp_path: Path, own_services: dict[str, str], settings: Settings
) -> None:
    """This does not depend on the data directory: the second would close the turns of the first."""
    own_services.pop("REDIS_URL", None)
    settings.REDIS_URL = ""
    elsewhere = {"DATABASE_URL": f"sqlite:///{tmp_path / 'db.sqlite3'}"} | own_services
    hidden = "DATABASE_URL is (value not shown)"
    with ServerProcess(tmp_path, **own_services) as server:
        for data, variables, options, named in (
            (tmp_path, own_services, ("--no-bootstrap",), f"MRPVM_DATA_DIR is {str(tmp_path)!r}"),
            (tmp_path / "second", elsewhere, (), hidden),
        ):
            commands.use(data, **variables)
            code, output = commands.run("serve", "--port", "0", *options)
            assert code == 1
            assert output.startswith(f"{hidden if own_services else named}: process {server.process.pid} ")
            assert "serves it already; several processes need REDIS_URL" in output
            assert output.count("\n") == 1
        server.stop(signal.SIGKILL)
    assert can_be_claimed()


def can_be_claimed() -> bool:
    """Return whether the database can be claimed; PostgreSQL may need a moment to see that a process has ended."""
    for _ in range(200):
        try:
            DatabaseClaim(shared=False).close()
        except CannotStart:
            time.sleep(0.05)
        else:
            return True
    return False


@pytest.mark.django_db(transaction=True)
def test_only_sharing_servers_start_beside_each_other() -> None:
    with (
        DatabaseClaim(shared=True),
        DatabaseClaim(shared=True),
        pytest.raises(CannotStart, match="serves it already"),
    ):
        DatabaseClaim(shared=False)
    with DatabaseClaim(shared=False), pytest.raises(CannotStart, match=f"process {os.getpid()}"):
        DatabaseClaim(shared=True)


@pytest.mark.django_db(transaction=True)
def test_a_server_that_shares_knows_whether_it_is_alone() -> None:
    is_told = connection.vendor == "postgresql"
    with DatabaseClaim(shared=False) as claim:
        assert claim.is_alone()
    with DatabaseClaim(shared=True) as first:
        assert first.is_alone() == is_told
        with DatabaseClaim(shared=True) as second:
            assert (first.is_alone(), second.is_alone()) == (False, False)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="nothing takes a locked file from its process")
@pytest.mark.django_db(transaction=True)
def test_a_claim_that_is_lost_twice_is_taken_again_twice(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("sessions_app.management.claim.LOOK_SECONDS", 0.02)
    with DatabaseClaim(shared=False) as claim:
        for count in (1, 2):
            assert comes_true(lambda: claim.holds)
            with rival_at("server"):
                assert comes_true(lambda: caplog.text.count("serves it now") == count)  # noqa: B023
                assert not claim.holds
        assert comes_true(lambda: claim.holds)


@contextmanager
def rival_at(work: str) -> Iterator[None]:
    """Take a lock from its holder, whose connections are cut, until the block ends."""
    is_over = threading.Event()

    def hold() -> None:
        with transaction.atomic():
            wait_for_turn(work)
            is_over.wait(20)
        connection.close()

    rival = threading.Thread(target=hold)
    rival.start()
    try:
        assert comes_true(lambda: bool(rows("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")))
        rows(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid() AND wait_event_type IS DISTINCT FROM 'Lock'"
        )
        yield
    finally:
        is_over.set()
        rival.join()


def rows(statement: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()


def comes_true(holds: Callable[[], bool]) -> bool:
    """Return whether the condition holds within some seconds."""
    for _ in range(200):
        if holds():
            return True
        time.sleep(0.02)
    return False


def test_a_further_process_has_its_own_static_files(tmp_path: Path, migrated_data: Callable[..., Path]) -> None:
    database = f"sqlite:///{migrated_data('first') / 'db.sqlite3'}"
    production = {"MRPVM_ENV": "production", "ALLOWED_HOSTS": "mrpvm.example", "SECRET_KEY": "0123456789" * 6}
    with ServerProcess(tmp_path / "second", "--no-bootstrap", DATABASE_URL=database, **production) as second:
        behind_proxy = {"X-Forwarded-Proto": "https"}
        request = urllib.request.Request(f"{second.url}/login", headers=behind_proxy)  # noqa: S310
        with urllib.request.urlopen(request, timeout=10) as response:  # noqa: S310
            assert response.status == 200
            assert "/static/" in response.read().decode()
