"""A conversation in the browser: streamed answers, live state, a socket that is cut, stopping, undo."""

import re
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session as Login
from django.utils import timezone
from playwright.sync_api import Route, WebSocketRoute, expect

from sessions_app.actions.sessions.session import delete_session, rename_session
from sessions_app.models import Session
from tests.browser.browsing import (
    ENDED,
    Browser,
    HeldSolver,
    answer,
    aside,
    live,
    new_session,
    ready,
    say,
)
from tests.web.page_scene import add_turns


@pytest.fixture
def session(browser: Browser) -> Session:
    return new_session(browser.project)


def test_from_the_link_to_an_explained_answer(browser: Browser) -> None:
    page = browser.page
    expect(page.get_by_text("No conversation yet")).to_be_visible()
    page.get_by_role("button", name="New conversation").click()
    expect(page.get_by_label("Message", exact=True)).to_be_focused()
    say(page, "My dog is called Rex. My cat is called Tom.")
    expect(page.locator(ENDED)).to_have_count(1)
    say(page, "What is my dog called?")
    expect(page.locator(ENDED)).to_have_count(2)
    expect(page.locator(".exchange").last).to_contain_text("My dog is called Rex.")
    # The streamed answer was replaced by the stored message: nothing is shown twice.
    expect(page.locator("#turn-answer > *")).to_have_count(0)
    expect(page.locator(".chat").get_by_text("What is my dog called?")).to_have_count(1)
    expect(page.locator("#session-state")).to_contain_text("My cat is called Tom.")
    expect(page.locator("#session-state")).to_contain_text("from turn 1")
    expect(page.get_by_role("heading", level=1)).to_have_text("My dog is called Rex. My cat is called Tom.")
    page.get_by_role("link", name="explain").last.click()
    expect(page.locator("svg.graph")).to_be_visible()
    ready(page)
    page.locator("svg.graph .node", has_text="Fast KB").click()
    expect(page.locator("#detail")).to_contain_text("kb-fast")
    assert "sel=exec-0." in page.url
    page.get_by_role("tab", name="Output").click()
    expect(page.locator("#panel-output")).to_contain_text("My dog is called Rex.")
    page.get_by_role("link", name="Context", exact=True).click()
    expect(page.locator("#context")).to_contain_text("cited")


@pytest.mark.rule("PAGE-14")
def test_an_answer_streams_beside_one_line_of_progress(browser: Browser, session: Session, held: HeldSolver) -> None:
    page = browser.open("session", session.session_id)
    say(page, "Why is the sky blue?")
    progress = page.locator(".turn-progress")
    expect(progress).to_contain_text("is working")
    expect(progress.locator(".turn-progress__line > span")).to_have_count(1)
    expect(page.locator("#turn-answer .bubble--user")).to_have_text("Why is the sky blue?")
    # The conversation also has the running turn, and must not show it twice.
    expect(page.locator("#messages .is-running")).to_be_attached()
    expect(page.locator("#messages .is-running")).to_be_hidden()
    held.go_on.set()
    expect(progress).to_be_hidden()
    expect(page.locator(".exchange .bubble--assistant")).to_contain_text("I don't know")
    assert "is working" not in page.locator(".exchange").last.inner_text()


@pytest.mark.rule("DECISION-50")
def test_a_turn_of_the_api_appears_on_the_open_page(browser: Browser, session: Session) -> None:
    page = browser.open("session", session.session_id)
    live(page)
    answer(session, "My dog is called Rex.")
    expect(page.locator(".exchange")).to_contain_text("My dog is called Rex.")
    expect(page.locator("#session-state .unit__text").first).to_have_text("My dog is called Rex.")
    aside(rename_session, session, "<script>alert(1)</script>")
    expect(page.get_by_role("heading", level=1)).to_have_text("<script>alert(1)</script>")
    live(page)


