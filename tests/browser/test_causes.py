"""Five causes of a wrong or missing answer: the head of the turn page names each and links to it."""

import re

import pytest
from playwright.sync_api import Page, expect
from pytest_django import Settings

from mrpvm.errors import MRPError
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.sessions.session import Choices
from sessions_app.ingest.load import Upload, load_source
from sessions_app.management.demo import HANDBOOK
from sessions_app.models import KnowledgeBase, Session
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import run_turn
from tests.browser.browsing import Browser, answer, aside, new_session


def handbook(browser: Browser) -> KnowledgeBase:
    base = aside(create_base, browser.project, "Ferry handbook")
    aside(load_source, base, Upload(name="ferry-handbook.md", data=HANDBOOK.encode()))
    base.refresh_from_db()
    return base


def open_last(browser: Browser, session: Session) -> Page:
    turn = session.turns.order_by("-turn_index")[0]
    return browser.open("turn", session.session_id, turn.request_id)


def follow(page: Page, words: str) -> None:
    page.locator("#verdict").get_by_role("link", name=re.compile(words)).click()


def test_a_wrong_fact_that_was_told(browser: Browser) -> None:
    session = new_session(browser.project, base=handbook(browser))
    answer(session, "Cars board at gate C.")
    answer(session, "Where do cars board?")
    page = open_last(browser, session)
    expect(page.locator("#verdict")).to_contain_text("ferry-handbook.md says gate B")
    follow(page, "one sentence of this conversation")
    expect(page.locator("mark")).to_have_text("Cars board at gate C.")


def test_a_base_that_is_not_mounted(browser: Browser) -> None:
    handbook(browser)
    session = new_session(browser.project)
    answer(session, "Where do vehicles board?")
    page = open_last(browser, session)
    expect(page.locator("#verdict")).to_contain_text("is empty")
    page.get_by_text("Find a base that knows it").click()
    expect(page.locator("#remedies")).to_contain_text("Vehicles board at gate B")
    page.get_by_role("button", name=re.compile("^Mount it")).click()
    expect(page.locator("#toasts")).to_contain_text("“Ferry handbook” now")
    assert aside(Session.objects.get, pk=session.pk).mounted_kb_id != session.mounted_kb_id
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#toasts")).to_contain_text(f"“{session.mounted_kb.name}” now")


def test_a_window_that_cut_older_messages(browser: Browser, settings: Settings) -> None:
    settings.MRPVM_HISTORY_MAX_TURNS = 1
    session = new_session(browser.project)
    for message in ("The crossing is the long one.", "My dog is called Rex.", "How many minutes does it take?"):
        answer(session, message)
    page = open_last(browser, session)
    expect(page.locator("#verdict")).to_contain_text("left out of the window")
    follow(page, "left out of the window")
    expect(page.locator("#context")).to_contain_text("left out")


def test_a_plugin_that_was_pinned(browser: Browser) -> None:
    session = new_session(browser.project)

    def fail() -> None:
        with pytest.raises(MRPError):
            run_turn(session, TurnCall(message="Where do cars board?", choices=Choices(goal_solver="gs-llm-fast")))

    aside(fail)
    page = open_last(browser, session)
    expect(page.locator("#verdict")).to_contain_text("you pinned this solver alone")
    follow(page, "you pinned")
    expect(page.locator("#choice")).to_contain_text("pinned for this turn")


def test_a_message_that_was_read_as_another(browser: Browser) -> None:
    session = new_session(browser.project)
    for message in (
        "Anna works at Contoso. Maria works at Fabrikam.",
        "Where does Maria work?",
        "And what does she earn?",
    ):
        answer(session, message)
    page = open_last(browser, session)
    expect(page.locator("#verdict")).to_contain_text("read as")
    expect(page.locator("#verdict")).to_contain_text("Maria")
    follow(page, "read as")
    expect(page.locator("#context")).to_contain_text("Read as")
