"""Model calls from end to end with a real model. They check requests and records, hardly the model's text."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from mrpvm.llm.local_model import NAME
from tests.local_model.conftest import client_of
from tests.server import ServerProcess

QUICK = {"seed_detector_plugin": "sd-symbolic", "goal_solver_plugin": "gs-llm-fast", "max_tokens": 12}
"""One request to the model for an answer, beside what the validators ask."""


def asked(server: ServerProcess, path: str, body: dict[str, Any]) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {server.api_key}"}
    answer = httpx.post(f"{server.url}/api/{path}", json=body, headers=headers, timeout=120)
    assert answer.status_code < 300, answer.text
    return dict(answer.json())


def chat(server: ServerProcess, text: str, **body: Any) -> dict[str, Any]:
    return asked(server, "chat/completions", {"messages": [{"role": "user", "content": text}], **QUICK, **body})


def eventually(holds: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.1)


def children(server: ServerProcess) -> list[int]:
    """Return the processes of local models that a server started."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            command = Path(f"/proc/{name}/cmdline").read_text()
            parent = _stat(int(name))[1]
        except OSError:
            continue
        if "mrpvm.llm.local_server" in command and parent == str(server.process.pid):
            found.append(int(name))
    return found


def test_an_answer_is_the_model_s_and_counts_its_tokens(served: ServerProcess) -> None:
    client = client_of(served)
    assert NAME in {item.id for item in client.models.list()}
    answer = client.chat.completions.create(
        model=NAME, messages=[{"role": "user", "content": "What is the capital of France?"}], max_tokens=12,
        extra_body=QUICK,
    )  # fmt: skip
    assert answer.usage is not None
    assert answer.choices[0].message.content
    assert 0 < answer.usage.completion_tokens < answer.usage.prompt_tokens


def test_of_a_long_conversation_a_window_is_sent(streaming: ServerProcess) -> None:
    said = [{"role": role, "content": f"{role} {number}"} for number in range(30) for role in ("user", "assistant")]
    client_of(streaming).chat.completions.create(
        model=NAME, messages=[*said, {"role": "user", "content": "What is my dog called?"}], extra_body=QUICK
    )
    headers = {"Authorization": f"Bearer {streaming.api_key}"}
    turn = httpx.get(f"{streaming.url}/api/turns?limit=1", headers=headers).json()["turns"][0]
    went_on = chat(streaming, "What is my cat called?", session_id=turn["session_id"])
    told = [message["content"] for message in went_on["outbound_request"]["messages"]]
    assert "assistant 29" in told
    assert "user 0" not in told
    assert len(told) < len(said) / 2


def test_words_arrive_while_they_are_written(streaming: ServerProcess) -> None:
    stream = client_of(streaming).chat.completions.create(
        model="mrpvm", messages=[{"role": "user", "content": "Tell me about the sea."}], max_tokens=20, stream=True,
        extra_body=QUICK,
    )  # fmt: skip
    pieces = [chunk.choices[0].delta.content for chunk in stream if chunk.choices and chunk.choices[0].delta.content]
    assert len(pieces) > 3


def test_what_was_said_before_is_sent_again(streaming: ServerProcess) -> None:
    first = chat(streaming, "Tell me about the sea.")
    second = chat(streaming, "And about rivers?", session_id=first["session_id"])
    assert "Tell me about the sea." in str(second["outbound_request"]["messages"])


def test_an_answer_of_the_model_can_be_diagnosed(streaming: ServerProcess) -> None:
    first = chat(streaming, "Tell me about the sea.")
    body = {"should_contain": "zebra", "max_trials": 2, "wait_ms": 60_000}
    found = asked(streaming, f"sessions/{first['session_id']}/turns/{first['request_id']}/diagnosis", body)
    assert (found["status"], found["divergence"], found["error"]) == ("finished", None, None)
    assert found["tried"] > 0


def test_a_model_that_was_killed_is_started_again(streaming: ServerProcess) -> None:
    (before,) = children(streaming)
    os.kill(before, signal.SIGKILL)
    eventually(lambda: children(streaming) not in ([], [before]))
    eventually(lambda: _answers(streaming))


def _answers(server: ServerProcess) -> bool:
    headers = {"Authorization": f"Bearer {server.api_key}"}
    body = {"messages": [{"role": "user", "content": "What is the capital of France?"}], **QUICK}
    return httpx.post(f"{server.url}/api/chat/completions", json=body, headers=headers, timeout=120).is_success


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_the_model_ends_with_its_server(tmp_path: Path, sent: signal.Signals) -> None:
    with ServerProcess(tmp_path, MRPVM_LOCAL_MODEL="1") as server:
        (model,) = children(server)
        server.stop(sent)
        eventually(lambda: _has_ended(model), seconds=10)


def _stat(pid: int) -> list[str]:
    """Return the fields after the name in a process's `stat` file: its state, its parent, and so on."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _has_ended(pid: int) -> bool:
    try:
        return _stat(pid)[0] == "Z"
    except OSError:
        return True
