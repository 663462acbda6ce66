"""After an upgrade that changes tokenization, a reindex gives the same results as a new index."""

from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from threading import Thread
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from mrpvm.english.sentences.dialogue import UTTERANCE
from mrpvm.errors import Conflict
from mrpvm.knowledge import indexing
from mrpvm.knowledge.indexing import index_entry
from sessions_app.exclusive import alone_at
from sessions_app.layers import EffectiveView, SessionKnowledge, is_anything_left, outdated_layers, reindex
from sessions_app.layers.upkeep import packing, reindexing
from sessions_app.layers.upkeep.compaction import compact_base
from sessions_app.management.commands.reindex import Command
from sessions_app.models import (
    ExplainabilityTurn,
    HiddenUnit,
    KnowledgeBase,
    KnowledgeLayer,
    PackedLayer,
    Posting,
    Session,
)
from sessions_app.models.knowledge.packed_layer import packing_version
from sessions_app.queries.search.units import asked_for, units_holding
from tests.actions.earlier_index import (
    OLD,
    WORDS,
    Kind,
    Life,
    answers,
    check_that_nothing_is_mixed,
    earlier_version,
    of_a_copy,
    same,
)
from tests.actions.knowledge_scene import add_text, tell
from tests.actions.transactions import recorded
from tests.layers.units import make_unit
from tests.walks import SEEDS


@pytest.fixture(autouse=True)
def quick(settings: Settings) -> None:
    settings.MRPVM_LONGEST_READ_SECONDS = 0
    settings.MRPVM_UNITS_A_TRANSACTION = 4
    settings.MRPVM_PACKED_FROM_UNITS = 5


@pytest.mark.rule("DECISION-35", "SESSION-34", "BASE-18")
@pytest.mark.django_db
@pytest.mark.parametrize("seed", SEEDS)
def test_every_view_equals_a_physical_copy(base: KnowledgeBase, seed: int) -> None:
    with earlier_version():
        life = Life(seed, base)
        life.live(25)
        packing.pack_large_layers()
    packed = set(PackedLayer.objects.values_list("layer_id", flat=True))
    assert packed
    assert HiddenUnit.objects.exists()
    life.live(3)  # the new version writes into layers of the earlier one
    tops = life.tops()
    assert not all(same(answers(top), of_a_copy(top)) for top in tops)
    assert reindex() > 3
    assert all(same(answers(top), of_a_copy(top)) for top in life.tops())
    check_that_nothing_is_mixed()
    assert not is_anything_left()
    versions = PackedLayer.objects.filter(is_complete=True).values_list("layer_id", "version")
    assert set(versions) == {(pk, packing_version(indexing.INDEX_VERSION)) for pk in packed}
    keys = KnowledgeLayer.objects.filter(own_unit_count__gt=0).values_list("pk", "postings_layer")
    assert set(Posting.objects.values_list("layer_id", flat=True)) <= {moved or pk for pk, moved in keys}
    life.live(8)
    packing.pack_large_layers()
    assert all(same(answers(top), of_a_copy(top)) for top in life.tops())


@pytest.mark.django_db
def test_a_second_upgrade_goes_as_the_first(base: KnowledgeBase) -> None:
    with earlier_version():
        life = Life(3, base)
        life.live(12)
        packing.pack_large_layers()
    reindex()
    with earlier_version():
        reindex()
        check_that_nothing_is_mixed()
    reindex()
    assert all(same(answers(top), of_a_copy(top)) for top in life.tops())
    holders = KnowledgeLayer.objects.filter(kind=Kind.INDEX)
    assert holders.count() == KnowledgeLayer.objects.exclude(postings_layer=None).count()


