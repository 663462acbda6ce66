"""Saving and forking: what the base, the session and other sessions see afterwards."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from mrpvm.errors import Conflict, InvalidInput, NotFound
from sessions_app.actions.knowledge import forks
from sessions_app.actions.knowledge.bases import create_base, ensure_default_base
from sessions_app.actions.knowledge.forks import fork_base, fork_session_kb, save_session_kb
from sessions_app.actions.knowledge.mounts import mount_base
from sessions_app.actions.sessions.session import create_session
from sessions_app.layers import SeenLayers, SessionKnowledge, past_view
from sessions_app.models import KBMount, KnowledgeBase, KnowledgeLayer, KnowledgeSource, LayerUnit, Project, Session
from sessions_app.queries.knowledge.bases import told_units
from tests.actions.knowledge_scene import (
    ListeningRetriever,
    add_text,
    committing,
    event_kinds,
    held,
    last_payload,
    seen,
    stage,
    tell,
)
from tests.layers.units import make_unit


def fresh(session: Session) -> Session:
    return Session.objects.select_related("draft", "journal", "mounted_kb").get(pk=session.pk)


class TestForkBase:
    """A fork of a base points at its sealed head."""

    def test_it_holds_the_same_and_goes_its_own_way(self, base: KnowledgeBase) -> None:
        add_text(base, "manual", "", [make_unit("m::1", "The pump leaks")])
        fork = fork_base(base)
        add_text(fork, "notes", "", [make_unit("n::1", "The pump hums")])
        add_text(base, "more", "", [make_unit("o::1", "The pump is dry")])
        assert held(fork, "pump") == ["The pump hums", "The pump leaks"]
        assert held(base, "pump") == ["The pump is dry", "The pump leaks"]
        assert (fork.name, fork.parent, fork.is_default, fork.source_count) == ("Pumps fork", base, False, 1)

    @pytest.mark.rule("DECISION-51")
    def test_it_mounts_nothing_and_says_so(
        self, session: Session, base: KnowledgeBase, listener: ListeningRetriever
    ) -> None:
        mounts, kinds = KBMount.objects.count(), event_kinds(session)
        with committing():
            fork = fork_base(base, "Mine")
        assert KBMount.objects.count() == mounts
        assert event_kinds(session) == kinds
        (event,) = listener.heard
        assert (event.event_type, event.session_id, event.kb_id) == ("kb-forked", None, fork.kb_id)
        assert event.repository_meta is not None
        assert event.repository_meta["parent_kb_id"] == base.kb_id

    def test_names(self, project: Project) -> None:
        long = create_base(project, "x" * 200)
        assert fork_base(long).name == "x" * 195 + " fork"
        assert fork_base(long, " Mine ").name == "Mine"
        with pytest.raises(InvalidInput) as refused:
            fork_base(long, " ")
        assert refused.value.code == "KB_VALIDATION_MISSING_NAME"

    @pytest.mark.rule("DECISION-2")
    @pytest.mark.parametrize("size", [10, 500])
    def test_cost_does_not_depend_on_the_base(
        self, base: KnowledgeBase, size: int, django_assert_max_num_queries: Callable[..., object]
    ) -> None:
        add_text(base, "manual", "", [make_unit(f"m::{number}", f"pump {number}") for number in range(size)])
        layers = KnowledgeLayer.objects.count()
        with django_assert_max_num_queries(7):
            fork_base(base)
        assert KnowledgeLayer.objects.count() == layers
        assert LayerUnit.objects.count() == size


class TestForkSession:
    """A fork of what a session sees."""

    @pytest.mark.rule("DECISION-51", "BASE-12")
    def test_the_new_base_holds_draft_and_journal_and_is_mounted(self, session: Session, base: KnowledgeBase) -> None:
        add_text(base, "manual", "", [make_unit("m::1", "The pump leaks")])
        mount_base(session, base, reason="load-api")
        stage(session, "notes", "The pump hums")
        tell(session, "The pump is loud")
        actor = User.objects.create_user("ann")
        fork = fork_session_kb(session, actor=actor)
        everything = ["The pump hums", "The pump is loud", "The pump leaks"]
        assert held(fork, "pump") == everything
        assert seen(session, "pump") == [
            ("The pump hums", "kb"),
            ("The pump is loud", "session"),
            ("The pump leaks", "kb"),
        ]
        assert held(base, "pump") == ["The pump leaks"]
        now = fresh(session)
        assert (fork.name, fork.parent, fork.revision, fork.source_count) == ("Pumps fork", base, 1, 2)
        assert now.mounted_kb == fork
        assert not now.is_dirty
        assert now.journal.is_empty
        mount = KBMount.objects.get(session=session, until=None)
        assert (mount.knowledge_base, mount.reason, mount.mounted_by) == (fork, "fork", actor)

    @pytest.mark.rule("PLUGIN-43", "BASE-17")
    def test_browsers_and_plugins_hear_of_it_in_order(
        self, session: Session, base: KnowledgeBase, listener: ListeningRetriever
    ) -> None:
        before = fresh(session).event_sequence
        tell(session, "The pump is loud")
        with committing():
            fork = fork_session_kb(session, "Mine")
        assert event_kinds(session, before) == ["kb.forked", "kb.mounted", "draft.changed"]
        assert last_payload(session, "kb.forked") == {
            "kb_id": fork.kb_id,
            "kb_name": "Mine",
            "revision": 1,
            "parent_kb_id": base.kb_id,
        }
        assert [(event.event_type, event.session_id, event.reason) for event in listener.heard] == [
            ("kb-forked", session.session_id, "fork"),
            ("kb-loaded", session.session_id, "fork"),
        ]
        assert listener.heard[1].previous_kb_id == base.kb_id

    def test_nothing_new_makes_a_base_with_the_same_head(self, session: Session, base: KnowledgeBase) -> None:
        layers = KnowledgeLayer.objects.count()
        fork = fork_session_kb(session)
        assert fork.head_id == base.head_id
        assert KnowledgeLayer.objects.count() == layers

    @pytest.mark.rule("TURN-39")
    def test_a_failure_half_way_changes_nothing(
        self, session: Session, monkeypatch: pytest.MonkeyPatch, listener: ListeningRetriever
    ) -> None:
        stage(session, "notes", "The pump hums")
        tell(session, "The pump is loud")
        before = (seen(session, "pump"), event_kinds(session), KnowledgeBase.objects.count())

        def fail(*_: object, **__: object) -> None:
            raise RuntimeError("power cut")

        monkeypatch.setattr(forks, "point_at", fail)
        with committing(), pytest.raises(RuntimeError):
            fork_session_kb(session)
        with committing(), pytest.raises(RuntimeError):
            save_session_kb(session)
        assert (seen(session, "pump"), event_kinds(session), KnowledgeBase.objects.count()) == before
        assert fresh(session).is_dirty
        assert listener.heard == []


class TestSave:
    """A save moves the base's head to the session's knowledge."""

    @pytest.mark.rule("BASE-10")
    def test_others_see_it_when_they_mount_the_base_next(self, session: Session, base: KnowledgeBase) -> None:
        neighbour = create_session(base.project, base=base)
        stage(session, "notes", "The pump hums")
        tell(session, "The pump is loud")
        saved = save_session_kb(session)
        assert (saved, saved.revision, saved.source_count) == (base, 2, 1)
        assert held(base, "pump") == ["The pump hums", "The pump is loud"]
        assert seen(neighbour, "pump") == []
        mount_base(neighbour, base, reason="load-api")
        assert seen(neighbour, "pump") == [("The pump hums", "kb"), ("The pump is loud", "kb")]

    def test_browsers_and_plugins_hear_of_it(self, session: Session, listener: ListeningRetriever) -> None:
        before = fresh(session).event_sequence
        stage(session, "notes", "The pump hums")
        with committing():
            save_session_kb(session)
        assert event_kinds(session, before) == ["kb.saved", "kb.mounted", "draft.changed"]
        assert last_payload(session, "draft.changed") == {"dirty": False, "source_count": 1, "unit_count": 1}
        assert [(event.event_type, event.reason) for event in listener.heard] == [
            ("kb-saved", "save"),
            ("kb-loaded", "save"),
        ]

    @pytest.mark.rule("BASE-10")
    def test_the_journal_may_stay_out(self, session: Session, base: KnowledgeBase) -> None:
        stage(session, "notes", "The pump hums")
        tell(session, "The pump is loud")
        journal_id = fresh(session).journal_id
        save_session_kb(session, include_conversation_units=False)
        assert held(base, "pump") == ["The pump hums"]
        assert seen(session, "pump") == [("The pump hums", "kb"), ("The pump is loud", "session")]
        assert fresh(session).journal_id == journal_id
        stage(session, "more", "The pump is loud", "The pump is dry")
        assert seen(session, "pump") == [
            ("The pump hums", "kb"),
            ("The pump is dry", "draft"),
            ("The pump is loud", "session"),
        ]

    def test_chosen_units_go_and_the_others_stay(self, session: Session, base: KnowledgeBase) -> None:
        tell(session, "The pump is loud", "The pump is old", "The pump is dry")
        journal_id, everything = fresh(session).journal_id, seen(session, "pump")
        saved = save_session_kb(session, conversation_unit_ids=["session::The pump is old"])
        assert held(saved, "pump") == ["The pump is old"]
        assert seen(session, "pump") == everything
        assert fresh(session).journal_id == journal_id
        assert [unit.claim for unit in told_units(fresh(session))] == ["The pump is loud", "The pump is dry"]
        fork = fork_session_kb(fresh(session), conversation_unit_ids=["session::The pump is dry"])
        assert held(fork, "pump") == ["The pump is dry", "The pump is old"]
        save_session_kb(fresh(session))
        assert held(fork, "pump") == ["The pump is dry", "The pump is loud", "The pump is old"]
        assert held(saved, "pump") == ["The pump is old"]

    def test_an_earlier_view_shows_chosen_units_once(self, session: Session, base: KnowledgeBase) -> None:
        tell(session, "The pump is loud", "The pump is old")
        view = SessionKnowledge.of(fresh(session)).view
        own_count = len(view.session_layers) + len(view.drafts)
        moment = SeenLayers(
            own=view.chain[:own_count], drafts=view.drafts, mounted=view.chain[own_count], marks=view.marks,
            evidence_count=view.evidence_count, term_count=view.term_count,
        )  # fmt: skip
        save_session_kb(session, conversation_unit_ids=["session::The pump is old"])
        hits = SessionKnowledge(past_view(fresh(session), moment)).search({"pump": 1.0}, 10)
        assert sorted(hit.unit.text for hit in hits) == ["The pump is loud", "The pump is old"]

    @pytest.mark.parametrize("chosen", [["session::The pump is new"], [f"unit-{number}" for number in range(1_001)]])
    def test_a_choice_that_cannot_be_saved_changes_nothing(
        self, session: Session, base: KnowledgeBase, chosen: list[str]
    ) -> None:
        tell(session, "The pump is loud")
        with pytest.raises(InvalidInput):
            save_session_kb(session, conversation_unit_ids=[*chosen, "session::The pump is loud"])
        assert held(base, "pump") == []
        assert [unit.claim for unit in told_units(fresh(session))] == ["The pump is loud"]

    def test_chosen_and_left_out_is_a_contradiction(self, session: Session, base: KnowledgeBase) -> None:
        tell(session, "The pump is loud")
        with pytest.raises(InvalidInput, match="none of them is to be included"):
            save_session_kb(
                session, include_conversation_units=False, conversation_unit_ids=["session::The pump is loud"]
            )

    def test_a_name_renames_the_target(self, session: Session, base: KnowledgeBase) -> None:
        assert save_session_kb(session, name="Better pumps") == base
        assert KnowledgeBase.objects.get(pk=base.pk).name == "Better pumps"

    def test_into_another_base(self, session: Session, base: KnowledgeBase, project: Project) -> None:
        other = create_base(project, "Other")
        stage(session, "notes", "The pump hums")
        assert save_session_kb(session, target=other) == other
        assert held(other, "pump") == ["The pump hums"]
        assert held(base, "pump") == []
        assert fresh(session).mounted_kb == other

    @pytest.mark.rule("BASE-13")
    def test_into_a_base_that_it_never_mounted(self, session: Session, project: Project) -> None:
        """Changes that the caller has not seen are kept; a caller who names the revision has seen them."""
        other = create_base(project, "Other")
        add_text(other, "manual", "", [make_unit("m::1", "The pump leaks")])
        stage(session, "notes", "The pump hums")
        for expected in (None, 1, 3):
            with pytest.raises(Conflict, match="The draft is kept") as refused:
                save_session_kb(session, target=other, expected_revision=expected)
            assert refused.value.code == "KB_REVISION_CONFLICT"
            assert refused.value.details == {"kb_id": other.kb_id, "mounted_revision": None, "revision": 2}
        assert held(other, "pump") == ["The pump leaks"]
        assert fresh(session).is_dirty
        save_session_kb(session, target=other, expected_revision=2)
        assert held(other, "pump") == ["The pump hums"]
        assert fresh(session).mounted_kb == other

    def test_into_a_base_that_it_mounted_earlier(self, session: Session, base: KnowledgeBase, project: Project) -> None:
        other = create_base(project, "Other")
        add_text(base, "manual", "", [make_unit("m::1", "The pump leaks")])
        mount_base(session, base, reason="load-api")
        mount_base(session, other, reason="load-api")
        stage(session, "notes", "The pump hums")
        assert save_session_kb(session, target=base).revision == 3

    def test_over_a_change_there_is_no_way_but_a_fork(self, session: Session, base: KnowledgeBase) -> None:
        """This holds for every revision that the caller names."""
        add_text(base, "manual", "", [make_unit("m::1", "The pump leaks")])
        stage(session, "notes", "The pump hums")
        for expected in (None, 1, 2):
            with pytest.raises(Conflict, match="has been changed since"):
                save_session_kb(session, expected_revision=expected)
        assert held(base, "pump") == ["The pump leaks"]
        assert save_session_kb(session, fork=True).revision == 1

    def test_over_another_revision_than_the_caller_names(self, session: Session, base: KnowledgeBase) -> None:
        stage(session, "notes", "The pump hums")
        with pytest.raises(Conflict, match="at revision 1 now, not at revision 2"):
            save_session_kb(session, expected_revision=2)
        assert save_session_kb(session, expected_revision=1).revision == 2

    def test_into_another_projects_base(self, session: Session) -> None:
        stranger = create_base(Project.objects.create(name="Else", slug="else"), "Secret")
        stage(session, "notes", "The pump hums")
        with pytest.raises(NotFound) as refused:
            save_session_kb(session, target=stranger)
        assert refused.value.code == "KB_NOT_FOUND"
        assert fresh(session).is_dirty

    @pytest.mark.rule("BASE-10")
    def test_the_default_base_with_a_name_is_forked(self, project: Project, listener: ListeningRetriever) -> None:
        default = ensure_default_base(project)
        session = create_session(project)
        stage(session, "notes", "The pump hums")
        with committing():
            saved = save_session_kb(session, name="Mine")
        assert (saved.name, saved.parent) == ("Mine", default)
        assert held(default, "pump") == []
        assert [(event.event_type, event.reason) for event in listener.heard][-2:] == [
            ("kb-forked", "save-fork"),
            ("kb-loaded", "save-fork"),
        ]

    def test_as_a_fork_without_the_journal(self, session: Session, base: KnowledgeBase) -> None:
        stage(session, "notes", "The pump hums")
        tell(session, "The pump is loud")
        saved = save_session_kb(session, fork=True, include_conversation_units=False)
        assert saved.parent == base
        assert held(saved, "pump") == ["The pump hums"]
        assert held(base, "pump") == []


@pytest.mark.rule("DECISION-2")
@pytest.mark.parametrize("size", [10, 500])
@pytest.mark.parametrize(("act", "query_count"), [(fork_session_kb, 29), (save_session_kb, 31)])
def test_cost_does_not_depend_on_the_base(
    session: Session, base: KnowledgeBase, size: int, act: Callable[[Session], object], query_count: int,
    django_assert_max_num_queries: Callable[..., object],
) -> None:  # fmt: skip
    add_text(base, "manual", "", [make_unit(f"m::{number}", f"pump {number}") for number in range(size)])
    mount_base(session, base, reason="load-api")
    stage(session, "notes", "The pump hums")
    tell(session, "The pump is loud")
    units = LayerUnit.objects.count()
    with django_assert_max_num_queries(query_count):
        act(session)
    assert LayerUnit.objects.count() == units


class TestTwoSavers:
    """The second of two savers gets an error and loses nothing."""

    @pytest.mark.rule("BASE-13")
    def test_the_second_is_refused_and_keeps_its_draft(
        self, session: Session, base: KnowledgeBase, listener: ListeningRetriever
    ) -> None:
        second = create_session(base.project, base=base)
        stage(session, "notes", "The pump hums")
        stage(second, "more", "The pump is dry")
        save_session_kb(session)
        kinds = event_kinds(second)
        with committing(), pytest.raises(Conflict) as refused:
            save_session_kb(second, name="Renamed")
        assert refused.value.code == "KB_REVISION_CONFLICT"
        assert refused.value.details == {"kb_id": base.kb_id, "mounted_revision": 1, "revision": 2}
        assert seen(second, "pump") == [("The pump is dry", "draft")]
        assert held(base, "pump") == ["The pump hums"]
        assert KnowledgeBase.objects.get(pk=base.pk).name == "Pumps"
        assert event_kinds(second) == kinds
        assert listener.heard == []

    def test_it_may_save_as_a_fork(self, session: Session, base: KnowledgeBase) -> None:
        second = create_session(base.project, base=base)
        stage(second, "more", "The pump is dry")
        save_session_kb(session)
        assert held(save_session_kb(second, fork=True), "pump") == ["The pump is dry"]

    def test_one_saver_may_save_again_and_again(self, session: Session, base: KnowledgeBase) -> None:
        for number in range(3):
            stage(session, f"notes-{number}", f"The pump hums {number}")
            save_session_kb(session)
        assert KnowledgeBase.objects.get(pk=base.pk).revision == 4
        assert len(held(base, "pump")) == 3


class TestJournalSource:
    """The conversation of a session is one source of a base, however often it is saved."""

    @pytest.mark.rule("BASE-11")
    def test_units_keep_their_ids(self, session: Session, base: KnowledgeBase) -> None:
        tell(session, "The pump is loud", "The pump is old")
        save_session_kb(session)
        tell(session, "The pump is loud", "The pump is dry")
        save_session_kb(session)
        ids = set(LayerUnit.objects.values_list("unit_id", flat=True))
        source_ids = set(KnowledgeSource.objects.values_list("source_id", flat=True))
        (source_id,) = source_ids
        assert source_id.startswith("src-journal-")
        assert len(source_id) == len("src-journal-") + 16
        assert ids == {f"session::The pump is {how}" for how in ("loud", "old", "dry")}
        assert set(LayerUnit.objects.values_list("origin__source_id", flat=True)) == {source_id}
        assert held(base, "pump") == ["The pump is dry", "The pump is loud", "The pump is old"]

    @pytest.mark.rule("BASE-11")
    def test_it_is_not_counted_with_the_sources(self, session: Session, base: KnowledgeBase) -> None:
        tell(session, "The pump is loud")
        saved = save_session_kb(session)
        assert (saved.source_count, saved.head.unit_count) == (0, 1)
        assert KnowledgeSource.objects.get().kind == "conversation-journal"

    @pytest.mark.rule("BASE-11")
    def test_saving_without_news_adds_nothing(self, session: Session, base: KnowledgeBase) -> None:
        tell(session, "The pump is loud")
        save_session_kb(session)
        head, layers, units = base.head_id, KnowledgeLayer.objects.count(), LayerUnit.objects.count()
        save_session_kb(session)
        assert (KnowledgeLayer.objects.count(), LayerUnit.objects.count()) == (layers, units)
        assert seen(session, "pump") == [("The pump is loud", "session")]
        assert base.head_id == head
