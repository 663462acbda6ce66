"""Folding a chain changes no result, also after further changes; earlier revisions can be restored."""

import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from mrpvm.english.sentences.dialogue import UTTERANCE
from mrpvm.english.words.text import terms
from mrpvm.errors import Conflict, NotFound
from sessions_app.actions.knowledge.artifacts import keep_artifacts, keep_source_artifacts
from sessions_app.actions.knowledge.forks import fork_base, fork_session_kb, save_session_kb
from sessions_app.actions.knowledge.mounts import mount_base
from sessions_app.actions.knowledge.revisions import ask_for_compaction, restore_revision
from sessions_app.actions.sessions.session import create_session
from sessions_app.layers import EffectiveView, SessionKnowledge, compact_long_chains, sweep_staged
from sessions_app.layers.upkeep import compaction
from sessions_app.layers.upkeep.compaction import compact_base
from sessions_app.models import (
    KBMount,
    KBRevision,
    KnowledgeBase,
    KnowledgeLayer,
    Project,
    Session,
    UnitArtifact,
)
from sessions_app.queries.knowledge.bases import sources, text_byte_count
from tests.actions.knowledge_scene import (
    ListeningRetriever,
    add_text,
    committing,
    held,
    stage,
    tell,
)
from tests.layers.units import make_unit
from tests.walks import SEEDS

WORDS = ("pump", "valve", "seal", "rotor", "motor", "pipe")


def now(base: KnowledgeBase) -> KnowledgeBase:
    return KnowledgeBase.objects.select_related("head").get(pk=base.pk)


def shown(knowledge: SessionKnowledge) -> Any:
    """Return all that a reader sees: hits with scores and their parts, guidance, the newest units."""
    found: list[Any] = []
    for first, second in pairwise([*WORDS, WORDS[0]]):
        hits = knowledge.search({terms(first)[0]: 1.0, terms(second)[0]: 0.5}, 7)
        found.append([(hit.unit, hit.score, hit.store, hit.term_scores) for hit in hits])
    found += [[hit.unit for hit in knowledge.guidance(50)], [hit.unit for hit in knowledge.newest(500)]]
    return found


def of_layer(layer: KnowledgeLayer) -> Any:
    return shown(SessionKnowledge(EffectiveView.of_layer(layer)))


def of_session(session: Session) -> Any:
    return shown(SessionKnowledge.of(Session.objects.get(pk=session.pk)))


def listed(base: KnowledgeBase) -> list[tuple[str, str, int]]:
    return list(sources(now(base)).order_by("-id").values_list("source_id", "hash", "unit_count"))


class Life:
    """Random changes of one base and a fork of it, by two sessions; each change is made to both."""

    def __init__(self, base: KnowledgeBase, seed: int) -> None:
        self.random = random.Random(seed)
        self.bases = [base]
        self.sessions = [create_session(base.project, base=base)]

    def split(self) -> None:
        """Fork the base; every later change is made to both."""
        self.bases.append(fork_base(now(self.bases[0])))
        self.sessions.append(create_session(self.bases[1].project, base=self.bases[1]))
        mount_base(self.sessions[0], self.bases[0], reason="load-api", discard_draft=True)

    def units(self, source_id: str) -> list[Any]:
        return [
            make_unit(
                f"{source_id}::{number}", " ".join(self.random.choices(WORDS[: self.random.choice([2, 6])], k=2)),
                phase_scopes=self.random.choice([("kb-plugin",)] * 4 + [("gs-plugin",)]), source_id=source_id,
                unit_index=number, **self.random.choice([{}, {"unit_type": UTTERANCE, "topic": "Ann"}]),
            )
            for number in range(self.random.randint(1, 4))
        ]  # fmt: skip

    def step(self, number: int) -> None:
        action = self.random.choice(["source", "source", "save", "save", "journal"])
        source_id, texts = f"src-{self.random.randrange(6)}", self.random.sample(WORDS, 3)
        units = self.units(source_id)
        for target, member in zip(self.bases, self.sessions, strict=True):
            if action == "source":
                add_text(now(target), source_id, f"text {number}", units, source_id=source_id)
                continue
            mount_base(member, target, reason="load-api", discard_draft=True)
            if action == "save":
                stage(member, f"draft-{number}", *(f"{text} {number}" for text in texts))
            tell(member, *(f"{text} told {number}" for text in texts[:2]))
            save_session_kb(member)


