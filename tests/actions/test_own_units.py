"""The session's own units stay its own when they are saved, folded, or kept in a base that it no longer mounts."""

from collections.abc import Callable

import pytest

from mrpvm.english.sentences.dialogue import UTTERANCE
from mrpvm.english.words.text import terms
from mrpvm.errors import NotFound
from sessions_app.actions.knowledge.drafts import remove_source, stage_source
from sessions_app.actions.knowledge.forks import fork_session_kb, save_session_kb
from sessions_app.actions.knowledge.mounts import mount_base
from sessions_app.actions.knowledge.revisions import restore_revision
from sessions_app.actions.knowledge.source_rows import NewSource
from sessions_app.actions.sessions.context_loads import ContextLoad, Material, add_context
from sessions_app.actions.sessions.session import create_session
from sessions_app.layers import EffectiveView, SessionKnowledge, compact_long_chains, create_layer, index_units
from sessions_app.layers.upkeep.compaction import compact_base
from sessions_app.models import (
    ExplainabilityTurn,
    KnowledgeBase,
    KnowledgeLayer,
    LayerUnit,
    Session,
)
from sessions_app.queries.knowledge.pages import saved_conversations, uses_of
from sessions_app.queries.search.units import asked_for, units_holding
from tests.actions.knowledge_scene import held, seen, stage, tell
from tests.actions.transactions import recorded
from tests.layers.units import make_unit
from tests.payloads import judge


def now(base: KnowledgeBase) -> KnowledgeBase:
    return KnowledgeBase.objects.select_related("head").get(pk=base.pk)


def fresh(session: Session) -> Session:
    return Session.objects.get(pk=session.pk)


def load(session: Session, *claims: str, source_id: str = "ctx-1") -> ContextLoad:
    units = [make_unit(f"{source_id}::{place}", claim, source_id=source_id) for place, claim in enumerate(claims)]
    return add_context(fresh(session), Material(units=units, name="notes", source_id=source_id))


def source(source_id: str, *claims: str) -> NewSource:
    units = [make_unit(f"{source_id}::{claim}", claim, source_id=source_id) for claim in claims]
    return NewSource(name=source_id, source_id=source_id, content=" ".join(claims), units=units)


def found_ids(session: Session) -> set[str]:
    hits = SessionKnowledge.of(fresh(session)).search({terms("pump")[0]: 1.0}, 9)
    assert len({hit.unit.id for hit in hits}) == len(hits)
    return {hit.unit.id for hit in hits}


def own(*claims: str) -> list[tuple[str, str]]:
    return [(claim, "session") for claim in sorted(claims)]


