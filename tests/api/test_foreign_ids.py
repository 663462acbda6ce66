"""Ids of another project in bodies and queries are treated as unknown."""

import json
import re
from collections.abc import Callable, Iterator
from secrets import token_hex
from typing import Any

import pytest
from django.apps import apps

from sessions_app.actions.knowledge.bases import ensure_default_base
from sessions_app.api.shell.docs import openapi_document
from sessions_app.models import ApiKey, Forgetting, KnowledgeSource, Project, Session
from tests.api.conftest import Caller
from tests.interchange.test_traces_in import TRACE, request_of, span

MARK = "zebrafish"
"""A word of the other project's rows, which no answer shows."""
EXPECTED = {"contains": ["Tom"]}
SAID = [{"role": "user", "content": "What is my cat called?"}]
TESTED = {"name": "Next", "message": "Tom?", "expect": EXPECTED}
OF_A_TURN = {"session_id": "own-session", "request_id": "own-turn"}
CHOICES = {
    "kb_id": "BASE", "without_units": ["UNIT"], "without_sources": ["SOURCE"], "only_units": ["UNIT"],
}  # fmt: skip
CHANGES = [{"base": "BASE"}, *({name: value} for name, value in CHOICES.items())]
NAMES_A_ROW = re.compile(r"(_ids?|_of|_units|_sources)$|^(base|order|against)$")
NAMES_NONE = {"with_units", "cites_sources", "include_conversation_units"}  # texts, and a boolean
OF_ITS_OWN = {"source_id"}  # chosen by the caller

