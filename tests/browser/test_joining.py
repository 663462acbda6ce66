"""Joining by an invitation in a browser, which sends a form's token only where the page's referrer policy lets it."""

from django.urls import reverse
from playwright.sync_api import Browser as Chromium
from playwright.sync_api import expect

from sessions_app.actions.settings.members import create_invitation
from sessions_app.models import Membership
from tests.browser.browsing import Browser, aside, ready


def test_a_stranger_joins_and_a_user_logs_out_by_a_link(browser: Browser, chromium: Chromium) -> None:
    _, secret = aside(create_invitation, browser.project, "viewer", "Bo", "admin")
    address = browser.url + reverse("invitation", args=[secret])
    page = chromium.new_context().new_page()
    page.goto(address)
    page.get_by_label("Your name").fill("bo")
    page.get_by_label("A new password").fill("long enough 1")
    page.get_by_role("button", name="Join").click()
    expect(page.get_by_text("You are a member of")).to_be_visible()
    assert aside(Membership.objects.get, user__username="bo").role == "viewer"
    page.goto(browser.url + reverse("login-link", args=["unknown"]))
    ready(page).locator("summary.rail__account").click()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("button", name="Log in")).to_be_visible()
    page.context.close()