@pytest.mark.usefixtures("any_size")
class TestSavedUnits:
    """A save copies the session's units to the base and removes none from the session."""

    @pytest.mark.rule("BASE-9")
    @pytest.mark.parametrize("save", [save_session_kb, fork_session_kb])
    def test_they_are_its_own_there_and_on_every_other_base(
        self, session: Session, other: KnowledgeBase, save: Callable[[Session], KnowledgeBase]
    ) -> None:
        load(session, "The pump is loud", "The pump is old")
        tell(session, "The pump is dry")
        saved = save(fresh(session))
        everything = own("The pump is dry", "The pump is loud", "The pump is old")
        assert seen(session, "pump") == everything
        for target in (other, saved, other):
            mount_base(session, target, reason="load-api")
            assert seen(session, "pump") == everything
        assert held(other, "pump") == []

    def test_a_load_that_told_nothing_new_does_not_hide_them(self, session: Session) -> None:
        tell(session, "The pump is dry", "The pump is loud")
        load(session, "The pump is dry", "The pump is loud")
        load(session, "The pump is old", "The pump is red", source_id="ctx-2")
        save_session_kb(session)
        everything = own("The pump is dry", "The pump is loud", "The pump is old", "The pump is red")
        assert seen(session, "pump") == everything
        assert fresh(session).journal.unit_count == 4

    def test_an_earlier_revision_does_not_take_them(self, session: Session, base: KnowledgeBase) -> None:
        load(session, "The pump is loud", "The pump is old")
        save_session_kb(session)
        restore_revision(base, 1)
        mount_base(session, base, reason="load-api")
        assert seen(session, "pump") == own("The pump is loud", "The pump is old")

    def test_they_are_the_bases_for_everybody_else(self, session: Session, base: KnowledgeBase) -> None:
        load(session, "The pump is loud", "The pump is old")
        neighbour = create_session(base.project, base=save_session_kb(session))
        assert seen(neighbour, "pump") == [("The pump is loud", "kb"), ("The pump is old", "kb")]

    def test_removal_from_the_base_keeps_them_in_the_session(self, session: Session, base: KnowledgeBase) -> None:
        load(session, "The pump is loud", "The pump is old")
        neighbour = create_session(base.project, base=save_session_kb(session))
        with pytest.raises(NotFound):  # it is not among the listed sources
            remove_source(neighbour, session.journal_source_id)
        stage_source(neighbour, NewSource(name="mine", source_id=session.journal_source_id))
        save_session_kb(fresh(neighbour))
        assert held(base, "pump") == []
        mount_base(session, base, reason="load-api")
        assert seen(session, "pump") == own("The pump is loud", "The pump is old")

    def test_what_it_learns_in_between_is_not_brought_twice(self, session: Session, other: KnowledgeBase) -> None:
        load(session, "The pump is loud", "The pump is old")
        saved = save_session_kb(session)
        mount_base(session, other, reason="load-api")
        load(session, "The pump is dry", "The pump is blue", source_id="ctx-2")
        save_session_kb(session, target=saved)
        everything = ["The pump is blue", "The pump is dry", "The pump is loud", "The pump is old"]
        assert held(saved, "pump") == everything
        assert seen(session, "pump") == own(*everything)


@pytest.mark.usefixtures("any_size")
class TestLoadedAgain:
    """A context load replaces the earlier one, in whichever layer that is."""

    @pytest.mark.rule("BASE-11")
    def test_in_the_session_and_with_the_next_save_in_the_base(self, session: Session, base: KnowledgeBase) -> None:
        load(session, "The pump is red", "The pump is old")
        save_session_kb(session)
        load(session, "The pump is green", "The pump is old")
        assert seen(session, "pump") == own("The pump is green", "The pump is old")
        assert held(base, "pump") == ["The pump is old", "The pump is red"]
        save_session_kb(session)
        assert held(base, "pump") == ["The pump is green", "The pump is old"]
        assert saved_conversations(now(base)) == {"sessions": 1, "units": 2}

    def test_in_a_folded_base(self, session: Session, base: KnowledgeBase) -> None:
        load(session, "The pump is red", "The pump is old")
        save_session_kb(session)
        load(session, "The pump is green", "The pump is old")
        stage(session, "notes", "The pump hums")
        compact_base(now(base))
        save_session_kb(session)
        assert held(base, "pump") == ["The pump hums", "The pump is green", "The pump is old"]
        assert saved_conversations(now(base)) == {"sessions": 1, "units": 2}

    def test_what_a_mount_brought_along_with_it_stays(self, session: Session, other: KnowledgeBase) -> None:
        load(session, "The pump is red", "The pump is blue")
        load(session, "The pump is old", "The pump is loud", source_id="ctx-2")
        save_session_kb(session)
        mount_base(session, other, reason="load-api")
        load(session, "The pump is green")
        assert seen(session, "pump") == own("The pump is green", "The pump is loud", "The pump is old")

    def test_while_another_base_was_mounted(self, session: Session, base: KnowledgeBase, other: KnowledgeBase) -> None:
        load(session, "The pump is red", "The pump is old")
        stage(session, "notes", "The pump hums")
        save_session_kb(session)
        mount_base(session, other, reason="load-api")
        load(session, "The pump is green")
        compact_base(now(base))
        mount_base(session, base, reason="load-api")
        assert seen(session, "pump") == [("The pump hums", "kb"), ("The pump is green", "session")]