def test_events_missed_by_a_socket_are_applied_once(browser: Browser, session: Session) -> None:
    sockets: list[WebSocketRoute] = []
    away = False

    def on_socket(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        if away:
            socket.close(code=1012)
        else:
            socket.connect_to_server()

    browser.page.route_web_socket(re.compile("/live/"), on_socket)
    page = browser.open("session", session.session_id)
    live(page)
    answer(session, "My dog is called Rex.")
    expect(page.locator(ENDED)).to_have_count(1)
    away = True
    sockets[-1].close(code=1012)
    expect(page.locator("#live-state").first).to_have_attribute("data-state", "waiting")
    for message in ("My cat is called Tom.", "My rabbit is called Bella."):
        answer(session, message)
    expect(page.locator(ENDED)).to_have_count(1)
    away = False
    live(page)
    expect(page.locator(ENDED)).to_have_count(3)
    expect(page.locator("#session-state [id^=unit-]")).to_have_count(3)
    answer(session, "My car is red.")
    expect(page.locator(ENDED)).to_have_count(4)
    session.refresh_from_db()
    seen = page.evaluate("window.numbers")
    assert seen == list(range(3, session.event_sequence + 1))


@pytest.mark.rule("PAGE-10")
def test_choices_hold_for_the_message_they_stand_beside(browser: Browser, session: Session) -> None:
    page = browser.open("session", session.session_id)
    page.get_by_role("button", name="Options").click()
    page.get_by_label("Deliberation level").select_option("2")
    page.get_by_role("button", name="Options").click()
    expect(page.get_by_label("Deliberation level")).to_be_hidden()
    expect(page.get_by_role("button", name="Options")).to_contain_text("1 chosen")
    say(page, "My dog is called Rex.")
    expect(page.locator(ENDED)).to_have_count(1)
    assert session.turns.get().deliberation_level == 2
    page.get_by_role("link", name="Settings").last.click()
    expect(page.locator("#session-state")).to_contain_text(re.compile(r"Deliberation level\s*2"))


@pytest.mark.rule("PAGE-13")
def test_ctrl_enter_makes_a_line_and_enter_sends(browser: Browser, session: Session) -> None:
    page = browser.open("session", session.session_id)
    field = page.get_by_label("Message", exact=True)
    field.fill("one")
    page.keyboard.press("Control+Enter")
    page.keyboard.type("two")
    expect(field).to_have_value("one\ntwo")
    page.keyboard.press("Enter")
    expect(page.locator(ENDED)).to_have_count(1)
    assert session.turns.get().user_message == "one\ntwo"


@pytest.mark.rule("SESSION-9", "PAGE-15")
def test_the_tab_keeps_its_session_until_a_new_one(browser: Browser, session: Session) -> None:
    browser.open("session", session.session_id)
    page = browser.open("sessions")
    go_on = page.get_by_role("link", name="Continue in this tab")
    go_on.click()
    expect(page).to_have_url(re.compile(session.session_id))
    ready(page)
    page.get_by_role("button", name="New conversation").click()
    expect(page).not_to_have_url(re.compile(session.session_id))
    ready(page)
    made = page.url
    browser.open("sessions")
    expect(go_on).to_have_attribute("href", made.removeprefix(browser.url))


@pytest.mark.parametrize(("width", "scrolled"), [(1280, 0), (1280, 40), (390, 0)])
def test_earlier_messages_leave_the_reader_where_they_were(
    browser: Browser, session: Session, width: int, scrolled: int
) -> None:
    aside(add_turns, session, 65)
    browser.page.set_viewport_size({"width": width, "height": 800})
    page = browser.open("session", session.session_id)
    for first, before in ((36, 6), (6, 1)):
        read = page.locator(f"#turn-{first}")
        expect(page.locator(".exchange").first).to_have_id(f"turn-{first}")
        more = page.get_by_role("link", name="Earlier messages")
        more.scroll_into_view_if_needed()
        page.locator(".chat__scroll").evaluate("(pane, by) => pane.scrollBy(0, by)", scrolled)
        more.evaluate("(link) => link.focus({ preventScroll: true })")
        top = read.bounding_box()
        page.keyboard.press("Enter")
        expect(page.locator(".exchange").first).to_have_id(f"turn-{before}")
        page.wait_for_timeout(300)
        now = read.bounding_box()
        assert top
        assert now
        assert abs(now["y"] - top["y"]) < 2
        expect(read).to_be_focused()


def test_delete_and_undo(browser: Browser, session: Session) -> None:
    aside(rename_session, session, "Dear")
    page = browser.open("sessions")
    page.get_by_label("More actions for Dear").click()
    page.get_by_role("button", name="Delete Dear").click()
    expect(page.get_by_text("Deleted “Dear”.")).to_be_visible()
    expect(page.get_by_role("link", name="Dear")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("link", name="Dear")).to_be_visible()
    session.refresh_from_db()
    assert session.deleted_at is None


@pytest.mark.rule("WINDOW-40")
def test_what_a_tab_kept_is_reset_when_damaged(browser: Browser, session: Session) -> None:
    key = f"mrpvm.written:/sessions/{session.session_id}"
    browser.page.evaluate("key => sessionStorage.setItem(key, '{bad')", key)
    page = browser.open("session", session.session_id)
    expect(page.get_by_text("What this tab had kept was damaged and has been reset.")).to_be_visible()
    assert page.evaluate("key => sessionStorage.getItem(key)", key) is None
    expect(page.get_by_label("Message", exact=True)).to_have_value("")
    say(page, "My dog is called Rex.")
    expect(page.locator(".exchange")).to_contain_text("My dog is called Rex.")


def test_an_ended_login_asks_for_a_new_one(browser: Browser, session: Session) -> None:
    page = browser.open("sessions")
    Login.objects.all().delete()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible(timeout=10_000)


def test_a_message_is_kept_over_an_expired_login(browser: Browser, session: Session) -> None:
    page = browser.open("session", session.session_id)
    live(page)
    page.get_by_role("button", name="Options").click()
    page.get_by_label("Deliberation level").select_option("2")
    logged_in = page.context.cookies()
    page.context.clear_cookies(name="mrpvm_session")
    say(page, "My dog is called Rex.")
    told = page.locator("#toasts .toast")
    expect(told).to_contain_text("Your login has expired. What you wrote is kept.")
    expect(page.get_by_label("Message", exact=True)).to_have_value("My dog is called Rex.")
    answer(session, "Is it Rex?")  # a fragment is requested: the login page must not replace the typed text
    page.wait_for_timeout(1_000)
    expect(page.get_by_label("Message", exact=True)).to_have_value("My dog is called Rex.")
    told.get_by_role("link", name="Log in").click()
    page.wait_for_url(f"**/login?next=%2Fsessions%2F{session.session_id}")
    page.context.add_cookies([cookie for cookie in logged_in if cookie["name"] == "mrpvm_session"])
    page = browser.open("session", session.session_id)
    expect(page.get_by_label("Message", exact=True)).to_have_value("My dog is called Rex.")
    expect(page.locator(".composer__bar .badge")).to_have_text("1 chosen")
    expect(page.get_by_role("button", name="Options")).to_have_attribute("aria-expanded", "true")
    page.get_by_role("button", name="Send").click()
    expect(page.locator(ENDED)).to_have_count(2)
    expect(ready(page.reload() and page).get_by_label("Message", exact=True)).to_have_value("")
    browser.complaints.clear()  # the browser logs the 401 itself


def test_a_note_is_not_called_kept_when_the_login_ends(browser: Browser, session: Session) -> None:
    answer(session, "My dog is called Rex.")
    page = browser.open("session", session.session_id)
    live(page)
    page.get_by_role("button", name="Bad answer").click()
    page.get_by_text("Add a note").click()
    note = page.get_by_label("Note on the answer")
    note.fill("Half a thou")
    page.context.clear_cookies(name="mrpvm_session")
    answer(session, "Is it Rex?")
    expect(page.locator("#toasts .toast")).to_contain_text("Copy what you wrote before you log in.")
    expect(note).to_have_value("Half a thou")
    browser.complaints.clear()


def test_an_unsent_message_outlives_a_reload_but_no_logout(browser: Browser, session: Session) -> None:
    page = browser.open("session", session.session_id)
    page.get_by_label("Message", exact=True).fill("Half a thou")
    expect(ready(page.reload() and page).get_by_label("Message", exact=True)).to_have_value("Half a thou")
    browser.open("sessions")
    page = browser.open("session", session.session_id)
    expect(page.get_by_label("Message", exact=True)).to_have_value("Half a thou")
    page.locator("form[action='/logout'] button").evaluate("button => button.click()")
    page.wait_for_url("**/login*")
    assert page.evaluate("JSON.stringify(sessionStorage)").count("Half a thou") == 0


def test_what_is_gone_leaves_the_page_as_it_was(browser: Browser, session: Session) -> None:
    answer(session, "My dog is called Rex.")
    page = browser.open("turn", session.session_id, session.turns.get().request_id)
    page.locator("g[data-id='exec-0.3~1'] rect").first.click()
    expect(page.locator("#detail h2")).to_be_visible()
    detail = page.locator("#detail h2").inner_text()
    aside(delete_session, session)
    expect(page.locator("#toasts")).to_contain_text("This session was deleted")
    page.locator("g[data-id='exec-0.1~1'] rect").first.click()
    expect(page.locator("#toasts")).to_contain_text("This is no longer there.")
    expect(page.locator(".crumbs")).to_contain_text("Turn 1")
    expect(page.locator("#detail h2")).to_have_text(detail)
    browser.complaints.clear()  # the browser logs the 404 itself


def test_rename_in_place(browser: Browser, session: Session) -> None:
    page = browser.open("session", session.session_id)
    page.get_by_role("button", name="Rename").click()
    page.keyboard.type("First name")
    expect(page.get_by_label("Name", exact=True)).to_have_value("First name")
    page.keyboard.press("Escape")
    expect(page.get_by_label("Name", exact=True)).to_be_hidden()
    expect(page.get_by_role("button", name="Rename")).to_be_focused()
    page.get_by_role("button", name="Rename").click()
    page.get_by_label("Name", exact=True).fill("Second name")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Second name")


def test_what_is_typed_while_a_dialog_opens_stays(browser: Browser, session: Session) -> None:
    page = browser.open("session", session.session_id)
    typed = page.evaluate("""async () => {
        const dialog = document.querySelector("dialog[id^=rename-]");
        const shown = new Promise((resolve) => dialog.addEventListener("toggle", () => setTimeout(resolve)));
        document.querySelector(`[commandfor=${dialog.id}]`).click();
        document.execCommand("insertText", false, "First");
        await shown;
        document.execCommand("insertText", false, " name");
        return dialog.querySelector("input[name=title]").value;
    }""")
    assert typed == "First name"


def test_the_list_of_sessions_is_live_and_filters(browser: Browser, session: Session) -> None:
    page = browser.open("sessions")
    expect(page.locator("[data-row]")).to_have_count(1)
    other = new_session(browser.project, title="Made meanwhile")
    expect(page.get_by_role("link", name="Made meanwhile")).to_be_visible(timeout=10_000)
    page.get_by_label("Name, first message or id").press_sequentially("mean")
    expect(page.locator("[data-row]")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"\?q=mean$"))
    answer(other, "My dog is called Rex.")
    expect(page.locator("[data-row]")).to_contain_text("Noted", timeout=10_000)
    page.reload()
    expect(page.locator("[data-row]")).to_have_count(1)


