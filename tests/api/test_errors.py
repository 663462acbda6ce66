"""The error object, and the table of codes with their statuses."""

import ast
import json
import re
from typing import Any

import pytest
from django.test import Client

from mrpvm import errors as machine_errors
from mrpvm.errors import MRPError
from sessions_app.api.shell import errors
from sessions_app.logs import Outages
from sessions_app.models import Session
from tests.api.conftest import Caller
from tests.busy import database_kept
from tests.house.pages import ROOT, nodes

KEYS = {"code", "module", "message", "details", "requestId", "sessionId", "frameId", "timestamp", "type"}
# Codes of plugins and of the control language are data of an execution, never the code of an answer.
INNER = {"PluginError", "Diagnostic", "_failure", "PLUGIN_CONTRACT_VIOLATION"}

NAMES_CODES = re.compile(r"""\bcode *=|\bdefault_code\b|["']code["']""")
"""What a file contains that `_codes_of` finds a code in; parsing the others takes most of the time."""


def raised_codes() -> dict[str, str]:
    """Return each code that the product raises, with a file that names it."""
    found: dict[str, str] = {}
    for package in ("mrpvm", "sessions_app"):
        for path in (ROOT / package).rglob("*.py"):
            if not NAMES_CODES.search(path.read_text(encoding="utf-8")):
                continue
            for node in nodes(path):
                for code in _codes_of(node):
                    found[code] = str(path.relative_to(ROOT))
    return found


