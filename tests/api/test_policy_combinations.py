"""Rewriting, memory and summaries in every combination: a policy that is off has no effect."""

import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from mrpvm.values import Recall
from sessions_app.models import Project
from sessions_app.queries.turns.registry import unit_events
from tests.api.conftest import Caller
from tests.api.test_context import begun
from tests.api.test_memory import PINS, turn_of
from tests.llm.provider import Provider

FLAGS = ("enable_query_rewriting", "enable_session_memory", "enable_history_summarization")
COMBINATIONS = list(itertools.product((True, False), repeat=len(FLAGS)))
DIALOGUE = ("What does the red pump need?", "And what does it need besides?", "When does its valve open?", "And then?",
            "What does the blue pump need?", "Does that help it?", "So what about the valve?")  # fmt: skip
ROW = ("unit_id", "step", "rank", "score", "reason")
PREPARATION, STATE, COMMIT = "mrpvm.conversation.preparation", "sessions_app.turns.state", "sessions_app.turns.commit"
PARTS = {
    "enable_query_rewriting": (f"{PREPARATION}.rewrite",),
    "enable_session_memory": (
        f"{PREPARATION}.need_of",
        f"{PREPARATION}.told_terms",
        f"{STATE}.usable_memory",
        f"{COMMIT}.after_turn",
        f"{COMMIT}.memory_write",
    ),
    "enable_history_summarization": (f"{PREPARATION}.summarise",),
}
"""What each policy is made of."""


def _timeless(memory: dict[str, Any] | None) -> dict[str, Any] | None:
    return memory and {name: value for name, value in memory.items() if name != "expires_at"}


@contextmanager
def without_what_is_off(flags: dict[str, bool], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Remove the code of the policies that are off for the block."""

    def untouchable(*arguments: object, **options: object) -> None:
        raise AssertionError("a policy that is off is not called")

    with monkeypatch.context() as removed:
        for name in (part for flag, parts in PARTS.items() if not flags[flag] for part in parts):
            removed.setattr(name, untouchable)
        if not flags["enable_session_memory"]:
            removed.setattr(f"{COMMIT}._remember", lambda prepared, answer, report: (None, report))
            removed.setattr(f"{STATE}._may_remember", lambda *given: False)
        if not flags["enable_query_rewriting"] and not flags["enable_session_memory"]:
            removed.setattr(f"{PREPARATION}._recall", lambda *given: (Recall(), None, ()))
        yield


def held(editor: Caller, flags: dict[str, bool], **pins: str) -> list[dict[str, Any]]:
    """Run a dialogue of follow-ups in a session that is long enough for a summary; return every turn's report."""
    session = begun(editor, 9)
    told = []
    for message in DIALOGUE:
        answer = editor.chat(message, session.session_id, document_bias="always", **flags, **{**PINS, **pins})
        turn = turn_of(answer)
        told.append(
            {
                "content": answer.json()["choices"][0]["message"]["content"],
                "report": {name: value for name, value in turn.context_report.items() if name != "memory"},
                "memory": _timeless(turn.context_report.get("memory")),
                "ledger": [tuple(getattr(step, name) for name in ROW) for step in unit_events(turn)],
            }
        )
    return told


@pytest.mark.rule("POLICY-50", "POLICY-51")
def test_every_combination_of_flags_does_what_it_says(
    editor: Caller, manuals: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every policy applies to this dialogue; with one off, the turns are equal to those without its code."""
    by_flags = {values: held(editor, dict(zip(FLAGS, values, strict=True))) for values in COMBINATIONS}
    for (rewrites, remembers, summarises), turns in by_flags.items():
        last = turns[-1]
        assert ("rewriting" in last["report"]) is rewrites
        assert (last["memory"] is not None) is remembers
        assert any(item["name"] == "summary" for item in last["report"]["sections"]) is summarises
        assert any("document in use" in row[4] for turn in turns for row in turn["ledger"]) is remembers
    ledgers = {values: [turn["ledger"] for turn in turns] for values, turns in by_flags.items()}
    for other in itertools.product((True, False), repeat=2):
        assert ledgers[(True, *other)] != ledgers[(False, *other)]
        assert ledgers[(other[0], True, other[1])] != ledgers[(other[0], False, other[1])]

    for values, turns in by_flags.items():
        if all(values):  # there is no code to remove
            continue
        flags = dict(zip(FLAGS, values, strict=True))
        with without_what_is_off(flags, monkeypatch):
            assert held(editor, flags) == turns, flags


def test_a_policy_that_is_off_changes_no_request(
    editor: Caller, manuals: Project, provider: Provider, unvalidated: None, monkeypatch: pytest.MonkeyPatch
) -> None:

    def sent(flags: dict[str, bool]) -> bytes:
        begun_at = len(provider.bodies)
        held(editor, flags, goal_solver_plugin="gs-llm-fast")
        bodies = provider.bodies[begun_at:]
        assert len(bodies) >= len(DIALOGUE)
        return json.dumps(bodies).encode()

    # All on, one off, and all off; the test above tries every combination.
    combinations = [values for values in COMBINATIONS if values.count(False) in (0, 1, len(FLAGS))]
    by_flags = {values: sent(dict(zip(FLAGS, values, strict=True))) for values in combinations}
    assert len(set(by_flags.values())) == len(combinations)
    for values, whole in by_flags.items():
        if all(values):
            continue
        flags = dict(zip(FLAGS, values, strict=True))
        with without_what_is_off(flags, monkeypatch):
            assert sent(flags) == whole, flags