@pytest.mark.usefixtures("any_size")
class TestStagedToo:
    """A unit that is both in the draft and in the session's memory counts once, as the session's."""

    @pytest.mark.rule("BASE-7")
    def test_what_is_saved_below_the_draft(self, session: Session, base: KnowledgeBase) -> None:
        load(session, "The pump is loud", "The pump is old")
        tell(session, "The pump is dry")
        save_session_kb(session)
        known = {unit.unit_id for unit in session.context_units.all()}
        everything = own("The pump is dry", "The pump is loud", "The pump is old")
        stage_source(session, source("src-1", "The pump is dry", "The pump is loud", "The pump hums"))
        assert seen(session, "pump") == sorted([*everything, ("The pump hums", "draft")])
        assert known < found_ids(session)  # the ids that the ledger and plugins know
        stage_source(session, source("src-1", "The pump is old", "The pump is dry"))
        assert seen(session, "pump") == everything
        remove_source(session, "src-1")
        assert seen(session, "pump") == everything
        assert found_ids(session) == known
        assert fresh(session).journal.unit_count == fresh(session).unit_count == 3

    @pytest.mark.parametrize("with_journal", [False, True])
    def test_when_the_draft_is_saved(self, session: Session, base: KnowledgeBase, with_journal: bool) -> None:
        load(session, "The pump is loud", "The pump is old")
        save_session_kb(session)
        stage_source(session, source("src-1", "The pump is loud", "The pump is old"))
        save_session_kb(session, include_conversation_units=with_journal)
        assert seen(session, "pump") == own("The pump is loud", "The pump is old")
        assert held(base, "pump") == ["The pump is loud", "The pump is old"]
        assert now(base).head.unit_count == 2

    def test_what_the_session_has_no_more_is_the_drafts(self, session: Session, base: KnowledgeBase) -> None:
        load(session, "The pump is loud", "The pump is old")
        save_session_kb(session)
        stage_source(session, source("src-1", "The pump is loud", "The pump hums"))
        load(session, "The pump is old")
        assert seen(session, "pump") == [
            ("The pump hums", "draft"), ("The pump is loud", "draft"), ("The pump is old", "session"),
        ]  # fmt: skip
        remove_source(session, "src-1")
        assert seen(session, "pump") == own("The pump is old")

    def test_what_it_lost_elsewhere_and_had_saved_twice(
        self, session: Session, base: KnowledgeBase, other: KnowledgeBase
    ) -> None:
        load(session, "The pump is loud", "The pump is old")
        save_session_kb(session)
        stage_source(session, source("src-1", "The pump is loud", "The pump hums"))
        save_session_kb(session)
        mount_base(session, other, reason="load-api")
        load(session, "The pump is old")
        mount_base(session, base, reason="load-api")
        assert seen(session, "pump") == [
            ("The pump hums", "kb"), ("The pump is loud", "kb"), ("The pump is old", "session"),
        ]  # fmt: skip
        remove_source(session, "src-1")
        assert seen(session, "pump") == own("The pump is old")


