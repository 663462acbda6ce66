"""A stored value that cannot be read gives one clear error; its row is repaired, and the damaged value is kept."""

from collections.abc import Callable, Iterator

import pytest
from django.db import connection
from django.test import Client

from sessions_app.actions.damage import checked_columns, damaged_rows, mend_noted_columns, mend_value
from sessions_app.background.sweeper import sweep
from sessions_app.models import DamagedValue, ExplainabilityTurn, KnowledgeLayer, Project, Session
from sessions_app.models.damage import damaged_columns
from sessions_app.queries.sessions import frozen_content
from tests.api.conftest import Caller
from tests.web.page_scene import member_client, text_at

TORN = b'{"it ends in the mid'


@pytest.fixture(autouse=True)
def nothing_cached() -> Iterator[None]:
    """Clear the caches and the noted columns around each test."""
    yield
    for noted in damaged_columns.columns():
        damaged_columns.forget(*noted)


def damage(field) -> int:
    """Write invalid bytes into a column, as a faulty disk does; return the number of rows."""
    table, column = (connection.ops.quote_name(name) for name in (field.model._meta.db_table, field.column))
    value = TORN if "Compressed" in type(field).__name__ else TORN.decode()
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA ignore_check_constraints = ON")
        cursor.execute(f"UPDATE {table} SET {column} = %s WHERE {column} IS NOT NULL", [value])  # noqa: S608
        count = cursor.rowcount
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA ignore_check_constraints = OFF")
        return count


def forget_caches() -> None:
    """Clear the process's caches of immutable rows."""
    for name in ("_skills", "_personas", "_agents"):
        getattr(frozen_content, name).cache_clear()


def test_every_damaged_column_is_one_error_and_then_mended(talked: Session, editor: Caller, project: Project) -> None:
    browser = member_client(project)
    browser.raise_request_exception = False
    turn = ExplainabilityTurn.objects.filter(session=talked).latest("turn_index")
    session = f"/api/sessions/{talked.session_id}"
    editor.upload(f"{session}/context", "notes.txt", b"Rex sleeps in the kitchen.")
    page = f"/sessions/{talked.session_id}"
    reads: list[Callable[[], object]] = [
        lambda: editor.get(session),
        lambda: editor.get(f"{session}/export?format=json"),
        lambda: editor.get(f"{session}/turns/{turn.request_id}"),
        lambda: browser.get(page),
        lambda: browser.get(f"{page}/turns/{turn.request_id}"),
        lambda: editor.chat("What is my dog called?", talked.session_id),
    ]
    for field in checked_columns():
        if not damage(field):
            continue
        forget_caches()
        answers = [read() for read in reads]
        for answer in answers:
            assert answer.status_code in (200, 503), (field, answer.content)
            if answer.status_code == 503:
                assert field.column in answer.content.decode(), field
                assert answer.headers["Retry-After"] == "1"
        # A read may stop at the first damaged column; each column is noted when it is read.
        mend_noted_columns()
        for pk in damaged_rows(field):
            assert mend_value(field, pk)
        assert not list(damaged_rows(field)), field
    # A value that is not repaired fails the read of the next column; after the last column, it fails here.
    forget_caches()
    assert [read().status_code for read in reads] == [200] * len(reads)
    assert DamagedValue.objects.filter(table=ExplainabilityTurn._meta.db_table).exists()
    assert {bytes(row.raw) for row in DamagedValue.objects.exclude(column="events")} == {TORN}


def test_the_sweeper_mends_what_was_met(talked: Session, editor: Caller) -> None:
    damage(ExplainabilityTurn._meta.get_field("context_report"))
    export = f"/api/sessions/{talked.session_id}/export?format=json"
    assert editor.get(export).json()["error"]["code"] == "STORED_VALUE_DAMAGED"
    assert sweep()["mended"] == 2
    assert [turn["context_report"] for turn in editor.get(export).json()["turns"]] == [None, None]


@pytest.mark.skipif(connection.vendor == "postgresql", reason="PostgreSQL admits only JSON into these columns")
def test_ancestors_of_a_layer_are_read_again_from_the_chain(talked: Session) -> None:
    ancestry = KnowledgeLayer._meta.get_field("ancestry")
    before = dict(KnowledgeLayer.objects.values_list("pk", "ancestry"))
    assert damage(ancestry)
    for pk in damaged_rows(ancestry):
        mend_value(ancestry, pk)
    assert dict(KnowledgeLayer.objects.values_list("pk", "ancestry")) == before


def test_a_page_says_which_column_is_damaged(talked: Session, project: Project) -> None:
    damage(ExplainabilityTurn._meta.get_field("context_report"))
    turn = ExplainabilityTurn.objects.defer("context_report").filter(session=talked).first()
    browser: Client = member_client(project)
    browser.raise_request_exception = False
    page = browser.get(f"/sessions/{talked.session_id}/turns/{turn.request_id}/context")
    assert page.status_code == 503
    assert "explainabilityturn.context_report" in text_at(page.text, "h1 + p")