def _codes_of(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in INNER:
            return []
        return [code for keyword in node.keywords if keyword.arg == "code" for code in _texts(keyword.value)]
    if isinstance(node, ast.AnnAssign | ast.Assign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(getattr(target, "id", "") == "default_code" for target in targets) and node.value is not None:
            return _texts(node.value)
    if isinstance(node, ast.Dict):
        keys = [getattr(key, "value", None) for key in node.keys]
        if {"code", "message"} <= set(keys):
            return _texts(node.values[keys.index("code")])
    return []


def _texts(node: ast.AST) -> list[str]:
    return [
        item.value
        for item in ast.walk(node)
        if isinstance(item, ast.Constant) and isinstance(item.value, str) and item.value.isupper()
    ]


NOT_FROM_DOORS = {
    "PLUGIN_REGISTRY_INVALID_DESCRIPTOR",  # at the start of the server
    "PLUGIN_REGISTRY_UNSUPPORTED_TYPE",
    "CONTROL_SYNTAX_ERROR",
    "IMPORTED_ERROR",  # of a turn that ran elsewhere
}


NEVER_ANSWERS = ("mrpvm/lang/", "mrpvm/plugins/", "mrpvm/wrappers/")
"""What goes wrong here becomes part of a turn's record or of another error, never an answer by itself."""


@pytest.mark.rule("API-20")
@pytest.mark.xdist_group("sources")  # one process parses them
def test_every_code_that_is_raised_has_a_status() -> None:
    codes = raised_codes()
    assert {"SESSION_EXPIRED", "TURN_IN_PROGRESS", "INVALID_CONTENT", "KB_INGEST_TIMEOUT"} <= set(codes)
    missing = {
        code: file
        for code, file in codes.items()
        if code not in errors.STATUS_BY_CODE and code not in NOT_FROM_DOORS and not file.startswith(NEVER_ANSWERS)
    }
    assert missing == {}


WHOLE = {
    401: {"UNAUTHENTICATED"},
    403: {"FORBIDDEN"},
    405: {"METHOD_NOT_ALLOWED"},
    410: {"SESSION_EXPIRED"},
    413: {"BODY_TOO_LARGE", "NORMALIZER_INPUT_TOO_LARGE", "KB_VALIDATION_TOO_LARGE", "BUNDLE_TOO_LARGE"},
    429: {"RATE_LIMITED", "QUOTA_REACHED"},
    500: {"SERVER_INTERNAL_ERROR"},
    502: {"LLM_PROVIDER_ERROR"},
    504: {"ENGINE_TIMEOUT", "LLM_TIMEOUT", "KB_INGEST_TIMEOUT"},
    507: {"INSUFFICIENT_STORAGE", "QUOTA_FULL"},
}
AMONG_OTHERS = {
    400: {
        "INVALID_JSON", "INVALID_CONTENT", "INVALID_DELIBERATION_LEVEL", "INVALID_ROLE", "NO_USER_MESSAGE",
        "INVALID_INPUT", "KB_VALIDATION_MISSING_NAME", "KB_VALIDATION_MISSING_ID", "INVALID_PLANNER_PLUGIN",
        "INVALID_SEED_DETECTOR_PLUGIN", "INVALID_KB_PLUGIN", "INVALID_GOAL_SOLVER_PLUGIN", "INVALID_SOURCE_ID",
        "INVALID_SETTINGS",
    },
    404: {"NOT_FOUND", "SESSION_NOT_FOUND", "KB_NOT_FOUND", "TURN_NOT_FOUND", "SOURCE_NOT_FOUND"},
    409: {"TURN_IN_PROGRESS", "WORKSPACE_DIRTY", "KB_REVISION_CONFLICT", "TURN_CANCELLED"},
    422: {
        "PLUGIN_STAGE_EXHAUSTED", "PLAN_STAGE_EXHAUSTED", "DECOMPOSER_EMPTY_RESULT", "VALIDATION_REJECTED",
        "FRAME_DEPTH_EXCEEDED", "ENGINE_BUDGET_EXCEEDED", "KB_INGEST_TOO_MANY_CHUNKS", "NORMALIZER_VALIDATION_FAILED",
    },
    503: {"SESSION_LIMIT", "LLM_NOT_AVAILABLE", "TURN_INTERRUPTED", "SERVER_SHUTTING_DOWN"},
}  # fmt: skip


@pytest.mark.rule("DECISION-7", "DECISION-24", "API-18")
def test_the_table_is_the_one_of_the_specification() -> None:
    by_status: dict[int, set[str]] = {}
    for code, status in errors.STATUS_BY_CODE.items():
        by_status.setdefault(status, set()).add(code)
    assert {status: by_status[status] for status in WHOLE} == WHOLE
    for status, codes in AMONG_OTHERS.items():
        assert codes <= by_status[status]


@pytest.mark.rule("DECISION-24", "API-3", "API-18")
@pytest.mark.parametrize(("code", "status"), sorted(errors.STATUS_BY_CODE.items()))
def test_each_code_answers_its_status_in_the_one_shape(code: str, status: int) -> None:
    body = errors.body_of(MRPError("A sentence.", code=code, details={"a": 1}), "req-1", "sess-1")
    answer = errors.error_response(body)
    error = body["error"]
    assert answer.status_code == status
    assert set(error) == KEYS
    assert (error["requestId"], error["sessionId"], error["details"]) == ("req-1", "sess-1", {"a": 1})
    expected = "server_error" if status == 500 else "processing_error" if status in {422, 502, 503, 504, 507} else None
    assert error["type"] == (expected or "invalid_request")
    assert error["timestamp"].endswith("Z")


@pytest.mark.rule("API-20")
def test_a_code_without_a_status_is_a_defect(caplog: pytest.LogCaptureFixture) -> None:
    body = errors.body_of(MRPError("Secret.", code="NEVER_HEARD_OF"), "req-1")
    assert body["error"]["code"] == "SERVER_INTERNAL_ERROR"
    assert "NEVER_HEARD_OF" in caplog.text


def shape(answer: Any) -> dict[str, Any]:
    """Return the error object after checking its fields."""
    assert answer.headers["Content-Type"] == "application/json"
    body = answer.json()
    assert set(body) == {"error"}
    error: dict[str, Any] = body["error"]
    assert set(error) == KEYS
    assert error["requestId"] == answer.headers["X-Request-Id"]
    return error


@pytest.mark.rule("API-1")
@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b'"x"', b"5", b"\xff\xfe{}", b'{"a": NaN}', b"[" * 100_000, b'{"messages": }',
     b'{"messages": [{"role": "user", "content": "\\ud800"}]}', b'{"x": "\\u0000"}', b'{"\\u0000": 1}',
     b'{"a": ' + b"9" * 5_000 + b"}"],
    ids=lambda body: repr(body[:20]),
)  # fmt: skip
def test_a_body_that_is_no_object_is_refused(editor: Caller, body: bytes) -> None:
    answer = editor.post("/api/chat/completions", body)
    error = shape(answer)
    assert answer.status_code == 400
    assert error["code"] == ("NO_USER_MESSAGE" if body == b"" else "INVALID_JSON")


@pytest.mark.rule("API-1")
def test_a_parameter_that_no_database_keeps_is_refused(editor: Caller) -> None:
    answer = editor.get("/api/turns?q=a%00b")
    assert (answer.status_code, shape(answer)["code"]) == (400, "INVALID_INPUT")


def test_what_is_wrong_with_a_whole_body_is_said_without_a_field(editor: Caller, talked: Session) -> None:
    answer = editor.patch(f"/api/sessions/{talked.session_id}", {})
    assert (answer.status_code, shape(answer)["message"]) == (400, "Name a title or a flag.")


@pytest.mark.rule("API-1")
def test_text_beyond_the_basic_plane_is_fine(editor: Caller) -> None:
    body = b'{"messages": [{"role": "user", "content": "My dog is called \\ud83d\\ude00 \xc3\xa9."}]}'
    assert editor.post("/api/chat/completions", body).status_code == 200


