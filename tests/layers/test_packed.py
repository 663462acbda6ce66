"""Packed postings give the same results as rows: identical units, scores and their parts."""

import random
import re
from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from mrpvm.contracts import ScoredUnit
from mrpvm.english.sentences.dialogue import UTTERANCE
from mrpvm.english.words.text import terms
from mrpvm.knowledge.arrays import np
from mrpvm.values import KnowledgeUnit
from sessions_app.actions.settings.projects import ensure_default_project
from sessions_app.layers import (
    EffectiveView,
    SessionKnowledge,
    create_layer,
    hide_units,
    index_units,
    pack_large_layers,
    seal_layer,
)
from sessions_app.layers.retrieval.packed import Postings, packed_postings
from sessions_app.layers.upkeep import packing
from sessions_app.layers.upkeep.packing import pack_layer
from sessions_app.models import KnowledgeBase, KnowledgeLayer, LayerUnit, PackedLayer, PackedPart, Posting
from sessions_app.models.knowledge.packed_layer import packing_version
from tests.layers.units import make_unit
from tests.walks import SEEDS

WORDS = ("pump", "valve", "seal", "rotor", "ann", "ben")
Kind = KnowledgeLayer.Kind


def add_sealed(units: Sequence[KnowledgeUnit], parent: KnowledgeLayer | None = None) -> KnowledgeLayer:
    layer = create_layer(Kind.BASE, parent)
    index_units(layer, units)
    seal_layer(layer)
    return layer


def plain(chance: random.Random, name: str, count: int) -> list[KnowledgeUnit]:
    return [
        make_unit(
            f"{chance.randrange(100):02}-{name}-{number}", " ".join(chance.choices(WORDS, k=chance.randint(1, 4)))
        )
        for number in range(count)
    ]


def said(chance: random.Random, name: str, count: int) -> list[KnowledgeUnit]:
    return [
        make_unit(
            f"{name}-{place}", f"{' '.join(chance.choices(WORDS, k=3))} {name}{place}",
            topic=chance.choice(("Ann", "Ben")), unit_type=UTTERANCE, source_id=name, chunk_id=name, unit_index=place,
        )
        for place in range(count)
    ]  # fmt: skip


def answers(layer: KnowledgeLayer) -> list[list[ScoredUnit]]:
    view = EffectiveView.of_layer(KnowledgeLayer.objects.get(pk=layer.pk))
    asked = [
        ({"pump": 1.0}, 3),
        ({"seal": 1.0, "ann": 0.4, "rotor": 1.0}, 7),
        (dict.fromkeys(map(stemmed, WORDS), 1.0), 500),
    ]
    return [list(SessionKnowledge(view).search(question, limit)) for question, limit in asked]


def stemmed(word: str) -> str:
    return terms(word)[0]


@pytest.mark.django_db
@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_packed_is_found_as_before(seed: int) -> None:
    """The layers have equal scores, hidden units, and conversations above, between and in packed layers."""
    chance = random.Random(seed)
    layers: list[KnowledgeLayer] = []
    for number in range(4):
        kinds = chance.choice([(plain,), (plain,), (said,), (plain, said)])
        units = [unit for kind in kinds for unit in kind(chance, f"l{number}{kind.__name__}", chance.randint(1, 60))]
        layers.append(add_sealed(units, layers[-1] if layers else None))
    draft = create_layer(Kind.DRAFT, layers[-1])
    hide_units(
        draft, LayerUnit.objects.filter(pk__in=chance.sample(list(LayerUnit.objects.values_list("pk", flat=True)), 9))
    )
    journal = create_layer(Kind.JOURNAL, draft)
    index_units(journal, said(chance, "talk", 12))
    before = answers(journal)
    for layer in layers:
        assert pack_layer(layer.pk)
        assert answers(journal) == before
    assert any(before)


@pytest.mark.django_db
def test_utterances_are_found_with_neighbours_among_many(
    settings: Settings,
) -> None:
    """The limit of utterances that are read with their neighbours counts only utterances, packed or not."""
    settings.MRPVM_SPREAD_UTTERANCES = 3
    others = [make_unit(f"other-{number:02}", "pump pump pump", topic=f"n{number}") for number in range(20)]
    talk = [
        make_unit(
            f"talk-{place}", f"{text} {place}", topic="Ann", unit_type=UTTERANCE, source_id="t", chunk_id="t",
            unit_index=place,
        )
        for place, text in enumerate(("the old pump is loud today", "it was so all week"))
    ]  # fmt: skip
    layer = add_sealed([*others, *talk, *plain(random.Random(1), "more", 5)])
    before = SessionKnowledge(EffectiveView.of_layer(layer)).search({"pump": 1.0}, 500)
    assert "talk-1" in {hit.unit.id for hit in before}
    assert pack_layer(layer.pk)
    assert SessionKnowledge(EffectiveView.of_layer(layer)).search({"pump": 1.0}, 500) == before


@given(
    st.lists(
        st.tuples(st.integers(0, 2**32 - 1), st.integers(1, 2**31), st.integers(1, 2**31)), min_size=1,
        unique_by=lambda row: row[0],
    )
)  # fmt: skip
def test_postings_come_out_as_they_went_in(rows: list[tuple[int, int, int]]) -> None:
    table = np.array(rows, np.int64)
    found = Postings.of(packed_postings(table[:, 0], table[:, 1], table[:, 2]))
    unpacked = zip(found.numbers, found.frequencies[found.codes], found.lengths[found.codes], strict=True)
    assert [tuple(map(int, row)) for row in unpacked] == sorted(rows)


