"""A message after it was sent: stopped, refused, lost, drafted by a model and corrected."""

import re
from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, Route, expect

from sessions_app.actions.sessions.session import Choices
from sessions_app.models import Session
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import run_turn
from tests.browser.browsing import ENDED, Browser, HeldSolver, aside, live, new_session, ready, say
from tests.configured_model import acting
from tests.llm.provider import Asked, Behaviour, Provider
from tests.llm.provider import say as say_text

MODEL_TIMEOUT_MS = 20_000
"""The first call of a process loads the provider's SDK, which takes seconds on a busy machine."""


@pytest.fixture
def session(browser: Browser) -> Session:
    return new_session(browser.project)


def test_a_running_turn_can_be_stopped(browser: Browser, session: Session, held: HeldSolver) -> None:
    page = browser.open("session", session.session_id)
    say(page, "Why is the sky blue?")
    stop = page.get_by_role("button", name="Stop")
    expect(stop).to_be_visible()
    assert held.started.wait(10)
    stop.click()
    expect(page.locator(".exchange .way-in")).to_contain_text("Stopped after")
    expect(page.locator("#turn-answer > *")).to_have_count(0)
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()
    expect(page.get_by_label("Message", exact=True)).to_have_value("Why is the sky blue?")
    assert session.turns.get().status == "cancelled"


def test_a_turn_started_elsewhere_can_be_watched_and_stopped(
    browser: Browser, session: Session, held: HeldSolver, beside: Callable[..., None]
) -> None:
    page = browser.open("session", session.session_id)
    live(page)
    beside(session, TurnCall(message="Why is the sky blue?"))
    running = page.locator(".exchange.is-running")
    expect(running).to_contain_text("Working on it")
    running.get_by_role("button", name="Stop").click()
    expect(page.locator(".exchange .way-in")).to_contain_text("Stopped after")


def test_a_busy_session_gives_the_message_back(
    browser: Browser, session: Session, held: HeldSolver, beside: Callable[..., None]
) -> None:
    page = browser.open("session", session.session_id)
    beside(session, TurnCall(message="Why?"))
    assert held.started.wait(10)
    say(page, "Me too!")
    said = page.locator("#toasts .toast__text")
    expect(said).to_have_text("Another turn is running in this session. TURN_IN_PROGRESS")
    expect(said.locator("code")).to_have_text("TURN_IN_PROGRESS")
    message = page.get_by_label("Message", exact=True)
    expect(message).to_have_value("Me too!")
    expect(page.locator("#turn-answer > *")).to_have_count(0)
    message.fill("\n".join("abcdefghi"))
    for width in (1280, 1000, 390):
        page.set_viewport_size({"width": width, "height": 760})
        message.evaluate("(field) => field.scrollIntoView({ block: 'end' })")
        toast, composer = page.locator("#toasts .toast").bounding_box(), page.locator(".composer").bounding_box()
        assert toast
        assert composer
        is_beside = toast["x"] >= composer["x"] + composer["width"]
        assert is_beside or toast["y"] + toast["height"] <= composer["y"], (
            f"the message lies over the composer: {width}"
        )
    held.go_on.set()
    expect(page.locator(ENDED)).to_have_count(1)
    browser.complaints.clear()  # the browser logs the 409 itself


def test_a_turn_is_stopped_before_it_begins(browser: Browser, session: Session, held: HeldSolver) -> None:
    page = browser.open("session", session.session_id)
    waiting: list[Route] = []
    page.route("**/api/chat/completions", lambda route: waiting.append(route))
    say(page, "Why is the sky blue?")
    stop = page.get_by_role("button", name="Stop")
    stop.click()
    expect(stop).to_be_disabled()
    expect(page.locator(".turn-progress")).to_contain_text("Stopping")
    assert session.turns.count() == 0
    waiting[0].continue_()
    expect(page.locator(".exchange .way-in")).to_contain_text("Stopped after")
    assert session.turns.get().status == "cancelled"


def test_a_stop_that_does_not_arrive_can_be_tried_again(browser: Browser, session: Session, held: HeldSolver) -> None:
    page = browser.open("session", session.session_id)
    page.route("**/cancel", lambda route: route.abort(), times=1)
    say(page, "Why is the sky blue?")
    assert held.started.wait(10)
    stop = page.get_by_role("button", name="Stop")
    stop.click()
    expect(page.locator("#toasts")).to_contain_text("could not be stopped")
    stop.click()
    expect(page.locator(".exchange .way-in")).to_contain_text("Stopped after")
    browser.complaints.clear()  # the browser itself notes the lost request


