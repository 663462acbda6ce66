"""Access that is revoked in one process ends at once in the other, before the next heartbeat or the end of a stream."""

import json
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx2 as httpx
import pytest
from django.conf import settings
from websockets.exceptions import ConnectionClosed

from tests.llm.provider import Provider, hang
from tests.services.conftest import two_nodes
from tests.services.node import Node

pytestmark = pytest.mark.services


@pytest.fixture
def nodes(tmp_path: Path, own_services: dict[str, str]) -> Iterator[tuple[Node, Node]]:
    """Return two processes whose model never answers."""
    with Provider(otherwise=hang) as model:
        configured = {"MRPVM_LLM_BASE_URL": model.url, "MRPVM_LLM_MODEL": "some-model"}
        with two_nodes(tmp_path, own_services | configured) as both:
            yield both


class Browser(httpx.Client):
    """A browser connected to one of the processes, which sends forms as pages do."""

    def __init__(self, node: Node, cookies: httpx.Cookies | None = None) -> None:
        super().__init__(base_url=node.url, cookies=cookies, follow_redirects=True, timeout=30)

    def send_form(self, path: str, **fields: str) -> str:
        """Send a form; return the page that follows."""
        self.get(path)
        form = {**fields, "csrfmiddlewaretoken": self.cookies["mrpvm_csrf"]}
        answer = self.post(path, data=form, headers={"Referer": str(self.base_url)})
        return answer.raise_for_status().text


def test_a_removed_member_loses_the_other_process_s_socket(nodes: tuple[Node, Node]) -> None:
    here, there = nodes
    session_id = here.new_session()
    link = here.post("/invitations", {"role": "editor"}).raise_for_status().json()["link"]
    member = Browser(there)
    member.send_form(httpx.URL(link).path, name="bo", password="long enough 1")
    there.cookies = member.cookies
    with there.socket(session_id) as socket:
        socket.recv(timeout=20)
        begun = time.monotonic()
        here.http.delete("/api/members/bo").raise_for_status()
        with suppress(ConnectionClosed):
            while socket.recv(timeout=20):
                pass
        assert socket.close_code == 4403
    assert time.monotonic() - begun < settings.MRPVM_HEARTBEAT_MS / 2_000


def test_a_revoked_key_loses_the_other_process_s_stream(nodes: tuple[Node, Node]) -> None:
    here, there = nodes
    admin = Browser(here, here.cookies)
    page = admin.send_form("/api-keys", name="laptop", role="editor")
    key, revoke = re.findall(r"mrp_[A-Za-z0-9_-]{32,}", page)[0], re.findall(r"/api-keys/\d+/revoke", page)
    client = httpx.Client(base_url=there.url, headers={"Authorization": f"Bearer {key}"}, timeout=30)
    asked = [{"role": "user", "content": "What is a valve?"}]
    body = {"stream": True, "goal_solver_plugin": "gs-llm-fast", "messages": asked}
    with client.stream("POST", "/api/chat/completions", json=body) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: progress"
        for path in revoke:
            admin.send_form(path)
        rest = [line for line in lines if line]
    assert rest[-2] == "event: error"
    assert json.loads(rest[-1].removeprefix("data: "))["error"]["code"] == "UNAUTHENTICATED"
