"""Rows inserted without `bulk_create` are the rows that it would have inserted."""

from datetime import UTC, datetime
from typing import Any

from django.db import connection
from django.db.models import Model
from django.test.utils import CaptureQueriesContext

from mrpvm.values import KnowledgeUnit
from sessions_app.models import ContextUnit, Message, SessionEvent, TurnDetail, TurnEvents, UnitEvent
from sessions_app.models.inserts import insert_rows
from sessions_app.turns.call import TurnCall
from sessions_app.turns.prepare import prepare

MOMENT = datetime(2024, 2, 29, 23, 59, 59, 123456, tzinfo=UTC)
TEXT = "Ünïcödé \u2028 'quoted' \"twice\" %s \U0001f600"
UNIT = KnowledgeUnit(
    id="u1", role="Narrative", topic=TEXT, claim=TEXT, confidence=0.5, utility_acts=("explain",), hash="1" * 64,
    char_start=3, parent_unit_ids=("u0",),
)  # fmt: skip


def values(row: Model) -> dict[str, Any]:
    """Give the row's columns as they are stored, without its key."""
    stored = type(row)._default_manager.values().latest("pk")
    return {
        name: bytes(value) if isinstance(value, memoryview) else value for name, value in stored.items() if name != "id"
    }


def test_every_kind_of_column_arrives_as_bulk_create_would_write_it(session, plugins):
    plugins()
    turn = prepare(session, TurnCall(message="hello")).turn
    rows = [
        SessionEvent(session=session, sequence=90, kind="x", payload={"a": [1, None, TEXT]}, created_at=MOMENT),
        UnitEvent(session=session, turn=turn, unit_id="u", step="cited", score=0.25, rank=None, reason=TEXT),
        UnitEvent(session=session, turn=None, unit_id="u", step="removed"),
        TurnEvents(turn=turn, first_sequence=7, events=[["a", 1, {"b": TEXT}]]),
        TurnDetail(turn=turn, ref="r", size=3, body=b"\x00\xff'"),
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


def test_many_rows_come_in_order_and_by_one_statement(session):
    with CaptureQueriesContext(connection) as queries:
        insert_rows([SessionEvent(session=session, sequence=number, kind="x") for number in range(50, 60)])
        insert_rows([])
    assert len(queries) == 1
    stored = session.events.filter(kind="x").order_by("pk").values_list("sequence", flat=True)
    assert list(stored) == list(range(50, 60))
