"""Invariants after random sequences of turns, failures, crashes and context loads."""

from copy import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mrpvm import registry
from mrpvm.errors import MRPError
from mrpvm.knowledge.units import content_hash
from mrpvm.values import KnowledgeUnit
from sessions_app.actions.sessions.context_loads import Material, add_context
from sessions_app.actions.sessions.context_units import Staging, stage_units
from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.settings.projects import ensure_default_project
from sessions_app.layers.lifecycle import own_layers
from sessions_app.models import LayerUnit
from sessions_app.models.named_sql import write_all
from sessions_app.queries.turns.registry import graph
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import run_turn
from sessions_app.turns.recovery import recover_all_running
from sessions_app.turns.slots import start_turn
from tests.kernel.scripted import ACCEPT, REJECT, detection, plan, plugin, retrieval, solution, unit

pytestmark = pytest.mark.django_db(transaction=True)

CLAIMS = st.lists(st.sampled_from(["Rex is a dog.", "Tom is a cat.", "The car is red."]), max_size=3)
STEPS = st.lists(
    st.tuples(st.sampled_from(["answer", "no-context", "error", "reject", "crash", "load"]), CLAIMS),
    min_size=1,
    max_size=8,
)


def install(kind, claims):
    solver = {"error": RuntimeError("boom"), "no-context": solution(None)}.get(kind, solution("Because."))
    chosen = (
        plugin("mrp-plan-plugin", "planner-default", plan()),
        plugin("sd-plugin", "sd-a", detection("why", claims=claims)),
        plugin("kb-plugin", "kb-a", retrieval("fact")),
        plugin("gs-plugin", "gs-a", solver),
        plugin("val-plugin", "val-a", REJECT if kind == "reject" else ACCEPT),
    )
    registry.installed._plugins = {(item.descriptor.type, item.descriptor.id): item for item in chosen}


def loaded(claim):
    value = KnowledgeUnit(id=f"ctx::{claim}", role="Description", topic=claim, claim=claim, source_id="ctx-1")
    return replace(value, hash=content_hash(value))


def snapshot(session):
    session.refresh_from_db()
    return (
        session.message_sequence,
        sorted(session.context_units.filter(state="committed").values_list("hash", flat=True)),
        session.preferred_kb_plugin,
        session.preferred_goal_solver_plugin,
    )


def play(session, kind, claims):
    """Do one step; return whether memory may have changed."""
    if kind == "load":
        units = {claim: loaded(claim) for claim in claims}
        existing = set(session.context_units.values_list("unit_id", flat=True))
        fresh = [item for item in units.values() if item.id not in existing]
        add_context(session, Material(units=fresh, name="notes", source_id="notes", replaces=False))
        return True
    install(kind, claims)
    if kind == "crash":
        turn = start_turn(session, TurnCall(message="Why?"))
        told = tuple(unit(f"{turn.pk} {claim}") for claim in dict.fromkeys(claims))
        write_all(stage_units(turn, [Staging("exec-0.1~1", told)]))
        recover_all_running()
        return False
    try:
        run_turn(session, TurnCall(message="Why?"))
    except MRPError:
        return False
    return True


@pytest.mark.rule("TURN-20", "EVAL-5")
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_whatever_happens_memory_is_whole(steps, transactional_db, monkeypatch, settings):
    monkeypatch.setattr(registry.installed, "_plugins", dict(registry.installed._plugins))
    settings.MRPVM_UNITS_AT_ONCE = 1  # two units make a large load
    session = create_session(ensure_default_project())
    turn_count = 0
    for kind, claims in steps:
        before = snapshot(session)
        changed = play(session, kind, claims)
        turn_count += kind != "load"
        after = snapshot(session)
        assert changed or after == before, kind
        assert not session.context_units.filter(state="pending").exists()
    check(session, turn_count)


def check(session, turn_count):
    messages = list(session.messages.order_by("sequence").values_list("sequence", "role"))
    assert messages == [(place + 1, ("user", "assistant")[place % 2]) for place in range(len(messages))]
    committed = session.context_units.filter(state="committed")
    hashes = list(committed.values_list("hash", flat=True))
    assert len(hashes) == len(set(hashes)) == session.unit_count
    indexed = LayerUnit.objects.filter(layer__in=own_layers(session))
    assert set(indexed.values_list("unit_id", flat=True)) == set(committed.values_list("unit_id", flat=True))
    assert list(session.turns.values_list("turn_index", flat=True)) == list(range(1, turn_count + 1))
    assert not session.turns.filter(status="running").exists()
    events = list(session.events.order_by("sequence").values_list("sequence", flat=True))
    assert events == list(range(1, session.event_sequence + 1))
    for turn in session.turns.all():
        picture = graph(turn)
        assert picture.root_frame_id == "frame-0"
        assert "running" not in {node.status for node in picture.plugin_executions}
        assert "active" not in {frame.status for frame in picture.frames}
