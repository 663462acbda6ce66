"""Rows written and read by hand-written SQL equal those of the ORM."""

import re
from copy import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import Model
from django.test.utils import CaptureQueriesContext

from mrpvm.values import KnowledgeUnit
from sessions_app.layers import create_layer, index_units
from sessions_app.models import (
    ContextUnit,
    KnowledgeLayer,
    LayerUnit,
    Message,
    PackedPart,
    Posting,
    Session,
    SessionEvent,
    TurnEvents,
    UnitEvent,
)
from sessions_app.models.named_sql import (
    Write,
    add_to_counts,
    insert_rows,
    insertions,
    look_up,
    read_related,
    select_counted_session,
    write_all,
)
from sessions_app.queries.sessions.lookups import sessions, with_counts
from sessions_app.turns.call import TurnCall
from sessions_app.turns.slots import start_turn
from tests.layers.units import make_unit

EXPLAIN = {"sqlite": "EXPLAIN QUERY PLAN", "postgresql": "EXPLAIN"}
MOMENT = datetime(2024, 2, 29, 23, 59, 59, 123456, tzinfo=UTC)
TEXT = "Ünïcödé \u2028 'quoted' \"twice\" %s \U0001f600"
UNIT = KnowledgeUnit(
    id="u1", role="Narrative", topic=TEXT, claim=TEXT, confidence=0.5, utility_acts=("explain",), hash="1" * 64,
    char_start=3, parent_unit_ids=("u0",),
)  # fmt: skip


def values(row: Model) -> dict[str, Any]:
    """Return the row's stored columns without its key."""
    stored = type(row)._default_manager.values().latest("pk")
    return {
        name: bytes(value) if isinstance(value, memoryview) else value for name, value in stored.items() if name != "id"
    }


def test_inserted_columns_equal_those_of_bulk_create(session, plugins):
    plugins()
    turn = start_turn(session, TurnCall(message="hello"))
    rows = [
        SessionEvent(session=session, sequence=90, kind="x", payload={"a": [1, None, TEXT]}, created_at=MOMENT),
        UnitEvent(session=session, turn=turn, unit_id="u", step="cited", score=0.25, rank=None, reason=TEXT),
        UnitEvent(session=session, turn=None, unit_id="u", step="removed"),
        TurnEvents(turn=turn, first_sequence=7, events=[["a", 1, {"b": TEXT}]]),
        Message(session=session, turn=turn, sequence=91, role="user", content=TEXT),
        Message(session=session, turn=turn, sequence=92, role="tool", content=TEXT, payload={"n": 1.5}),
        ContextUnit.from_value(UNIT, session=session, turn=turn, created_at=MOMENT),
    ]
    for row in rows:
        insert_rows([row])
        written = values(row)
        type(row)._default_manager.latest("pk").delete()
        type(row)._default_manager.bulk_create([row])
        assert written == values(row)


def test_rows_come_in_order_by_one_statement_with_keys(session):
    rows = [SessionEvent(session=session, sequence=number, kind="x") for number in range(50, 60)]
    with CaptureQueriesContext(connection) as queries:
        insert_rows(rows, with_keys=True)
        insert_rows([])
    assert len(queries) == 1
    stored = session.events.filter(kind="x").order_by("pk").values_list("pk", "sequence")
    assert list(stored) == [(row.pk, row.sequence) for row in rows]
    rows[0].kind = "y"
    rows[0].save()
    assert session.events.get(kind="y").sequence == 50
    with pytest.raises(IntegrityError), transaction.atomic():
        insert_rows([SessionEvent(session=session, sequence=50, kind="x")])


