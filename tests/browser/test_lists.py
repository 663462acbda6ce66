"""Lists and pages that ask the server from time to time: rows, focus and errors stay with the reader."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from sessions_app.actions.experiments.experiments import Author, delete_experiment
from sessions_app.experiments.running.experiments import start_trials
from sessions_app.experiments.trials.changes import Changes
from sessions_app.models import Experiment, Session
from tests.browser.browsing import Browser, aside, new_session
from tests.web.page_scene import add_turns


@pytest.fixture
def running(browser: Browser, session: Session) -> Experiment:
    """Return an experiment that goes on."""
    turn = session.turns.order_by("turn_index")[1]
    changes = [Changes(message="What is my dog called?")]
    made = aside(start_trials, session, turn, changes, Author(name="anna"), wait_ms=20_000)
    Experiment.objects.update(status="running", lease_until=timezone.now() + timedelta(hours=1))
    return made


def polls(page: Page) -> list[str]:
    """Return a list to which the page's timed requests are added."""
    asked: list[str] = []
    page.on("request", lambda request: "hx-request" in request.headers and asked.append(request.url))
    return asked


def test_older_turns_stay_and_the_keyboard_goes_on_at_them(browser: Browser) -> None:
    aside(add_turns, new_session(browser.project), 120)
    browser.page.clock.install()
    page = browser.open("turns")
    rows = page.locator("[data-row]")
    expect(rows).to_have_count(50)
    with page.expect_response(re.compile("/turns$")):
        page.clock.run_for(4_100)
    page.locator("[name=turn]").first.check()
    for count in (100, 120):
        page.get_by_role("link", name="Older turns").focus()
        page.keyboard.press("Enter")
        expect(rows).to_have_count(count)
        expect(rows.nth(count // 51 * 50).locator("[data-row-link]")).to_be_focused()
    asked = polls(page)
    page.clock.run_for(9_000)
    assert asked == []
    expect(page.locator("[name=turn]").first).to_be_checked()


def test_a_list_of_sessions_does_not_grow_by_itself(browser: Browser) -> None:
    for _ in range(30):
        new_session(browser.project)
    browser.page.clock.install()
    page = browser.open("sessions")
    for _ in range(2):
        with page.expect_response(re.compile("/list")) as answered:
            page.clock.run_for(4_100)
        assert answered.value.text().count("data-row-link") == 25


def test_the_button_that_stops_can_be_pressed_by_keys(browser: Browser, running: Experiment) -> None:
    page = browser.open("experiment", running.experiment_id)
    stop = page.get_by_role("button", name="Stop")
    stop.focus()
    for _ in range(2):
        with page.expect_response(re.compile("/experiments/")):
            pass
    expect(stop).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#toasts")).to_contain_text("The experiment is being stopped.")


def test_what_was_deleted_is_told_once_and_not_asked_for(browser: Browser, running: Experiment) -> None:
    page = browser.open("experiment", running.experiment_id)
    aside(delete_experiment, running)
    expect(page.locator("#toasts")).to_contain_text("This is no longer there.")
    asked = polls(page)
    page.wait_for_timeout(2_000)
    assert asked == []
    expect(page.locator("#toasts .toast")).to_have_count(1)
    browser.complaints.clear()  # the browser itself logs the 404


def test_a_server_that_starts_again_is_waited_for(browser: Browser, running: Experiment) -> None:
    page = browser.open("experiment", running.experiment_id)
    page.route("**/experiments/*", lambda route: route.fulfill(status=503, body="starting"), times=3)
    for status in (503, 503, 503, 200):
        with page.expect_response(re.compile("/experiments/")) as answered:
            pass
        assert answered.value.status == status
    assert page.locator("#toasts .toast").count() == 0
    browser.complaints.clear()  # the browser itself logs the 503
