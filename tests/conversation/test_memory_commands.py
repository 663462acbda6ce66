"""`/remember`, `/forget` and `/memory`: grammar and messages [L-130 to L-138]."""

import pytest

from mrpvm.conversation.commands import MemoryQuery
from tests.conversation.command_scene import ScriptedPorts, said


def test_memory() -> None:
    ports = ScriptedPorts()
    assert said("/memory show", ports=ports)[:2] == ("memory_empty", "No memory records found.")
    assert said("/remember The key  hangs left.", ports=ports) == (
        "memory_saved", "Remembered (mem_0): The key hangs left.", {"id": "mem_0"},
    )  # fmt: skip
    assert said("/memory show KEY", ports=ports)[:2] == ("memory_listed", "- mem_0: The key hangs left.")
    assert said("/memory show nothing", ports=ports)[0] == "memory_empty"
    assert said("/forget mem_0", ports=ports)[:2] == ("memory_deleted", "Forgot memory record 'mem_0'.")
    assert said("/forget mem_0", ports=ports)[0] == "memory_not_found"
    assert said("/memory short show")[1] == "Short-term memory is checkpoint-managed for thread 'sess-1'."
    assert said("/remember my password is x", ports=ports)[0] == "memory_policy_denied"
    assert said("/memory evidence show")[0] == "memory_unavailable"
    for number in range(12):
        ports.remember(f"text {number}")
    listed = said("/memory show", ports=ports)[1].splitlines()
    assert len(listed) == 11
    assert listed[-1] == "Older records are left out; 10 are shown."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("/memory long", "unsupported /memory subcommand 'long'."),
        ("/memory long dance", "unsupported /memory subcommand 'long dance'."),
        ("/memory long show --domain", "--domain requires a value."),
        ("/memory long show --domain --include-expired", "--domain requires a value."),
        ("/memory long show --domain moods", "--domain must be one of persona_core|user_profile|working_rules."),
        ("/memory long show --deep", "unsupported flag '--deep'."),
        ("/memory long task show key", "--namespace is required."),
        ("/memory long verify", "/memory long verify requires exactly one memory id."),
        ("/memory long verify a b", "/memory long verify requires exactly one memory id."),
        ("/memory long consolidate now", "/memory long consolidate does not accept arguments."),
    ],
)
def test_long_memory_says_what_does_not_fit(text: str, message: str) -> None:
    """[L-138]"""
    assert said(text) == ("invalid_args", f"Error: {message}", {"command": "memory", "subcommand": "long"})


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("/memory show the key", MemoryQuery(text="the key")),
        ("/memory long show *", MemoryQuery(domains=("persona_core", "user_profile", "working_rules"))),
        ("/memory long show a --include-conflicted --domain user_profile b",
         MemoryQuery(text="a b", with_conflicted=True)),
        ("/memory long task show x --namespace task:ferry --include-archived --include-expired",
         MemoryQuery(text="x", domains=("task_memory",), namespace="task:ferry")),
    ],
)  # fmt: skip
def test_flags_stand_anywhere(text: str, query: MemoryQuery) -> None:
    """[L-136 to L-138]"""
    ports = ScriptedPorts()
    assert said(text, ports=ports)[0] == "memory_empty"
    assert ports.queries == [query]


def test_consolidation_keeps_what_messages_state_when_asked_to() -> None:
    """[L-135, L-137]"""
    ports = ScriptedPorts(said=["My name is Ann.", "Where is Rex?", "task ferry: the gate is A"])
    preview = said("/memory long consolidate --dry-run", ports=ports)
    assert preview[:2] == (
        "memory_consolidation_shown",
        "Would keep 2 records.\n- My name is Ann. [user_profile]\n- the gate is A. [task:ferry]",
    )
    assert ports.kept == {}
    assert said("/memory long consolidate", ports=ports)[1:] == (
        "Kept 2 records; 0 known, 0 marked as conflicted.\n"
        "- mem_0: My name is Ann. [needs_verification]\n- mem_1: the gate is A. [needs_verification]",
        {"found": 2, "saved": 2, "conflicted": 0, "dry_run": False},
    )
    assert said("/memory long consolidate", ports=ports)[1] == "Kept 0 records; 2 known, 0 marked as conflicted."
    assert said("/memory long verify mem_0", ports=ports)[:2] == ("memory_verified", "Verified memory record 'mem_0'.")
    assert said("/memory long verify mem_9", ports=ports)[0] == "memory_not_found"
    assert said("/memory long verify mem_0 --domain persona_core", ports=ports)[0] == "memory_not_found"