def test_writes_are_carried_out_together_or_not_at_all(session):
    def events(*sequences: int) -> list[Write]:
        return insertions([SessionEvent(session=session, sequence=number, kind=TEXT) for number in sequences], ("id",))

    renamed = "UPDATE sessions_app_session SET title = %s WHERE id = %s"
    writes = [*events(50, 51), Write(renamed, [TEXT, session.pk]), Write(renamed, ["-", -1], ("id", "title"))]
    with CaptureQueriesContext(connection) as queries:
        keys, *rest = write_all(writes)
    assert [pk for (pk,) in keys] == list(session.events.filter(kind=TEXT).order_by("pk").values_list("pk", flat=True))
    assert [list(found) for found in rest] == [[], []]
    assert Session.objects.get(pk=session.pk).title == TEXT
    assert sum("UPDATE" in query["sql"] for query in queries) == {"sqlite": 2, "postgresql": 1}[connection.vendor]
    with pytest.raises(IntegrityError):
        write_all([Write(renamed, ["undone", session.pk]), *events(51)])
    assert Session.objects.get(pk=session.pk).title == TEXT
    assert write_all([]) == []


def test_counts_are_added_to_what_the_row_holds(session):
    layer, stale = session.journal, KnowledgeLayer.objects.get(pk=session.journal_id)
    add_to_counts(layer, unit_count=3, term_count=1)
    add_to_counts(stale, unit_count=-1)
    assert stale.unit_count == 2
    layer.refresh_from_db()
    assert (layer.unit_count, layer.term_count) == (2, 1)


def same_columns(by_hand: Model, by_orm: Model) -> bool:
    names = [field.attname for field in by_orm._meta.concrete_fields]
    pairs = [(getattr(by_hand, name), getattr(by_orm, name)) for name in names]
    return all(mine == other and type(mine) is type(other) for mine, other in pairs)


def test_related_rows_are_those_that_the_orm_reads(session):
    by_hand = Session.objects.get(pk=session.pk)
    with CaptureQueriesContext(connection) as queries:
        read_related(by_hand, "mounted_kb", "draft", "journal")
        related = [by_hand.mounted_kb, by_hand.draft, by_hand.journal]
    assert len(queries) == 1
    by_orm = Session.objects.select_related("mounted_kb", "draft", "journal").get(pk=session.pk)
    assert all(map(same_columns, related, [by_orm.mounted_kb, by_orm.draft, by_orm.journal]))


def test_a_counted_session_has_the_counts_of_the_orm(session, plugins):
    plugins()
    turn = start_turn(session, TurnCall(message=TEXT))
    insert_rows([ContextUnit.from_value(UNIT, session=session, turn=turn, created_at=MOMENT)])
    reasons = ("session-create",)
    by_hand = select_counted_session(session.project_id, session.session_id, reasons)
    by_orm = with_counts(sessions(session.project)).get(pk=session.pk)
    assert same_columns(by_hand, by_orm)
    assert same_columns(by_hand.draft, by_orm.draft)
    assert same_columns(by_hand.mounted_kb, by_orm.mounted_kb)
    assert same_columns(by_hand.journal, by_orm.journal)
    for name in ("pending_unit_count", "turn_count", "latest_turn_status"):
        assert getattr(by_hand, name) == getattr(by_orm, name)
    assert by_hand.saved_at == session.mounts.get().mounted_at
    assert select_counted_session(session.project_id, session.session_id, ("save",)).saved_at is None
    Session.objects.filter(pk=session.pk).update(deleted_at=MOMENT)
    assert select_counted_session(session.project_id, session.session_id, reasons) is None


def test_rows_are_looked_up_by_values_that_go_together(session, plugins):
    plugins()
    turn = start_turn(session, TurnCall(message="hello"))
    body = bytes(range(256)) * 3
    insert_rows([TurnEvents(turn=turn, first_sequence=size, events=[], payloads=body) for size in (3, 4, 5)])
    each = {"first_sequence": [3, 5, 9], "turn_id": [turn.pk, turn.pk, turn.pk]}
    for binary in (False, True):
        with CaptureQueriesContext(connection) as queries:
            found = look_up(TurnEvents, ("first_sequence", "payloads"), each, binary=binary, turn_id=[turn.pk, -1])
        assert len(queries) == 1
        assert sorted((size, bytes(value)) for size, value in found) == [(3, body), (5, body)]
    assert look_up(TurnEvents, ("id",), {"first_sequence": []}, turn_id=[turn.pk]) == []
    assert look_up(TurnEvents, ("id",), {"first_sequence": [5]}, turn_id=[]) == []