def test_a_term_with_many_lengths_keeps_them_all() -> None:
    numbers = np.arange(70_000)
    found = Postings.of(packed_postings(numbers, numbers + 1, numbers + 2))
    assert (found.lengths[found.codes] == numbers + 2).all()


@pytest.mark.django_db
class TestPacking:
    """Which layers are packed, when, and what happens to leftovers."""

    @pytest.fixture
    def base(self, settings: Settings) -> KnowledgeBase:
        settings.MRPVM_PACKED_FROM_UNITS = 5
        base = KnowledgeBase.objects.get(project=ensure_default_project(), is_default=True)
        chance = random.Random(1)
        large = add_sealed(plain(chance, "large", 40), base.head)
        base.head = add_sealed(plain(chance, "small", 4), add_sealed(said(chance, "talk", 9), large))
        base.save()
        return base

    def test_large_layers_of_bases_are_packed_once(self, base: KnowledgeBase) -> None:
        add_sealed(plain(random.Random(2), "nobody's", 40))
        before = answers(base.head)
        assert pack_large_layers() == 2
        assert PackedLayer.objects.get(layer__own_unit_count=40).unit_count == 40
        assert PackedLayer.objects.get(layer__own_unit_count=9).unit_count == 0  # all of them are utterances
        assert pack_large_layers() == 0
        assert answers(base.head) == before

    def test_rows_of_a_packed_layer_are_not_read(self, base: KnowledgeBase) -> None:
        pack_large_layers()
        PackedPart.objects.exclude(kind=PackedPart.Kind.UNITS).delete()
        assert {hit.unit.id.split("-")[1] for found in answers(base.head) for hit in found} == {"small"}

    def test_a_search_asks_few_questions(
        self, base: KnowledgeBase, django_assert_max_num_queries: Callable[..., object]
    ) -> None:
        pack_large_layers()
        found = SessionKnowledge(EffectiveView.of_layer(base.head))
        with django_assert_max_num_queries(6):  # one resolves the view, two read neighbours of utterances
            found.search({"pump": 1.0}, 1000)
        with django_assert_max_num_queries(6):  # one orders equal scores
            found.search({"rotor": 1.0}, 3)

    @pytest.mark.skipif(connection.vendor != "postgresql", reason="Only PostgreSQL plans by statistics.")
    def test_the_database_knows_of_what_was_packed(self, base: KnowledgeBase) -> None:
        statistics = "SELECT most_common_vals::text FROM pg_stats WHERE tablename = %s AND attname = 'layer_id'"

        def known() -> str:
            with connection.cursor() as cursor:
                cursor.execute(statistics, [Posting._meta.db_table])
                return str(cursor.fetchone())

        large = str(LayerUnit.objects.filter(unit_id__contains="large").values_list("layer_id", flat=True)[0])
        assert large not in re.findall(r"\d+", known())
        assert pack_large_layers() == 2
        assert large in re.findall(r"\d+", known())

    @pytest.mark.rule("PLUGIN-45")
    @pytest.mark.parametrize("change", [{"version": "older"}, {"is_complete": False}])
    def test_stale_or_incomplete_packs_are_rebuilt(self, base: KnowledgeBase, change: dict[str, object]) -> None:
        before = answers(base.head)
        pack_large_layers()
        PackedPart.objects.filter(kind=PackedPart.Kind.TERM).delete()
        long_ago = timezone.now() - timedelta(hours=1)
        PackedLayer.objects.update(**change, worked_at=long_ago)
        assert answers(base.head) == before
        assert pack_large_layers() == 2
        assert PackedPart.objects.filter(kind=PackedPart.Kind.TERM).exists()
        assert answers(base.head) == before

    def test_what_another_process_is_packing_is_left_to_it(self, base: KnowledgeBase) -> None:
        layer = KnowledgeLayer.objects.get(own_unit_count=40)
        PackedLayer.objects.create(layer=layer, version=packing_version(layer.index_version))
        pack_large_layers()
        assert not PackedPart.objects.filter(packed__layer=layer).exists()

    def test_one_that_was_given_up_meanwhile_writes_no_more(self, base: KnowledgeBase) -> None:
        layer = KnowledgeLayer.objects.get(own_unit_count=40)
        assert not pack_layer(layer.pk, watch=lambda: PackedLayer.objects.all().delete())
        assert not PackedPart.objects.exists()

    def test_a_failing_layer_does_not_keep_others_from_being_packed(
        self, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        base.head = add_sealed(plain(random.Random(3), "second", 20), base.head)
        base.save()
        broken = KnowledgeLayer.objects.get(own_unit_count=40).pk

        def refuse(layer_pk: int) -> object:
            if layer_pk == broken:
                raise OSError("full")
            return keys_in_order(layer_pk)

        keys_in_order = packing._keys_in_order
        monkeypatch.setattr(packing, "_keys_in_order", refuse)
        assert pack_large_layers() == 2
        assert PackedLayer.objects.filter(is_complete=True, unit_count=20).exists()

    def test_where_all_is_packed_no_row_is_looked_for(
        self, base: KnowledgeBase, django_assert_max_num_queries: Callable[..., object]
    ) -> None:
        pack_large_layers()
        alone = KnowledgeLayer.objects.get(own_unit_count=40)
        with django_assert_max_num_queries(4):  # the view, what is hidden, postings with the few keys, the best units
            found = SessionKnowledge(EffectiveView.of_layer(alone)).search({"pump": 1.0}, 1000)
        assert found