def test_a_message_that_never_arrived_is_given_back(browser: Browser, session: Session) -> None:
    page = browser.open("session", session.session_id)
    page.route("**/api/chat/completions", lambda route: route.abort(), times=1)
    say(page, "My dog is called Rex.")
    expect(page.locator("#toasts")).to_contain_text("could not be reached")
    expect(page.locator("#turn-answer > *")).to_have_count(0)
    expect(page.get_by_label("Message", exact=True)).to_have_value("My dog is called Rex.")
    page.keyboard.press("Enter")
    expect(page.locator(ENDED)).to_have_count(1)
    browser.complaints.clear()  # the browser itself notes the lost request


def test_a_refused_message_stands_above_what_was_written_since(browser: Browser, session: Session) -> None:
    page = browser.open("session", session.session_id)
    waiting: list[Route] = []
    page.route("**/api/chat/completions", lambda route: waiting.append(route), times=2)
    message = page.get_by_label("Message", exact=True)
    say(page, "My dog is called Rex.")
    message.fill("My cat is called Tom.")
    expect(page.locator("#turn-answer")).to_contain_text("Rex")
    waiting[0].fulfill(status=503, json={"error": {"code": "RATE_LIMITED", "message": "Too many messages."}})
    expect(page.locator("#toasts")).to_contain_text("Too many messages.")
    expect(message).to_have_value("My dog is called Rex.\n\nMy cat is called Tom.")
    page.keyboard.press("Enter")
    message.fill("My fish is called Wanda.")
    waiting[1].abort()
    expect(page.locator("#toasts")).to_contain_text("Your message is in the field again.")
    expect(message).to_have_value(re.compile(r"^My dog .*Tom\.\n\nMy fish is called Wanda\.$", re.DOTALL))
    browser.complaints.clear()  # the browser itself logs the refusal and the lost request


def test_sending_again_leaves_what_is_being_written(browser: Browser, session: Session, held: HeldSolver) -> None:
    page = browser.open("session", session.session_id)
    message = page.get_by_label("Message", exact=True)
    say(page, "Why is the sky blue?")
    assert held.started.wait(10)
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".exchange .way-in")).to_contain_text("Stopped after")
    message.fill("My cat is")
    held.started.clear()
    page.get_by_role("button", name="Send again").click()
    assert held.started.wait(10)
    expect(message).to_have_value("My cat is")
    message.fill("My cat is called")
    page.get_by_role("button", name="Send again").first.click()
    expect(page.locator("#toasts")).to_contain_text("Another turn is running in this session.")
    expect(message).to_have_value("My cat is called")
    held.go_on.set()
    expect(page.locator(ENDED)).to_have_count(2)
    expect(page.locator(".exchange").last).to_contain_text("Why is the sky blue?")
    expect(message).to_have_value("My cat is called")


BREAKS_AFTER_THE_END = """
const ask = window.fetch;
window.fetch = async (address, options) => {
  const answer = await ask(address, options);
  if (!String(address).endsWith("/chat/completions")) return answer;
  const text = new TextEncoder().encode(await answer.text());
  const parts = [text];
  const pull = (stream) => (parts.length ? stream.enqueue(parts.pop()) : stream.error(new TypeError("it broke")));
  return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), { status: answer.status });
};
"""
"""The connection breaks after the last event of an answer."""


def test_an_answer_that_is_there_is_not_called_lost(browser: Browser, session: Session) -> None:
    browser.page.add_init_script(BREAKS_AFTER_THE_END)
    page = browser.open("session", session.session_id)
    say(page, "My dog is called Rex.")
    expect(page.locator(ENDED)).to_have_count(1)
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_visible()
    assert page.locator("#toasts .toast").count() == 0


def test_a_panel_that_does_not_arrive_says_so(browser: Browser, session: Session) -> None:
    page = browser.open("session", session.session_id)
    page.route("**/state?*", lambda route: route.abort(), times=1)
    tab = page.get_by_role("link", name="Settings").last
    tab.click()
    expect(page.locator("#toasts")).to_contain_text("The server could not be reached.")
    tab.click()
    expect(page.get_by_role("heading", name="Policies")).to_be_visible()
    browser.complaints.clear()  # the browser itself notes the lost request


# --- A model's streamed answer ---------------------------------------------------------------------------------------


def in_two_parts(first: str, second: str) -> Behaviour:
    """Return a provider's behaviour that sends the second part when the test releases it."""

    def write(asked: Asked) -> None:
        asked.begin_stream()
        asked.piece(first)
        asked.released.wait(20)
        asked.piece(second)
        asked.finish()

    return acting(write)