def test_more_sessions_are_added_below(browser: Browser) -> None:
    for _ in range(30):
        new_session(browser.project)
    page = browser.open("sessions")
    expect(page.locator("[data-row]")).to_have_count(25)
    page.get_by_role("link", name="More sessions").click()
    expect(page.locator("[data-row]")).to_have_count(30)
    expect(page.get_by_role("link", name="More sessions")).to_have_count(0)


def test_an_open_page_sees_its_session_expire(browser: Browser, session: Session) -> None:
    answer(session, "My dog is called Rex.")
    now = timezone.now()
    Session.objects.update(expires_at=now + timedelta(minutes=60))
    browser.page.clock.install(time=now)
    page = browser.open("session", session.session_id)
    expect(page.locator("[data-countdown]")).to_have_text(re.compile(r"in (60:00|59:\d\d)"))
    page.get_by_label("Message", exact=True).fill("My cat is")
    expect(page.get_by_role("button", name=re.compile("Retract"))).to_have_count(1)
    Session.objects.update(expires_at=now)
    page.clock.fast_forward("01:00:05")
    page.clock.run_for(2_000)
    expect(page.get_by_text("This session has expired.")).to_be_visible()
    expect(page.locator("#session-head")).to_contain_text("expired, read-only")
    expect(page.locator(".exchange")).to_contain_text("My dog is called Rex.")
    expect(page.get_by_label("Message", exact=True)).to_have_count(0)
    expect(page.get_by_role("button", name=re.compile("Retract"))).to_have_count(0)
    expect(page.locator("#toasts")).to_contain_text("What you wrote is kept for your next new conversation.")
    page.locator("#composer").get_by_role("button", name="New conversation").click()
    expect(page.get_by_label("Message", exact=True)).to_be_focused()
    expect(page.get_by_label("Message", exact=True)).to_have_value("My cat is")
    expect(page).not_to_have_url(re.compile(session.session_id))


