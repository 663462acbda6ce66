"""What a session knows stays its own wherever it lies: saved, folded, or left behind in another base [KB-9, KB-11]."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from mrpvm.errors import NotFound
from mrpvm.knowledge.dialogue import UTTERANCE
from mrpvm.knowledge.text import terms
from sessions_app.actions import context_loads, kb_mounts
from sessions_app.actions.compaction import compact_base, compact_long_chains
from sessions_app.actions.context_loads import ContextLoad, Material, add_context
from sessions_app.actions.drafts import remove_source, stage_source
from sessions_app.actions.forks import fork_session_kb, save_session_kb
from sessions_app.actions.kb_mounts import mount_base
from sessions_app.actions.knowledge import create_base
from sessions_app.actions.revisions import restore_revision
from sessions_app.actions.sessions import create_session
from sessions_app.actions.source_rows import NewSource
from sessions_app.models import (
    ExplainabilityTurn,
    KnowledgeBase,
    KnowledgeLayer,
    KnowledgeSource,
    LayerUnit,
    Project,
    Session,
    UnitEvent,
)
from sessions_app.queries.base_pages import saved_conversations, uses_of
from sessions_app.search.index import index_units
from sessions_app.search.knowledge import EffectiveView, SessionKnowledge
from sessions_app.search.layers import create_layer
from sessions_app.search.words import asked_for, units_holding
from tests.actions.knowledge_scene import base, held, project, seen, session, stage, tell
from tests.actions.transactions import recorded
from tests.search.units import make_unit

__all__ = ["base", "project", "session"]


@pytest.fixture
def other(project: Project) -> KnowledgeBase:
    return create_base(project, "Motors")


@pytest.fixture(params=["small", "large"])
def any_size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have two units make a load, and what a mount brings along, a large one; or else a small one."""
    if request.param == "large":
        monkeypatch.setattr(context_loads, "UNITS_AT_ONCE", 1)
        monkeypatch.setattr(kb_mounts, "UNITS_AT_ONCE", 1)


def now(base: KnowledgeBase) -> KnowledgeBase:
    return KnowledgeBase.objects.select_related("head").get(pk=base.pk)


def fresh(session: Session) -> Session:
    return Session.objects.get(pk=session.pk)


def load(session: Session, *claims: str, source_id: str = "ctx-1") -> ContextLoad:
    units = [make_unit(f"{source_id}::{place}", claim, source_id=source_id) for place, claim in enumerate(claims)]
    return add_context(fresh(session), Material(units=units, name="notes", source_id=source_id))


def own(*claims: str) -> list[tuple[str, str]]:
    return [(claim, "session") for claim in sorted(claims)]


@pytest.mark.usefixtures("any_size")
class TestSavedUnits:
    """A save gives the base what the session knows and takes nothing from the session."""

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

    def test_who_takes_them_from_the_base_does_not_take_them_from_the_session(
        self, session: Session, base: KnowledgeBase
    ) -> None:
        load(session, "The pump is loud", "The pump is old")
        neighbour = create_session(base.project, base=save_session_kb(session))
        with pytest.raises(NotFound):  # it is not listed
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
    """A context load takes the place of the earlier one, wherever that lies now [API-12, KB-11]."""

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

    def test_while_another_base_was_mounted(self, session: Session, base: KnowledgeBase, other: KnowledgeBase) -> None:
        load(session, "The pump is red", "The pump is old")
        stage(session, "notes", "The pump hums")
        save_session_kb(session)
        mount_base(session, other, reason="load-api")
        load(session, "The pump is green")
        compact_base(now(base))
        mount_base(session, base, reason="load-api")
        assert seen(session, "pump") == [("The pump hums", "kb"), ("The pump is green", "session")]


class TestLabels:
    """Units are in a base what they were in the session: the ledger and plugins know them by that [KU-7, PL-43]."""

    def test_turns_that_used_a_saved_unit_are_found(self, session: Session, base: KnowledgeBase) -> None:
        load(session, "The pump is loud")
        (unit,) = session.context_units.all()
        turn = ExplainabilityTurn.objects.create(session=session, turn_index=7, user_message="?", status="succeeded")
        UnitEvent.objects.create(session=session, turn=turn, unit_id=unit.unit_id, step="cited")
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


