"""`/remember`, `/forget` and `/memory`: grammar and messages."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.commands import MemoryQuery
from mrpvm.commands.evidence import CHUNK_CHARS, OVERLAP_CHARS, chunks_of
from tests.commands.command_scene import ScriptedPorts, said


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
        ("/memory long archive", "/memory long archive requires exactly one memory id."),
        ("/memory long expire mem_0", "--hours is required."),
        ("/memory long expire mem_0 --hours 0", "--hours must be a number above 0 and at most 87600."),
        ("/memory long expire mem_0 --hours nan", "--hours must be a number above 0 and at most 87600."),
        ("/memory long expire mem_0 --hours 87601", "--hours must be a number above 0 and at most 87600."),
        ("/memory long consolidate now", "/memory long consolidate does not accept arguments."),
    ],
)
def test_long_memory_says_what_does_not_fit(text: str, message: str) -> None:
    assert said(text) == ("invalid_args", f"Error: {message}", {"command": "memory", "subcommand": "long"})


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("/memory show the key", MemoryQuery(text="the key")),
        ("/memory long show *", MemoryQuery(domains=("persona_core", "user_profile", "working_rules"))),
        ("/memory long show a --include-conflicted --domain user_profile b",
         MemoryQuery(text="a b", with_conflicted=True)),
        ("/memory long task show x --namespace task:ferry --include-archived --include-expired",
         MemoryQuery(text="x", domains=("task_memory",), namespace="task:ferry", with_archived=True,
                     with_expired=True)),
    ],
)  # fmt: skip
def test_flags_stand_anywhere(text: str, query: MemoryQuery) -> None:
    ports = ScriptedPorts()
    assert said(text, ports=ports)[0] == "memory_empty"
    assert ports.queries == [query]


def test_a_record_is_put_away_or_given_an_end() -> None:
    ports = ScriptedPorts(kept={"mem_0": "The key hangs left."})
    assert said("/memory long archive mem_0", ports=ports) == (
        "memory_archived", "Archived memory record 'mem_0'.", {"id": "mem_0"},
    )  # fmt: skip
    assert said("/memory long expire --hours 1.5 mem_0", ports=ports) == (
        "memory_expiry_set", "Memory record 'mem_0' expires in 1.5 hours.", {"id": "mem_0", "hours": 1.5},
    )  # fmt: skip
    assert ports.ends == {"mem_0": 1.5}
    for text in ("/memory long archive mem_9", "/memory long expire mem_0 --hours 1 --domain persona_core"):
        assert said(text, ports=ports)[0] == "memory_not_found"


LABEL = {"non_canonical": True, "canonical_precedence": "structured_long_term"}


def test_evidence_is_read_cited_and_labelled() -> None:
    ports = ScriptedPorts(files={"notes/ferry.txt": "The gate is A."})
    assert said("/memory evidence show", ports=ports) == ("memory_empty", "No evidence found.", {"count": 0, **LABEL})
    assert said("/memory evidence ingest ./notes/ferry.txt", ports=ports) == (
        "memory_evidence_ingested",
        "Ingested 'notes/ferry.txt' as evidence, not canonical: 1 chunk.",
        {"path": "notes/ferry.txt", "chunks": 1, "left_out": 0, **LABEL},
    )
    assert said("/memory evidence show GATE", ports=ports) == (
        "memory_evidence_shown",
        "Evidence, not canonical; structured long-term memory comes first:\n"
        "- ev_1 (notes/ferry.txt#chunk-1): The gate is A.",
        {"count": 1, "citations": ["notes/ferry.txt#chunk-1"], **LABEL},
    )
    assert said("/memory evidence show harbour", ports=ports)[0] == "memory_empty"


def test_evidence_that_cannot_be_kept_says_why() -> None:
    ports = ScriptedPorts(
        files={"empty.txt": " \n", "keys.txt": "my password is x", "long.txt": f"token {'word ' * 200}"}
    )
    for text, code, part in (
        ("ingest", "invalid_args", "requires a path"),
        ("", "invalid_args", "requires one subcommand"),
        ("drop x", "invalid_args", "requires one subcommand"),
        ("ingest gone.txt", "memory_invalid_input", "no such file"),
        ("ingest empty.txt", "memory_invalid_input", "holds no text"),
        (f"ingest {'x' * 201}", "memory_invalid_input", "201 characters"),
        ("ingest keys.txt", "memory_policy_denied", "credentials"),
    ):
        found = said(f"/memory evidence {text}", ports=ports)
        assert (found[0], part in found[1]) == (code, True), found
    assert ports.evidence == []
    assert said("/memory evidence ingest long.txt", ports=ports)[1].endswith(
        "3 chunks. 1 that name credentials are left out."
    )


@given(st.text(max_size=2000))
def test_chunks_hold_the_whole_text_and_overlap(text: str) -> None:
    """Chunks have 360 characters, and the last 40 are repeated at the start of the next one."""
    chunks = chunks_of(text)
    assert all(0 < len(chunk) <= CHUNK_CHARS for chunk in chunks)
    assert "".join((*chunks[:1], *(chunk[OVERLAP_CHARS:] for chunk in chunks[1:]))) == text.strip()
    for one, following in pairwise(chunks):
        assert one[-OVERLAP_CHARS:] == following[:OVERLAP_CHARS]


def test_consolidation_keeps_what_messages_state_when_asked_to() -> None:
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