def test_the_answer_can_be_copied(browser: Browser, session: Session) -> None:
    answer(session, "My dog is called Rex.")
    page = browser.open("session", session.session_id)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator(".bubble__foot").get_by_role("button", name="Copy").click()
    expect(page.locator(".bubble__foot").get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == session.messages.get(role="assistant").content


def test_a_button_that_copies_twice_keeps_its_name(browser: Browser, session: Session) -> None:
    answer(session, "My dog is called Rex.")
    page = browser.open("session", session.session_id)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button = page.locator(".bubble__foot [data-copy]")
    for _ in range(2):
        button.click()
        expect(button).to_have_text("Copied")
    expect(button).to_have_text("Copy")


def test_a_tab_of_the_state_keeps_the_focus(browser: Browser, session: Session) -> None:
    answer(session, "My dog is called Rex.")
    page = browser.open("session", session.session_id)
    for name in ("Turns", "Settings", "Knowledge"):
        tab = page.locator("#session-state .tabs").get_by_role("link", name=name)
        tab.focus()
        page.keyboard.press("Enter")
        expect(tab).to_have_attribute("aria-current", "true")
        expect(tab).to_be_focused()


def test_an_answer_is_rated_in_two_pages_at_once(browser: Browser, session: Session) -> None:
    answer(session, "My dog is called Rex.")
    page = browser.open("session", session.session_id)
    other = page.context.new_page()
    other.goto(page.url)
    live(other)
    page.get_by_role("button", name="Bad answer").click()
    expect(page.get_by_role("button", name="Bad answer")).to_have_attribute("aria-pressed", "true")
    expect(other.get_by_role("button", name="Bad answer")).to_have_attribute("aria-pressed", "true")
    page.get_by_text("Add a note").click()
    page.get_by_label("Note on the answer").fill("It was the cat.")
    page.get_by_role("button", name="Save the note").click()
    expect(page.locator(".rating__note summary")).to_have_text("It was the cat.")
    expect(other.locator(".rating__note summary")).to_have_text("It was the cat.")
    page.get_by_role("button", name="Good answer").click()
    expect(page.get_by_role("button", name="Good answer")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".rating__note summary")).to_have_text("It was the cat.")