@pytest.mark.rule("BASE-18")
@pytest.mark.django_db
@pytest.mark.parametrize("seed", [1, 2])
def test_no_transaction_leaves_a_layer_half_written(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    with earlier_version():
        life = Life(seed, base)
        life.live(10)
    with recorded(monkeypatch, after=check_that_nothing_is_mixed) as transactions:
        reindex()
    assert len(transactions) > 10


@pytest.mark.rule("BASE-18")
@pytest.mark.django_db
@pytest.mark.parametrize("survived", [0, 1, 3])
def test_what_is_broken_off_goes_on_where_it_was(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, survived: int
) -> None:
    with earlier_version():
        life = Life(7, base)
        life.live(20)
        packing.pack_large_layers()
    left = survived

    def die(layer_pk: int, *rest: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        turn_over(layer_pk, *rest)

    turn_over = reindexing._turn_over
    with monkeypatch.context() as patch:
        patch.setattr(reindexing, "_turn_over", die)
        with pytest.raises(KeyboardInterrupt):
            reindex()
    check_that_nothing_is_mixed()
    assert is_anything_left()
    old = outdated_layers().count()
    assert reindex() == old > 0
    assert all(same(answers(top), of_a_copy(top)) for top in life.tops())
    assert not is_anything_left()


@pytest.mark.django_db
@pytest.mark.parametrize("is_packed", [False, True])
def test_whoever_has_begun_to_search_goes_on_with_the_old_index(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, is_packed: bool
) -> None:
    with earlier_version():
        units = [make_unit(f"{number:02}", f"the pump of {WORDS[number % 5]} {number}") for number in range(12)]
        add_text(base, "Pumps", "", units)
        if is_packed:
            assert packing.pack_large_layers() == 1
    head = KnowledgeBase.objects.get(pk=base.pk).head
    asked = {"pum": 1.0, "the": 0.5, "5": 1.0}
    before = SessionKnowledge(EffectiveView.of_layer(head)).search(asked, 20)
    began = SessionKnowledge(EffectiveView.of_layer(head))
    during: list[Any] = []
    monkeypatch.setattr(reindexing, "_wait_for_readers", lambda: during.append(began.search(asked, 20)))
    reindex()
    assert during == [before]
    assert len(before) == 12


@pytest.mark.django_db
def test_a_session_is_left_alone_while_a_turn_runs_in_it(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    with earlier_version():
        tell(session, "The pumps are blue")
    turn = ExplainabilityTurn.objects.create(
        session=session, turn_index=1, user_message="?", lease_until=timezone.now() + timedelta(minutes=1)
    )
    waited: list[float] = []

    def end(seconds: float) -> None:
        waited.append(seconds)
        ExplainabilityTurn.objects.filter(pk=turn.pk).update(status="succeeded")

    monkeypatch.setattr(reindexing.time, "sleep", end)
    assert reindex() == 1
    assert waited
    knowledge = SessionKnowledge.of(Session.objects.get(pk=session.pk))
    assert [hit.unit.text for hit in knowledge.search({"pump": 1.0}, 5)] == ["The pumps are blue"]


@pytest.mark.django_db
def test_an_old_index_finds_what_it_can(base: KnowledgeBase) -> None:
    with earlier_version():
        add_text(base, "Pumps", "", [make_unit("a", "fog"), make_unit("b", "the pumping stations")])
    view = EffectiveView.of_layer(KnowledgeBase.objects.get(pk=base.pk).head)
    assert view.is_outdated
    found = SessionKnowledge(view)
    assert [hit.unit.id for hit in found.search({"fog": 1.0, "pump": 1.0}, 5)] == ["a"]


@pytest.mark.django_db
def test_an_old_empty_layer_takes_the_version_of_its_first_write(session: Session) -> None:
    KnowledgeLayer.objects.update(index_version=OLD)
    tell(session, "The pumps are blue")
    assert not SessionKnowledge.of(Session.objects.get(pk=session.pk)).view.is_outdated
    assert not is_anything_left()


@pytest.mark.django_db
def test_a_chain_with_an_old_index_is_not_folded(base: KnowledgeBase) -> None:
    with earlier_version():
        for number in range(3):
            add_text(base, f"{number}", "", [make_unit(f"{number}", f"the pump {number}")])
    with pytest.raises(Conflict, match="another version"):
        compact_base(KnowledgeBase.objects.get(pk=base.pk))
    reindex()
    assert compact_base(KnowledgeBase.objects.get(pk=base.pk))
    (top,) = KnowledgeLayer.objects.filter(headed_bases=base)
    assert same(answers(top), of_a_copy(top))


@pytest.mark.django_db
def test_pages_find_by_the_new_words(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    add_text(base, "Pumps", "", [make_unit("a", "a blue pump")])
    view = EffectiveView.of_layer(KnowledgeBase.objects.get(pk=base.pk).head)
    monkeypatch.setattr(indexing, "INDEX_VERSION", "a-later-version")
    monkeypatch.setattr(indexing, "searched_words", lambda unit: "azure pump ")
    reindex()
    assert [row.unit_id for row in units_holding(view, asked_for("azure pump"), 5)] == ["a"]
    assert not units_holding(view, asked_for("blue"), 5)


class TestCommand:
    def test_it_tells_how_far_it_is_and_what_was_done(self, base: KnowledgeBase) -> None:
        with earlier_version():
            add_text(base, "Pumps", "", [make_unit(f"{number}", f"the pump {number}") for number in range(9)])
        command = Command()
        command.seconds_between_lines = 0
        lines = self._output(command).splitlines()
        layer = KnowledgeBase.objects.get(pk=base.pk).head_id
        assert f"layer {layer}: 4 of 9" in lines
        assert lines[-1] == "The index is up to date: 1 layer written again."

    def test_it_does_nothing_where_all_is_up_to_date(
        self, base: KnowledgeBase, django_assert_max_num_queries: Callable[..., Any]
    ) -> None:
        add_text(base, "Pumps", "", [make_unit("a", "pump")])
        before = list(Posting.objects.values_list())
        with django_assert_max_num_queries(8):
            assert self._output() == "The index is up to date: there was nothing to do.\n"
        assert list(Posting.objects.values_list()) == before

    @pytest.mark.django_db(transaction=True)
    def test_one_process_at_a_time(self, base: KnowledgeBase) -> None:
        KnowledgeLayer.objects.update(index_version=OLD, own_unit_count=1)
        refusals: list[str] = []

        def run() -> None:
            try:
                self._output()
            except CommandError as error:
                refusals.append(str(error))
            finally:
                connection.close()

        with alone_at("reindex") as hold:
            assert hold
            other = Thread(target=run)
            other.start()
            other.join()
        assert refusals == ["Another process is writing the index already."]

    @staticmethod
    def _output(command: Command | None = None) -> str:
        told = StringIO()
        call_command(command or Command(), stdout=told, skip_checks=True)
        return told.getvalue()


@pytest.mark.rule("DECISION-35", "BUILTIN-21")
def test_the_version_names_what_is_indexed() -> None:
    """A change of what is indexed needs a new version, and then a new expectation here."""
    unit = make_unit(
        "u", "Well-sealed pumps weren't running in Dr. Müller's 3 stations", topic="Pumping stations",
        condition="if flooded", utility_note="for engineers", title="On pumps", text_body="阀门 mice",
    )  # fmt: skip
    uttered = make_unit("v", "See you", topic="Ann Lee", unit_type=UTTERANCE, knowledge_date="2024-05-07", unit_index=1)
    found = [index_entry(each) for each in (unit, uttered)]
    told = [(sorted(entry.postings), entry.length, entry.words) for entry in found]
    assert (indexing.INDEX_VERSION, indexing.term_id(repr(told))) == (
        "snowball-english-3.1.0+terms-3+fields-1",
        914545190223837684,
    )