def test_a_large_journal_is_not_rewritten_in_the_transaction_of_the_save(
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


@pytest.mark.parametrize("with_removals", [False, True])
def test_a_session_that_goes_on_saving_goes_on_from_the_folded_chain(
    session: Session, base: KnowledgeBase, with_removals: bool
) -> None:
    """Also where its draft replaces a source of the fold: of several rows of a source the latest upload counts."""
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


CLAIMS = [f"pump {name}" for name in ("a1", "b2", "c3", "d4", "e5", "f6")]
LOADS, SOURCES = ("ctx-1", "ctx-2"), ("src-1", "src-2", "src-3")


@dataclass
class Model:
    """What must be found: the session's units by load, and what each of two bases holds, by source."""

    known: dict[str, set[str]] = field(default_factory=dict)
    draft: dict[str, set[str]] = field(default_factory=dict)
    bases: list[dict[str, set[str]]] = field(default_factory=lambda: [{}, {}])
    mounted: int = 0

    @property
    def own(self) -> set[str]:
        return {claim for claims in self.known.values() for claim in claims}

    def learn(self, source_id: str, claims: set[str]) -> None:
        self.known[source_id] = claims - {claim for name, others in self.known.items() if name != source_id
                                          for claim in others}  # fmt: skip


@pytest.mark.usefixtures("any_size")
@pytest.mark.parametrize("seed", range(6))
def test_whatever_a_session_does_it_finds_what_it_knows(
    session: Session, base: KnowledgeBase, other: KnowledgeBase, seed: int
) -> None:
    chance, model, bases = random.Random(seed), Model(), [base, other]
    for number in range(30):
        action = chance.choice(["load", "load", "stage", "stage", "remove", "save", "save", "save", "mount", "fold"])
        claims = set(chance.sample(CLAIMS, chance.randint(1, 3)))
        if action == "load":
            source_id = chance.choice(LOADS)
            load(session, *sorted(claims), source_id=source_id)
            model.learn(source_id, claims)
        elif action == "stage":
            source_id = chance.choice(SOURCES)
            units = [make_unit(f"{source_id}::{claim}", claim, source_id=source_id) for claim in sorted(claims)]
            new = NewSource(name=source_id, source_id=source_id, content=f"text {number}", units=units)
            stage_source(fresh(session), new)
            model.draft[source_id] = claims
        elif action == "remove" and SOURCES[0] in model.draft:
            remove_source(fresh(session), SOURCES[0])
            del model.draft[SOURCES[0]]
        elif action == "save":
            save_session_kb(fresh(session))
            model.draft["own"] = model.own
            model.bases[model.mounted] = dict(model.draft)
        elif action == "mount":
            model.mounted = 1 - model.mounted
            mount_base(session, bases[model.mounted], reason="load-api", discard_draft=True)
            model.draft = dict(model.bases[model.mounted])
        elif action == "fold":
            compact_base(now(chance.choice(bases)))
        check(session, bases, model, f"{seed}: step {number}, {action}")


def check(session: Session, bases: list[KnowledgeBase], model: Model, where: str) -> None:
    sources = {claim for name, claims in model.draft.items() if name != "own" for claim in claims}
    hits = seen(session, "pump")
    assert [claim for claim, _ in hits] == sorted(sources | model.own), where
    assert {claim for claim, store in hits if store == "session"} >= model.own - sources, where
    assert fresh(session).unit_count == len(model.own), where
    for target, content in zip(bases, model.bases, strict=True):
        assert held(target, "pump") == sorted({claim for claims in content.values() for claim in claims}), where
        head = now(target).head
        assert head.unit_count == len(held(target, "pump")), where
        assert head.source_count == len(content.keys() - {"own"}), where
    journal = KnowledgeLayer.objects.get(pk=fresh(session).journal_id)
    assert journal.unit_count == len(hits), where
    assert not KnowledgeSource.objects.filter(kind="source", source_id__startswith="src-journal").exists()