class TestLabels:
    """Saved units keep the labels that they had in the session, by which the ledger and plugins know them."""

    def test_turns_that_used_a_saved_unit_are_found(self, session: Session, base: KnowledgeBase) -> None:
        load(session, "The pump is loud")
        (unit,) = session.context_units.all()
        turn = ExplainabilityTurn.objects.create(session=session, turn_index=7, user_message="?", status="succeeded")
        judge(turn, (unit.unit_id, "cited"))
        save_session_kb(session)
        (row,) = LayerUnit.objects.filter(layer=now(base).head)
        assert [event.turn for event in uses_of(base, row.unit_id, 10)] == [turn]

    def test_a_saved_dialogue_is_found_like_a_copy_of_it(self, session: Session, base: KnowledgeBase) -> None:
        load_dialogues(session)
        save_session_kb(session)
        saved = SessionKnowledge(EffectiveView.of_layer(now(base).head))
        copy = create_layer(KnowledgeLayer.Kind.BASE, None)
        index_units(copy, [hit.unit for hit in reversed(saved.newest(50))])
        assert found(saved) == found(SessionKnowledge(EffectiveView.of_layer(copy)))

    def test_two_sessions_with_the_same_ids_do_not_stop_the_folding(
        self, session: Session, base: KnowledgeBase
    ) -> None:
        load(session, "The pump is loud")
        neighbour = create_session(base.project, base=save_session_kb(session))
        load(neighbour, "The pump is old")
        save_session_kb(neighbour)
        assert compact_base(now(base))
        assert held(base, "pump") == ["The pump is loud", "The pump is old"]
        load(neighbour, "The pump is new")
        save_session_kb(fresh(neighbour))
        assert held(base, "pump") == ["The pump is loud", "The pump is new"]

    def test_pages_find_them_by_words(self, session: Session, base: KnowledgeBase) -> None:
        tell(session, "The pump is loud")
        save_session_kb(session)
        view = EffectiveView.of_layer(now(base).head)
        assert [unit.claim for unit in units_holding(view, asked_for('"pump is loud"'), 9)] == ["The pump is loud"]


def load_dialogues(session: Session) -> None:
    said = {"chunk-000": ["pump alpha", "pump beta", "x"], "chunk-001": ["pump gamma", "y", "valve z"]}
    units = [
        make_unit(
            f"ctx-1::{chunk}::unit-{place:03}", text, topic="Ann", unit_type=UTTERANCE, source_id="ctx-1",
            chunk_id=f"ctx-1::{chunk}", unit_index=place,
        )
        for chunk, texts in said.items()
        for place, text in enumerate(texts)
    ]  # fmt: skip
    add_context(session, Material(units=units, name="n", source_id="ctx-1"))


def found(knowledge: SessionKnowledge) -> list[tuple[str, float]]:
    return [(hit.unit.text, round(hit.score, 6)) for hit in knowledge.search({terms("pump")[0]: 1.0}, 9)]


@pytest.mark.rule("DECISION-34")
def test_a_save_does_not_rewrite_a_large_journal(
    session: Session, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(session, *(f"pump {number}" for number in range(450)))
    loaded = [make_unit(f"ctx-1::{number}", f"valve {number}", source_id="ctx-1") for number in range(250)]
    add_context(fresh(session), Material(units=loaded, name="notes", source_id="ctx-1"))
    with recorded(monkeypatch) as transactions:
        save_session_kb(session)
    assert len(transactions) == 5
    assert transactions[-1].value_count < 200
    assert transactions[-1].statement_count < 40
    assert now(base).head.unit_count == 700


def test_many_duplicates_are_written_before_the_source_shows(
    session: Session, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = [f"pump {number}" for number in range(450)]
    tell(session, *claims)
    save_session_kb(session)
    with recorded(monkeypatch) as transactions:
        stage_source(session, source("src-1", *claims))
    assert max(item.value_count for item in transactions[:-1]) < 10_000  # two hundred units with all their columns
    assert transactions[-1].value_count < 4_000  # which of two equal units is visible
    assert fresh(session).journal.own_unit_count == 450
    assert {store for _, store in seen(session, "pump")} == {"session"}


@pytest.mark.parametrize("with_removals", [False, True])
def test_further_saves_continue_from_the_folded_chain(
    session: Session, base: KnowledgeBase, with_removals: bool
) -> None:
    """This also holds where its draft replaces a folded source: the latest upload of a source counts."""
    expected: dict[str, str] = {}
    for number in range(24):
        source_id = f"src-{number % 3 if with_removals else number}"
        claim = f"pump {number}"
        expected[source_id] = claim
        unit = make_unit(f"{source_id}::0", claim, source_id=source_id)
        stage_source(fresh(session), NewSource(name=source_id, source_id=source_id, content=claim, units=[unit]))
        if number % 8 == 7:
            compact_base(now(base))
            compact_long_chains()
        save_session_kb(fresh(session))
        assert held(base, "pump") == sorted(expected.values())
    assert Session.objects.select_related("journal").get(pk=session.pk).journal.depth <= 16