def test_a_refresh_that_waited_keeps_the_filter(browser: Browser, session: Session) -> None:
    answer(session, "My dog is called Rex.")
    page = browser.open("session", session.session_id, query="?panel=turns")
    live(page)
    waiting: list[Route] = []
    page.route("**/state?*find=*", lambda route: waiting.append(route), times=1)
    page.get_by_role("combobox", name="Filter turns").fill("status:faild")
    while not waiting:
        page.wait_for_timeout(20)
    with page.expect_response(lambda response: "/state?" in response.url and "turns=" in response.url) as refreshed:
        page.evaluate("document.dispatchEvent(new CustomEvent('live:turns'))")
        page.wait_for_timeout(300)
        page.get_by_role("heading", level=1).click()
        waiting[0].continue_()
    assert "find=status" in refreshed.value.url
    expect(page.get_by_text("Not understood")).to_be_visible()
    expect(page.get_by_role("combobox", name="Filter turns")).to_have_value("status:faild")


def test_an_opened_note_leaves_the_focus_where_the_reader_is(browser: Browser, session: Session) -> None:
    answer(session, "My dog is called Rex.")
    page = browser.open("session", session.session_id, query="?panel=turns")
    page.get_by_role("button", name="Bad answer").click()
    expect(page.get_by_text("Add a note")).to_be_visible()
    focused = page.evaluate("""async () => {
        const note = document.querySelector(".rating__note");
        const opened = new Promise((resolve) => note.addEventListener("toggle", () => setTimeout(resolve)));
        note.querySelector("summary").click();
        document.querySelector("#turn-filter").focus();
        await opened;
        return document.activeElement.id;
    }""")
    assert focused == "turn-filter"
    note = page.locator(".rating__note")
    note.locator("summary").click()
    expect(note).not_to_have_attribute("open", "")
    note.locator("summary").click()
    expect(page.get_by_label("Note on the answer")).to_be_focused()


def test_after_retract_the_keyboard_goes_on_at_the_units(browser: Browser, session: Session) -> None:
    answer(session, "My dog is called Rex. My cat is called Tom.")
    page = browser.open("session", session.session_id)
    page.get_by_role("button", name="Retract: My cat is called Tom.").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#toasts")).to_contain_text("Retracted")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("My dog is called Rex.")