CALLS: list[tuple[str, str, dict[str, Any]]] = [
    ("post", "/api/alerts", {"filter_id": "FILTER", "limit_percent": 5, "channel": "hook",
                             "target": "https://hooks.example/", "window_minutes": 60, "least_turns": 1}),
    ("post", "/api/chat/completions", {"messages": SAID, "session_id": "SESSION"}),
    ("post", "/api/chat/completions", {"messages": SAID, "kb_id": "BASE"}),
    ("post", "/api/chat/completions", {"messages": SAID, "previous_response_id": "TURN"}),
    ("post", "/api/sessions", {"kb_id": "BASE"}),
    ("get", "/api/sessions?kb_id=BASE", {}),
    ("post", "/api/sessions/own-session/kb/mount", {"kb_id": "BASE"}),
    ("post", "/api/sessions/own-session/kb/load", {"kb_id": "BASE"}),
    ("post", "/api/sessions/own-session/kb/save", {"name": "New", "conversation_unit_ids": ["UNIT"]}),
    ("post", "/api/sessions/own-session/kb/save", {"target_kb_id": "BASE", "revision": 2}),
    ("post", "/api/sessions/own-session/kb/fork", {"name": "New", "conversation_unit_ids": ["UNIT"]}),
    ("post", "/api/experiments", {"session_id": "SESSION", "request_id": "TURN", "trials": [{}]}),
    ("post", "/api/experiments", {"session_id": "own-session", "request_id": "TURN", "trials": [{}]}),
    ("post", "/api/experiments", {"session_id": "SESSION", "request_id": "own-turn", "trials": [{}]}),
    ("post", "/api/experiments", {"session_id": "SESSION", "message": "Rex?", "trials": [{}]}),
    *(("post", "/api/experiments", {**OF_A_TURN, "trials": [change], "wait_ms": 30_000}) for change in CHANGES),
    ("post", "/api/experiments/estimate", {**OF_A_TURN, "trials": CHANGES}),
    ("post", "/api/experiments/own-trials/trials", {"trials": CHANGES, "wait_ms": 30_000}),
    ("post", "/api/suites/own-suite/tests", {**TESTED, "choices": CHOICES}),
    ("post", "/api/suites/own-suite/runs", {"choices": CHOICES, "wait_ms": 30_000}),
    ("post", "/api/sessions/own-session/turns/own-turn/bisect", {"should_contain": "Tom", "kb_id": "BASE"}),
    ("post", "/api/kbs/default/tests", {"draft_of": "SESSION"}),
    ("post", "/api/forget/plan", {"kind": "session", "session_id": "SESSION"}),
    ("post", "/api/forget/plan", {"kind": "unit", "session_id": "SESSION", "unit_id": "UNIT"}),
    ("post", "/api/forget/plan", {"kind": "unit", "session_id": "own-session", "unit_id": "UNIT"}),
    ("post", "/api/forget/plan", {"kind": "source", "kb_id": "BASE", "source_id": "SOURCE"}),
    ("post", "/api/forget/plan", {"kind": "source", "kb_id": "default", "source_id": "SOURCE"}),
    ("post", "/api/forget/plan", {"kind": "text", "text": MARK}),
    ("post", "/api/forget", {"forgetting_id": "FORGETTING", "confirm": "0"}),
    ("post", "/api/reviews", {"request_ids": ["TURN"]}),
    ("post", "/api/suites/own-suite/tests/keep", {"request_ids": ["TURN"]}),
    ("post", "/api/suites/own-suite/tests", {**TESTED, "session_id": "SESSION", "request_id": "TURN"}),
    ("post", "/api/suites/own-suite/tests", {**TESTED, "session_id": "own-session", "request_id": "TURN"}),
    ("post", "/api/suites/own-suite/tests", {**TESTED, "kb_id": "BASE"}),
    ("patch", "/api/suites/own-suite/tests/own-test", {**TESTED, "kb_id": "BASE"}),
    ("patch", "/api/suites/own-suite/tests/own-test", {**TESTED, "session_id": "SESSION", "request_id": "TURN"}),
    ("patch", "/api/suites/own-suite/tests/TEST", TESTED),
    ("patch", "/api/suites/own-suite", {"order": ["TEST"]}),
    ("post", "/api/suites/own-suite/runs", {"kb_id": "BASE", "wait_ms": 30_000}),
    ("post", "/api/suites/own-suite/runs", {"draft_of": "SESSION", "wait_ms": 30_000}),
    ("get", "/api/suites/own-suite/runs/own-run?against=RUN", {}),
    ("get", "/api/suites/own-suite/runs/RUN", {}),
    ("post", "/api/suites/import", {"content": f"suite: Taken\ntests:\n- {json.dumps({**TESTED, 'kb_id': 'BASE'})}\n"}),
    ("get", "/api/sessions/own-session/turns/TURN", {}),
    ("get", "/api/sessions/own-session/turns/TURN/details/frame-0", {}),
    ("get", "/api/sessions/own-session/units/UNIT", {}),
    ("post", "/api/sessions/own-session/units/UNIT/correct", {"text": "Max."}),
    ("post", "/api/sessions/own-session/turns/TURN/replay", {}),
    ("get", "/api/turns?q=" + MARK, {}),
    ("get", "/api/turns?q=session:SESSION", {}),
    ("post", "/v1/responses", {"model": "mrpvm", "input": "Hello", "previous_response_id": "resp_TURN"}),
    ("post", "/v1/responses", {"model": "mrpvm", "input": "Hello", "previous_response_id": "TURN"}),
    ("post", "/v1/responses", {"model": "mrpvm", "input": "Hello", "conversation": "SESSION"}),
    ("post", "/v1/responses", {"model": "mrpvm", "input": "Hello", "conversation": {"id": "SESSION"}}),
    ("post", "/v1/responses", {"model": "mrpvm", "input": [{"type": "item_reference", "id": "msg_TURN"}]}),
    ("post", "/v1/chat/completions", {"model": "mrpvm", "messages": SAID, "session_id": "SESSION"}),
    ("post", "/v1/chat/completions", {"model": "mrpvm", "messages": SAID, "kb_id": "BASE"}),
    ("post", "/v1/traces", request_of(span(1, 77, traceId="TRACE", attributes={
        "session.id": "SESSION", "gen_ai.conversation.id": "SESSION", "mrpvm.session_id": "SESSION",
        "mrpvm.request_id": "TURN"}))),
    ("post", "/v1/traces", request_of(span(2, 1, traceId="TRACE"))),
    ("patch", "/api/suites/own-suite/tests/own-test", {"choices": CHOICES}),
]  # fmt: skip
"""Calls with own ids as `own-...` and another project's in capitals."""


@pytest.fixture
def theirs(talked: Session, editor: Caller) -> dict[str, str]:
    """Return the ids of the other project's rows by their names in the calls."""
    turn = talked.turns.get(turn_index=2)
    base = editor.post("/api/kbs", {"name": MARK}).json()["kb_id"]
    editor.post(f"/api/kbs/{base}/sources", {"name": f"{MARK}.md", "content": f"The {MARK} is small."})
    editor.chat(f"The {MARK} lives in rivers.", talked.session_id)
    editor.post("/v1/traces", request_of(span(1, name=MARK)))
    return {
        "SESSION": talked.session_id,
        "TURN": turn.request_id,
        "BASE": base,
        "UNIT": talked.context_units.earliest("pk").unit_id,
        "SOURCE": KnowledgeSource.objects.get(name=f"{MARK}.md").source_id,
        "FORGETTING": Forgetting.objects.create(project=talked.project, kind="text").forgetting_id,
        "FILTER": editor.post("/api/turns/filters", {"name": MARK, "q": MARK}).json()["filter_id"],
        "TRACE": TRACE,
        **suite_of(editor, talked.session_id, turn.request_id),
    }


