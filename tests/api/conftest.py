"""Fixtures of the API's tests: a project, callers of each role, and answers that are checked against the schema."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from sessions_app.actions.knowledge.bases import ensure_default_base
from sessions_app.actions.settings.api_keys import create_key, forget_keys
from sessions_app.api.shell.docs import openapi_document
from sessions_app.models import Project, Session
from sessions_app.plugin_threads import workers
from sessions_app.turns.machine import install_plugins
from tests.actions.knowledge_scene import add_text
from tests.layers.units import make_unit


@pytest.fixture(scope="session", autouse=True)
def plugins() -> None:
    """Install the plugins as the server does when it starts."""
    install_plugins()


@pytest.fixture(autouse=True)
def unlimited_chats(settings: Settings) -> None:
    """Remove the rate limit, which has its own tests."""
    settings.MRPVM_CHATS_PER_MINUTE = 0


@pytest.fixture(autouse=True)
def files(tmp_path: Path, settings: Settings) -> Path:
    """Return the test's own data directory."""
    settings.MRPVM_DATA_DIR = tmp_path
    return tmp_path


@pytest.fixture
def project(transactional_db: None) -> Iterator[Project]:
    """Return the default project. Plugin calls run on other threads, so its row must be committed."""
    made = Project.objects.create(name="Default", slug="default", is_default=True)
    ensure_default_base(made)
    yield made
    workers.close()


@pytest.fixture
def other_project(project: Project) -> Project:
    """Return another user's project."""
    made = Project.objects.create(name="Other", slug="other")
    ensure_default_base(made)
    return made


@dataclass
class Caller:
    """A client with or without an API key. It checks every answer against the schema."""

    headers: dict[str, str] = field(default_factory=dict)
    client: Client = field(default_factory=Client)

    def get(self, path: str, **options: Any) -> Any:
        """Return the answer to a GET."""
        return self._checked("get", path, self.client.get(path, headers=self.headers, **options))

    def delete(self, path: str) -> Any:
        """Return the answer to a DELETE."""
        return self._checked("delete", path, self.client.delete(path, headers=self.headers))

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        """Return the answer to a POST of JSON. A string is sent unchanged."""
        return self._send("post", path, body, headers)

    def upload(self, path: str, file: str, data: bytes, kind: str = "application/octet-stream", **fields: str) -> Any:
        """Return the answer to a POST of a form with a file."""
        form = {"file": SimpleUploadedFile(file, data, content_type=kind), **fields}
        return self._checked("post", path, self.client.post(path, form, headers=self.headers))

    def patch(self, path: str, body: Any) -> Any:
        """Return the answer to a PATCH of JSON."""
        return self._send("patch", path, body, {})

    def put(self, path: str, body: Any) -> Any:
        """Return the answer to a PUT of JSON."""
        return self._send("put", path, body, {})

    def chat(self, message: str, session_id: str | None = None, **more: Any) -> Any:
        """Return the answer to one message."""
        body = {"messages": [{"role": "user", "content": message}], **more}
        return self.post("/api/chat/completions", body | ({"session_id": session_id} if session_id else {}))

    def _send(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Any:
        text = body if isinstance(body, str | bytes) else json.dumps(body or {})
        sent = {**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        answer = getattr(self.client, method)(path, text, content_type="application/json", headers=sent)
        return self._checked(method, path, answer)

    def _checked(self, method: str, path: str, answer: Any) -> Any:
        check_against_schema(method, path.partition("?")[0], answer)
        return answer


@pytest.fixture
def caller(project: Project) -> Callable[..., Caller]:
    """Return callers: `caller("viewer")`, `caller("editor", other_project)`."""

    def make(role: str = "editor", owner: Project = project) -> Caller:
        _, plain = create_key(owner, role, role)
        return Caller({"Authorization": f"Bearer {plain}"})

    return make


@pytest.fixture
def editor(caller: Callable[..., Caller]) -> Caller:
    """Return a caller who may run turns."""
    return caller("editor")


@pytest.fixture
def session_id(editor: Caller) -> str:
    """Return a fresh session."""
    return str(editor.post("/api/sessions").json()["session_id"])


@pytest.fixture
def stranger(caller: Callable[..., Caller], other_project: Project) -> Caller:
    """Return an admin of another project."""
    return caller("admin", other_project)


@pytest.fixture
def talked(editor: Caller) -> Session:
    """Return a session of two turns."""
    session_id = editor.chat("My dog is called Rex.").json()["session_id"]
    editor.chat("What is my dog called?", session_id)
    return Session.objects.get(session_id=session_id)


def check_against_schema(method: str, path: str, answer: Any) -> None:
    """Fail unless the document lists this status for the path's method, and the body has the documented schema."""
    operation = _operation(method, path)
    if operation is None:
        return
    assert str(answer.status_code) in operation["responses"], f"{method} {path}: {answer.status_code} is not listed"
    listed = _resolved(operation["responses"][str(answer.status_code)]).get("content", {})
    kind = answer.headers.get("Content-Type", "").partition(";")[0]
    if answer.status_code in (204, 304):
        return
    assert kind in listed, f"{method} {path}: {kind} is not listed"
    if kind == "application/json" and not answer.streaming:
        _validator(json.dumps(listed[kind]["schema"])).validate(json.loads(answer.content))


@cache
def _validator(schema: str) -> jsonschema_rs.Draft202012Validator:
    """Return the validator of a schema that refers to the document's components."""
    return jsonschema_rs.Draft202012Validator({**json.loads(schema), "components": openapi_document()["components"]})


def _resolved(described: dict[str, Any]) -> dict[str, Any]:
    """Return the target of a reference into the document, or any other value unchanged."""
    if "$ref" not in described:
        return described
    found: dict[str, Any] = openapi_document()
    for step in described["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return found


def _operation(method: str, path: str) -> dict[str, Any] | None:
    """Return the operation whose template matches the path, preferring the fewest variables."""
    steps = path.strip("/").split("/")
    for parts, operations in _templates(len(steps)):
        fits = all(part.startswith("{") or part == step for part, step in zip(parts, steps, strict=True))
        if fits and method in operations:
            return operations[method]
    return None


@cache
def _templates(step_count: int) -> list[tuple[list[str], dict[str, dict[str, Any]]]]:
    """Return the templates of so many steps, the fewest variables first, with their operations by method."""
    ordered = sorted(openapi_document()["paths"].items(), key=lambda item: item[0].count("{"))
    split = [(template.strip("/").split("/"), operations) for template, operations in ordered]
    return [(parts, operations) for parts, operations in split if len(parts) == step_count]


@pytest.fixture
def known_keys(settings: Settings, project: Project) -> None:
    """Keep API keys cached for the whole test, however slow the machine is."""
    settings.MRPVM_KEY_CACHE_SECONDS = 3_600.0
    forget_keys()  # those that another fixture's request cached, for a second


@pytest.fixture
def manuals(project: Project) -> Project:
    """Return a project whose base has two manuals on the same subject and a third on another one."""
    told = {
        "red.pdf": ["The red pump needs oil of grade five.", "The valve of a pump opens at nine bar."],
        "blue.pdf": ["The blue pump needs water.", "The valve of a pump opens at nine bar of pressure always."],
        "green.pdf": ["A lamp is bright."],
    }
    base = ensure_default_base(project)
    for name, claims in told.items():
        units = [
            make_unit(f"{name}-{number}", claim, topic="pump", source_id=name, source_name=name)
            for number, claim in enumerate(claims)
        ]
        add_text(base, name, "", units, source_id=name.replace(".", "-"))
        base.refresh_from_db()
    return project
