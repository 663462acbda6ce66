"""An operator's actions on knowledge bases and mounts."""

import pytest
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.mounts import mount_base
from sessions_app.actions.sessions.session import create_session
from sessions_app.background.sweeper import sweep
from sessions_app.models import KBMount, KBRevision, KnowledgeBase, Project, Session
from tests.actions.knowledge_scene import (
    ListeningRetriever,
    add_text,
    committing,
    stage,
)
from tests.layers.units import make_unit
from tests.web.page_scene import input_fields, links_of, parsed, text_at


@pytest.fixture
def project(db: None) -> Project:
    """Return a second project, which has no base yet."""
    return Project.objects.create(name="Works", slug="works")


def test_a_base_is_added(operators: Client, project: Project) -> None:
    address = reverse("admin:sessions_app_knowledgebase_add")
    assert operators.get(address).status_code == 200
    operators.post(address, {"project": project.pk, "name": "Valves"})
    base = KnowledgeBase.objects.get()
    assert (base.name, base.project, base.revision, base.is_default) == ("Valves", project, 1, False)
    assert base.head.sealed_at is not None
    assert LogEntry.objects.get().action_flag == ADDITION


@pytest.mark.parametrize("name", ["", "   ", "x" * 201])
def test_a_base_needs_a_name_that_fits(name: str, operators: Client, project: Project) -> None:
    page = operators.post(reverse("admin:sessions_app_knowledgebase_add"), {"project": project.pk, "name": name})
    assert page.context["form"].errors
    assert not KnowledgeBase.objects.exists()


def test_a_base_is_renamed(operators: Client, base: KnowledgeBase) -> None:
    address = reverse("admin:sessions_app_knowledgebase_rename", args=[base.pk])
    assert parsed(operators.get(address).text).css('[value="Pumps"]')
    operators.post(address, {"name": "Blue pumps"})
    before = base.revision
    base.refresh_from_db()
    assert (base.name, base.revision) == ("Blue pumps", before)
    assert LogEntry.objects.get().action_flag == CHANGE


def test_a_base_leads_to_its_own_page(operators: Client, base: KnowledgeBase) -> None:
    page = operators.get(reverse("admin:sessions_app_knowledgebase_change", args=[base.pk])).text
    assert reverse("knowledge-base", args=[base.kb_id]) in links_of(page)


def test_a_base_is_forked_and_nothing_is_mounted(
    operators: Client, session: Session, base: KnowledgeBase, listener: ListeningRetriever
) -> None:
    address = reverse("admin:sessions_app_knowledgebase_fork", args=[base.pk])
    assert address in links_of(
        parsed(operators.get(reverse("admin:sessions_app_knowledgebase_change", args=[base.pk])).text)
    )
    with committing():
        page = operators.post(address, {"name": ""}, follow=True)
    fork = KnowledgeBase.objects.get(parent=base)
    assert (fork.name, fork.head_id) == ("Pumps fork", base.head_id)
    assert KBMount.objects.count() == 1
    assert [(event.event_type, event.session_id) for event in listener.heard] == [("kb-forked", None)]
    assert page.redirect_chain[-1][0] == reverse("admin:sessions_app_knowledgebase_change", args=[fork.pk])
    assert set(LogEntry.objects.values_list("action_flag", "object_id")) == {
        (CHANGE, str(base.pk)),
        (ADDITION, str(fork.pk)),
    }


def test_an_earlier_revision_is_restored(operators: Client, operator: User, base: KnowledgeBase) -> None:
    change = reverse("admin:sessions_app_knowledgebase_change", args=[base.pk])
    address = reverse("admin:sessions_app_knowledgebase_restore", args=[base.pk])
    assert address not in links_of(operators.get(change).text)
    for number in range(2):
        add_text(base, f"s{number}", "x", [make_unit(f"u{number}", f"Pump {number}")])
    assert address in links_of(operators.get(change).text)
    assert "2 (source-add, " in text_at(operators.get(address).text, ".action-warning")
    page = operators.post(address, {"revision": 7, "expected": 3})
    assert "KB_REVISION_NOT_FOUND" in text_at(page.text, ".errorlist")
    page = operators.post(address, {"revision": 2, "expected": 2})
    assert "KB_REVISION_CONFLICT" in text_at(page.text, ".errorlist")
    operators.post(address, input_fields(page.text))
    base.refresh_from_db()
    assert (base.revision, base.head.unit_count) == (4, 1)
    assert KBRevision.objects.get(knowledge_base=base, revision=4).created_by == operator
    assert LogEntry.objects.get().get_change_message() == "Restored revision 2 as revision 4."


