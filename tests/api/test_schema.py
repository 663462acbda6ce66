"""The OpenAPI document is valid and complete, and describes the running server."""

import io
import json
import os
import re
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path

import drf_spectacular
import jsonschema_rs
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer
from hypothesis import HealthCheck, given, settings, strategies

from mrpvm.conversation.flags import NAMES
from sessions_app.actions.settings.members import create_invitation
from sessions_app.api.shell.docs import openapi_document
from sessions_app.api.urls import urlpatterns
from sessions_app.models import Forgetting, Membership, Session
from tests.api.conftest import Caller
from tests.live import LiveServer

NOT_HTTP = b"Invalid HTTP request received."
"""What the web server answers itself, where a header makes the request none."""
EXAMPLES = int(os.environ.get("SCHEMATHESIS_EXAMPLES", "1"))
"""Generated requests for each operation, valid and invalid ones each; more by the environment, for a deeper run."""
ANSWER_SECONDS = 120
"""How long an answer may take: twice what a request may ask to wait for its end, on a machine with other work."""
UNDOCUMENTED = {"schema", "docs", "unknown"}


def test_the_document_is_valid_and_draws_no_warning() -> None:
    said = io.StringIO()
    with redirect_stderr(said):
        made = SchemaGenerator().get_schema(request=None, public=True)
    assert said.getvalue() == ""
    assert not GENERATOR_STATS
    document = json.loads(OpenApiJsonRenderer().render(made))
    # The command's --validate asks jsonschema, which takes ten times as long for the same rules.
    rules = json.loads((Path(drf_spectacular.__file__).parent / "validation/openapi_3_1_schema.json").read_bytes())
    jsonschema_rs.Draft202012Validator(rules).validate(document)


@pytest.mark.rule("DECISION-52", "API-9")
def test_every_route_is_described() -> None:
    described = {path.removeprefix("/api/") for path in openapi_document()["paths"]}
    routes = {
        str(item.pattern).replace("<id:", "{").replace("<int:", "{").replace(">", "}")
        for item in urlpatterns
        if isinstance(item, URLPattern) and item.name not in UNDOCUMENTED
    }
    assert described == routes


def test_every_operation_says_what_it_does_and_lists_its_errors() -> None:
    for path, operations in openapi_document()["paths"].items():
        for method, operation in operations.items():
            assert operation["description"], (method, path)
            if path not in {"/api/health", "/api/ready"}:
                assert {"401", "403", "500"} <= set(operation["responses"]), (method, path)


def test_no_description_refers_to_the_rules_behind_the_code() -> None:
    described = re.findall(r'"description": "((?:[^"\\]|\\.)*)"', json.dumps(openapi_document()))
    assert len(described) > 100
    assert not [text for text in described if "[" in text]


@pytest.mark.parametrize("body", ["ChatRequest", "SessionCreateRequest", "PatchedSessionPatchRequest"])
def test_bodies_that_take_flags_name_them_all(body: str) -> None:
    described = openapi_document()["components"]["schemas"][body]["properties"]
    assert set(NAMES) <= described.keys()
    assert described["enable_session_memory"]["type"] == ["boolean", "null"]
    assert described["history_max_turns"] == {"type": ["integer", "null"], "minimum": 1, "maximum": 500}


def test_the_document_is_served_to_callers_alone(editor: Caller) -> None:
    assert Client().get("/api/schema").status_code == 401
    answer = Client().get("/api/schema", headers=editor.headers)
    assert answer.status_code == 200
    assert answer.json()["openapi"] == "3.1.0"
    assert "security" in answer.json()["paths"]["/api/sessions"]["get"]


@pytest.mark.fuzz
@pytest.mark.xdist_group("schema")
@pytest.mark.rule("API-9")
@pytest.mark.parametrize("generated", ["positive", "negative"])
def test_generated_requests_get_answers_as_described(
    live_asgi: LiveServer, talked: Session, editor: Caller, caller: Callable[..., Caller], generated: str
) -> None:
    """Send generated requests to every operation of the running server, for existing rows and for others."""
    import schemathesis  # takes a second to import
    from schemathesis import Case, GenerationMode, checks

    mode = GenerationMode(generated)
    held_to = [
        checks.not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_headers_conformance,
        checks.response_schema_conformance,
        checks.negative_data_rejection,
    ]
    schema = schemathesis.openapi.from_dict(openapi_document())
    turn = talked.turns.get(turn_index=2)
    there = {
        "session_id": talked.session_id,
        "request_id": turn.request_id,
        "unit_id": talked.context_units.get().unit_id,
        "ref": "frame-0",
        "kb_id": "default",
        "experiment_id": editor.post(
            "/api/experiments",
            {"session_id": talked.session_id, "request_id": turn.request_id, "trials": [{}], "wait_ms": 30_000},
        ).json()["experiment_id"],
        "forgetting_id": Forgetting.objects.create(
            project=talked.project, kind="text", status="cancelled", created_by_name="anna"
        ).forgetting_id,
    }
    member = User.objects.create_user("bea")
    Membership.objects.create(project=talked.project, user=member, role="viewer")
    there["name"] = member.username
    there["invitation_id"] = create_invitation(talked.project, "viewer", "", "anna")[0].pk
    there["filter_id"] = editor.post("/api/turns/filters", {"name": "Slow", "q": "is:slow"}).json()["filter_id"]
    alert = {"filter_id": there["filter_id"], "limit_percent": 5, "window_minutes": 60, "channel": "hook"}
    made = caller("admin").post("/api/alerts", {**alert, "target": "https://hooks.example/"})
    there["alert_id"] = made.json()["alert_id"]
    there["suite_id"] = editor.post("/api/suites", {"name": "Suite"}).json()["suite_id"]
    suite = f"/api/suites/{there['suite_id']}"
    kept = {"session_id": talked.session_id, "request_id": turn.request_id}
    there["test_id"] = editor.post(f"{suite}/tests", kept).json()["test_id"]
    there["run_id"] = editor.post(f"{suite}/runs", {"wait_ms": 30_000}).json()["run_id"]

    def ask(path: str, method: str) -> None:
        operation = schema[path][method.upper()]

        # The simplest value comes first, and alone where there is one example: rows that exist.
        @given(case=operation.as_strategy(generation_mode=mode), exists=strategies.sampled_from([True, False]))
        @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        def check(case: Case, exists: bool) -> None:
            if exists and method != "delete" and mode is GenerationMode.POSITIVE:
                case.path_parameters.update({name: there[name] for name in case.path_parameters})
            answer = case.call(base_url=live_asgi.url, headers=editor.headers, timeout=ANSWER_SECONDS)
            if answer.content == NOT_HTTP:
                assert answer.status_code == 400
                return
            # Tests have no model: 503 for that reason is allowed, but must be in the document.
            without_model = answer.status_code == 503 and answer.json()["error"]["code"] == "LLM_NOT_AVAILABLE"
            applied = held_to[1:] if without_model else held_to
            case.validate_response(answer, checks=applied, headers=editor.headers)

        check()

    for path, operations in sorted(openapi_document()["paths"].items()):
        for method, described in sorted(operations.items()):
            if mode is GenerationMode.POSITIVE or described.get("parameters") or "requestBody" in described:
                ask(path, method)