@pytest.mark.parametrize("path", ["", "nope", "sessions/", "chat", "sessions/a%00b", "sessions/%0A", "kbs/default/x"])
@pytest.mark.parametrize("method", ["get", "post", "options"])
def test_an_unknown_path_is_404(editor: Caller, path: str, method: str) -> None:
    answer = getattr(Client(), method)(f"/api/{path}", headers=editor.headers)
    assert (answer.status_code, shape(answer)["code"]) == (404, "NOT_FOUND")


@pytest.mark.rule("API-2", "CONTEXT-32", "WINDOW-30")
@pytest.mark.parametrize(
    ("method", "path"),
    [("get", "chat/completions"), ("put", "sessions"), ("delete", "kbs"), ("options", "sessions"), ("post", "plugins"),
     ("trace", "sessions")],
)  # fmt: skip
def test_a_wrong_method_is_405(editor: Caller, method: str, path: str) -> None:
    answer = Client().generic(method.upper(), f"/api/{path}", headers=editor.headers)
    assert (answer.status_code, shape(answer)["code"]) == (405, "METHOD_NOT_ALLOWED")
    assert answer.headers["Allow"]


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "x/y"])
def test_another_content_type_is_415(editor: Caller, kind: str) -> None:
    answer = Client().post("/api/chat/completions", b"{}", content_type=kind, headers=editor.headers)
    assert (answer.status_code, shape(answer)["code"]) == (415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON"])
def test_json_is_json_however_it_is_written(editor: Caller, kind: str) -> None:
    answer = Client().post("/api/sessions", b"{}", content_type=kind, headers=editor.headers)
    assert answer.status_code == 201


@pytest.mark.parametrize("accept", ["text/event-stream", "text/html", "*/*", "nonsense"])
def test_the_answer_is_json_whatever_is_accepted(editor: Caller, accept: str) -> None:
    answer = Client().get("/api/sessions/sess-none", headers={**editor.headers, "Accept": accept})
    assert shape(answer)["code"] == "SESSION_NOT_FOUND"


def test_a_body_over_the_limit_is_413_in_the_application(editor: Caller) -> None:
    answer = editor.post("/api/sessions", b'{"title": "' + b"x" * 2_097_152 + b'"}')
    assert (answer.status_code, shape(answer)["code"]) == (413, "BODY_TOO_LARGE")


@pytest.mark.rule("API-3")
def test_a_defect_is_500_and_tells_nothing(
    editor: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def defect(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("/secret/path")

    monkeypatch.setattr("sessions_app.queries.sessions.lookups.filtered_sessions", defect)
    answer = editor.get("/api/sessions")
    error = shape(answer)
    assert (answer.status_code, error["code"], error["type"]) == (500, "SERVER_INTERNAL_ERROR", "server_error")
    assert "secret" not in json.dumps(error)
    assert "secret" in caplog.text
    assert error["requestId"] in caplog.text


@pytest.mark.django_db(transaction=True)
def test_a_database_that_others_keep_too_long_is_503(editor: Caller, caplog: pytest.LogCaptureFixture) -> None:
    """This holds on SQLite and PostgreSQL. It is no defect: the client tries again."""
    with caplog.filtering(Outages()), database_kept():
        answer = editor.post("/api/sessions", b"{}")
    lines = [record for record in caplog.records if record.name == "django.request"]
    assert [(record.levelname, record.exc_info) for record in lines] == [("WARNING", None)]
    error = shape(answer)
    assert (answer.status_code, error["code"], answer.headers["Retry-After"]) == (503, "UNAVAILABLE", "1")
    assert error["message"].startswith("The database was busy")
    assert editor.post("/api/sessions", b"{}").status_code == 201


def test_every_field_that_is_wrong_is_named(editor: Caller) -> None:
    answer = editor.post("/api/sessions", {"title": 5, "model": []})
    assert set(answer.json()["error"]["details"]["fields"]) == {"title", "model"}


def test_the_tree_of_errors_is_complete() -> None:
    tree = [item for item in vars(machine_errors).values() if isinstance(item, type) and issubclass(item, MRPError)]
    for item in tree:
        assert item.default_code in errors.STATUS_BY_CODE or item.default_code in NOT_FROM_DOORS, item.__name__


@pytest.mark.parametrize("address", ["/api/sessions", "/v1/models"])
def test_a_wrong_host_is_refused_in_the_shape_of_the_api(client: Client, address: str) -> None:
    client.raise_request_exception = False
    refused = client.get(address, headers={"Host": "other.example"})
    assert refused.status_code == 400
    assert refused.json()["error"]["code"] == "INVALID_INPUT"
    assert "not reached by the name other.example" in refused.json()["error"]["message"]
    assert "ALLOWED_HOSTS" in refused.json()["error"]["message"]