def test_a_base_is_compacted_in_the_background(operators: Client, base: KnowledgeBase) -> None:
    change = reverse("admin:sessions_app_knowledgebase_change", args=[base.pk])
    address = reverse("admin:sessions_app_knowledgebase_compact", args=[base.pk])
    assert address not in links_of(operators.get(change).text)
    for number in range(3):
        add_text(base, f"s{number}", "x", [make_unit(f"u{number}", f"Pump {number}")])
    assert address in links_of(operators.get(change).text)
    operators.post(address)
    assert text_at(operators.get(change).text, ".field-depth .readonly").endswith("compaction was asked for")
    assert LogEntry.objects.get().get_change_message() == "Asked for its compaction."
    sweep()
    base.refresh_from_db()
    assert (base.head.depth, base.head.unit_count, base.revision) == (0, 3, 4)


@pytest.mark.parametrize("action", ["restore", "compact"])
def test_without_the_permission_nothing_of_it_is_offered(
    action: str, operators: Client, operator: User, base: KnowledgeBase
) -> None:
    User.objects.filter(pk=operator.pk).update(is_superuser=False, is_staff=True)
    operator.user_permissions.add(Permission.objects.get(codename="view_knowledgebase"))
    add_text(base, "s", "x", [make_unit("u", "Pump")])
    address = reverse(f"admin:sessions_app_knowledgebase_{action}", args=[base.pk])
    assert address not in links_of(
        parsed(operators.get(reverse("admin:sessions_app_knowledgebase_change", args=[base.pk])).text)
    )
    assert operators.post(address, {"revision": 1, "expected": 2}).status_code == 403
    base.refresh_from_db()
    assert (base.revision, base.compaction_asked_at) == (2, None)


def test_adding_a_mount_mounts(
    operators: Client, operator: User, session: Session, project: Project, listener: ListeningRetriever
) -> None:
    motors = create_base(project, "Motors")
    address = reverse("admin:sessions_app_kbmount_add")
    assert operators.get(address).status_code == 200
    with committing():
        operators.post(address, {"session": session.pk, "knowledge_base": motors.pk})
    mount = KBMount.objects.get(session=session, until=None)
    assert (mount.knowledge_base, mount.reason, mount.mounted_by) == (motors, "mount-admin", operator)
    assert [event.reason for event in listener.heard] == ["mount-admin"]
    entry = LogEntry.objects.get()
    assert (entry.action_flag, entry.object_id) == (ADDITION, str(mount.pk))


def test_adding_a_mount_is_refused_like_mounting(operators: Client, session: Session, project: Project) -> None:
    motors = create_base(project, "Motors")
    foreign = create_base(Project.objects.create(name="Other", slug="other"), "Foreign")
    address = reverse("admin:sessions_app_kbmount_add")
    page = operators.post(address, {"session": session.pk, "knowledge_base": foreign.pk})
    assert "belongs to another project" in text_at(page.text, "#id_knowledge_base_error")
    stage(session, "src-1", "The pump is blue")
    page = operators.post(address, {"session": session.pk, "knowledge_base": motors.pk})
    assert "WORKSPACE_DIRTY" in text_at(page.text, ".errorlist")
    assert KBMount.objects.count() == 1


