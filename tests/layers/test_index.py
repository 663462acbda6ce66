"""Units written into layers are read back unchanged, with their index entries, for any text."""

from collections import Counter
from typing import Any

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, example, given
from hypothesis import settings as runs
from hypothesis import strategies as st

from mrpvm.knowledge.indexing import index_entry, term_id
from mrpvm.values import KnowledgeUnit
from sessions_app.layers import create_layer, index_units
from sessions_app.layers.units import indexed, insert_indexed
from sessions_app.models import KnowledgeLayer, LayerUnit, Posting
from sessions_app.models.durability import durable_later
from sessions_app.models.named_sql import insert_postings
from tests.layers.units import make_unit

Kind = KnowledgeLayer.Kind
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
UNITS = st.builds(
    make_unit,
    st.just("u"),
    TEXTS,
    topic=TEXTS,
    title=st.none() | TEXTS,
    subject=st.none() | TEXTS,
    confidence=st.none() | st.floats(0, 1),
    section_title=st.none() | TEXTS,
    char_start=st.none() | st.integers(0, 10**6),
    phase_scopes=st.sampled_from([("kb-plugin",), ("gs-plugin",), ("kb-plugin", "frame")]),
    utility_acts=st.lists(TEXTS, max_size=2).map(tuple),
)


def postings(layer: KnowledgeLayer) -> Counter[tuple[Any, ...]]:
    columns = ("unit__unit_id", "term", "frequency", "length")
    return Counter(Posting.objects.filter(layer=layer).values_list(*columns))


@pytest.mark.django_db
@runs(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@example([make_unit("u", '{"a",\\NULL}', topic="NULL", title="", subject='\\"', confidence=0.1, section_title="%s")])
@given(st.lists(UNITS, max_size=6))
def test_units_come_back_as_they_were(found: list[KnowledgeUnit]) -> None:
    units = [make_unit(f"u{n}", unit.claim or "", **_more(unit)) for n, unit in enumerate(found)]
    with transaction.atomic():
        layer = create_layer(Kind.BASE, None)
        keys = index_units(layer, units)
        rows = LayerUnit.objects.in_bulk(keys)
        assert [rows[key].to_value() for key in keys] == units
        wanted = {unit.id: index_entry(unit) for unit in units}
        assert [(rows[key].length, rows[key].is_evidence, rows[key].is_guidance) for key in keys] == [
            (wanted[unit.id].length, unit.is_evidence, unit.is_guidance) for unit in units
        ]
        assert postings(layer) == Counter(
            (name, *posting, entry.length) for name, entry in wanted.items() for posting in entry.postings
        )
        transaction.set_rollback(True)


def _more(unit: KnowledgeUnit) -> dict[str, Any]:
    names = ("topic", "title", "subject", "confidence", "section_title", "char_start", "phase_scopes", "utility_acts")
    return {name: getattr(unit, name) for name in names}


@pytest.mark.django_db
@pytest.mark.parametrize("count", [0, 1, 199, 200, 201, 400, 401])
def test_any_number_of_rows_is_inserted_at_once(count: int) -> None:
    layer = create_layer(Kind.BASE, None)
    rows = [(layer.pk, -number, number, 10, 20) for number in range(count)]
    insert_postings(rows)
    columns = ("layer_id", "term", "unit_id", "frequency", "length")
    assert list(Posting.objects.order_by("unit_id").values_list(*columns)) == rows


@pytest.mark.django_db
def test_what_is_known_of_a_unit_is_not_computed_again() -> None:
    layer = create_layer(Kind.BASE, None)
    known, unknown = make_unit("a", "The pump is blue"), make_unit("b", "The valve is red")
    entry = index_entry(make_unit("a", "A rotor"))
    insert_indexed(layer, indexed([known, unknown], {"a": entry}))
    terms = {name: {term for unit, term, _, _ in postings(layer) if unit == name} for name in ("a", "b")}
    assert terms == {"a": {term_id("rotor")}, "b": {term_id("valv"), term_id("red")}}


def waits_for_the_disk() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA synchronous")
        return bool(cursor.fetchone()[0] == 2)


@pytest.mark.usefixtures("lasting")
def test_what_nobody_sees_yet_does_not_wait_for_the_disk() -> None:
    assert waits_for_the_disk()
    with durable_later():
        assert not waits_for_the_disk()
    with pytest.raises(ValueError, match="over"), durable_later():
        raise ValueError("over")
    assert waits_for_the_disk()
    with transaction.atomic(), durable_later():
        assert waits_for_the_disk()
