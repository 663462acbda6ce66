"""API keys in the browser: created, copied, used, revoked. Settings: a model for a role, suggested and saved."""

import httpx2 as httpx
import pytest
from django.urls import reverse
from playwright.sync_api import expect

from sessions_app.actions.settings.projects import create_project, ensure_first_admin, set_member
from sessions_app.queries.settings.model_roles import shared_config
from tests.browser.browsing import Browser, aside, ready
from tests.llm.provider import Provider


def call(browser: Browser, key: str) -> int:
    """Call the API with a key and without the browser's login; return the status."""
    return httpx.get(f"{browser.url}/api/sessions", headers={"Authorization": f"Bearer {key}"}).status_code


def test_a_key_is_made_copied_used_and_revoked(browser: Browser) -> None:
    page = browser.open("api-keys")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_label("What the key is for").fill("For the bot")
    page.get_by_label("Role").select_option("viewer")
    page.get_by_role("button", name="Create a key").click()
    expect(page.get_by_text("“For the bot” is ready.")).to_be_visible()
    page.locator("html.is-ready").wait_for(state="attached")
    page.get_by_role("button", name="Copy").first.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    key = page.evaluate("navigator.clipboard.readText()")
    page = browser.open("api-keys")
    row = page.get_by_role("row").filter(has_text="For the bot")
    expect(row).to_contain_text("never")
    expect(page.locator("main")).not_to_contain_text(key)
    assert call(browser, key) == 200
    page.reload()
    expect(row).not_to_contain_text("never")
    row.get_by_text("Revoke", exact=False).first.click()
    row.get_by_role("button", name="Yes, revoke for good").click()
    expect(page.get_by_text("Revoked “For the bot”.")).to_be_visible()
    expect(row).to_contain_text("revoked")
    assert call(browser, key) == 401


@pytest.mark.rule("PAGE-12")
def test_a_role_gets_a_model_of_the_provider_s(provider: Provider, browser: Browser) -> None:
    page = browser.open("settings")
    expect(page.locator("#model-names option")).to_have_count(3, timeout=30_000)  # the SDK is loaded first
    page.get_by_label("goal-fast", exact=False).first.fill("served")
    own = page.get_by_label("Model of gs-llm-deep")
    expect(own).to_be_hidden()
    page.get_by_label("gs-llm-deep").first.select_option("model")
    own.fill("other")
    page.get_by_label("Thinking").select_option("high")
    page.get_by_label("Verbosity").select_option("low")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved. New conversations use it")).to_be_visible()
    expect(page.get_by_label("Thinking")).to_have_value("high")
    expect(page.get_by_label("goal-fast", exact=False).first).to_have_value("served")
    config = aside(shared_config, browser.project)[0]
    assert (config["thinkingLevel"], config["verbosity"]) == ("high", "low")
    assert config["roles"]["goal-fast"] == {"model": "served"}
    assert config["pluginOverrides"]["gs-llm-deep"] == {"model": "other"}


def test_a_form_opened_before_a_switch_of_projects_is_refused(browser: Browser) -> None:
    other = aside(create_project, "Other")
    aside(set_member, other, aside(ensure_first_admin, browser.project), "admin")
    before = browser.page.context.new_page()
    before.goto(browser.url + reverse("quotas"))
    page = browser.open("projects")
    page.get_by_role("button", name="Other").click()
    expect(page.get_by_text("The pages show “Other” now.")).to_be_visible()
    ready(before).get_by_role("textbox", name="Sessions").fill("3")
    before.get_by_role("button", name="Save").click()
    expect(before.get_by_text("Nothing was done: the page that sent this is of “Default”")).to_be_visible()
    before.get_by_role("button", name="Show “Default”").click()
    expect(before.get_by_text("What the project Default may use")).to_be_visible()
    other.refresh_from_db()
    assert other.quotas == {}
