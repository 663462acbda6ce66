"""Keyset pagination over random rows: every row once, in order, for any page size."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from mrpvm.errors import InvalidInput
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.models import Project
from sessions_app.queries.knowledge.bases import knowledge_bases
from sessions_app.queries.paging import cursor_number, page, text, when

KEYS = (("-is_default", cursor_number), ("name", text), ("id", cursor_number))
NAMES = st.lists(st.sampled_from(["a", "b", "B", "ä", "zz", "a b", "-"]), max_size=9)


class Pages(TestCase):
    """Properties of pages for any rows and any page size."""

    @given(names=NAMES, limit=st.integers(1, 4))
    def test_every_row_comes_once_and_in_order_both_ways(self, names: list[str], limit: int) -> None:
        project = Project.objects.create(name="p", slug="p")
        for place, name in enumerate(names):
            create_base(project, name, is_default=place == 3)
        rows = knowledge_bases(project)
        seen: list[Any] = []
        cursor: str | None = None
        while True:
            found = page(rows, KEYS, limit, cursor)
            assert len(found.rows) <= limit
            seen += found.rows
            cursor = found.next_cursor
            if cursor is None:
                break
            assert len(found.rows) == limit
        assert seen == list(rows)
        back = list(found.rows)
        while found.previous_cursor:
            found = page(rows, KEYS, limit, found.previous_cursor)
            back = [*found.rows, *back]
        assert back == list(rows)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=6,
)


@given(value=JSON)
def test_a_made_up_cursor_is_refused_or_harmless(value: Any) -> None:
    cursor = base64.urlsafe_b64encode(json.dumps(value).encode()).decode()
    keys = (("-last_activity_at", when), ("-id", cursor_number))
    from sessions_app.models import Session

    if isinstance(value, list) and len(value) == 2:
        return
    with pytest.raises(InvalidInput):
        page(Session.objects.none(), keys, 5, cursor)


@given(cursor=st.text(min_size=1, max_size=40))
def test_any_text_as_a_cursor_is_refused(cursor: str) -> None:
    from sessions_app.models import Session

    with pytest.raises(InvalidInput):
        page(Session.objects.none(), (("-last_activity_at", when), ("-id", cursor_number)), 5, cursor)
