"""Programs that hang, fork, print without end, crash or ignore their input: none outlives or blocks its call."""

import sys
from pathlib import Path

import pytest

from mrpvm.processes import Finished, ProcessLimits, run_process
from tests.processes.programs import ENVIRONMENT, is_gone, program

FORKS = """
import os, sys, time
child = os.fork()
if child == 0:
    grandchild = os.fork()
    if grandchild == 0:
        time.sleep(600)
    print(grandchild, flush=True)
    time.sleep(600)
print(child, flush=True)
"""


def run(source: str, given: bytes = b"", *, timeout_ms: int = 20_000, output_bytes: int = 10_000) -> Finished:
    limits = ProcessLimits(timeout_ms=timeout_ms, output_bytes=output_bytes, error_bytes=100)
    return run_process(program(source), given, limits, directory=Path("/"), environment=ENVIRONMENT)


def test_input_output_errors_and_exit_code_come_through() -> None:
    source = "import sys; data = sys.stdin.buffer.read(); print(len(data)); sys.stderr.write('why'); sys.exit(3)"
    assert run(source, b"x" * 300_000) == Finished(outcome="exited", exit_code=3, output=b"300000\n", errors=b"why")


def test_input_that_nobody_reads_is_no_error() -> None:
    assert run("print('done')", b"x" * 300_000).output == b"done\n"
    assert run("import sys; sys.stdin.close(); print('done')", b"x" * 300_000).output == b"done\n"


def test_a_hanging_process_is_killed_with_its_children() -> None:
    pids: list[int] = []
    for timeout_ms in (200, 5_000):  # longer where a busy machine had not started both children
        if len(pids) < 2:
            ended = run(FORKS + "time.sleep(600)", timeout_ms=timeout_ms)
            assert (ended.outcome, ended.exit_code) == ("timed-out", None)
            pids = [int(line) for line in ended.output.split()]
    assert len(pids) == 2
    assert all(is_gone(pid) for pid in pids)


def test_open_pipes_of_children_do_not_delay_a_process() -> None:
    ended = run(FORKS + "time.sleep(0.3)")
    assert (ended.outcome, ended.exit_code) == ("exited", 0)
    assert all(is_gone(int(line)) for line in ended.output.split())


def test_a_process_that_closes_its_pipes_and_hangs_is_killed() -> None:
    assert run("import os, time; os.close(1); os.close(2); time.sleep(600)", timeout_ms=300).outcome == "timed-out"


def test_a_process_that_ignores_signals_is_killed() -> None:
    source = "import signal, time; [signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]; time.sleep(600)"
    assert run(source, timeout_ms=300).outcome == "timed-out"


@pytest.mark.parametrize("size", [9_999, 10_000, 10_001])
def test_output_is_read_up_to_its_limit(size: int) -> None:
    ended = run(f"import sys; sys.stdout.write('x' * {size})")
    assert ended.outcome == ("flooded" if size > 10_000 else "exited")
    assert len(ended.output) <= 10_000


def test_a_flood_is_stopped_while_it_flows() -> None:
    assert run("while True: print('x' * 1000)").outcome == "flooded"


def test_a_flood_of_errors_is_cut_and_harms_nothing() -> None:
    ended = run("import sys; sys.stderr.write('e' * 1000000); print('done')")
    assert (ended.outcome, ended.output, ended.errors) == ("exited", b"done\n", b"e" * 100)


def test_a_crash_shows_its_signal() -> None:
    assert run("import os; os.kill(os.getpid(), 9)").exit_code == -9


def test_the_caller_may_take_output_as_it_comes_and_stop() -> None:
    taken: list[bytes] = []
    ended = run_process(
        program("import time\nprint('first', flush=True)\ntime.sleep(600)"),
        b"",
        ProcessLimits(timeout_ms=20_000, output_bytes=100),
        directory=Path("/"),
        environment=ENVIRONMENT,
        take=taken.append,
        stopped=lambda: bool(taken),
    )
    assert (ended.outcome, ended.output, b"".join(taken)) == ("stopped", b"", b"first\n")


def test_the_environment_is_the_one_that_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "hidden")
    assert b"hidden" not in run("import os; print(dict(os.environ))").output


def test_what_cannot_be_started_is_an_error() -> None:
    with pytest.raises(OSError, match="no-such-program"):
        run_process(
            ["./no-such-program"],
            b"",
            ProcessLimits(timeout_ms=100, output_bytes=1),
            directory=Path(sys.prefix),
            environment={},
        )