@pytest.mark.rule("BASE-18")
@pytest.mark.parametrize("seed", SEEDS)
def test_no_reader_sees_a_difference_now_or_later(base: KnowledgeBase, seed: int) -> None:
    life = Life(base, seed)
    for number in range(12):
        life.step(number)
    life.split()
    readers = [create_session(base.project, base=now(base)) for _ in range(2)]
    tell(readers[0], "The pump is told apart")
    kept = list(KBRevision.objects.filter(knowledge_base=base).exclude(revision=now(base).revision))
    folded, unfolded = life.bases
    before = now(folded)
    views = [of_session(reader) for reader in readers], [of_layer(row.layer) for row in kept], of_layer(before.head)
    texts, depth = listed(folded), before.head.depth

    assert compact_base(before)

    after = now(folded)
    assert after.head.depth < depth
    assert after.revision == before.revision
    assert listed(folded) == texts
    later = [of_session(reader) for reader in readers], [of_layer(row.layer) for row in kept], of_layer(after.head)
    assert later == views
    # Later changes have the same effect on the folded chain and on the other.
    for number in range(20, 26):
        life.step(number)
        assert [hits[:2] for hits in found_in(folded)] == [hits[:2] for hits in found_in(unfolded)]
    assert [row[0] for row in listed(folded)] == [row[0] for row in listed(unfolded)]


def found_in(base: KnowledgeBase) -> list[list[tuple[str, float]]]:
    """Return the hits by text: ids of journals contain the session, so they differ between two sessions."""
    knowledge = SessionKnowledge(EffectiveView.of_layer(now(base).head))
    return [
        sorted((hit.unit.text, round(hit.score, 9)) for hit in knowledge.search({terms(word)[0]: 1.0}, 500))
        for word in WORDS
    ]


def deepen(base: KnowledgeBase, how_often: int) -> None:
    for number in range(how_often):
        add_text(now(base), f"s{number}", "x", [make_unit(f"s{number}::1", f"pump {number}")], source_id=f"s{number}")


def test_only_a_long_chain_is_folded_in_the_background(base: KnowledgeBase) -> None:
    deepen(base, 6)
    assert compact_long_chains(deepest=6) == 0
    deepen(base, 8)
    everything = held(base, "pump")
    assert compact_long_chains(deepest=6) == 1
    assert now(base).head.depth <= 6
    assert held(base, "pump") == everything
    assert compact_long_chains(deepest=6) == 0


def test_somebody_may_ask_for_it(base: KnowledgeBase) -> None:
    deepen(base, 3)
    ask_for_compaction(base)
    assert compact_long_chains() == 1
    assert now(base).head.depth == 0
    assert now(base).compaction_asked_at is None
    ask_for_compaction(base)
    assert compact_long_chains() == 0
    assert now(base).compaction_asked_at is None


def test_a_unit_is_not_written_again_for_each_fold(base: KnowledgeBase) -> None:
    add_text(base, "large", "x", [make_unit(f"l::{number}", f"valve {number}") for number in range(300)])
    large = now(base).head_id
    for _ in range(3):
        deepen(base, 9)
        compact_base(now(base))
        assert large in now(base).head.chain


def test_what_the_newest_change_replaced_stays_replaced(base: KnowledgeBase) -> None:
    """This also holds where the layer with the replaced unit is not folded."""
    add_text(base, "large", "x", [make_unit(f"l::{number}", f"valve {number}") for number in range(30)])
    deepen(base, 2)
    assert compact_base(now(base))
    large = now(base).head_id
    add_text(now(base), "late", "x", [make_unit("late::1", "pump late")], source_id="late")
    add_text(now(base), "s0", "new", [make_unit("s0::2", "pump new")], source_id="s0")
    assert compact_base(now(base))
    assert large in now(base).head.chain
    assert sorted(held(base, "pump")) == ["pump 1", "pump late", "pump new"]