@pytest.mark.parametrize("text", ["", "NULL", "{}", "a,b", " a ", '"', "\\", '\\"', "{\\", "\n\t", "%s", TEXT])
def test_any_text_is_looked_up_as_it_is(session, text):
    ContextUnit.from_value(replace(UNIT, source_id=text), session=session, state="committed").save()
    for wanted, found in (([text, "other"], [(text,)]), (["other"], [])):
        assert look_up(ContextUnit, ("source_id",), {"source_id": wanted}, session_id=[session.pk]) == found


def test_a_lookup_keeps_rows_that_meet_its_condition(session):
    ContextUnit.from_value(UNIT, session=session, state="committed").save()
    wanted = {"hash": [UNIT.hash]}
    for state, found in (("committed", [("u1",)]), ("pending", [])):
        condition = f"state = '{state}'"
        assert look_up(ContextUnit, ["unit_id"], wanted, condition=condition, session_id=[session.pk]) == found


def test_what_is_asked_often_is_prepared(db):
    if connection.vendor != "postgresql":
        pytest.skip("Only PostgreSQL has them.")
    prepared = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE %s"
    asked = {
        "%asked(wanted_id)%": lambda: look_up(LayerUnit, ("claim",), {"id": range(-3, 0)}),
        '%base."kb_id"%': lambda: select_counted_session(-1, "", ("save",)),
    }
    with connection.cursor() as cursor:
        cursor.execute("DEALLOCATE ALL")
        for statement, ask in asked.items():
            for _ in range(7):
                ask()
            cursor.execute(prepared, [statement])
            assert cursor.fetchone() == (1,)


def test_a_lookup_gives_values_as_fields_know_them(session):
    ContextUnit.from_value(UNIT, session=session, created_at=MOMENT, state="committed").save()
    rows = look_up(ContextUnit, ("utility_acts", "created_at", "claim"), {"hash": [UNIT.hash]}, session_id=[session.pk])
    assert rows == [(["explain"], MOMENT, TEXT)]


def test_what_a_new_layer_holds_is_looked_up_by_the_whole_index(db):
    known = create_layer(KnowledgeLayer.Kind.BASE, None)
    index_units(known, [make_unit(f"u{number}", f"pump {number}") for number in range(300)])
    layers = [known.pk + 1, known.pk + 2]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")  # only one layer is stored at this time
            # The planner would rightly scan a table that its statistics call small.
            cursor.execute("SET LOCAL enable_seqscan = off")
    with CaptureQueriesContext(connection) as queries:
        look_up(Posting, ("unit_id",), {"term": [1, 2]}, layer_id=layers)
        look_up(PackedPart, ("content",), {"kind": ["term", "units"], "key": [1, 2]}, packed_id=[7, 8])
        look_up(LayerUnit, ("id",), {"hash": ["a", "b"]}, layer_id=layers)
    indexes = (("layer_id", "term"), ("packed_id", "kind", "key"), ("layer_id", "hash"))
    for query, columns in zip(queries, indexes, strict=True):
        with connection.cursor() as cursor:
            cursor.execute(f"{EXPLAIN[connection.vendor]} {query['sql']}")
            plan = " ".join(str(found) for row in cursor.fetchall() for found in row)
        condition = (
            plan.partition("Index Cond:")[2].partition("Filter:")[0] if connection.vendor == "postgresql" else plan
        )
        assert all(re.search(rf"\b{column}\b\S* ?=", condition) for column in columns), plan
