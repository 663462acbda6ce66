"""Data from before a change is carried over by its migration."""

import zlib
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from django.apps import apps
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import StateApps
from django.db.models import Model

from mrpvm.llm.roles import ModelConfig
from sessions_app.models import ExplainabilityTurn, KnowledgeLayer, KnowledgeSource, Posting, Session
from sessions_app.queries.sessions.frozen_content import agents_of, personas_of, skills_of
from sessions_app.queries.turns.registry import details, unit_events

FIRST = [("sessions_app", "0001_initial")]


def to_the_newest() -> None:
    """Apply every migration."""
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


@pytest.fixture
def old(transactional_db: None) -> Iterator[StateApps]:
    """Return the models as the first release has them, over its tables."""
    executor = MigrationExecutor(connection)
    executor.migrate(FIRST)
    yield executor.loader.project_state(FIRST).apps
    to_the_newest()


def test_sessions_from_before_are_frozen(old: StateApps) -> None:
    """[L-10]: they get what a session made now would keep, and the personas and agents of old by default [LV51]."""
    project = old.get_model("sessions_app", "Project").objects.create(name="Old", slug="old")
    layer = old.get_model("sessions_app", "KnowledgeLayer").objects.create()
    base = old.get_model("sessions_app", "KnowledgeBase").objects.create(project=project, name="Base", head=layer)
    made = old.get_model("sessions_app", "Session").objects.create(
        project=project, mounted_kb=base, mounted_layer=layer, draft=layer, journal=layer, message_sequence=3
    )
    old.get_model("sessions_app", "Message").objects.create(session=made, sequence=3, role="user", content="Hello.")
    added_at = datetime(2026, 1, 2, tzinfo=UTC)
    source = old.get_model("sessions_app", "KnowledgeSource").objects.create(
        layer=layer, source_id="s", name="Old", added_at=added_at
    )
    unit = old.get_model("sessions_app", "LayerUnit").objects.create(
        layer=layer, unit_id="u", topic="t", claim="Größe", hash="h", origin=source
    )
    old.get_model("sessions_app", "Posting").objects.create(layer=layer, unit=unit, term=-7, frequency=10, length=20)
    turn = old.get_model("sessions_app", "ExplainabilityTurn").objects.create(
        session=made, turn_index=1, request_id="req-old", response_document={"groups": ["Größe"]}
    )
    for first, events in ((0, [["turn.started", 0, {}]]), (1, [["turn.finished", 5, {}]])):
        turn.event_batches.create(first_sequence=first, events=events)
    for step in ("staged", "cited"):
        turn.unit_events.create(session=made, unit_id="u", step=step, reason="x" * 300)
    for ref, text in (("frame-0", b'{"input": 1}'), ("exec-0.1~1", b'{"input": "cut')):
        turn.details.create(ref=ref, size=len(text) + 3, cut_bytes=3, body=zlib.compress(text))
    to_the_newest()
    carried_turn = ExplainabilityTurn.objects.get()
    assert (carried_turn.response_document, carried_turn.context_report) == ({"groups": ["Größe"]}, None)
    batches = carried_turn.event_batches.order_by("first_sequence")
    assert [name for batch in batches for name, _, _ in batch.events] == ["turn.started", "turn.finished"]
    assert [(step.unit_id, step.step) for step in unit_events(carried_turn)] == [("u", "staged"), ("u", "cited")]
    stored = details(carried_turn, ["frame-0", "exec-0.1~1"])
    assert {ref: (item.text, item.size, item.cut_bytes) for ref, item in stored.items()} == {
        "frame-0": ('{"input": 1}', 15, 3),
        "exec-0.1~1": ('{"input": "cut', 17, 3),
    }
    assert list(Posting.objects.values_list("layer_id", "unit_id", "term", "frequency", "length")) == [
        (layer.pk, unit.pk, -7, 10, 20)
    ]
    carried = KnowledgeSource.objects.get()
    assert (carried.text_byte_count, carried.updated_at) == (8, added_at)
    assert KnowledgeLayer.objects.get().index_version == "snowball-english-3.1.0+terms-2+fields-1"
    session = Session.objects.get(pk=made.pk)
    assert (session.message_count, session.removed_message_count) == (1, 2)
    assert {item.skill_name for item in skills_of(session).skills} >= {"arithmetic", "summarise"}
    assert personas_of(session).get("default") is not None
    assert agents_of(session).get("default") is not None
    assert (session.active_persona, session.active_agent, session.snapshot_version) == ("default", "default", 1)
    assert session.model_config == ModelConfig().as_record()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "model", list(apps.get_app_config("sessions_app").get_models()), ids=lambda model: model.__name__
)
def test_the_tables_have_what_the_models_declare(model: type[Model]) -> None:
    """Constraints hold in the database, on every database: what a migration lost would be seen nowhere else."""
    with connection.cursor() as cursor:
        there = connection.introspection.get_constraints(cursor, model._meta.db_table)
    declared = {item.name for item in (*model._meta.constraints, *model._meta.indexes)}
    assert declared <= set(there)
