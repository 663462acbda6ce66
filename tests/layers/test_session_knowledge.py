"""The knowledge port over one session's layers."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import replace
from math import isclose, log
from typing import Any

import pytest
from django.db import connection

from mrpvm.english.words.text import terms
from mrpvm.knowledge.indexing import term_id, weighted_terms
from mrpvm.values import KnowledgeUnit
from sessions_app.layers import (
    EffectiveView,
    SessionKnowledge,
    create_layer,
    hide_units,
    index_units,
    remove_units,
    seal_layer,
)
from sessions_app.layers.retrieval import chains
from sessions_app.layers.units import restack_layer
from sessions_app.models import HiddenUnit, KnowledgeLayer, LayerUnit, Posting
from tests.layers.units import make_unit

Kind = KnowledgeLayer.Kind


def add_base(units: Sequence[KnowledgeUnit], parent: KnowledgeLayer | None = None) -> KnowledgeLayer:
    layer = create_layer(Kind.BASE, parent)
    index_units(layer, units)
    seal_layer(layer)
    return layer


def add_session(base: KnowledgeLayer) -> tuple[KnowledgeLayer, KnowledgeLayer]:
    draft = create_layer(Kind.DRAFT, base)
    return draft, create_layer(Kind.JOURNAL, draft)


def port(journal: KnowledgeLayer) -> SessionKnowledge:
    journal.refresh_from_db()
    drafts = (journal.parent_id,) if journal.parent_id else ()
    return SessionKnowledge(replace(EffectiveView.of_layer(journal), drafts=drafts))


def query(text: str) -> dict[str, float]:
    return dict.fromkeys(terms(text), 1.0)


def found(journal: KnowledgeLayer, text: str, limit: int = 10) -> list[tuple[str, str]]:
    return [(hit.unit.id, hit.store) for hit in port(journal).search(query(text), limit)]


@pytest.mark.rule("BUILTIN-20")
@pytest.mark.django_db
def test_score_is_bm25_and_the_sum_of_its_terms() -> None:
    base = add_base([make_unit("a", "pump valve"), make_unit("b", "valve valve seal motor"), make_unit("c", "rotor")])
    _, journal = add_session(base)
    (best, second) = port(journal).search(query("pump valve"), 10)
    assert (best.unit.id, second.unit.id) == ("a", "b")
    average = 7 / 3
    norm = 1.2 * (0.25 + 0.75 * 2 / average)
    pump = log(2.5 / 1.5 + 1) * 2.2 / (1 + norm)
    valve = log(1.5 / 2.5 + 1) * 2.2 / (1 + norm)
    assert isclose(best.score, pump + valve)
    assert {term: round(score, 9) for term, score in best.term_scores.items()} == {
        terms("pump")[0]: round(pump, 9),
        terms("valve")[0]: round(valve, 9),
    }


@pytest.mark.django_db
def test_weight_scales_what_a_term_contributes() -> None:
    _, journal = add_session(add_base([make_unit("a", "pump"), make_unit("b", "valve")]))
    whole, half = (port(journal).search({terms("pump")[0]: weight}, 1)[0].score for weight in (1.0, 0.5))
    assert isclose(half, whole / 2)
    assert port(journal).search({terms("pump")[0]: 0.0}, 1) == []


@pytest.mark.rule("BUILTIN-20")
@pytest.mark.django_db
def test_topic_counts_more_than_claim_and_remark_less() -> None:
    units = [
        make_unit("remark", "seal motor", condition="pump"),
        make_unit("claim", "pump seal motor"),
        make_unit("topic", "seal motor", topic="pump"),
    ]
    _, journal = add_session(add_base(units))
    assert [name for name, _ in found(journal, "pump")] == ["topic", "claim", "remark"]


def test_title_and_body_do_not_double_topic_and_claim() -> None:
    plain = make_unit("a", "The pump leaks", topic="pump")
    repeated = make_unit("a", "The pump leaks", topic="pump", title="Pump", text_body="The pump leaks badly")
    assert weighted_terms(repeated) - weighted_terms(plain) == {terms("badly")[0]: 10}
    assert term_id("pump") == term_id("pump") != term_id("valve")
    assert -(2**63) <= term_id("pump") < 2**63


@pytest.mark.django_db
def test_hits_say_which_store_they_are_from() -> None:
    draft, journal = add_session(add_base([make_unit("base", "pump one")]))
    index_units(draft, [make_unit("draft", "pump two")])
    index_units(journal, [make_unit("journal", "pump three")])
    assert set(found(journal, "pump")) == {("base", "kb"), ("draft", "draft"), ("journal", "session")}


@pytest.mark.rule("BUILTIN-20")
@pytest.mark.django_db
def test_ties_are_broken_by_unit_id_also_at_the_cut() -> None:
    units = [make_unit(name, f"pump x{name}") for name in ("d", "B", "a", "c", "Z", "e")]
    _, journal = add_session(add_base(units))
    assert [name for name, _ in found(journal, "pump", 3)] == ["B", "Z", "a"]
    assert [name for name, _ in found(journal, "pump", 5)] == ["B", "Z", "a", "c", "d"]


@pytest.mark.django_db
@pytest.mark.parametrize("count", [10, 60], ids=["few", "many"])
def test_the_better_come_before_ties_however_many_those_are(
    count: int, django_assert_num_queries: Callable[..., Any]
) -> None:
    tied = [f"t{number:02}" for number in range(count)]
    units = [make_unit(name, f"pump x{name}") for name in reversed(tied)]
    _, journal = add_session(add_base([*units, make_unit("z", "pump pump pump")]))
    knowledge = port(journal)
    with django_assert_num_queries(2 if count == 10 else 3):
        hits = knowledge.search(query("pump"), 4)
    assert [hit.unit.id for hit in hits] == ["z", *tied[:3]]
    assert knowledge.given.keys() == {"z", *tied[:3]}


@pytest.mark.django_db
def test_nothing_matches_without_terms_units_or_room() -> None:
    _, empty = add_session(add_base([]))
    _, journal = add_session(add_base([make_unit("a", "pump"), make_unit("b", "the of and")]))
    assert port(empty).search(query("pump"), 5) == []
    assert port(journal).search({}, 5) == port(journal).search(query("pump"), 0) == []
    assert found(journal, "rotor") == []
    assert EffectiveView.of_layer(journal).evidence_count == 2


@pytest.mark.django_db
def test_a_change_in_one_session_moves_no_score_in_another() -> None:
    base = add_base([make_unit("a", "pump valve"), make_unit("b", "rotor")])
    (_, mine), (draft, theirs) = add_session(base), add_session(base)
    before = port(mine).search(query("pump"), 5)
    index_units(theirs, [make_unit(f"n{number}", f"pump {number}") for number in range(30)])
    hide_units(draft, LayerUnit.objects.filter(unit_id="b"))
    assert port(mine).search(query("pump"), 5) == before


class TestEqualHashes:
    """Units with equal hashes are visible and counted once, in the highest layer that has one."""

    pytestmark = pytest.mark.django_db

    @pytest.mark.rule("BASE-7")
    def test_the_highest_layer_shows_it(self) -> None:
        draft, journal = add_session(add_base([make_unit("base", "pump valve"), make_unit("other", "rotor")]))
        index_units(draft, [make_unit("draft", "pump valve")])
        assert found(journal, "pump") == [("draft", "draft")]
        index_units(journal, [make_unit("journal", "pump valve")])
        assert found(journal, "pump") == [("journal", "session")]
        journal.refresh_from_db()
        assert (journal.unit_count, journal.own_unit_count) == (2, 1)

    def test_the_journal_keeps_hiding_what_is_staged_below_it_later(self) -> None:
        draft, journal = add_session(add_base([make_unit("other", "rotor")]))
        index_units(journal, [make_unit("journal", "pump valve")])
        index_units(draft, [make_unit("draft", "pump valve")])
        assert found(journal, "pump") == [("journal", "session")]

    def test_the_lower_one_is_shown_again_when_the_higher_goes(self) -> None:
        _, journal = add_session(add_base([make_unit("base", "pump valve"), make_unit("other", "rotor")]))
        before = port(journal).search(query("pump"), 5)
        index_units(journal, [make_unit("journal", "pump valve")])
        assert remove_units(journal, ["journal", "unknown"]) == 1
        assert port(journal).search(query("pump"), 5) == before
        assert not Posting.objects.filter(layer=journal).exists()

    def test_a_sealed_twin_is_shown_when_the_higher_is_hidden(self) -> None:
        lower = add_base([make_unit("lower", "pump valve")])
        upper = add_base([make_unit("upper", "pump valve")], lower)
        draft, journal = add_session(upper)
        assert hide_units(draft, LayerUnit.objects.filter(unit_id="upper")) == 1
        assert found(journal, "pump") == [("lower", "kb")]
        assert hide_units(draft, LayerUnit.objects.filter(unit_id__in=["upper", "lower"])) == 1
        assert found(journal, "pump") == []
        draft.refresh_from_db()
        assert (draft.unit_count, draft.removed_unit_count, draft.is_empty) == (0, 2, False)

    def test_two_in_one_layer_count_once(self) -> None:
        base = add_base([make_unit("first", "pump valve"), make_unit("second", "pump valve")])
        _, journal = add_session(base)
        assert found(journal, "pump") == [("first", "kb")]
        assert (base.unit_count, base.own_unit_count) == (1, 2)

    def test_another_base_below_the_journal(self) -> None:
        first, second = add_base([make_unit("first", "pump valve")]), add_base([make_unit("second", "pump valve")])
        _, journal = add_session(first)
        index_units(journal, [make_unit("journal", "pump valve")])
        restack_layer(journal, create_layer(Kind.DRAFT, second))
        assert found(journal, "pump") == [("journal", "session")]
        assert journal.unit_count == 1


@pytest.mark.parametrize("count", [9, 40])  # a view that is read at once, and one that is not
@pytest.mark.django_db
def test_what_stands_beside_is_of_the_view_and_near(
    count: int, django_assert_max_num_queries: Callable[..., object]
) -> None:
    add_base([make_unit("theirs", "a lamp")])
    base = add_base([make_unit(f"unit-{place}", f"the lamp {place}") for place in range(count)])
    add_base([make_unit("theirs too", "a lamp")])
    draft, journal = add_session(base)
    hide_units(draft, LayerUnit.objects.filter(unit_id="unit-2"))
    assert list(port(journal).beside(["unit-0"], 3)) == []  # it was not given yet
    knowledge = port(journal)
    assert len(knowledge.search(query("lamp"), 3)) == 3
    given = list(knowledge.given)
    with django_assert_max_num_queries(1):
        near = knowledge.beside([*given, "unknown"], 3)
    places = {int(unit_id.removeprefix("unit-")) for unit_id in given}
    expected = {place + step for place in places for step in range(-3, 4)} & set(range(count)) - places - {2}
    assert {hit.unit.id for hit in near} == {f"unit-{place}" for place in expected}
    assert {hit.store for hit in near} == {"kb"}


@pytest.mark.django_db
def test_guidance_comes_newest_first_and_never_as_evidence() -> None:
    draft, journal = add_session(
        add_base([make_unit("old", "Answer about the pump in short", phase_scopes=("gs-plugin",))])
    )
    index_units(draft, [make_unit("both", "Check the pump first", phase_scopes=("kb-plugin", "mrp-plan-plugin"))])
    index_units(journal, [make_unit("new", "Use lists for the pump", phase_scopes=("gs-plugin",))])
    knowledge = port(journal)
    assert [hit.unit.id for hit in knowledge.guidance(10)] == ["new", "both", "old"]
    assert [hit.unit.id for hit in knowledge.guidance(1)] == ["new"]
    assert knowledge.guidance(0) == []
    assert {hit.score for hit in knowledge.guidance(10)} == {0.0}
    assert found(journal, "pump") == [("both", "draft")]
    hide_units(draft, LayerUnit.objects.filter(unit_id="old"))
    assert [hit.unit.id for hit in port(journal).guidance(10)] == ["new", "both"]


@pytest.mark.django_db
def test_what_is_found_is_the_unit_that_was_put_in() -> None:
    unit = make_unit(
        "a",
        "The pump uses oil",
        topic="pump",
        subject="pump",
        relation="uses",
        object="oil",
        utility_acts=("explain",),
        char_start=3,
        source_name="manual",
    )
    _, journal = add_session(add_base([unit]))
    assert port(journal).search(query("pump"), 1)[0].unit == unit


@pytest.mark.django_db
@pytest.mark.parametrize("depth", [1, 40])
def test_queries_do_not_grow_with_the_chain(depth: int, django_assert_max_num_queries: Callable[..., object]) -> None:
    base = None
    for number in range(depth):
        base = add_base([make_unit(f"u{number}", f"pump valve {number}")], base)
    assert base is not None
    _, journal = add_session(base)
    with django_assert_max_num_queries(1):
        view = EffectiveView.of_layer(journal)
    with django_assert_max_num_queries(2):
        hits = SessionKnowledge(view).search(query("pump valve"), 50)
    with django_assert_max_num_queries(2):
        SessionKnowledge(view).guidance(20)
    assert len(hits) == depth
    with django_assert_max_num_queries(4):  # units, postings, equal hashes, counts
        index_units(journal, [make_unit(f"j{number}", f"seal {number}") for number in range(200)])
    with django_assert_max_num_queries(6):  # also the units that hide each other, before and after
        index_units(journal, [make_unit(f"k{number}", f"pump valve {number}") for number in range(2)])


@pytest.mark.django_db
def test_a_unit_that_was_not_admitted_is_refused() -> None:
    with pytest.raises(ValueError, match="hash"):
        add_base([replace(make_unit("a", "pump"), hash="")])


@pytest.mark.django_db
def test_a_sealed_layer_never_changes() -> None:
    lower = add_base([make_unit("a", "pump")])
    upper = add_base([make_unit("b", "valve")], lower)
    with pytest.raises(ValueError, match="sealed"):
        index_units(upper, [make_unit("c", "seal")])
    with pytest.raises(ValueError, match="sealed"):
        hide_units(upper, LayerUnit.objects.filter(unit_id="a"))
    with pytest.raises(ValueError, match="sealed"):
        remove_units(upper, ["b"])


@pytest.mark.django_db
def test_a_large_source_goes_in_by_few_queries(django_assert_max_num_queries: Callable[..., object]) -> None:
    layer = create_layer(Kind.BASE, None)
    units = [make_unit(f"u{number:05}", f"pump {number}") for number in range(11_000)]
    with django_assert_max_num_queries(8):
        keys = index_units(layer, units)
    stored = dict(layer.units.values_list("pk", "unit_id"))
    assert [stored[key] for key in keys] == [unit.id for unit in units]
    assert layer.unit_count == layer.own_unit_count == 11_000
    assert layer.term_count == 11_000 * 20
    assert [hit.unit.id for hit in SessionKnowledge(EffectiveView.of_layer(layer)).search(query("10999"), 5)] == [
        "u10999"
    ]


@pytest.mark.django_db(transaction=True)
def test_one_view_serves_several_threads() -> None:
    _, journal = add_session(add_base([make_unit(f"u{number}", f"pump valve {number}") for number in range(50)]))
    knowledge = port(journal)
    expected = knowledge.search(query("pump 7"), 5)

    def search(_: int) -> bool:
        try:
            return knowledge.search(query("pump 7"), 5) == expected
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(search, range(40)))


@pytest.mark.django_db
class TestRemembered:
    """The hidden units of sealed layers are cached; those of layers above are read each time."""

    def test_what_is_hidden_is_not_read_again(self) -> None:
        base = add_base([make_unit(f"u{number}", f"pump {number}") for number in range(9)])
        upper = create_layer(Kind.BASE, base)
        hide_units(upper, LayerUnit.objects.filter(unit_id__in=["u1", "u2"]))
        seal_layer(upper)
        draft, journal = add_session(upper)
        assert len(port(journal).search(query("pump"), 99)) == 7
        HiddenUnit.objects.filter(layer=upper).delete()  # never happens in use; it shows that the cache is used
        assert len(port(journal).search(query("pump"), 99)) == 7
        hide_units(draft, LayerUnit.objects.filter(unit_id="u3"))
        journal.refresh_from_db()
        assert len(port(journal).search(query("pump"), 99)) == 6

    def test_a_rolled_back_layer_is_not_mistaken_by_key(self) -> None:
        base = add_base([make_unit(f"u{number}", f"pump {number}") for number in range(9)])
        upper = create_layer(Kind.BASE, base)
        hide_units(upper, LayerUnit.objects.filter(unit_id__in=["u1", "u2"]))
        seal_layer(upper)
        assert len(port(upper).search(query("pump"), 99)) == 7
        HiddenUnit.objects.filter(layer=upper).delete()
        upper.evidence_count, upper.term_count = base.evidence_count, base.term_count
        seal_layer(upper)
        assert len(port(upper).search(query("pump"), 99)) == 9

    def test_no_more_is_remembered_than_there_is_room_for(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(chains, "_remembered", chains._HiddenCache(max_keys=5))
        base = add_base([make_unit(f"u{number}", f"pump {number}") for number in range(9)])
        for first in (0, 2, 4, 6):
            base = create_layer(Kind.BASE, base)
            hide_units(base, LayerUnit.objects.filter(unit_id__in=[f"u{first}", f"u{first + 1}"]))
            seal_layer(base)
            assert len(port(base).search(query("pump"), 99)) == 7 - first
        assert chains._remembered._key_count == 1 + 8  # only the last chain and its hidden units
        assert len(chains._remembered._found) == 1

    def test_a_layer_that_shows_nothing_of_its_own_is_left_out(self) -> None:
        base = add_base([make_unit("a", "pump")])
        upper = create_layer(Kind.BASE, base)
        index_units(upper, [make_unit("b", "pump again")])
        hide_units(upper, LayerUnit.objects.filter(unit_id="a"))
        seal_layer(upper)
        _, journal = add_session(upper)
        assert EffectiveView.of_layer(journal).shown == (upper.pk,)
