"""An operator's actions on sessions, which send the same events to plugins as the API."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.forks import save_session_kb
from sessions_app.actions.sessions.session import UNDO_PERIOD, create_session, delete_session
from sessions_app.models import ExplainabilityTurn, KBMount, KnowledgeBase, Project, Session
from tests.actions.knowledge_scene import (
    ListeningRetriever,
    add_text,
    committing,
    event_kinds,
    held,
    seen,
    stage,
    tell,
)
from tests.actions.transactions import recorded
from tests.layers.units import make_unit
from tests.web.page_scene import links_of, parsed, text_at, texts_of

DRAFT = "(sources changed: 1, units added: 1, units removed: 0)"


@pytest.fixture
def project(db: None) -> Project:
    """Return a second project, which has no base yet."""
    return Project.objects.create(name="Works", slug="works")


def address_of(action: str, session: Session) -> str:
    return reverse(f"admin:sessions_app_session_{action}", args=[session.pk])


def run_a_turn_in(session: Session) -> ExplainabilityTurn:
    return ExplainabilityTurn.objects.create(
        session=session, turn_index=1, user_message="", lease_until=timezone.now() + timedelta(minutes=1)
    )


@pytest.fixture
def other(project: Project) -> KnowledgeBase:
    return create_base(project, "Motors")


def test_a_session_is_added_with_its_base(
    operators: Client, project: Project, other: KnowledgeBase, listener: ListeningRetriever
) -> None:
    entered = {"project": project.pk, "title": "Plans", "knowledge_base": other.pk}
    with committing():
        page = operators.post(reverse("admin:sessions_app_session_add"), entered)
    made = Session.objects.get()
    assert page.url == address_of("change", made)
    assert (made.title, made.mounted_kb) == ("Plans", other)
    assert [event.event_type for event in listener.heard] == ["session-created", "kb-loaded"]
    assert LogEntry.objects.get().action_flag == ADDITION


def test_a_session_is_not_added_on_another_projects_base(operators: Client, other: KnowledgeBase) -> None:
    stranger = Project.objects.create(name="Other", slug="other")
    page = operators.post(
        reverse("admin:sessions_app_session_add"), {"project": stranger.pk, "knowledge_base": other.pk}
    )
    assert text_at(page.text, "#id_knowledge_base_error") == "This base belongs to another project."
    assert not Session.objects.exists()


@pytest.mark.rule("DECISION-51")
def test_a_mount_is_made_recorded_and_told(
    operators: Client, operator: User, session: Session, base: KnowledgeBase, other: KnowledgeBase,
    listener: ListeningRetriever,
) -> None:  # fmt: skip
    address = address_of("mount", session)
    assert address in links_of(operators.get(address_of("change", session)).text)
    assert operators.get(address).status_code == 200
    with committing():
        page = operators.post(address, {"knowledge_base": other.pk}, follow=True)
    assert text_at(page.text, ".messagelist") == "“Motors” is mounted, revision 1."
    mount = KBMount.objects.get(session=session, until=None)
    assert (mount.knowledge_base, mount.reason, mount.mounted_by) == (other, "mount-admin", operator)
    assert [event.event_type for event in listener.heard] == ["kb-loaded"]
    told = listener.heard[0]
    assert (told.kb_id, told.previous_kb_id, told.reason) == (other.kb_id, base.kb_id, "mount-admin")
    assert event_kinds(session)[-1] == "kb.mounted"
    entry = LogEntry.objects.get()
    assert (entry.action_flag, entry.object_id, entry.user) == (CHANGE, str(session.pk), operator)
    assert other.kb_id in entry.change_message


@pytest.mark.rule("PAGE-11", "BASE-8")
def test_a_dirty_draft_is_warned_of_and_survives_the_attempt(
    operators: Client, session: Session, other: KnowledgeBase, listener: ListeningRetriever
) -> None:
    stage(session, "src-1", "The pump is blue")
    address = address_of("mount", session)
    assert DRAFT in text_at(operators.get(address).text, ".action-warning")
    with committing():
        page = operators.post(address, {"knowledge_base": other.pk})
    assert "WORKSPACE_DIRTY" in text_at(page.text, ".errorlist")
    assert parsed(page.text).css(f'option[value="{other.pk}"][selected]')
    session.refresh_from_db()
    assert session.mounted_kb != other
    assert session.is_dirty
    assert not listener.heard
    assert not LogEntry.objects.exists()
    operators.post(address, {"knowledge_base": other.pk, "discard_draft": "on"})
    session.refresh_from_db()
    assert session.mounted_kb == other
    assert not Session.objects.get(pk=session.pk).is_dirty


@pytest.mark.rule("DECISION-47")
@pytest.mark.parametrize("action", ["mount", "unmount", "save", "fork"])
def test_a_busy_session_is_left_alone(
    action: str, operators: Client, session: Session, other: KnowledgeBase, listener: ListeningRetriever
) -> None:
    run_a_turn_in(session)
    before = Session.objects.filter(pk=session.pk).values().get()
    with committing():
        page = operators.post(address_of(action, session), {"knowledge_base": other.pk, "name": "New"})
    assert text_at(page.text, ".errorlist") == "Another turn is running in this session. (TURN_IN_PROGRESS)"
    assert Session.objects.filter(pk=session.pk).values().get() == before
    assert not listener.heard
    assert not LogEntry.objects.exists()
    assert KnowledgeBase.objects.filter(is_default=False).count() == 2


def test_another_projects_base_is_neither_offered_nor_mounted(operators: Client, session: Session) -> None:
    stranger = Project.objects.create(name="Other", slug="other")
    foreign, own = create_base(stranger, "Foreign"), create_base(session.project, "Own")
    page = operators.post(address_of("mount", session), {"knowledge_base": foreign.pk})
    assert page.context["form"].errors["knowledge_base"]
    asked = {"app_label": "sessions_app", "model_name": "kbmount", "field_name": "knowledge_base"}
    found = operators.get(reverse("admin:autocomplete"), {**asked, "project_id": session.project_id}).json()
    assert {row["id"] for row in found["results"]} == {str(session.mounted_kb_id), str(own.pk)}
    assert parsed(operators.get(address_of("mount", session)).text).css(
        f'select[data-ajax--url$="project_id={session.project_id}"]'
    )


@pytest.mark.parametrize("with_conversation", [True, False])
def test_forking_what_a_session_sees_makes_and_mounts_a_base(
    operators: Client, session: Session, base: KnowledgeBase, listener: ListeningRetriever, with_conversation: bool
) -> None:
    stage(session, "src-1", "The pump is blue")
    tell(session, "The pump is loud")
    for action in ("save", "fork"):
        form = operators.get(address_of(action, session)).context["form"]
        assert not form["include_conversation_units"].value()
    entered = {"name": "Mine"} | ({"include_conversation_units": "on"} if with_conversation else {})
    with committing():
        page = operators.post(address_of("fork", session), entered, follow=True)
    fork = KnowledgeBase.objects.get(name="Mine")
    session.refresh_from_db()
    assert (session.mounted_kb, fork.parent) == (fork, base)
    assert held(fork, "pump") == ["The pump is blue", *(["The pump is loud"] if with_conversation else [])]
    assert held(base, "pump") == []
    assert [event.event_type for event in listener.heard] == ["kb-forked", "kb-loaded"]
    assert page.redirect_chain[-1][0] == reverse("admin:sessions_app_knowledgebase_change", args=[fork.pk])
    assert set(LogEntry.objects.values_list("action_flag", "object_id")) == {
        (CHANGE, str(session.pk)),
        (ADDITION, str(fork.pk)),
    }


@pytest.mark.rule("BASE-2")
def test_unmounting_leaves_the_default_base(
    operators: Client, operator: User, session: Session, base: KnowledgeBase, listener: ListeningRetriever
) -> None:
    stage(session, "src-1", "The pump is blue")
    address = address_of("unmount", session)
    assert DRAFT in text_at(operators.get(address).text, ".action-warning")
    assert "WORKSPACE_DIRTY" in text_at(operators.post(address, {}).text, ".errorlist")
    with committing():
        page = operators.post(address, {"discard_draft": "on"}, follow=True)
    assert text_at(page.text, ".messagelist") == "“Pumps” is unmounted; the session sees “Default KB”."
    session.refresh_from_db()
    assert session.mounted_kb.is_default
    mount = KBMount.objects.get(session=session, until=None)
    assert (mount.reason, mount.mounted_by) == ("unmount-admin", operator)
    assert [event.event_type for event in listener.heard] == ["kb-loaded"]
    assert base.kb_id in LogEntry.objects.get().change_message
    assert address not in links_of(page.text)
    assert text_at(operators.get(address, follow=True).text, ".messagelist") == "That is not possible any more."


@pytest.mark.rule("BASE-10")
@pytest.mark.parametrize("with_conversation", [True, False])
def test_saving_makes_what_a_session_has_the_base_s(
    operators: Client, session: Session, base: KnowledgeBase, listener: ListeningRetriever, with_conversation: bool
) -> None:
    stage(session, "src-1", "The pump is blue")
    tell(session, "The pump is loud")
    entered = {"include_conversation_units": "on"} if with_conversation else {}
    with committing():
        page = operators.post(address_of("save", session), entered, follow=True)
    assert text_at(page.text, ".messagelist") == "Saved into “Pumps”, revision 2."
    assert held(base, "pump") == ["The pump is blue", *(["The pump is loud"] if with_conversation else [])]
    assert [event.event_type for event in listener.heard] == ["kb-saved", "kb-loaded"]
    told = set(LogEntry.objects.values_list("action_flag", "content_type__model", "object_id", "change_message"))
    said = f"Saved from session “{session}” ({session.session_id}) into “Pumps” ({base.kb_id}), revision 2."
    assert told == {(CHANGE, "session", str(session.pk), said), (CHANGE, "knowledgebase", str(base.pk), said)}


def test_a_save_of_nothing_makes_no_revision(operators: Client, session: Session, base: KnowledgeBase) -> None:
    stage(session, "src-1", "The pump is blue")
    tell(session, "The pump is loud")
    operators.post(address_of("fork", session), {"name": "Mine", "include_conversation_units": "on"})
    page = operators.post(address_of("save", session), {"include_conversation_units": "on"}, follow=True)
    assert texts_of(page.text, ".messagelist li")[-1] == "There was nothing to save: “Mine” stays at revision 1."
    mine = KnowledgeBase.objects.get(name="Mine")
    assert (mine.revision, mine.revisions.count()) == (1, 1)
    page = operators.post(address_of("save", session), {"name": "Ours"}, follow=True)
    assert text_at(page.text, ".messagelist") == "Saved into “Ours”, revision 2."
    tell(session, "The pump is old")
    page = operators.post(address_of("save", session), {"include_conversation_units": "on"}, follow=True)
    assert text_at(page.text, ".messagelist") == "Saved into “Ours”, revision 3."
    assert held(mine, "pump") == ["The pump is blue", "The pump is loud", "The pump is old"]


def test_a_base_that_a_save_makes_is_logged_as_made(operators: Client, session: Session) -> None:
    stage(session, "src-1", "The pump is blue")
    page = operators.post(address_of("save", session), {"fork": "on", "name": "Mine"}, follow=True)
    made = KnowledgeBase.objects.get(name="Mine")
    assert page.redirect_chain[-1][0] == reverse("admin:sessions_app_knowledgebase_change", args=[made.pk])
    assert LogEntry.objects.get(action_flag=ADDITION).object_id == str(made.pk)


def test_a_save_goes_to_one_place(operators: Client, session: Session, base: KnowledgeBase) -> None:
    stage(session, "src-1", "The pump is blue")
    page = operators.post(address_of("save", session), {"target": base.pk, "fork": "on", "name": "Mine"})
    assert text_at(page.text, "#id_fork_error") == "Save into the chosen base or into a new one, not both."
    assert parsed(page.text).css('[value="Mine"]')
    assert KnowledgeBase.objects.count() == 1


def test_a_save_over_anothers_change_is_refused_a_fork_not(
    operators: Client, session: Session, base: KnowledgeBase
) -> None:
    stage(session, "src-1", "The pump is blue")
    other = create_session(session.project, base=base)
    tell(other, "The pump is loud")
    save_session_kb(other)
    address = address_of("save", session)
    page = operators.post(address, {"name": "Mine"})
    assert "KB_REVISION_CONFLICT" in text_at(page.text, ".errorlist")
    assert parsed(page.text).css('[value="Mine"]')
    assert (held(base, "pump"), LogEntry.objects.count()) == (["The pump is loud"], 0)
    operators.post(address, {"name": "Mine", "fork": "on"})
    assert held(KnowledgeBase.objects.get(name="Mine"), "pump") == ["The pump is blue"]


def test_an_unseen_base_is_saved_into_by_revision_alone(operators: Client, session: Session, project: Project) -> None:
    stage(session, "src-1", "The pump is blue")
    other = create_base(project, "Other")
    add_text(other, "manual", "", [make_unit("m::1", "The pump leaks")])
    address = address_of("save", session)
    page = operators.post(address, {"target": other.pk})
    assert "KB_REVISION_CONFLICT" in text_at(page.text, ".errorlist")
    assert "has never mounted" in text_at(page.text, ".errorlist")
    assert held(other, "pump") == ["The pump leaks"]
    page = operators.post(address, {"target": other.pk, "expected_revision": "2"}, follow=True)
    assert text_at(page.text, ".messagelist") == "Saved into “Other”, revision 3."
    assert held(other, "pump") == ["The pump is blue"]


def test_a_session_is_renamed_when_no_turn_runs(operators: Client, session: Session) -> None:
    turn = run_a_turn_in(session)
    refused = operators.post(address_of("rename", session), {"title": "Pumps"})
    assert text_at(refused.text, ".errorlist") == "Another turn is running in this session. (TURN_IN_PROGRESS)"
    session.refresh_from_db()
    assert session.title is None
    turn.delete()
    operators.post(address_of("rename", session), {"title": "  Pumps & co  "})
    session.refresh_from_db()
    assert session.title == "Pumps & co"
    assert event_kinds(session)[-1] == "session.renamed"
    assert parsed(operators.get(address_of("rename", session)).text).css('[value="Pumps & co"]')


def test_deleting_can_be_undone(operators: Client, session: Session) -> None:
    turn = run_a_turn_in(session)
    address = address_of("delete", session)
    assert texts_of(operators.get(address).text, "#content p")[1].startswith("For 10 minutes it can be brought back")
    page = operators.post(address, {"post": "yes"}, follow=True)
    session.refresh_from_db()
    turn.refresh_from_db()
    assert session.deleted_at
    assert turn.cancel_requested_at
    assert event_kinds(session)[-1] == "session.deleted"
    assert LogEntry.objects.get().action_flag == DELETION
    restore = address_of("restore", session)
    assert text_at(page.text, f'a[href="{restore}"]') == "Bring it back"
    shown = operators.get(address_of("change", session)).text
    assert restore in links_of(shown)
    assert address not in links_of(shown)
    assert address_of("mount", session) not in links_of(shown)
    operators.post(restore)
    session.refresh_from_db()
    assert session.deleted_at is None
    assert event_kinds(session)[-1] == "session.restored"


def test_bringing_back_too_late_is_refused(operators: Client, session: Session) -> None:
    delete_session(session)
    Session.objects.filter(pk=session.pk).update(deleted_at=timezone.now() - UNDO_PERIOD - timedelta(seconds=1))
    page = operators.post(address_of("restore", session))
    assert "deleted too long ago" in text_at(page.text, ".errorlist")
    session.refresh_from_db()
    assert session.deleted_at


def test_selected_sessions_are_deleted_softly(operators: Client, project: Project) -> None:
    sessions = [create_session(project) for _ in range(3)]
    chosen = sessions[:2]
    selection: dict[str, Any] = {"action": "delete_selected", "_selected_action": [row.pk for row in chosen]}
    address = reverse("admin:sessions_app_session_changelist")
    asked = operators.post(address, selection).text
    assert texts_of(asked, "#content p")[1].startswith("For 10 minutes each can be brought back")
    assert Session.objects.filter(deleted_at=None).count() == 3
    operators.post(address, selection | {"post": "yes"})
    assert set(Session.objects.exclude(deleted_at=None)) == set(chosen)
    assert all(event_kinds(row)[-1] == "session.deleted" for row in chosen)
    assert LogEntry.objects.filter(action_flag=DELETION).count() == 2


@pytest.mark.parametrize("action", ["mount", "unmount", "save", "fork", "rename"])
def test_an_expired_session_is_an_archive(action: str, operators: Client, session: Session) -> None:
    Session.objects.filter(pk=session.pk).update(expires_at=timezone.now() - timedelta(minutes=1))
    assert address_of(action, session) not in links_of(operators.get(address_of("change", session)).text)
    page = operators.post(address_of(action, session), {"title": "New", "name": "New"}, follow=True)
    assert text_at(page.text, ".messagelist") == "That is not possible any more."
    session.refresh_from_db()
    assert session.title is None


@pytest.mark.parametrize("action", ["save", "fork"])
def test_what_takes_long_is_not_one_transaction(
    operators: Client, session: Session, action: str, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.MRPVM_UNITS_AT_ONCE = 2
    tell(session, *(f"The pump has {number} blades" for number in range(9)))
    with recorded(monkeypatch) as transactions:
        operators.post(address_of(action, session), {"include_conversation_units": "on"})
    assert len(transactions) >= 5
    assert LogEntry.objects.filter(content_type__model="session", action_flag=CHANGE).count() == 1
    assert len(held(Session.objects.get().mounted_kb, "pump")) == 9


def test_a_mount_that_brings_much_along_is_not_one_transaction(
    operators: Client, session: Session, other: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    tell(session, *(f"The pump has {number} blades" for number in range(9)))
    save_session_kb(session)
    settings.MRPVM_UNITS_AT_ONCE = 2
    settings.MRPVM_UNITS_A_TRANSACTION = 3
    with recorded(monkeypatch) as transactions:
        operators.post(address_of("mount", session), {"knowledge_base": other.pk})
    assert len(transactions) >= 5
    assert len(seen(session, "pump")) == 9
    assert LogEntry.objects.count() == 1
