"""The size of the database by kind of data: measured, recorded once a day, shown with its growth."""

from collections.abc import Callable
from datetime import date, timedelta
from html.parser import HTMLParser

import pytest
from django.db import connection
from django.urls import reverse
from pytest_django import Settings

from sessions_app.actions.upkeep.storage import sample_storage
from sessions_app.models import Project, StorageKind, StorageSample
from sessions_app.queries.settings import storage as measuring
from tests.api.conftest import Caller
from tests.web.page_scene import check_html, member_client


class Rows(HTMLParser):
    """A parser that collects the texts of a page's table by the ids of its rows."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: dict[str, list[str]] = {"": []}
        self._row = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self._row = dict(attrs).get("id") or ""
            self.texts.setdefault(self._row, [])

    def handle_data(self, data: str) -> None:
        self.texts[self._row].append(data.strip())


@pytest.fixture
def filled(project: Project, caller: Callable[..., Caller]) -> None:
    """Store a conversation and a source."""
    editor = caller("editor")
    session = editor.chat("My dog is called Rex. What is my dog called?").json()["session_id"]
    path = f"/api/sessions/{session}/workspace/sources"
    editor.upload(path, "a.md", b"# Nore\n\nThe ferry is blue.", "text/markdown")


def database_bytes() -> int:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            return int(
                cursor.execute("SELECT page_size * page_count FROM pragma_page_size, pragma_page_count").fetchone()[0]
            )
        cursor.execute("SELECT pg_database_size(current_database())")
        return int(cursor.fetchone()[0])


@pytest.mark.parametrize("is_read", [True, False])
def test_sizes_add_up_to_the_database(filled: None, is_read: bool, settings: Settings) -> None:
    if not is_read:
        settings.MRPVM_MAX_PAGES_MEASURED = 0
    found = {size.kind: size for size in measuring.sizes()}
    assert abs(sum(size.byte_count for size in found.values()) - database_bytes()) <= 65_536
    held = {StorageKind.CONVERSATIONS, StorageKind.KNOWLEDGE, StorageKind.TRACES, StorageKind.PAYLOADS}
    assert held | {StorageKind.EVENTS, StorageKind.FULL_TEXT} <= found.keys()
    assert found[StorageKind.PAYLOADS].is_estimate
    assert found[StorageKind.EVENTS].is_estimate == (connection.vendor == "sqlite" and not is_read)


def test_more_rows_of_a_kind_are_a_larger_size(filled: None) -> None:
    before = {size.kind: size.byte_count for size in measuring.sizes()}
    StorageSample.objects.bulk_create(
        StorageSample(day=date(2020, 1, 1) + timedelta(days=number), kind="audit", byte_count=1)
        for number in range(5_000)
    )
    after = {size.kind: size.byte_count for size in measuring.sizes()}
    grown = {kind for kind in after if after[kind] > before.get(kind, 0)}
    assert grown - {StorageKind.FREE} == {StorageKind.OTHER}
    assert after[StorageKind.OTHER] - before[StorageKind.OTHER] > 5_000 * 16


def test_a_day_is_sampled_once_and_growth_is_of_a_day(
    project: Project, filled: None, caller: Callable[..., Caller]
) -> None:
    admin, address = caller("admin"), reverse("storage")
    assert admin.get("/api/storage").json()["day"] is None
    page = member_client(project, "admin", "ann")
    empty = page.get(address).text
    check_html(empty)
    assert "has not been measured yet" in empty
    assert sample_storage() > 5
    assert sample_storage() == 0
    newest = StorageSample.objects.get(kind="events")
    StorageSample.objects.create(day=newest.day - timedelta(days=4), kind="events", byte_count=newest.byte_count + 400)
    told = admin.get("/api/storage").json()
    assert told["growth_days"] == 4
    assert told["byte_count"] == sum(kind["byte_count"] for kind in told["kinds"])
    grown = {kind["kind"]: kind["growth_bytes_a_day"] for kind in told["kinds"]}
    assert grown["events"] == -100
    shown = page.get(address).text
    check_html(shown)
    assert "-100\N{NO-BREAK SPACE}bytes" in Rows(shown).texts["storage-events"]
    assert member_client(project, "editor", "bo").get(address).status_code == 403