def test_a_base_is_mounted_in_a_session_from_its_own_page(
    operators: Client, operator: User, session: Session, project: Project, listener: ListeningRetriever
) -> None:
    motors, elsewhere = create_base(project, "Motors"), Project.objects.create(name="Other", slug="other")
    stranger = create_session(elsewhere)
    address = reverse("admin:sessions_app_knowledgebase_mount", args=[motors.pk])
    assert address in links_of(
        parsed(operators.get(reverse("admin:sessions_app_knowledgebase_change", args=[motors.pk])).text)
    )
    assert parsed(operators.get(address).text).css(f'select[data-ajax--url$="project_id={project.pk}"]')
    asked = {"app_label": "sessions_app", "model_name": "kbmount", "field_name": "session", "project_id": project.pk}
    found = operators.get(reverse("admin:autocomplete"), asked).json()["results"]
    assert [row["id"] for row in found] == [str(session.pk)]
    assert operators.post(address, {"session": stranger.pk}).context["form"].errors["session"]
    stage(session, "src-1", "The pump is blue")
    assert "WORKSPACE_DIRTY" in text_at(operators.post(address, {"session": session.pk}).text, ".errorlist")
    with committing():
        operators.post(address, {"session": session.pk, "discard_draft": "on"})
    mount = KBMount.objects.get(session=session, until=None)
    assert (mount.knowledge_base, mount.reason, mount.mounted_by) == (motors, "mount-admin", operator)
    assert [event.event_type for event in listener.heard] == ["kb-loaded"]
    assert set(LogEntry.objects.values_list("action_flag", "object_id")) == {
        (CHANGE, str(motors.pk)),
        (ADDITION, str(mount.pk)),
    }


@pytest.mark.parametrize("key", ["9" * 30, "9" * 5000, "-1", "nothing", "1.5", "٣"])
def test_a_key_that_no_row_can_have_is_no_choice(
    key: str, operators: Client, session: Session, base: KnowledgeBase
) -> None:
    for name, entered in (
        ("kbmount_add", {"session": key, "knowledge_base": key}),
        ("session_add", {"project": session.project_id, "knowledge_base": key}),
    ):
        page = operators.post(reverse(f"admin:sessions_app_{name}"), entered)
        assert page.context["form"].errors
    page = operators.post(reverse("admin:sessions_app_session_mount", args=[session.pk]), {"knowledge_base": key})
    assert page.context["form"].errors["knowledge_base"]
    asked = {"app_label": "sessions_app", "model_name": "kbmount", "field_name": "session", "project_id": key}
    assert operators.get(reverse("admin:autocomplete"), asked).status_code == 200


def test_the_current_mount_offers_only_what_the_user_may_do(
    operators: Client, operator: User, session: Session
) -> None:
    User.objects.filter(pk=operator.pk).update(is_superuser=False, is_staff=True)
    operator.user_permissions.add(*Permission.objects.filter(codename__in=["view_kbmount", "change_session"]))
    page = operators.get(reverse("admin:sessions_app_kbmount_change", args=[KBMount.objects.get().pk])).text
    for action in ("mount", "unmount", "save", "fork"):
        assert reverse(f"admin:sessions_app_session_{action}", args=[session.pk]) not in links_of(page)


@pytest.mark.rule("DECISION-51")
def test_lists_fork_bases_sessions_and_mounts(
    operators: Client, operator: User, session: Session, base: KnowledgeBase
) -> None:
    forks = {
        "knowledgebase": reverse("admin:sessions_app_knowledgebase_fork", args=[base.pk]),
        "session": reverse("admin:sessions_app_session_fork", args=[session.pk]),
        "kbmount": reverse("admin:sessions_app_session_fork", args=[session.pk]),
    }
    lists = {model: reverse(f"admin:sessions_app_{model}_changelist") for model in forks}
    for model, address in forks.items():
        assert links_of(operators.get(lists[model]).text).count(address) == 1
    mount_base(session, base, reason="test")  # a fork is offered of the current mount only
    assert links_of(operators.get(lists["kbmount"]).text).count(forks["kbmount"]) == 1  # only of the current one
    User.objects.filter(pk=operator.pk).update(is_superuser=False, is_staff=True)
    operator.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    for model, address in forks.items():
        assert address not in links_of(operators.get(lists[model]).text)


def test_a_mount_is_added_by_who_may_change_the_session(operators: Client, operator: User) -> None:
    User.objects.filter(pk=operator.pk).update(is_superuser=False, is_staff=True)
    operator.user_permissions.add(Permission.objects.get(codename="add_kbmount"))
    assert operators.post(reverse("admin:sessions_app_kbmount_add")).status_code == 403


def test_the_current_mount_offers_what_its_session_does(operators: Client, session: Session) -> None:
    current = KBMount.objects.get()
    page = operators.get(reverse("admin:sessions_app_kbmount_change", args=[current.pk])).text
    for action in ("mount", "unmount", "save", "fork"):
        assert reverse(f"admin:sessions_app_session_{action}", args=[session.pk]) in links_of(page)
