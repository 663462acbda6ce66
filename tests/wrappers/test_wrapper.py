"""Wrappers as real processes: valid output, and faulty behaviour."""

import json
from copy import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.conversation.helping import HelperOutput
from mrpvm.processes import Finished
from mrpvm.testing import call_context
from mrpvm.wrappers.protocol import WrapperFailed, read_result
from mrpvm.wrappers.wrapper import OUTPUT_BYTES, Help, chosen_for
from tests.processes.programs import is_gone
from tests.wrappers.programs import ANSWERS, wrapper

PAYLOAD = {"prompt": "[evaluate] the product of 6 and 7", "context": [{"title": "Größe", "text": "x"}]}
FORKS = """
import os, sys, time
child = os.fork()
if child == 0:
    time.sleep(600)
open("pids", "w").write(f"{os.getpid()} {child}")
time.sleep(600)
"""


def ask(root: Path, source: str, **fields: object) -> Help:
    return wrapper(root, source, **fields).help(3, PAYLOAD, call_context())


@pytest.mark.rule("PLUGIN-38")
def test_a_result_comes_back_as_it_was_told(tmp_path: Path) -> None:
    found = ask(tmp_path, ANSWERS)
    assert (found.status, found.error) == ("success", None)
    assert found.output == HelperOutput(
        intent_ref=3, plugin="Calculator", status="success", result="It is 42.", confidence="0.9", evidence="6 * 7"
    )


@pytest.mark.rule("PLUGIN-37")
def test_it_reads_one_json_object_and_then_the_end(tmp_path: Path) -> None:
    source = ANSWERS.replace("It is 42.", '" + given["prompt"] + given["context"][0]["title"] + "')
    assert ask(tmp_path, source).output.result == "[evaluate] the product of 6 and 7Größe"


@pytest.mark.rule("PLUGIN-33")
def test_a_program_starts_with_its_arguments_and_no_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "hidden")
    source = ANSWERS.replace(
        "It is 42.", '" + str([__import__("os").listdir(), sys.argv[1:], dict(__import__("os").environ)]) + "'
    )
    told = ask(tmp_path, source, args=["--exact"]).output.result
    assert "manifest.json" in told
    assert "--exact" in told
    assert "hidden" not in told


@pytest.mark.rule("PLUGIN-37")
def test_too_much_input_does_not_even_start_it(tmp_path: Path) -> None:
    found = ask(tmp_path, "open('started', 'w')", maxInputSizeBytes=20)
    assert found.error is not None
    assert found.error.code == "PLUGIN_INPUT_TOO_LARGE"
    assert not (tmp_path / "calculator" / "started").exists()


@pytest.mark.rule("PLUGIN-39")
@pytest.mark.parametrize(
    ("source", "code", "told"),
    [
        ("import time; time.sleep(600)", "PLUGIN_TIMEOUT", "did not answer in time"),
        (FORKS, "PLUGIN_TIMEOUT", "did not answer in time"),
        ("while True: print('x' * 10000)", "PLUGIN_OUTPUT_TOO_LARGE", "wrote more than it may"),
        ("import sys; sys.stderr.write('e' * 10**7); sys.exit(1)", "PLUGIN_ERROR", "could not do it"),
        ("import sys; sys.stderr.write('{\"code\": \"NO_UNIT\", \"message\": \"which unit?\"}\\n'); sys.exit(1)",
         "PLUGIN_ERROR", "NO_UNIT: which unit?"),
        ("import sys; sys.exit(2)", "PLUGIN_ERROR", "does not accept the input"),
        ("import sys; sys.exit(3)", "PLUGIN_TIMEOUT", "ran out of time"),
        ("import sys; sys.exit(77)", "PLUGIN_ERROR", "exit code 77"),
        ("import os; os.kill(os.getpid(), 11)", "PLUGIN_ERROR", "signal 11"),
        ("raise RuntimeError('secret')", "PLUGIN_ERROR", "could not do it"),
        ("", "PLUGIN_CONTRACT_VIOLATION", "no '## Plugin Result'"),
        ("print('42')", "PLUGIN_CONTRACT_VIOLATION", "no '## Plugin Result'"),
        ("import os; os.write(1, bytes(range(256)))", "PLUGIN_CONTRACT_VIOLATION", "not UTF-8"),
        ("print('## Plugin Result\\nStatus: success\\nResult: 42')", "PLUGIN_CONTRACT_VIOLATION", "no Confidence"),
        ("print('## Plugin Result\\nStatus: success\\nConfidence: 1')", "PLUGIN_CONTRACT_VIOLATION", "no Result"),
        ("print('## Plugin Result\\nStatus: odd\\nConfidence: 1\\nResult: 4')", "PLUGIN_CONTRACT_VIOLATION", "status"),
        ("print('## Plugin Result\\nStatus: error\\nResult: no such number')", "PLUGIN_ERROR", "no such number"),
    ],
)  # fmt: skip
def test_whatever_it_does_it_is_an_error_in_time(tmp_path: Path, source: str, code: str, told: str) -> None:
    found = ask(tmp_path, source, timeout=700 if "sleep" in source else 20_000)
    assert found.error is not None
    assert (found.status, found.output.status, found.error.code) == ("error", "error", code)
    assert told in found.error.message
    assert "secret" not in found.error.message
    pids = tmp_path / "calculator" / "pids"
    assert all(is_gone(int(pid)) for pid in (pids.read_text().split() if pids.exists() else ()))


