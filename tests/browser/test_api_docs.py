"""The API's documentation pages: drawn by their script under the security policy, and able to send requests."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import ConsoleMessage, Page, expect

from sessions_app.actions.settings.projects import ensure_default_project
from sessions_app.api.shell.docs import openapi_document
from sessions_app.models import Membership
from tests.live import LiveServer


@pytest.fixture
def complaints(page: Page) -> list[str]:
    """Return the browser's errors."""
    found: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "error":
            found.append(message.text)

    page.on("console", note)
    page.on("pageerror", lambda error: found.append(str(error)))
    page.add_init_script(
        "document.addEventListener('securitypolicyviolation',"
        " event => console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))"
    )
    return found


@pytest.fixture
def signed_in(live_asgi: LiveServer, page: Page) -> LiveServer:
    """Return the server after the browser was logged in as an editor."""
    user = User.objects.create_user("ann")
    Membership.objects.create(project=ensure_default_project(), user=user, role="editor")
    client = Client()
    client.force_login(user)
    cookie = client.cookies["mrpvm_session"]
    page.context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": live_asgi.url}])
    return live_asgi


@pytest.mark.rule("DECISION-27")
def test_the_docs_are_drawn_without_a_violation(signed_in: LiveServer, page: Page, complaints: list[str]) -> None:
    page.goto(f"{signed_in.url}/api/docs")
    operations = [item for path in openapi_document()["paths"].values() for item in path]
    expect(page.locator(".opblock")).to_have_count(len(operations))
    page.locator("#operations-sessions-create_session .opblock-summary-control").click()
    expect(page.locator("#operations-sessions-create_session .opblock-body")).to_be_visible()
    assert complaints == []


def test_the_docs_can_ask_the_server(signed_in: LiveServer, page: Page, complaints: list[str]) -> None:
    page.goto(f"{signed_in.url}/api/docs")
    operation = page.locator("#operations-knowledge-create_kb")
    operation.locator(".opblock-summary-control").click()
    operation.get_by_role("button", name="Try it out").click()
    operation.locator("textarea").fill('{"name": "From the docs"}')
    operation.get_by_role("button", name="Execute").click()
    expect(operation.locator(".live-responses-table tbody .response-col_status").first).to_contain_text("201")
    assert complaints == []


def test_the_docs_ask_for_a_login(live_asgi: LiveServer, page: Page) -> None:
    answer = Client().get("/api/docs")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/login?next=/api/docs")
