"""Two processes on one database."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2 as httpx
import pytest

from tests.server import ServerProcess
from tests.services.node import KEY, SHARED_SECRET, Node


@pytest.fixture
def nodes(tmp_path: Path, own_services: dict[str, str]) -> Iterator[tuple[Node, Node]]:
    """Return two processes on one database. The login on the first is valid on both."""
    with two_nodes(tmp_path, own_services) as both:
        yield both


@contextmanager
def two_nodes(place: Path, services: dict[str, str]) -> Iterator[tuple[Node, Node]]:
    """Run two processes with these variables until the block ends; see `nodes`."""
    assert "REDIS_URL" in os.environ, "these tests need PostgreSQL and Redis"
    variables = services | {"MRPVM_API_KEY": KEY, "SECRET_KEY": SHARED_SECRET}
    first_data, second_data = place / "first", place / "second"
    first_data.mkdir()
    second_data.mkdir()
    with (
        ServerProcess(first_data, **variables) as first,
        ServerProcess(second_data, "--no-bootstrap", **variables) as second,
    ):
        browser = httpx.Client(follow_redirects=True, timeout=30)
        browser.get(first.login_link).raise_for_status()
        yield Node(first, browser.cookies), Node(second, browser.cookies)
