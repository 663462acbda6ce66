"""Large sources and loads: short transactions, no partial state for readers, no leftover rows."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from mrpvm.errors import Conflict, EngineTimeout
from mrpvm.sources.source import Rejection
from mrpvm.values import KnowledgeUnit
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.forks import fork_session_kb, save_session_kb
from sessions_app.actions.knowledge.mounts import mount_base
from sessions_app.actions.sessions.context_loads import ContextLoad, Material, add_context
from sessions_app.actions.sessions.removal import purge_deleted_sessions
from sessions_app.actions.sessions.session import delete_session
from sessions_app.layers import staged
from sessions_app.models import (
    ContextUnit,
    KnowledgeBase,
    KnowledgeLayer,
    KnowledgeSource,
    LayerUnit,
    Posting,
    Project,
    QuarantinedChunk,
    Session,
    UnitEvent,
)
from tests.actions.knowledge_scene import add_text, held, seen, stage, tell
from tests.actions.transactions import recorded
from tests.layers.test_index import waits_for_the_disk
from tests.layers.units import make_unit

STAGED = KnowledgeLayer.Kind.STAGED
Kind = KnowledgeLayer.Kind


@pytest.fixture(autouse=True)
def small_batches(settings: Settings) -> None:
    """Make three units a large source."""
    settings.MRPVM_UNITS_A_TRANSACTION = 3
    settings.MRPVM_UNITS_AT_ONCE = 3


def units(count: int, source_id: str = "ctx-1", word: str = "valve") -> list[KnowledgeUnit]:
    return [
        make_unit(f"{source_id}::unit-{number:03d}", f"The {word} has mark {source_id} m{number}", source_id=source_id)
        for number in range(count)
    ]


def load(session: Session, count: int = 8, source_id: str = "ctx-1", **more: object) -> ContextLoad:
    return add_context(session, Material(units=units(count, source_id), name="notes", source_id=source_id, **more))  # type: ignore[arg-type]


def rows() -> tuple[int, ...]:
    """Return the number of rows in each table that a source or load writes."""
    tables = (KnowledgeLayer, KnowledgeSource, LayerUnit, Posting, ContextUnit, UnitEvent, QuarantinedChunk)
    return tuple(table.objects.count() for table in tables)


def sweep() -> int:
    KnowledgeLayer.objects.filter(kind=STAGED).update(worked_at=timezone.now() - timedelta(days=1))
    return staged.sweep_staged()


class TestSourcesOfABase:
    @pytest.mark.rule("TURN-40")
    def test_readers_see_the_old_base_until_the_last_transaction(
        self, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        add_text(base, "manual", "", units(7, "src-1"), source_id="src-1")
        views: list[int] = []
        with recorded(monkeypatch, lambda: views.append(len(held(base, "valve rotor")))) as transactions:
            add_text(base, "manual", "", units(11, "src-1", "rotor"), source_id="src-1")
        assert views == [7] * (len(views) - 1) + [11]
        assert len(transactions) > 6

    @pytest.mark.parametrize("count", [12, 48])
    def test_no_transaction_grows_with_the_source(
        self, base: KnowledgeBase, count: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with recorded(monkeypatch) as transactions:
            add_text(base, "manual", "", units(count, "src-1"))
        assert max(item.value_count for item in transactions) < 250  # three units with all their columns and postings
        assert transactions[-1].value_count < 40
        assert max(item.statement_count for item in transactions) < 20

    def test_what_was_replaced_long_ago_costs_nothing(
        self, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        counts = []
        for version in range(4):
            with recorded(monkeypatch) as transactions:
                add_text(base, "manual", "", units(8, "src-1", f"valve{version}"), source_id="src-1")
            counts.append(len(transactions))
        assert counts[1:] == [counts[1]] * 3

    def test_what_ends_it_leaves_nothing(self, base: KnowledgeBase) -> None:
        before = rows()
        asked = iter(range(3))

        def watch(written_count: int) -> None:
            if next(asked, None) is None:
                raise EngineTimeout("too late")

        with pytest.raises(EngineTimeout):
            add_text(base, "manual", "", units(20), watch=watch)
        assert rows() == before

    def test_leftovers_of_a_crash_are_swept_and_others_stay(self, base: KnowledgeBase) -> None:
        before = rows()
        layer = staged.create_layer(STAGED, base.head)
        staged.fill(layer, units(8))
        assert staged.sweep_staged() == 0  # the ingest may still be running
        KnowledgeLayer.objects.filter(kind=STAGED).update(created_at=timezone.now() - timedelta(days=1))
        assert staged.sweep_staged() == 0  # it is old, but was written to just now
        assert sweep() == 1
        assert rows() == before
        staged.fill(staged.create_layer(STAGED, base.head), units(8))
        assert staged.sweep_staged(alone=True) == 1
        assert rows() == before

    def test_what_is_being_removed_is_not_written_to(self, base: KnowledgeBase) -> None:
        """Otherwise an ingest that was paused for long would be published without the removed units."""
        before = rows()
        layer = staged.create_layer(STAGED, base.head)
        staged.fill(layer, units(8))
        KnowledgeLayer.objects.filter(kind=STAGED).update(worked_at=None)
        with pytest.raises(Conflict):
            staged.lock_staged(layer.pk)
        assert staged.sweep_staged() == 1
        assert rows() == before

    def test_a_base_that_changed_meanwhile_is_changed_on(
        self, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def meanwhile() -> None:
            monkeypatch.undo()
            add_text(base, "other", "", [make_unit("o::1", "The rotor hums"), *units(2, "src-1")], source_id="other")

        once(monkeypatch, meanwhile)
        add_text(base, "manual", "", units(8, "src-1"), source_id="src-1")
        assert held(base, "rotor") == ["The rotor hums"]
        assert len(held(base, "valve")) == 8
        head = KnowledgeBase.objects.select_related("head").get(pk=base.pk).head
        assert (head.unit_count, head.source_count) == (9, 2)

    def test_an_id_that_another_took_meanwhile_is_not_replaced(
        self, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        once(monkeypatch, lambda: add_text(base, "manual", "", units(1, "src-1", "rotor"), source_id="src-1"))
        with pytest.raises(Conflict):
            add_text(base, "manual", "", units(8, "src-1"), source_id="src-1", replaces=False)
        assert (len(held(base, "rotor")), held(base, "valve")) == (1, [])

    def test_what_makes_it_visible_waits_for_the_disk(
        self, lasting: None, project: Project, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        waited: list[bool] = []
        base = create_base(project, "Pumps")
        with recorded(monkeypatch, lambda: waited.append(waits_for_the_disk())):
            add_text(base, "manual", "", units(8))
        assert waited[-1]
        assert waited.count(False) == 3

    def test_rejected_chunks_are_kept_with_their_source(self, base: KnowledgeBase) -> None:
        source = add_text(base, "manual", "", units(4, "src-1"), rejections=[rejection(2)])
        kept = source.quarantined.get()
        assert (kept.chunk_index, kept.text, kept.control_text, kept.diagnostics) == (2, "the part", "@x", ["1:1 no"])


def once(monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[], object]) -> None:
    """Call `meanwhile` once, between staging and the last transaction."""
    fill = staged.fill

    def filled(*given: object, **more: object) -> None:
        fill(*given, **more)  # type: ignore[arg-type]
        monkeypatch.undo()
        meanwhile()

    for module in ("knowledge.bases", "sessions.context_loads"):
        monkeypatch.setattr(f"sessions_app.actions.{module}.fill", filled)


def rejection(place: int) -> Rejection:
    return Rejection(chunk_index=place, text="the part", control_text="@x", message="no", diagnostics=("1:1 no",))


class TestContextLoads:
    @pytest.mark.rule("TURN-40")
    def test_all_units_are_there_at_once(self, session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
        tell(session, "The valve leaks")
        views: list[int] = []
        with recorded(monkeypatch, lambda: views.append(len(seen(session, "valve")))):
            loaded = load(session, 8)
        assert views == [1] * (len(views) - 1) + [9]
        assert (loaded.added_count, loaded.dropped_count, loaded.session.unit_count) == (8, 0, 9)
        assert {store for _, store in seen(session, "valve")} == {"session"}
        committed = session.context_units.filter(state="committed").order_by("pk")
        assert [row.to_value() for row in committed][1:] == units(8)
        assert UnitEvent.objects.filter(session=session, step="committed", reason="notes").count() == 8

    @pytest.mark.parametrize("count", [12, 48])
    def test_no_transaction_grows_with_the_load(
        self, session: Session, count: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with recorded(monkeypatch) as transactions:
            load(session, count)
        assert max(item.value_count for item in transactions) < 250
        assert max(item.statement_count for item in transactions) < 30
        assert transactions[-1].value_count < 80

    def test_the_same_source_again_takes_the_place_of_the_first(self, session: Session) -> None:
        load(session, 8)
        load(session, 5, "ctx-2")
        loaded = load(session, 4)
        assert loaded.session.unit_count == len(seen(session, "valve")) == 9
        assert load(session, 1).session.unit_count == len(seen(session, "valve")) == 6
        assert UnitEvent.objects.filter(step="removed", reason="loaded again").count() == 12
        assert sweep() == 0
        removed = LayerUnit.objects.filter(layer__kind=KnowledgeLayer.Kind.REMOVED)
        assert (LayerUnit.objects.count() - removed.count(), removed.count()) == (6, 12)

    def test_what_the_session_knows_is_not_added_again(self, session: Session) -> None:
        load(session, 5)
        again = [*units(5), *units(4, "ctx-2")]
        renamed = [make_unit(f"b::{place}", unit.claim or "") for place, unit in enumerate(again)]
        loaded = add_context(session, Material(units=renamed, name="b", source_id="session"))
        assert (loaded.unit_count, loaded.added_count, loaded.dropped_count) == (9, 4, 0)
        assert len(seen(session, "valve")) == loaded.session.unit_count == 9

    def test_a_surplus_is_refused_and_counted(self, session: Session, settings: Settings) -> None:
        settings.MRPVM_MAX_SESSION_UNITS = 6
        assert load(session, 1).dropped_count == 0
        loaded = load(session, 8, "ctx-2")
        assert (loaded.added_count, loaded.dropped_count) == (5, 3)
        assert len(seen(session, "valve")) == session.context_units.count() == 6

    def test_another_base_below_it(self, session: Session, project: Project) -> None:
        load(session, 8)
        load(session, 5, "ctx-2")
        tell(session, "The valve leaks")
        other = create_base(project, "Other")
        add_text(other, "manual", "", [make_unit("m::1", "The valve is brass"), *units(2)])
        mount_base(session, other, reason="mount-api")
        stores = [store for _, store in seen(session, "valve")]
        assert (stores.count("session"), stores.count("kb")) == (14, 1)

    @pytest.mark.parametrize("with_draft", [True, False])
    def test_a_save_keeps_it_in_the_base(self, session: Session, base: KnowledgeBase, with_draft: bool) -> None:
        if with_draft:
            stage(session, "src-1", "The valve is brass")
        load(session, 8)
        load(session, 5, "ctx-2")
        save_session_kb(session)
        assert len(held(base, "valve")) == 13 + with_draft
        assert len(seen(session, "valve")) == 13 + with_draft
        now = Session.objects.select_related("journal").get(pk=session.pk)
        assert now.journal.parent_id == now.draft_id
        load(session, 4, "ctx-3")
        assert len(seen(session, "valve")) == 17 + with_draft

    def test_a_save_without_it_leaves_it_to_the_session(self, session: Session, base: KnowledgeBase) -> None:
        stage(session, "src-1", "The valve is brass")
        load(session, 8)
        save_session_kb(session, include_conversation_units=False)
        assert held(base, "valve") == ["The valve is brass"]
        assert len(seen(session, "valve")) == 9
        fork = fork_session_kb(session)
        assert len(held(fork, "valve")) == 9

    def test_a_draft_that_changes_below_it(self, session: Session) -> None:
        load(session, 8)
        stage(session, "src-1", "The valve is brass", units(1)[0].claim or "")
        assert len(seen(session, "valve")) == 9
        assert Session.objects.select_related("journal").get(pk=session.pk).journal.unit_count == 9

    def test_a_session_that_changes_while_it_is_staged(
        self, session: Session, project: Project, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        other = create_base(project, "Other")
        add_text(other, "manual", "", [make_unit("m::1", "The valve is brass")])

        def meanwhile() -> None:
            stage(session, "src-1", "The valve is old")
            mount_base(session, other, reason="mount-api", discard_draft=True)
            load(session, 5, "ctx-2")
            tell(session, "The valve leaks")

        once(monkeypatch, meanwhile)
        load(session, 8)
        assert len(seen(session, "valve")) == 8 + 5 + 1 + 1
        assert Session.objects.select_related("journal").get(pk=session.pk).journal.unit_count == 15

    def test_a_session_that_goes_away_takes_it_along(self, session: Session) -> None:
        before = rows()
        load(session, 8)
        load(session, 5, "ctx-2")
        layer = staged.create_layer(STAGED, KnowledgeLayer.objects.get(children=session.journal_id))
        staged.fill(layer, units(4, "ctx-3"))
        delete_session(session)
        Session.objects.update(deleted_at=timezone.now() - timedelta(days=1))
        assert purge_deleted_sessions() == 1
        assert sweep() == 3
        assert KnowledgeLayer.objects.count() == before[0] - 2
        assert not LayerUnit.objects.exists()

    def test_rejected_chunks_are_kept_until_it_is_loaded_again(self, session: Session) -> None:
        load(session, 5, rejections=[rejection(2), rejection(3)])
        assert list(session.quarantined.values_list("chunk_index", flat=True)) == [3, 2]
        load(session, 1, rejections=[])
        assert not session.quarantined.exists()
