"""The diagnostics panel: three turns with a model, and the request of the third."""

import json

import pytest
from playwright.sync_api import expect
from pytest_django import Settings

from sessions_app.actions.sessions.session import Choices
from sessions_app.models import Session
from sessions_app.provider_threads import forget_provider_threads
from tests.browser.barriers import problems
from tests.browser.browsing import ENDED, Browser, new_session, say
from tests.llm.provider import Provider


@pytest.mark.rule("CONTEXT-8", "CONTEXT-51")
def test_three_turns_follow_the_last_response_in_bounds(
    browser: Browser, provider: Provider, unvalidated: None, settings: Settings
) -> None:
    settings.MRPVM_LLM_API = "responses"
    forget_provider_threads()
    choices = Choices(seed_detector="sd-symbolic", goal_solver="gs-llm-fast")
    session = new_session(browser.project, choices=choices)
    Session.objects.filter(pk=session.pk).update(
        flags={"history_max_turns": 1, "enable_history_summarization": False, "enable_query_rewriting": False}
    )
    page = browser.open("session", session.session_id, query="?panel=settings")
    page.get_by_text("Diagnostics", exact=True).click()
    panel = page.locator("#diagnostics")
    follows = panel.locator("dt", has_text="previous_response_id in last request").locator(
        "xpath=following-sibling::dd[1]"
    )
    expect(panel).to_contain_text("no request yet")
    expect(follows).to_have_text("no")
    for count, message in enumerate(("My dog is called Rex.", "My cat is called Tom.", "What is my dog called?"), 1):
        say(page, message)
        expect(page.locator(ENDED)).to_have_count(count)
        expect(panel).to_contain_text(f"Of turn {count}, the latest.")
        expect(follows).to_have_text("no" if count == 1 else "yes")
    panel.get_by_text("Outbound Request JSON").click()
    shown = panel.locator("#diagnostics-outbound pre")
    expect(shown).to_be_visible()
    sent = json.loads(shown.evaluate("element => element.textContent"))
    assert sent == provider.bodies[-1]
    said = [item["content"] for item in sent["input"]]
    assert [text for text in said if text == "My dog is called Rex."] == []
    assert "My cat is called Tom." in said
    assert "What is my dog called?" in said[-1]
    expect(panel).to_contain_text("2 messages left out, by the cap on messages")
    panel.get_by_text("Tool Calls").click()
    expect(panel.locator("#diagnostics-tools")).to_contain_text("None")
    assert browser.policy_breaches() + browser.complaints == []
    assert problems(browser) == []
