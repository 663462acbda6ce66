"""Permissions in the admin, and its handling of secrets."""

import re
from collections.abc import Callable

import pytest
from django.contrib import admin
from django.contrib.admin.models import ADDITION, LogEntry
from django.contrib.auth.models import Permission, User
from django.db.models import QuerySet
from django.test import Client
from django.urls import URLPattern, URLResolver, reverse

from sessions_app.admin.sessions.forms import ForkSessionBase
from sessions_app.models import ApiKey, KnowledgeBase, LoginLink, Membership, Project, Role, Session
from sessions_app.models.settings.project import digest
from tests.web.admin_scene import add_rows_of_every_kind
from tests.web.page_scene import links_of, parsed, text_at, visible_text

ACTIONS = {
    ("session", "mount"): {"change_session", "add_kbmount"},
    ("session", "fork"): {"change_session", "add_knowledgebase"},
    ("session", "rename"): {"change_session"},
    ("session", "delete"): {"delete_session"},
    ("knowledgebase", "fork"): {"add_knowledgebase"},
    ("knowledgebase", "rename"): {"change_knowledgebase"},
    ("project", "edit"): {"change_project"},
    ("membership", "role"): {"change_membership"},
}


def permissions_named(*names: str) -> QuerySet[Permission]:
    return Permission.objects.filter(codename__in=names, content_type__app_label="sessions_app")


@pytest.fixture
def staff(db: None, client: Client) -> Callable[..., Client]:
    """Return a function that logs in a staff member with only these permissions."""

    def log_in(*permissions: str) -> Client:
        member = User.objects.create_user("member", is_staff=True)
        member.user_permissions.set(permissions_named(*permissions))
        client.force_login(member)
        return client

    return log_in


@pytest.mark.parametrize(("model", "action"), ACTIONS)
def test_an_action_needs_each_of_its_permissions(
    model: str, action: str, staff: Callable[..., Client], session: Session, base: KnowledgeBase
) -> None:
    someone = User.objects.create_user("someone")
    membership = Membership.objects.create(project=session.project, user=someone)
    rows = {"session": session, "knowledgebase": base, "project": session.project, "membership": membership}
    row = rows[model]
    address = reverse(f"admin:sessions_app_{model}_{action}", args=[row.pk])
    page = reverse(f"admin:sessions_app_{model}_change", args=[row.pk])
    client = staff(f"view_{model}")
    member = User.objects.get(username="member")
    needed = ACTIONS[model, action]
    for missing in needed:
        member.user_permissions.set(permissions_named(f"view_{model}", *(needed - {missing})))
        assert client.get(address).status_code == 403
        assert client.post(address, {"post": "yes", "name": "New", "title": "New"}).status_code == 403
        assert address not in links_of(client.get(page).text)
    member.user_permissions.set(permissions_named(f"view_{model}", *needed))
    assert client.get(address).status_code == 200
    assert address in links_of(client.get(page).text)


@pytest.mark.parametrize(
    ("held", "name", "arguments", "named"),
    [
        ((), "session_changelist", (), "Can view session"),
        ((), "session_change", ("1",), "Can view session"),
        ((), "session_change", ("no such row",), "Can view session"),
        (("view_kbmount",), "kbmount_add", (), "Can change session” and “Can add KB mount"),
        (("view_kbmount", "change_session"), "kbmount_add", (), "Can add KB mount"),
        (("view_session",), "session_delete", ("1",), "Can delete session"),
        (("view_session", "add_kbmount"), "session_mount", ("1",), "Can change session"),
        (("change_session", "add_kbmount"), "knowledgebase_rename", ("1",), "Can view knowledge base"),
    ],
)
def test_a_refusal_names_what_is_missing(
    staff: Callable[..., Client], held: tuple[str, ...], name: str, arguments: tuple[str, ...], named: str
) -> None:
    page = staff(*held).get(reverse(f"admin:sessions_app_{name}", args=arguments))
    assert page.status_code == 403
    assert named in text_at(page.text, "h1 + p")


