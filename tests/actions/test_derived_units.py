"""Units derived from a source that is replaced or removed are removed or stale until they are derived again."""

import random
from dataclasses import dataclass

import pytest
from pytest_django import Settings

from sessions_app.actions.knowledge.drafts import remove_source, stage_source
from sessions_app.actions.knowledge.forks import fork_base, save_session_kb
from sessions_app.actions.knowledge.mounts import mount_base
from sessions_app.actions.knowledge.revisions import restore_revision
from sessions_app.actions.knowledge.source_rows import NewSource
from sessions_app.layers.upkeep.compaction import compact_base
from sessions_app.models import Derivation, HiddenUnit, KnowledgeBase, KnowledgeLayer, LayerUnit, Session
from sessions_app.queries.experiments.forgetting.origins import Subject, work_of
from sessions_app.queries.knowledge.bases import sources, stale_source_keys, workspace_sources
from tests.actions.knowledge_scene import add_text, held, seen
from tests.layers.units import make_unit
from tests.walks import SEEDS


@pytest.fixture(params=[200, 0], ids=["at-once", "in-layers"])
def at_once(request: pytest.FixtureRequest, settings: Settings) -> None:
    """Make every change of a draft in the draft itself, or each in a layer of its own."""
    settings.MRPVM_UNITS_AT_ONCE = request.param
    settings.MRPVM_UNITS_A_TRANSACTION = 2


def now(base: KnowledgeBase) -> KnowledgeBase:
    return KnowledgeBase.objects.select_related("head").get(pk=base.pk)


def fresh(session: Session) -> Session:
    return Session.objects.select_related("draft").get(pk=session.pk)


def source(source_id: str, *claims: str, origins: tuple[str, ...] = ()) -> NewSource:
    """Return a source with a unit for each claim; the first is derived from the origins."""
    units = [
        make_unit(
            f"{source_id}::{place}", claim, source_id=source_id,
            derived_from_unit_ids=() if place else origins,
        )
        for place, claim in enumerate(claims)
    ]  # fmt: skip
    return NewSource(name=source_id, source_id=source_id, content="\n".join(claims), units=units)


def add(base: KnowledgeBase, new: NewSource) -> None:
    add_text(now(base), new.name, new.content, new.units, source_id=new.source_id)


def dirty(base: KnowledgeBase) -> set[str]:
    stale = stale_source_keys(now(base).head)
    return {row.source_id for row in sources(now(base)) if row.pk in stale}


def dirty_in(session: Session) -> set[str]:
    stale = stale_source_keys(fresh(session).draft)
    return {row.source_id for row in workspace_sources(fresh(session)) if row.pk in stale}


@pytest.fixture
def derived(base: KnowledgeBase, session: Session) -> KnowledgeBase:
    """Return a base of four sources, mounted by the session: b is derived from a, c from b, and d from nothing."""
    add(base, source("a", "The pump is loud", "The pump is old"))
    add(base, source("b", "The pump needs oil", "The pump is red", origins=("a::0",)))
    add(base, source("c", "The pump costs money", origins=("b::0", "gone::0")))
    add(base, source("d", "The pump hums"))
    mount_base(session, base, reason="load-api")
    return base


@pytest.mark.rule("UNIT-16")
def test_derived_units_go_with_their_origin_and_come_back(derived: KnowledgeBase) -> None:
    """So do units derived from the derived ones; the rest of their source stays."""
    assert dirty(derived) == set()
    add(derived, source("a", "The pump is quiet"))
    assert held(derived, "pump") == ["The pump hums", "The pump is quiet", "The pump is red"]
    assert dirty(derived) == {"b", "c"}
    add(derived, source("b", "The pump needs no oil", "The pump is red", origins=("a::0",)))
    assert dirty(derived) == {"c"}
    add(derived, source("c", "The pump costs nothing", origins=("b::0",)))
    assert held(derived, "pump") == [
        "The pump costs nothing",
        "The pump hums",
        "The pump is quiet",
        "The pump is red",
        "The pump needs no oil",
    ]
    assert dirty(derived) == set()
    assert now(derived).head.unit_count == 5