def test_a_change_that_comes_between_wins_and_nothing_is_left(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    deepen(base, 4)
    calls: list[int] = []

    def interfere() -> None:
        if not calls:
            calls.append(1)
            add_text(now(base), "late", "x", [make_unit("late::1", "pump late")])

    layers = KnowledgeLayer.objects.count()
    with pytest.raises(Conflict):
        compact_base(now(base), interfere)
    assert "pump late" in held(base, "pump")
    assert KnowledgeLayer.objects.count() == layers + 1
    assert sweep_staged(alone=True) == 0


def test_a_failure_half_way_leaves_the_old_chain(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    deepen(base, 4)
    head, everything = now(base).head_id, held(base, "pump")

    def fail(*_: object) -> None:
        raise RuntimeError("power cut")

    monkeypatch.setattr(compaction, "seal_layer", fail)
    with pytest.raises(RuntimeError):
        compact_base(now(base))
    assert (now(base).head_id, held(base, "pump")) == (head, everything)


def replace(base: KnowledgeBase, source_id: str, how_often: int, unit_count: int = 4) -> None:
    for version in range(how_often):
        units = [make_unit(f"{source_id}::{number}", f"pump {number} of {version}") for number in range(unit_count)]
        add_text(now(base), source_id, f"text {version}", units, source_id=source_id)


class TestRemoved:
    """A chain that consists mostly of removed units is folded, however short it is."""

    def test_a_source_that_was_replaced_often(self, base: KnowledgeBase) -> None:
        replace(base, "s", 2)
        assert compact_long_chains(few_removed=7) == 0  # half of its units are visible
        replace(base, "s", 1)
        everything = of_layer(now(base).head)
        assert compact_long_chains(few_removed=7) == 1
        assert now(base).head.chain == [now(base).head_id]
        assert now(base).head.own_unit_count == 4
        assert of_layer(now(base).head) == everything
        assert compact_long_chains(few_removed=7) == 0

    def test_what_is_mostly_shown_is_not_written_again(self, base: KnowledgeBase) -> None:
        replace(base, "large", 1, unit_count=30)
        large = now(base).head_id
        replace(base, "s", 12)
        assert compact_long_chains(few_removed=7) == 1
        assert large in now(base).head.chain
        assert compact_long_chains(few_removed=7) == 0

    def test_what_is_mostly_removed_is_not_left_below(self, base: KnowledgeBase) -> None:
        replace(base, "large", 2, unit_count=30)
        replace(base, "s", 1)
        replace(base, "large", 1, unit_count=8)
        assert compact_long_chains(few_removed=7) == 1
        assert now(base).head.own_unit_count == 12
        assert compact_long_chains(few_removed=7) == 0


def test_a_source_that_is_just_being_replaced_goes_first(base: KnowledgeBase) -> None:
    replace(base, "s", 3)
    folded: list[str] = []

    def fold(written: int) -> None:
        with pytest.raises(Conflict) as refused:
            compact_base(now(base))
        folded.append(refused.value.message)

    add_text(now(base), "s", "x", [make_unit("s::new", "pump new")], source_id="s", watch=fold)
    assert folded
    assert held(base, "pump") == ["pump new"]
    assert compact_base(now(base))
    assert held(base, "pump") == ["pump new"]


def test_another_source_may_come_while_a_chain_is_folded(base: KnowledgeBase) -> None:
    replace(base, "s", 3, unit_count=1)
    units = [make_unit("other::1", "pump other")]
    add_text(now(base), "other", "x", units, source_id="other", watch=lambda _: compact_base(now(base)) and None)
    assert held(base, "pump") == ["pump 0 of 2", "pump other"]


def test_a_wrong_fold_is_logged_once_and_not_repeated(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    deepen(base, 4)
    head = now(base).head_id
    monkeypatch.setattr(compaction, "_refused", {})
    folds: list[int] = []
    monkeypatch.setattr(compaction, "_copy_units", lambda *_: folds.append(1))
    assert (compact_long_chains(deepest=2), compact_long_chains(deepest=2)) == (0, 0)
    assert (len(folds), now(base).head_id) == (1, head)
    assert [record.levelname for record in caplog.records if "folded wrongly" in record.message] == ["ERROR"]
    KnowledgeBase.objects.update(compaction_asked_at=timezone.now())
    compact_long_chains(deepest=2)
    assert len(folds) == 2


@pytest.mark.rule("INGEST-4")
def test_a_base_says_as_much_when_it_is_folded(base: KnowledgeBase, session: Session) -> None:
    """Units that a session saved in several steps are counted too."""
    for claim in ("ab", "cde"):
        add_text(now(base), "source", "", [make_unit(f"src::{claim}", claim)], source_id="src")
        mount_base(session, now(base), reason="load-api")
        tell(session, f"said {claim}")
        save_session_kb(Session.objects.get(pk=session.pk))
    before = text_byte_count(now(base).head)
    assert before == len("cde" + "said ab" + "said cde")
    assert compact_base(now(base))
    assert text_byte_count(now(base).head) == before


def test_artifacts_go_along(base: KnowledgeBase) -> None:
    deepen(base, 3)
    knowledge = SessionKnowledge(EffectiveView.of_layer(now(base).head), keep_artifacts).for_plugin("kb-mine")
    knowledge.newest(9)
    knowledge.keep_artifacts("1", {"s0::1": b"zero"})
    compact_base(now(base))
    folded = SessionKnowledge(EffectiveView.of_layer(now(base).head), keep_artifacts).for_plugin("kb-mine")
    folded.newest(9)
    assert folded.artifacts("1", ["s0::1", "s1::1"]) == {"s0::1": b"zero"}
    assert UnitArtifact.objects.count() == 2


def test_a_faster_fold_keeps_what_a_plugin_derives(base: KnowledgeBase) -> None:
    """The plugin answers after the source was published and the chain folded."""
    first = add_text(base, "first", "text", [make_unit("s0::1", "The pump leaks")], source_id="s0")
    add_text(base, "other", "text", [make_unit("s1::1", "The valve leaks")], source_id="s1")
    assert compact_base(now(base))
    keep_source_artifacts("kb-mine", first.pk, {"note": b"kept"})
    folded = SessionKnowledge(EffectiveView.of_layer(now(base).head)).for_plugin("kb-mine")
    assert folded.source_artifacts("s0") == {"note": b"kept"}
    assert folded.source_artifacts("s1") == {}


def test_a_save_of_nothing_after_a_fold_moves_the_session(base: KnowledgeBase, session: Session) -> None:
    mount_base(session, base, reason="load-api")
    for number in range(3):
        stage(session, f"s{number}", f"The pump {number} hums")
        save_session_kb(Session.objects.get(pk=session.pk))
    assert compact_base(now(base))
    save_session_kb(Session.objects.get(pk=session.pk))
    assert Session.objects.get(pk=session.pk).mounted_layer_id == now(base).head_id
    stage(session, "s3", "The pump 3 hums")
    save_session_kb(Session.objects.get(pk=session.pk))
    assert held(base, "pump") == [f"The pump {number} hums" for number in range(4)]


class TestRestore:
    """Restoring an earlier revision makes a new one."""

    def test_it_shows_what_it_showed_and_nothing_is_lost(self, base: KnowledgeBase, session: Session) -> None:
        deepen(base, 3)
        mount_base(session, base, reason="load-api")
        actor = User.objects.create_user("ann")
        restored = restore_revision(base, 2, actor=actor)
        assert (restored.revision, held(base, "pump")) == (5, ["pump 0"])
        assert now(base).source_count == 1
        assert len(SessionKnowledge.of(Session.objects.get(pk=session.pk)).newest(9)) == 3
        kept = KBRevision.objects.get(knowledge_base=base, revision=5)
        assert (kept.reason, kept.created_by) == ("restore-2", actor)
        restore_revision(base, 4)
        assert held(base, "pump") == ["pump 0", "pump 1", "pump 2"]

    def test_plugins_hear_of_it(self, base: KnowledgeBase, listener: ListeningRetriever) -> None:
        deepen(base, 1)
        with committing():
            restore_revision(base, 1)
        assert [(event.event_type, event.reason) for event in listener.heard] == [("kb-saved", "restore")]

    def test_a_session_that_mounted_before_cannot_save_over_it(self, base: KnowledgeBase, session: Session) -> None:
        deepen(base, 2)
        mount_base(session, base, reason="load-api")
        restore_revision(base, 1)
        stage(session, "mine", "The pump hums")
        with pytest.raises(Conflict) as refused:
            save_session_kb(session)
        assert refused.value.code == "KB_REVISION_CONFLICT"
        assert fork_session_kb(session).revision == 1

    @pytest.mark.parametrize(
        ("revision", "expected", "code"),
        [(9, None, "KB_REVISION_NOT_FOUND"), (3, None, "KB_REVISION_CONFLICT"), (1, 2, "KB_REVISION_CONFLICT")],
    )
    def test_what_cannot_be_restored(self, base: KnowledgeBase, revision: int, expected: int | None, code: str) -> None:
        deepen(base, 2)
        with pytest.raises((NotFound, Conflict)) as refused:
            restore_revision(base, revision, expected=expected)
        assert refused.value.code == code
        assert now(base).revision == 3

    def test_cost_does_not_depend_on_the_base(
        self, base: KnowledgeBase, django_assert_max_num_queries: Callable[..., object]
    ) -> None:
        add_text(base, "m", "", [make_unit(f"m::{number}", f"pump {number}") for number in range(500)])
        with django_assert_max_num_queries(9):
            restore_revision(base, 1)

    def test_a_fork_begins_its_own_history(self, base: KnowledgeBase, project: Project) -> None:
        deepen(base, 2)
        fork = fork_base(now(base))
        assert list(KBRevision.objects.filter(knowledge_base=fork).values_list("revision", "reason")) == [(1, "fork")]
        assert not KBMount.objects.filter(knowledge_base=fork).exists()