def test_a_refusal_names_no_permission_that_would_not_help(operators: Client, staff: Callable[..., Client]) -> None:
    for client in (operators, staff("view_message")):
        page = client.get(reverse("admin:sessions_app_message_add"))
        assert page.status_code == 403
        assert text_at(page.text, "h1 + p") == "This is not allowed here."
        assert "permission" not in visible_text(page.text)


def test_an_action_needs_the_permission_to_see_the_row(staff: Callable[..., Client], base: KnowledgeBase) -> None:
    client = staff("add_knowledgebase", "view_kbmount")
    address = reverse("admin:sessions_app_knowledgebase_fork", args=[base.pk])
    assert client.get(address).status_code == 403
    assert client.post(address, {"name": "New"}).status_code == 403
    assert not KnowledgeBase.objects.filter(parent=base).exists()


def test_a_mount_offers_no_action_on_a_hidden_session(
    staff: Callable[..., Client], session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ForkSessionBase, "permissions", ())
    member = staff("view_kbmount", "view_session")
    page = reverse("admin:sessions_app_kbmount_changelist")
    address = reverse("admin:sessions_app_session_fork", args=[session.pk])
    assert address in links_of(member.get(page).text)
    User.objects.get(username="member").user_permissions.set(permissions_named("view_kbmount"))
    assert address not in links_of(member.get(page).text)


@pytest.mark.parametrize("model", ["session", "knowledgebase", "apikey", "kbmount", "project", "membership"])
def test_adding_needs_permission(model: str, staff: Callable[..., Client]) -> None:
    client = staff(f"view_{model}")
    address = reverse(f"admin:sessions_app_{model}_add")
    assert client.get(address).status_code == 403
    assert client.post(address, {}).status_code == 403
    assert address not in links_of(client.get(reverse(f"admin:sessions_app_{model}_changelist")).text)


def test_a_missing_row_is_not_found(operators: Client) -> None:
    for pk in ("999", "nothing"):
        assert operators.post(reverse("admin:sessions_app_session_mount", args=[pk])).status_code == 404


def test_an_action_refuses_a_foreign_form(operator: User, session: Session) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(operator)
    address = reverse("admin:sessions_app_session_rename", args=[session.pk])
    assert client.post(address, {"title": "New"}).status_code == 403


def test_whoever_is_not_logged_in_goes_to_the_one_login_page(client: Client, db: None) -> None:
    address = reverse("admin:sessions_app_session_changelist")
    for page in (client.get(address), client.get(reverse("admin:login"), {"next": address})):
        assert page.url == f"{reverse('login')}?next={address}"
    for target in ("https://elsewhere.example/", "//elsewhere.example"):
        page = client.get(reverse("admin:login"), {"next": target})
        assert page.url == f"{reverse('login')}?next={reverse('admin:index')}"
    assert client.post(reverse("admin:login"), {"username": "operator", "password": "guess"}).status_code == 302


def test_whoever_is_no_operator_is_refused(client: Client, db: None) -> None:
    client.force_login(User.objects.create_user("visitor"))
    page = client.get(reverse("admin:sessions_app_session_changelist"), follow=True)
    assert page.status_code == 403
    assert "it needs the “staff status”" in text_at(page.text, "h1 + p")


def admin_addresses() -> list[str]:
    """Return each named address of the admin, with the id 1 if it has one."""
    found = []
    for entry in admin.site.urls[0]:
        for pattern in getattr(entry, "url_patterns", [entry]):
            if pattern.name and pattern.name not in {"login", "logout", "jsi18n"}:
                found.append("/admin/" + re.sub(r"<.*?>", "1", f"{prefix_of(entry)}{pattern.pattern}"))
    return found


def prefix_of(entry: URLPattern | URLResolver) -> str:
    return str(entry.pattern) if isinstance(entry, URLResolver) else ""