def test_an_earlier_revision_has_it_and_a_fork_has_not(derived: KnowledgeBase) -> None:
    before = held(derived, "pump")
    add(derived, source("a", "The pump is quiet"))
    fork = fork_base(now(derived))
    assert (held(fork, "pump"), dirty(fork)) == (held(derived, "pump"), {"b", "c"})
    restore_revision(now(derived), now(derived).revision - 1)
    assert (held(derived, "pump"), dirty(derived)) == (before, set())


def test_a_fact_that_another_source_states_too_is_still_known(derived: KnowledgeBase) -> None:
    add(derived, source("e", "The pump needs oil"))
    add(derived, source("a", "The pump is quiet"))
    assert "The pump needs oil" in held(derived, "pump")


@pytest.mark.parametrize("times", [1, 2])
def test_within_one_source_it_is_written_anew_as_a_whole(base: KnowledgeBase, times: int) -> None:
    """The source keeps its unit ids, and none of its units is stale."""
    units = [
        make_unit("a::0", "The pump is loud", source_id="a"),
        make_unit("a::1", "The pump needs oil", source_id="a", derived_from_unit_ids=("a::0",)),
    ]
    for number in range(times):
        add_text(now(base), "a", f"text {number}", units, source_id="a")
    assert held(base, "pump") == ["The pump is loud", "The pump needs oil"]
    assert dirty(base) == set()


@pytest.mark.usefixtures("at_once")
class TestDrafts:
    """A change of a draft is visible in its session, and after a save in the base."""

    @pytest.mark.parametrize("folded", [False, True])
    def test_a_source_of_the_base_is_removed(self, session: Session, derived: KnowledgeBase, folded: bool) -> None:
        remove_source(session, "a")
        assert seen(session, "pump") == [("The pump hums", "kb"), ("The pump is red", "kb")]
        assert dirty_in(session) == {"b", "c"}
        assert dirty(derived) == set()
        assert len(held(derived, "pump")) == 6
        assert not folded or compact_base(now(derived))
        save_session_kb(fresh(session))
        assert held(derived, "pump") == ["The pump hums", "The pump is red"]
        assert dirty(derived) == {"b", "c"}

    @pytest.mark.rule("UNIT-16")
    def test_what_is_staged_goes_with_what_is_staged(self, session: Session) -> None:
        stage_source(session, source("a", "The pump is loud"))
        stage_source(fresh(session), source("b", "The pump needs oil", origins=("a::0",)))
        stage_source(fresh(session), source("a", "The pump is quiet"))
        assert seen(session, "pump") == [("The pump is quiet", "draft")]
        assert dirty_in(session) == {"b"}
        stage_source(fresh(session), source("b", "The pump needs no oil", origins=("a::0",)))
        assert [claim for claim, _ in seen(session, "pump")] == ["The pump is quiet", "The pump needs no oil"]
        assert dirty_in(session) == set()
        remove_source(fresh(session), "b")
        remove_source(fresh(session), "a")
        assert seen(session, "pump") == []
        assert fresh(session).draft.unit_count == 0

    def test_the_draft_is_thrown_away(self, session: Session, derived: KnowledgeBase) -> None:
        remove_source(session, "a")
        mount_base(fresh(session), derived, reason="load-api", discard_draft=True)
        assert len(seen(session, "pump")) == 6
        assert HiddenUnit.objects.filter(layer__kind="draft").count() == 0


@pytest.mark.rule("UNIT-16")
def test_a_fold_keeps_it_as_it_is(derived: KnowledgeBase) -> None:
    """Stale units are kept with their source, so that they can be looked up; removed ones are not."""
    add(derived, source("a", "The pump is quiet"))
    add(derived, source("b", "The pump is red"))
    before = held(derived, "pump")
    assert compact_base(now(derived))
    assert (held(derived, "pump"), dirty(derived)) == (before, {"c"})
    head = now(derived).head
    assert LayerUnit.objects.filter(layer=head, unit_id="c::0").count() == 1
    assert head.removed_unit_count == 1
    add(derived, source("c", "The pump costs nothing", origins=("b::0",)))
    assert (dirty(derived), "The pump costs nothing" in held(derived, "pump")) == (set(), True)


