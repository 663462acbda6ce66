"""The id of a request, in the answer and in the log: the client's own if it sends one."""

import json
import logging

import pytest

from sessions_app.logs import JSONFormatter, logging_with
from sessions_app.turns import pipeline
from tests.api.conftest import Caller


@pytest.mark.parametrize("sent", ["abc-123", "0f8fad5b-d9cb-469f-a165-70867728950e"])
def test_a_client_gets_its_own_request_id_back(editor: Caller, sent: str) -> None:
    editor.headers["X-Request-Id"] = sent
    assert editor.get("/api/sessions").headers["X-Request-Id"] == sent
    assert editor.chat("My dog is called Rex.").headers["X-Request-Id"] == sent


@pytest.mark.parametrize("sent", ["", "with blanks", "x" * 129, "höher"])
def test_an_unusable_request_id_is_replaced(editor: Caller, sent: str) -> None:
    editor.headers["X-Request-Id"] = sent
    assert editor.get("/api/sessions").headers["X-Request-Id"].startswith("req-")


def test_a_json_line_names_request_session_turn_and_trace(
    editor: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    lines: list[str] = []

    class Collecting(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(self.format(record))

    def broken(*arguments: object) -> None:
        raise ValueError("no summary")

    collecting = Collecting()
    collecting.setFormatter(JSONFormatter())
    logging.getLogger("sessions_app").addHandler(collecting)
    monkeypatch.setattr(pipeline, "final_report", broken)
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    editor.headers |= {"X-Request-Id": "mine", "traceparent": f"00-{trace}-00f067aa0ba902b7-01"}
    error = editor.chat("My dog is called Rex.").json()["error"]
    logging.getLogger("sessions_app").removeHandler(collecting)
    entry = next(found for line in lines if (found := json.loads(line))["level"] == "ERROR")
    assert (entry["request_id"], entry["session_id"], entry["trace_id"]) == ("mine", error["sessionId"], trace)
    assert entry["turn_id"].startswith("req-")
    assert "no summary" in entry["exception"]


def test_a_json_line_holds_no_secret() -> None:
    record = logging.makeLogRecord({"msg": "key mrp_%s", "args": ("a" * 40,), "name": "x"})
    with logging_with(session_id='a"b\n'):
        entry = json.loads(JSONFormatter().format(record))
    assert "a" * 40 not in entry["message"]
    assert entry["session_id"] == 'a"b\n'