@pytest.fixture
def told(provider: Provider, session: Session) -> Session:
    """Return a session that was told a fact, which is found without a model."""
    pins = Choices(seed_detector="sd-symbolic", goal_solver="gs-symbolic")
    aside(run_turn, session, TurnCall(message="My dog is called Rex.", choices=pins))
    return session


def ask_the_model(page: Page) -> None:
    page.get_by_role("button", name="Options").click()
    page.get_by_label("Goal solver").select_option("gs-llm-fast")
    say(page, "What is my dog called?")


@pytest.mark.usefixtures("unvalidated")
def test_words_appear_while_the_model_writes(provider: Provider, browser: Browser, told: Session) -> None:
    provider.otherwise = in_two_parts("It is **Rex** [1], ", "your dog.")
    page = browser.open("session", told.session_id)
    ask_the_model(page)
    written = page.locator("#turn-answer .bubble--assistant")
    expect(written).to_have_text("It is **Rex** [1],", timeout=MODEL_TIMEOUT_MS)
    expect(page.locator(ENDED)).to_have_count(1)
    provider.released.set()
    expect(page.locator(ENDED)).to_have_count(2)
    expect(written).to_have_count(0)
    expect(page.locator(".exchange").last.locator("strong")).to_have_text("Rex")


def test_a_draft_is_shown_as_one_until_it_is_approved(provider: Provider, browser: Browser, told: Session) -> None:
    provider.otherwise = in_two_parts("It is Rex [1], ", "your dog.")
    page = browser.open("session", told.session_id)
    ask_the_model(page)
    draft = page.locator("#turn-answer .bubble--draft")
    expect(draft).to_contain_text("Draft of gs-llm-fast, not approved yet", timeout=MODEL_TIMEOUT_MS)
    expect(draft.locator(".bubble__text")).to_have_text("It is Rex [1],")
    provider.released.set()
    expect(page.locator(ENDED)).to_have_count(2)
    expect(draft).to_have_count(0)
    expect(page.locator(".exchange").last).to_contain_text("It is Rex 1, your dog.")


def test_another_tab_reads_the_draft_along_and_cannot_send(provider: Provider, browser: Browser, told: Session) -> None:
    provider.otherwise = in_two_parts("It is Rex [1], ", "your dog.")
    page = browser.open("session", told.session_id)
    other = page.context.new_page()
    other.goto(page.url)
    live(ready(other))
    ask_the_model(page)
    draft = other.locator(".exchange.is-running .live-draft")
    expect(draft).to_contain_text("Draft of gs-llm-fast, not approved yet", timeout=MODEL_TIMEOUT_MS)
    expect(draft.locator(".bubble__text")).to_have_text("It is Rex [1],")
    expect(other.get_by_role("button", name="Send")).to_be_disabled()
    watched = page.context.new_page()
    watched.goto(browser.url + reverse("turn", args=[told.session_id, told.turns.get(status="running").request_id]))
    expect(watched.locator("#turn-head .live-draft .bubble__text")).to_have_text("It is Rex [1],")
    provider.released.set()
    expect(other.locator(ENDED)).to_have_count(2)
    expect(other.locator(".live-draft")).to_have_count(0)
    expect(other.get_by_role("button", name="Send")).to_be_enabled()
    expect(watched.locator("#turn-head")).to_contain_text("It is Rex 1, your dog.")


def test_a_draft_that_was_refused_is_set_aside_for_the_next(
    provider: Provider, browser: Browser, told: Session
) -> None:
    refused = say_text('{"verdict": "rejected", "reason": "That is another dog."}')
    second = in_two_parts("It is Rex [1], ", "your dog.")
    provider.script.extend([say_text("It is Max [1]."), refused])
    provider.otherwise = second
    # A preference, not a pin: another solver may follow.
    Session.objects.update(preferred_goal_solver_plugin="gs-llm-fast", preferred_seed_detector_plugin="sd-symbolic")
    page = browser.open("session", told.session_id)
    say(page, "What is my dog called?")
    drafts = page.locator("#turn-answer .bubble--draft")
    expect(drafts).to_have_count(2, timeout=MODEL_TIMEOUT_MS)
    expect(drafts.first).to_have_class(re.compile("is-set-aside"))
    expect(drafts.first).to_contain_text("Draft of gs-llm-fast, set aside: it did not hold")
    expect(drafts.last).to_contain_text("not approved yet")
    expect(drafts.last.locator(".bubble__text")).to_have_text("It is Rex [1],")
    provider.released.set()
    expect(page.locator(ENDED)).to_have_count(2)
    expect(drafts).to_have_count(0)
    expect(page.locator(".exchange").last).not_to_contain_text("Max")
