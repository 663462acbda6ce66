"""The admin in a real browser: no page violates the Content Security Policy."""

import re
from collections.abc import Callable

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page, expect

from sessions_app.actions.knowledge.bases import create_base
from sessions_app.models import ExplainabilityTurn, KnowledgeBase, Session
from tests.actions.knowledge_scene import stage
from tests.live import LiveServer
from tests.web.admin_scene import add_rows_of_every_kind

COLLECT = """
addEventListener("securitypolicyviolation", (event) => {
  (window.violations ??= []).push(`${event.violatedDirective}: ${event.blockedURI} ${event.sample}`);
});
"""


def admin_page(name: str, *arguments: object) -> str:
    return reverse(f"admin:{name}", args=arguments)


def violations(page: Page) -> list[str]:
    return page.evaluate("window.violations ?? []")


@pytest.fixture
def complaints(page: Page) -> list[str]:
    """Return a list to which the console's errors are added."""
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    return said


@pytest.fixture
def admin(live_asgi: LiveServer, page: Page, complaints: list[str]) -> Callable[[str], Page]:
    """Return a function that opens an address as an operator and fails on a violation of the policy."""
    page.add_init_script(COLLECT)
    client = Client()
    client.force_login(User.objects.create_superuser("operator"))
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": live_asgi.url}])

    def open_page(address: str) -> Page:
        response = page.goto(live_asgi.url + address, wait_until="networkidle")
        assert response is not None
        assert response.status == 200, address
        assert "'unsafe" not in response.headers["content-security-policy"]
        assert (violations(page), complaints) == ([], []), address
        return page

    return open_page


@pytest.fixture
def session(live_asgi: LiveServer) -> Session:
    add_rows_of_every_kind(2)
    session = Session.objects.select_related("project").latest("pk")
    stage(session, "src-1", "The pump is blue")
    return session


def test_a_breach_of_the_policy_would_be_noticed(admin: Callable[[str], Page], complaints: list[str]) -> None:
    page = admin(admin_page("index"))
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<p style=\"color: red\">')")
    assert "style-src-attr: inline " in violations(page)
    assert complaints


@pytest.mark.rule("DECISION-27")
def test_no_page_breaks_the_policy(admin: Callable[[str], Page], session: Session) -> None:
    base, turn = KnowledgeBase.objects.latest("pk"), ExplainabilityTurn.objects.latest("pk")
    for address in (
        admin_page("index"),
        admin_page("app_list", "sessions_app"),
        admin_page("sessions_app_session_changelist"),
        admin_page("sessions_app_session_change", session.pk),
        admin_page("sessions_app_session_history", session.pk),
        admin_page("sessions_app_session_mount", session.pk),
        admin_page("sessions_app_session_fork", session.pk),
        admin_page("sessions_app_session_delete", session.pk),
        admin_page("sessions_app_session_add"),
        admin_page("sessions_app_knowledgebase_change", base.pk),
        admin_page("sessions_app_knowledgebase_fork", base.pk),
        admin_page("sessions_app_kbmount_add"),
        admin_page("sessions_app_apikey_add"),
        admin_page("sessions_app_explainabilityturn_changelist"),
        admin_page("sessions_app_explainabilityturn_change", turn.pk),
        admin_page("sessions_app_membership_add"),
        admin_page("sessions_app_project_add"),
    ):
        admin(address)


def test_a_base_is_searched_for_and_mounted(
    admin: Callable[[str], Page], session: Session, complaints: list[str]
) -> None:
    motors = create_base(session.project, "Motors")
    page = admin(admin_page("sessions_app_session_mount", session.pk))
    page.locator(".select2-selection").click()
    options = page.locator(".select2-results__option")
    expect(options.filter(has_text="Motors")).to_be_visible()
    expect(options).to_have_count(KnowledgeBase.objects.filter(project=session.project).count())
    options.filter(has_text="Motors").click()
    page.get_by_role("button", name="Mount").click()
    expect(page.get_by_text("WORKSPACE_DIRTY")).to_be_visible()
    expect(page.locator(".select2-selection")).to_contain_text("Motors")
    page.get_by_label("Discard the draft").check()
    page.get_by_role("button", name="Mount").click()
    expect(page.get_by_text("“Motors” is mounted, revision 1.")).to_be_visible()
    assert complaints == []
    session.refresh_from_db()
    assert session.mounted_kb_id == motors.pk


def test_the_theme_is_the_one_of_all_pages(admin: Callable[[str], Page]) -> None:
    page = admin(admin_page("index"))
    page.emulate_media(color_scheme="light")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name=re.compile("dark and light")).click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    assert page.evaluate("localStorage.getItem('mrpvm.theme')") == "dark"
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
