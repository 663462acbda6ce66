"""Mounting a base in a session."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from mrpvm.errors import Conflict, Expired, NotFound
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.mounts import mount_base
from sessions_app.layers.lifecycle import layers_of, release_layers
from sessions_app.models import (
    ExplainabilityTurn,
    HiddenUnit,
    KBMount,
    KnowledgeBase,
    KnowledgeLayer,
    KnowledgeSource,
    LayerUnit,
    Posting,
    Project,
    Session,
)
from tests.actions.knowledge_scene import (
    ListeningRetriever,
    add_text,
    committing,
    event_kinds,
    forget,
    held,
    last_payload,
    seen,
    stage,
    tell,
)
from tests.layers.units import make_unit


@pytest.fixture
def other(project: Project) -> KnowledgeBase:
    other = create_base(project, "Motors")
    add_text(other, "manual", "", [make_unit("m::1", "The motor is red"), make_unit("m::2", "The motor hums")])
    return KnowledgeBase.objects.get(pk=other.pk)


@pytest.mark.rule("BASE-9")
def test_the_mounted_base_is_seen_and_the_earlier_one_is_not(
    session: Session, base: KnowledgeBase, other: KnowledgeBase
) -> None:
    tell(session, "The motor is loud")
    mount = mount_base(session, other, reason="mount-api")
    assert seen(session, "motor") == [
        ("The motor hums", "kb"),
        ("The motor is loud", "session"),
        ("The motor is red", "kb"),
    ]
    fresh = Session.objects.get(pk=session.pk)
    assert (fresh.mounted_kb, fresh.mounted_layer_id) == (other, other.head_id)
    assert fresh.draft.parent_id == other.head_id
    assert fresh.journal_id == session.journal_id
    assert (mount.knowledge_base, mount.revision, mount.layer_id, mount.until) == (other, 2, other.head_id, None)
    mount_base(session, base, reason="mount-api")
    assert seen(session, "motor") == [("The motor is loud", "session")]


def test_every_mount_is_a_row_and_one_is_open(session: Session, base: KnowledgeBase, other: KnowledgeBase) -> None:
    actor = User.objects.create_user("ann")
    mount_base(session, other, reason="admin", actor=actor)
    mount_base(session, other, reason="load-api")
    rows = KBMount.objects.filter(session=session)
    assert [(row.knowledge_base_id, row.reason, row.mounted_by) for row in rows] == [
        (base.pk, "session-create", None),
        (other.pk, "admin", actor),
        (other.pk, "load-api", None),
    ]
    assert [row.until is None for row in rows] == [False, False, True]


@pytest.mark.rule("BASE-17")
def test_browsers_and_plugins_hear_of_it(
    session: Session, base: KnowledgeBase, other: KnowledgeBase, listener: ListeningRetriever
) -> None:
    before = Session.objects.get(pk=session.pk).event_sequence
    with committing():
        mount_base(session, other, reason="mount-api")
        assert listener.heard == []
    assert event_kinds(session, before) == ["kb.mounted"]
    assert last_payload(session, "kb.mounted") == {
        "kb_id": other.kb_id,
        "kb_name": "Motors",
        "revision": 2,
        "reason": "mount-api",
    }
    (event,) = listener.heard
    assert (event.event_type, event.reason) == ("kb-loaded", "mount-api")
    assert (event.session_id, event.kb_id, event.previous_kb_id) == (session.session_id, other.kb_id, base.kb_id)
    assert event.workspace_stats == {"source_count": 1, "unit_count": 2, "dirty": False}
    assert event.repository_meta is not None
    assert event.repository_meta["revision"] == 2


def test_mounting_the_same_base_again_takes_its_newest_head(session: Session, base: KnowledgeBase) -> None:
    add_text(base, "manual", "", [make_unit("m::1", "The motor is red")])
    assert seen(session, "motor") == []
    mount_base(session, base, reason="load-api")
    assert seen(session, "motor") == [("The motor is red", "kb")]


class TestDirtyDraft:
    """Unsaved sources are discarded only on request."""

    @pytest.mark.rule("PAGE-11")
    def test_it_refuses_the_mount_and_stays(
        self, session: Session, other: KnowledgeBase, base: KnowledgeBase, listener: ListeningRetriever
    ) -> None:
        stage(session, "notes", "The motor smells")
        before = event_kinds(session)
        for target in (other, base):
            with committing(), pytest.raises(Conflict) as refused:
                mount_base(session, target, reason="mount-api")
            assert refused.value.code == "WORKSPACE_DIRTY"
            assert refused.value.details == {"dirty": True, "source_count": 1, "unit_count": 1}
        assert seen(session, "motor") == [("The motor smells", "draft")]
        assert event_kinds(session) == before
        assert listener.heard == []
        assert KBMount.objects.filter(session=session).count() == 1

    def test_it_goes_when_told_so(self, session: Session, other: KnowledgeBase) -> None:
        stage(session, "notes", "The motor smells", "The motor hums")
        mount_base(session, other, reason="mount-api", discard_draft=True)
        draft_id = Session.objects.get(pk=session.pk).draft_id
        assert seen(session, "motor") == [("The motor hums", "kb"), ("The motor is red", "kb")]
        assert event_kinds(session)[-2:] == ["kb.mounted", "draft.changed"]
        assert last_payload(session, "draft.changed")["dirty"] is False
        assert not LayerUnit.objects.filter(layer=draft_id).exists()
        assert not KnowledgeSource.objects.filter(layer=draft_id).exists()
        assert not Posting.objects.filter(layer=draft_id).exists()

    @pytest.mark.rule("BASE-5")
    def test_what_turns_told_does_not_make_it_dirty(self, session: Session, other: KnowledgeBase) -> None:
        tell(session, "The motor is loud")
        mount_base(session, other, reason="mount-api")


def test_a_fact_told_and_held_by_the_base_counts_once(session: Session, other: KnowledgeBase) -> None:
    tell(session, "The motor is red")
    for _ in range(2):
        mount_base(session, other, reason="mount-api")
        assert seen(session, "motor") == [("The motor hums", "kb"), ("The motor is red", "session")]
        assert Session.objects.get(pk=session.pk).journal.unit_count == 2
    assert HiddenUnit.objects.count() == 1


def test_a_fact_forgotten_elsewhere_is_shown_by_its_base_again(
    session: Session, base: KnowledgeBase, other: KnowledgeBase
) -> None:
    mount_base(session, other, reason="mount-api")
    tell(session, "The motor is red")
    mount_base(session, base, reason="mount-api")
    forget(session, "The motor is red")
    mount_base(session, other, reason="mount-api")
    assert seen(session, "motor") == [("The motor hums", "kb"), ("The motor is red", "kb")]


def test_another_projects_base_does_not_exist(session: Session) -> None:
    stranger = create_base(Project.objects.create(name="Else", slug="else"), "Secret")
    with pytest.raises(NotFound) as refused:
        mount_base(session, stranger, reason="mount-api")
    assert refused.value.code == "KB_NOT_FOUND"


def test_a_running_turn_keeps_the_mount_out(session: Session, other: KnowledgeBase) -> None:
    turn = ExplainabilityTurn.objects.create(
        session=session, turn_index=1, user_message="?", lease_until=timezone.now() + timedelta(minutes=1)
    )
    with pytest.raises(Conflict) as refused:
        mount_base(session, other, reason="mount-api")
    assert refused.value.code == "TURN_IN_PROGRESS"
    assert refused.value.details == {"running_request_id": turn.request_id}


@pytest.mark.rule("SESSION-17")
def test_an_expired_session_is_an_archive(session: Session, other: KnowledgeBase) -> None:
    Session.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(Expired):
        mount_base(session, other, reason="mount-api")


@pytest.mark.rule("SESSION-13")
def test_a_mount_is_activity(session: Session, other: KnowledgeBase, settings: LazySettings) -> None:
    settings.MRPVM_SESSION_IDLE_TTL_MINUTES = 30
    Session.objects.update(last_activity_at=timezone.now() - timedelta(hours=1))
    mount_base(session, other, reason="mount-api")
    fresh = Session.objects.get(pk=session.pk)
    assert timezone.now() - fresh.last_activity_at < timedelta(minutes=1)
    assert fresh.expires_at == fresh.last_activity_at + timedelta(minutes=30)


@pytest.mark.rule("DECISION-2")
@pytest.mark.parametrize("size", [10, 500])
def test_cost_does_not_depend_on_the_base(
    session: Session, project: Project, size: int, django_assert_max_num_queries: Callable[..., object]
) -> None:
    large = create_base(project, "Large")
    add_text(large, "manual", "", [make_unit(f"m::{number}", f"motor {number}") for number in range(size)])
    tell(session, "motor 3", "motor is loud")
    rows = LayerUnit.objects.count(), Posting.objects.count()
    with django_assert_max_num_queries(23):
        mount_base(session, large, reason="mount-api")
    assert (LayerUnit.objects.count(), Posting.objects.count()) == rows


@pytest.mark.rule("BASE-16")
def test_a_purged_session_takes_its_layers_and_no_base(session: Session, other: KnowledgeBase) -> None:
    mount_base(session, other, reason="mount-api")
    stage(session, "notes", "The motor is red")
    tell(session, "The motor is red", "The motor is loud")
    base_layers = KnowledgeLayer.objects.filter(sealed_at__isnull=False).count()
    gone = Session.objects.get(pk=session.pk)
    with transaction.atomic():
        layers = layers_of(gone)
        gone.delete()
        release_layers(layers)
    assert KnowledgeLayer.objects.count() == base_layers
    assert held(other, "motor") == ["The motor hums", "The motor is red"]
    assert LayerUnit.objects.count() == 2
    assert not HiddenUnit.objects.exists()