def test_rows_go_with_their_layer(session: Session) -> None:
    stage_source(session, source("b", "The pump needs oil", origins=("a::0",)))
    assert Derivation.objects.get().origin_unit_id == "a::0"
    remove_source(fresh(session), "b")
    assert Derivation.objects.get().layer.kind == KnowledgeLayer.Kind.REMOVED
    layer = KnowledgeLayer.objects.get(pk=fresh(session).draft_id)
    assert layer.removed_unit_count == 0


@dataclass
class Said:
    """The expected state of a unit: its text, its origins, and whether these still exist."""

    claim: str
    origins: tuple[str, ...] = ()
    is_stale: bool = False


class Sources:
    """The expected units of each source in a draft, by id."""

    def __init__(self) -> None:
        self.units: dict[str, dict[str, Said]] = {}

    @property
    def shown(self) -> list[str]:
        return sorted(said.claim for units in self.units.values() for said in units.values() if not said.is_stale)

    @property
    def dirty(self) -> set[str]:
        return {name for name, units in self.units.items() if any(said.is_stale for said in units.values())}

    def candidates(self, source_id: str) -> list[str]:
        """Return the units from which a source can be derived."""
        others = [units for name, units in self.units.items() if name != source_id]
        return [unit_id for units in others for unit_id, said in units.items() if not said.is_stale]

    def take_out(self, source_id: str) -> None:
        gone = set(self.units.pop(source_id, {}))
        while gone:
            derived = {
                unit_id: said
                for units in self.units.values()
                for unit_id, said in units.items()
                if not said.is_stale and gone.intersection(said.origins)
            }
            for said in derived.values():
                said.is_stale = True
            gone = set(derived)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_happens_to_sources_nothing_stale_is_shown(session: Session, base: KnowledgeBase, seed: int) -> None:
    chance, expected = random.Random(seed), Sources()
    for number in range(30):
        source_id = chance.choice("abcd")
        action = chance.choice(["stage", "stage", "stage", "stage", "remove", "save", "fold"])
        if action == "stage":
            claims = [f"pump {number} {place}" for place in range(chance.randint(1, 2))]
            known = expected.candidates(source_id)
            origins = tuple(chance.sample(known, min(len(known), chance.randint(0, 2))))
            stage_source(fresh(session), source(source_id, *claims, origins=origins))
            expected.take_out(source_id)
            expected.units[source_id] = {
                f"{source_id}::{place}": Said(claim, () if place else origins) for place, claim in enumerate(claims)
            }
        elif action == "remove" and source_id in expected.units:
            remove_source(fresh(session), source_id)
            expected.take_out(source_id)
        elif action == "save":
            save_session_kb(fresh(session))
            assert (held(base, "pump"), dirty(base)) == (expected.shown, expected.dirty), f"step {number}"
        elif action == "fold":
            compact_base(now(base))
        where = f"step {number}, {action}"
        assert [claim for claim, _ in seen(session, "pump")] == expected.shown, where
        assert dirty_in(session) == expected.dirty, where
        assert fresh(session).draft.unit_count == len(expected.shown), where


def test_whatever_was_derived_is_forgotten_with_its_origin(base: KnowledgeBase) -> None:
    """However many steps lie between them."""
    for number in range(12):
        origins = (f"s{number - 1}::0",) if number else ()
        add(base, source(f"s{number}", f"Statement number {number} stands alone", origins=origins))
    found = work_of(base.project, Subject(kind="unit", kb_id=base.kb_id, unit_id="s0::0"))
    assert found.unit_ids == {f"s{number}::0" for number in range(12)}
