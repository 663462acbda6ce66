"""Many readers of one session: sockets and two pages get every event once and in order; see bench.pages."""

from bench.pages.sockets import Heard, listen
from sessions_app.models import Session
from tests.browser.browsing import WATCH, Browser, answer, aside, live, new_session

READERS, SPOKEN = 25, 4


def test_two_pages_and_many_sockets_get_every_event_once(browser: Browser) -> None:
    session = new_session(browser.project)
    since = session.event_sequence
    page = browser.open("session", session.session_id)
    other = page.context.new_page()
    other.add_init_script(WATCH)
    other.goto(page.url)
    for each in (page, other):
        live(each)
    cookie = "; ".join(f"{item['name']}={item['value']}" for item in page.context.cookies())  # type: ignore[typeddict-item]

    def talk() -> int:
        for number in range(SPOKEN):
            answer(session, f"My dog number {number} is called Rex.")
        return aside(Session.objects.get, pk=session.pk).event_sequence

    def hear() -> list[Heard]:
        address = browser.url.removeprefix("http://")
        return listen(address, session.session_id, cookie, since=since, reader_count=READERS, act=talk)

    heard = aside(hear)
    wanted = list(range(since + 1, aside(Session.objects.get, pk=session.pk).event_sequence + 1))
    assert len(wanted) >= 2 * SPOKEN
    assert [one.numbers for one in heard] == [wanted] * READERS
    for each in (page, other):
        each.wait_for_timeout(0)
        for _ in range(200):
            if each.evaluate("window.numbers.at(-1)") == wanted[-1]:
                break
            each.wait_for_timeout(50)
        assert each.evaluate("window.numbers") == wanted
