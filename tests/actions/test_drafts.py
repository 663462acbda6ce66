"""Sources staged in a session's draft: visible in the session, in no base, and in a base after a save."""

from contextlib import nullcontext

import pytest
from django.test import override_settings
from hypothesis import HealthCheck, given
from hypothesis import settings as runs
from hypothesis import strategies as st
from pytest_django import Settings

from mrpvm.errors import Conflict, EngineTimeout, InvalidInput, NotFound, TooLarge
from mrpvm.sources.source import Rejection
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.drafts import remove_source, stage_source
from sessions_app.actions.knowledge.forks import save_session_kb
from sessions_app.actions.knowledge.mounts import mount_base
from sessions_app.actions.knowledge.source_rows import NewSource
from sessions_app.actions.sessions.context_loads import Material, add_context
from sessions_app.actions.sessions.removal import purge_deleted_sessions
from sessions_app.actions.sessions.session import create_session, delete_session
from sessions_app.layers import staged
from sessions_app.layers.upkeep.compaction import compact_base
from sessions_app.models import (
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
from sessions_app.queries.knowledge.bases import sources, unsaved, workspace_sources
from tests.actions.knowledge_scene import add_text, event_kinds, held, last_payload, seen, tell
from tests.layers.units import make_unit


@pytest.fixture(params=[200, 0], ids=["at-once", "in-layers"])
def at_once(request: pytest.FixtureRequest, settings: Settings) -> int:
    """Make every change in the draft itself, or each in a layer of its own."""
    settings.MRPVM_UNITS_AT_ONCE = request.param
    settings.MRPVM_UNITS_A_TRANSACTION = 2
    return int(request.param)


def source(source_id: str, *claims: str) -> NewSource:
    units = [make_unit(f"{source_id}::{claim}", claim) for claim in claims]
    return NewSource(name=source_id, source_id=source_id, content="\n".join(claims), units=units)


def now(session: Session) -> Session:
    return Session.objects.select_related("draft", "mounted_kb").get(pk=session.pk)


def listed(session: Session) -> set[str]:
    return {row.source_id for row in workspace_sources(now(session))}


def claims(session: Session, word: str = "pump") -> list[str]:
    return [claim for claim, _ in seen(session, word)]


@pytest.mark.parametrize(("name", "refused"), [("x" * 200, False), ("x" * 201, True), (" ", True)])
def test_a_source_is_called_the_same_wherever_it_goes(
    session: Session, base: KnowledgeBase, name: str, refused: bool
) -> None:
    units = [make_unit("a::1", "The pump is blue", source_id="ctx-1")]
    rejection = Rejection(chunk_index=0, text="?", control_text="?", message="?", diagnostics=())
    material = Material(units=units, name=name, source_id="ctx-1", rejections=[rejection])
    for store in (
        lambda: add_text(base, name, "The pump is blue", tuple(units), source_id="a", rejections=[rejection]),
        lambda: stage_source(session, NewSource(name=name, source_id="b", units=units)),
        lambda: add_context(session, material),
    ):
        with pytest.raises(InvalidInput) if refused else nullcontext():
            store()
    assert KnowledgeSource.objects.filter(name=name).exists() != refused
    assert list(QuarantinedChunk.objects.values_list("source_name", flat=True)) == ([] if refused else [name, name])
    assert UnitEvent.objects.filter(reason=name).exists() != refused


@pytest.mark.usefixtures("at_once")
class TestStaging:
    @pytest.mark.rule("SESSION-13", "BASE-5")
    def test_the_session_sees_it_and_no_base_does(self, session: Session, base: KnowledgeBase) -> None:
        before = now(session).last_activity_at
        owner, row = stage_source(session, source("a", "The pump is blue", "The pump is loud"))
        assert row.unit_count == 2
        assert seen(session, "pump") == [("The pump is blue", "draft"), ("The pump is loud", "draft")]
        assert held(base, "pump") == []
        assert owner.is_dirty
        assert now(session).is_dirty
        assert now(session).last_activity_at > before  #
        assert event_kinds(session)[-1] == "draft.changed"
        assert last_payload(session, "draft.changed") == {"dirty": True, "source_count": 1, "unit_count": 2}
        assert unsaved(now(session)) == {"own_source_count": 1, "own_unit_count": 2, "removed_unit_count": 0}

    def test_the_same_id_replaces(self, session: Session) -> None:
        stage_source(session, source("a", "The pump is blue"))
        stage_source(session, source("b", "The pump is old"))
        stage_source(session, source("a", "The pump is red"))
        assert claims(session) == ["The pump is old", "The pump is red"]
        assert listed(session) == {"a", "b"}
        assert now(session).draft.source_count == 2

    @pytest.mark.rule("BASE-7")
    def test_a_source_of_the_base_is_replaced_here_alone(self, session: Session, base: KnowledgeBase) -> None:
        add_text(base, "a", "", source("a", "The pump is blue").units, source_id="a")
        mount_base(session, base, reason="load-api")
        other = create_session(session.project, base=KnowledgeBase.objects.get(pk=base.pk))
        stage_source(session, source("a", "The pump is red"))
        assert claims(session) == ["The pump is red"]
        assert claims(other) == held(base, "pump") == ["The pump is blue"]
        assert now(session).draft.source_count == 1

    @pytest.mark.rule("UNIT-16", "BASE-5")
    def test_a_source_is_removed_and_the_base_keeps_it_until_a_save(
        self, session: Session, base: KnowledgeBase
    ) -> None:
        add_text(base, "a", "", source("a", "The pump is blue").units, source_id="a")
        mount_base(session, base, reason="load-api")
        owner = remove_source(session, "a")
        assert owner.is_dirty
        assert (claims(session), listed(session), owner.draft.source_count) == ([], set(), 0)
        assert held(base, "pump") == ["The pump is blue"]
        saved = save_session_kb(session)
        assert held(base, "pump") == []
        assert list(sources(saved)) == []
        with pytest.raises(NotFound, match="no source 'a'"):
            remove_source(session, "a")
        stage_source(session, source("a", "The pump is green"))
        assert (claims(session), listed(session)) == (["The pump is green"], {"a"})

    @pytest.mark.rule("BASE-7")
    def test_what_is_told_and_what_is_staged_counts_once(self, session: Session) -> None:
        """Of equal units the one in the highest layer is visible; when it is removed, the next one is."""
        tell(session, "The pump is blue")
        stage_source(session, source("a", "The pump is blue"))
        assert seen(session, "pump") == [("The pump is blue", "session")]
        remove_source(session, "a")
        assert seen(session, "pump") == [("The pump is blue", "session")]

    def test_a_save_makes_all_of_it_the_base(self, session: Session, base: KnowledgeBase) -> None:
        for name in ("a", "b", "c"):
            stage_source(session, source(name, f"The pump {name} is blue"))
        tell(session, "The pump is loud")
        saved = save_session_kb(session)
        everything = ["The pump a is blue", "The pump b is blue", "The pump c is blue", "The pump is loud"]
        assert held(saved, "pump") == claims(session) == everything
        assert {row.source_id for row in sources(saved)} == {"a", "b", "c"}
        assert not now(session).is_dirty
        assert {layer.sealed_at is not None for layer in chain_of(saved)} == {True}
        compact_base(KnowledgeBase.objects.select_related("head").get(pk=saved.pk))
        assert held(saved, "pump") == everything

    def test_a_discarded_draft_is_kept_for_earlier_turns_alone(self, session: Session, base: KnowledgeBase) -> None:
        tell(session, "The pump is loud")
        stage_source(session, source("a", "The pump is blue"))
        stage_source(session, source("b", "The pump is old"))
        with pytest.raises(Conflict, match="unsaved changes"):
            mount_base(session, base, reason="load-api")
        mount_base(session, base, reason="load-api", discard_draft=True)
        assert seen(session, "pump") == [("The pump is loud", "session")]
        assert not now(session).is_dirty
        staged.sweep_staged(alone=True)
        kept = {"layer__kind": KnowledgeLayer.Kind.REMOVED}
        assert not KnowledgeSource.objects.exclude(**kept).exists()
        assert LayerUnit.objects.exclude(**kept).count() == 1
        assert not Posting.objects.exclude(unit__in=LayerUnit.objects.all()).exists()

    @pytest.mark.rule("SESSION-11", "BASE-16")
    def test_a_session_that_goes_away_takes_its_draft_along(self, session: Session) -> None:
        stage_source(session, source("a", "The pump is blue"))
        stage_source(session, source("b", "The pump is old"))
        delete_session(session)
        Session.objects.update(deleted_at="2020-01-01T00:00Z")
        purge_deleted_sessions()
        staged.sweep_staged(alone=True)
        assert set(KnowledgeLayer.objects.values_list("kind", flat=True)) == {"base"}
        assert not LayerUnit.objects.exists()

    @pytest.mark.rule("INGEST-4")
    @pytest.mark.parametrize(
        ("setting", "code"),
        [
            ("MRPVM_MAX_BASE_UNITS", "KB_VALIDATION_MAX_TOTAL_UNITS"),
            ("MRPVM_MAX_BASE_SOURCES", "KB_VALIDATION_MAX_SOURCES"),
            ("MRPVM_MAX_BASE_TEXT_BYTES", "KB_VALIDATION_TOO_LARGE"),
        ],
    )
    def test_a_limit_of_the_base_holds_before_the_save(
        self, session: Session, settings: object, setting: str, code: str
    ) -> None:
        setattr(settings, setting, 16 if setting.endswith("BYTES") else 1)
        stage_source(session, source("a", "The pump is blue"))
        with pytest.raises(TooLarge) as refused:
            stage_source(session, source("b", "The pump is loud"))
        assert refused.value.code == code
        assert claims(session) == ["The pump is blue"]
        assert KnowledgeSource.objects.get().source_id == "a"

    def test_an_id_that_another_took_meanwhile_is_not_replaced(self, session: Session) -> None:
        stage_source(session, source("a", "The pump is blue"))
        with pytest.raises(Conflict, match="got the id 'a' meanwhile"):
            stage_source(session, source("a", "The pump is red"), replaces=False)
        assert claims(session) == ["The pump is blue"]

    def test_a_text_that_another_stored_meanwhile_is_there_already(self, session: Session) -> None:
        stage_source(session, source("a", "The pump is blue"))
        with pytest.raises(Conflict) as refused:
            stage_source(session, source("a", "The pump is blue"), replaces=False)
        assert (refused.value.code, refused.value.details) == ("SOURCE_EXISTS", {"source_id": "a"})

    def test_a_draft_that_changes_while_a_source_is_staged(
        self, session: Session, base: KnowledgeBase, at_once: int
    ) -> None:
        if at_once:
            return
        other, did = create_base(session.project, "Motors"), []

        def meanwhile(written_count: int) -> None:
            if not did:
                did.append(stage_source(session, source("b", "The pump is old")))
                mount_base(session, other, reason="load-api", discard_draft=True)

        stage_source(session, source("a", "The pump is blue"), watch=meanwhile)
        assert claims(session) == ["The pump is blue"]
        assert now(session).mounted_kb == other

    def test_a_source_of_a_base_mounted_meanwhile_is_replaced(self, session: Session, at_once: int) -> None:
        if at_once:
            return
        other = create_base(session.project, "Motors")
        add_text(other, "a", "", source("a", "The pump is old").units, source_id="a")
        did: list[KnowledgeBase] = []

        def meanwhile(written_count: int) -> None:
            if not did:
                did.append(KnowledgeBase.objects.get(pk=other.pk))
                mount_base(session, did[0], reason="load-api", discard_draft=True)

        stage_source(session, source("a", "The pump is blue"), watch=meanwhile)
        assert now(session).mounted_kb == other
        assert claims(session) == ["The pump is blue"]

    def test_what_ends_it_leaves_nothing(self, session: Session, at_once: int) -> None:
        def too_late(written_count: int) -> None:
            raise EngineTimeout("too late")

        if at_once:
            return
        with pytest.raises(EngineTimeout):
            stage_source(session, source("a", "The pump is blue"), watch=too_late)
        assert not now(session).is_dirty
        assert not LayerUnit.objects.exists()


def chain_of(base: KnowledgeBase) -> list[KnowledgeLayer]:
    return list(KnowledgeLayer.objects.filter(pk__in=KnowledgeBase.objects.get(pk=base.pk).head.chain))


CHANGES = st.lists(
    st.tuples(st.sampled_from("abc"), st.lists(st.sampled_from(["red", "blue", "old"]), max_size=3, unique=True)),
    max_size=8,
)


@runs(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=CHANGES, large=st.lists(st.booleans(), min_size=8, max_size=8), save_after=st.integers(0, 8))
def test_any_changes_show_what_a_plain_dictionary_shows(
    project: Project, changes: list[tuple[str, list[str]]], large: list[bool], save_after: int
) -> None:
    """An empty list of words removes the source."""
    session = create_session(project, base=create_base(project, "Any"))
    expected: dict[str, list[str]] = {}
    for number, ((name, words), is_large) in enumerate(zip(changes, large, strict=False)):
        with override_settings(MRPVM_UNITS_AT_ONCE=0 if is_large else 200):
            if number == save_after:
                save_session_kb(session)
            if words:
                stage_source(session, source(name, *(f"The pump is {word}" for word in words)))
                expected[name] = words
            elif name in expected:
                remove_source(session, name)
                del expected[name]
    shown = {f"The pump is {word}" for words in expected.values() for word in words}
    draft = now(session).draft
    assert set(claims(session)) == shown
    assert (draft.unit_count, draft.source_count) == (len(shown), len(expected))
    assert listed(session) == set(expected)