@pytest.mark.rule("PLUGIN-39")
def test_it_ends_when_the_turn_does(tmp_path: Path) -> None:
    asked = wrapper(tmp_path, FORKS)
    context = replace(call_context(), stopped=lambda: (tmp_path / "calculator" / "pids").exists())
    found = asked.help(1, PAYLOAD, context)
    assert found.error is not None
    assert found.error.code == "PLUGIN_TIMEOUT"
    assert all(is_gone(int(pid)) for pid in (tmp_path / "calculator" / "pids").read_text().split())


def test_a_program_that_is_gone_is_an_error(tmp_path: Path) -> None:
    asked = wrapper(tmp_path)
    (tmp_path / "calculator" / "program").unlink()
    found = asked.help(1, PAYLOAD, call_context())
    assert found.error is not None
    assert "cannot be started" in found.error.message


@pytest.mark.rule("PLUGIN-38")
def test_results_may_have_several_lines() -> None:
    output = (
        b"noise\n## Plugin Result\n\nStatus: success\nConfidence: high\nResult: one\ntwo: 2\n\nthree\nEvidence: e\n"
    )
    found = read_result(Finished(outcome="exited", exit_code=0, output=output, errors=b""), 1, "calc")
    assert (found.plugin, found.result, found.evidence) == ("calc", "one\ntwo: 2\n\nthree", "e")


@pytest.mark.rule("PLUGIN-38")
@given(st.binary(max_size=200), st.booleans(), st.integers(-20, 300))
def test_any_bytes_are_a_result_or_a_failure(output: bytes, has_heading: bool, exit_code: int) -> None:
    text = b"## Plugin Result\nStatus: success\n" * has_heading + output
    ended = Finished(outcome="exited", exit_code=exit_code % 3, output=text, errors=output)
    try:
        result = read_result(ended, 1, "calc").result
    except WrapperFailed as failed:
        result = failed.message
    assert result


@pytest.mark.rule("PLUGIN-36")
def test_who_is_asked_and_in_which_order(tmp_path: Path) -> None:
    by_act = wrapper(tmp_path, called="by-act", capabilities=["verify"], keywords=[])
    low = wrapper(tmp_path, called="a-low", keywords=["Product"])
    high = wrapper(tmp_path, called="z-high", priority=5)
    other = wrapper(tmp_path, called="other", keywords=["weather"])
    known = [by_act, low, high, other]
    assert chosen_for(known, "verify", "the product of 6 and 7") == [by_act]
    assert chosen_for(known, "evaluate", "the product of 6 and 7") == [high, low]
    assert chosen_for(known, "evaluate", "the sum of 6 and 7") == []
    alone = wrapper(tmp_path, called="alone", priority=1, exclusive=True)
    assert chosen_for([*known, alone], "evaluate", "a product") == [high, alone]


@pytest.mark.rule("PLUGIN-40")
def test_the_protocol_document_is_what_can_be_piped_in(tmp_path: Path) -> None:
    from mrpvm.wrappers.protocol import given as input_of

    assert json.loads(input_of(PAYLOAD, OUTPUT_BYTES)) == PAYLOAD