def suite_of(caller: Caller, session_id: str, request_id: str) -> dict[str, str]:
    """Return the ids of a new suite with a test and a run."""
    suite = caller.post("/api/suites", {"name": "Pets"}).json()["suite_id"]
    kept = {**TESTED, "session_id": session_id, "request_id": request_id}
    test = caller.post(f"/api/suites/{suite}/tests", kept).json()["test_id"]
    run = caller.post(f"/api/suites/{suite}/runs", {"wait_ms": 30_000}).json()["run_id"]
    return {"SUITE": suite, "TEST": test, "RUN": run}


def stored_rows() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every row except keys, which record when they were used."""
    for model in apps.get_app_config("sessions_app").get_models():
        if model is not ApiKey:
            yield from ((model.__name__, row) for row in model._default_manager.order_by("pk").values())


def test_an_id_of_another_project_is_an_id_of_nothing(theirs: dict[str, str], caller: Callable[..., Caller]) -> None:
    before = list(stored_rows())
    other = Project.objects.create(name="Other", slug="other")
    ensure_default_base(other)
    stranger = caller("admin", other)
    session_id = stranger.chat("My cat is called Tom.").json()["session_id"]
    turn = Session.objects.get(session_id=session_id).turns.get().request_id
    own_turn = {"session_id": session_id, "request_id": turn}
    own = {"own-session": session_id, "own-turn": turn}
    own |= {f"own-{name.lower()}": key for name, key in suite_of(stranger, **own_turn).items()}
    nothing = {name: f"{key[:16]}{token_hex(8)}" for name, key in theirs.items()}
    for ids in (nothing, theirs):  # trials are added to each
        tried = stranger.post("/api/experiments", {**own_turn, "trials": [{}], "wait_ms": 30_000})
        ids["own-trials"] = tried.json()["experiment_id"]
    for method, path, body in CALLS:
        expected, found = (answer_to(stranger, method, path, body, own | ids) for ids in (nothing, theirs))
        assert found == expected, (method, path, body)
        assert MARK not in found.replace(f'"q":"{MARK}', ""), (method, path, body)
    after = list(stored_rows())
    assert [row for row in before if row not in after] == []


def answer_to(caller: Caller, method: str, path: str, body: dict[str, Any], ids: dict[str, str]) -> str:
    """Return the status and body of the answer to a call with these ids, without values that always differ."""

    def with_ids(text: str) -> str:
        return re.sub("|".join(ids), lambda name: ids[name[0]], text)

    sent = {} if method == "get" else {"data": with_ids(json.dumps(body)), "content_type": "application/json"}
    answer = getattr(caller.client, method)(with_ids(path), headers=caller.headers, **sent)
    told = answer.text
    for name, key in ids.items():
        told = told.replace(key, name)
    return f"{answer.status_code} {re.sub(VARYING, '', told)}"


VARYING = (
    r"[a-z]+-[0-9a-f]{32}|20\d\d-\d\d-\d\d[T ][\d:.]+|\W(duration_ms|against)\W+[^,}]*"
    r'|"stage":"[^"]*"|"row_count":\d+'  # how far an act has come
)


def test_every_field_that_names_a_row_is_tried() -> None:
    tried = {(method, _template(path), name) for method, path, body in CALLS for name in (*_names(body), *_asked(path))}
    described = set(described_names())
    assert len(described) > 30
    assert sorted(described - tried) == []


def described_names() -> Iterator[tuple[str, str, str]]:
    """Yield the method, path and name of each body field and query parameter that names a row."""
    document = openapi_document()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            content = operation.get("requestBody", {}).get("content", {})
            fields = [name for kind in content.values() for name in _fields(document, kind["schema"])]
            queries = [item["name"] for item in operation.get("parameters", ()) if item.get("in") == "query"]
            for name in {*fields, *queries}:
                if NAMES_A_ROW.search(name) and name not in NAMES_NONE and not (name in OF_ITS_OWN and "{" in path):
                    yield method, path, name


def _fields(document: dict[str, Any], schema: Any) -> Iterator[str]:
    """Yield the names of all properties below a schema."""
    if isinstance(schema, list):
        for item in schema:
            yield from _fields(document, item)
    elif isinstance(schema, dict):
        if "$ref" in schema:
            yield from _fields(document, document["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
        yield from schema.get("properties", ())
        for item in schema.values():
            yield from _fields(document, item)


def _template(path: str) -> str:
    """Return the path in the OpenAPI document that matches the call."""
    asked = path.partition("?")[0]
    fitting = [it for it in openapi_document()["paths"] if re.fullmatch(re.sub(r"{\w+}", "[^/]+", it), asked)]
    return min(fitting, key=lambda it: it.count("{"), default=asked)


def _names(body: Any) -> Iterator[str]:
    """Yield the names of all fields of a body."""
    for item in body.values() if isinstance(body, dict) else body if isinstance(body, list) else ():
        yield from _names(item)
    if isinstance(body, dict):
        yield from body


def _asked(path: str) -> list[str]:
    return re.findall(r"[?&](\w+)=", path)