def test_no_address_opens_to_whoever_is_no_operator(staff: Callable[..., Client]) -> None:
    without = staff()
    open_to_staff = ("/admin/", "/admin/password_change/", "/admin/password_change/done/")
    addresses = [address for address in admin_addresses() if "^" not in address]
    assert len(addresses) > 150
    for address in addresses:
        nobody = Client().get(address)
        assert nobody.status_code == 302, address
        assert nobody["Location"].startswith((reverse("login"), reverse("admin:login"))), address
        if address not in open_to_staff:
            refused = without.post(address)
            is_led_away = refused.status_code == 302 and refused["Location"] == "/admin/"  # there is no row 1
            assert is_led_away or refused.status_code in (403, 404, 405), address


def test_a_key_is_shown_once_and_works(operators: Client, operator: User, project: Project) -> None:
    address = reverse("admin:sessions_app_apikey_add")
    assert operators.get(address).status_code == 200
    page = operators.post(address, {"project": project.pk, "name": "Robot <b>", "role": "viewer"})
    key = ApiKey.objects.get()
    assert (key.name, key.role, key.project, key.created_by) == ("Robot <b>", Role.VIEWER, project, operator)
    plain = page.context["done"].secret
    assert parsed(page.text).css(f'[value="{plain}"]')
    assert digest(plain) == key.digest
    assert "no-store" in page["Cache-Control"]
    entry = LogEntry.objects.get()
    assert entry.action_flag == ADDITION
    assert plain not in f"{entry.change_message} {entry.object_repr} {page.context['done']!r}"
    for name in ("changelist", "change", "history"):
        later = operators.get(
            reverse(f"admin:sessions_app_apikey_{name}", args=[] if name == "changelist" else [key.pk])
        )
        assert plain not in later.text
        assert key.digest not in later.text


def test_a_key_is_revoked_once(operators: Client, project: Project) -> None:
    operators.post(reverse("admin:sessions_app_apikey_add"), {"project": project.pk, "name": "Robot", "role": "editor"})
    key = ApiKey.objects.get()
    address = reverse("admin:sessions_app_apikey_revoke", args=[key.pk])
    page = reverse("admin:sessions_app_apikey_change", args=[key.pk])
    assert address in links_of(operators.get(page).text)
    operators.post(address)
    key.refresh_from_db()
    revoked_at = key.revoked_at
    assert revoked_at is not None
    assert address not in links_of(operators.get(page).text)
    assert text_at(operators.post(address, follow=True).text, ".messagelist") == "That is not possible any more."
    key.refresh_from_db()
    assert key.revoked_at == revoked_at


def test_a_deleted_user_loses_logins_and_nothing_else(operators: Client) -> None:
    add_rows_of_every_kind(1)
    user = User.objects.exclude(username="operator").get()
    address = reverse("admin:auth_user_delete", args=[user.pk])
    assert "secret-digest" not in operators.get(address).text
    operators.post(address, {"post": "yes"})
    assert not User.objects.filter(pk=user.pk).exists()
    assert not LoginLink.objects.exists()
    assert not Membership.objects.exists()
    assert (Session.objects.count(), ApiKey.objects.count(), KnowledgeBase.objects.count()) == (1, 1, 2)


@pytest.mark.parametrize(("role", "pages"), [(None, 0), (Role.VIEWER, 10), (Role.EDITOR, 10), (Role.ADMIN, 18)])
def test_the_index_links_only_pages_that_open(
    staff: Callable[..., Client], project: Project, role: Role | None, pages: int
) -> None:
    client = staff(*Permission.objects.filter(codename__startswith="view_").values_list("codename", flat=True))
    if role:
        Membership.objects.create(project=project, user=User.objects.get(username="member"), role=role)
    index = parsed(client.get(reverse("admin:index")).text)
    links = [link.attributes["href"] for link in index.css("td a[aria-describedby]") if link.text() == "Page"]
    assert [client.get(link).status_code for link in links] == [200] * pages
