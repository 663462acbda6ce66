"""Text of users, plugins and knowledge bases is shown as text on every page and in every fragment."""

from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.forks import fork_base
from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.settings.api_keys import create_key
from sessions_app.actions.turns.payloads import payload
from sessions_app.models import ContextUnit, ExplainabilityTurn, Project, Session
from sessions_app.models.turns.payload_frames import framed, places
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import TurnError, run_turn
from tests.actions.knowledge_scene import add_text
from tests.kernel.scripted import plugin
from tests.payloads import stored_payloads
from tests.web.page_scene import (
    HOSTILE,
    Install,
    Reader,
    add_turns,
    attributes_of,
    check_html,
    member_client,
    notice,
    parsed,
    text_at,
    texts_of,
)


@pytest.fixture
def session(live_project: Project, scripted_plugins: Install) -> Session:
    """Return a session with hostile text in every field."""
    live_project.name = HOSTILE
    live_project.save()
    base = create_base(live_project, HOSTILE)
    add_text(base, HOSTILE, HOSTILE, ())
    base.refresh_from_db()
    fork_base(base, HOSTILE)
    session = create_session(live_project, base=base, title=HOSTILE)
    scripted_plugins(hostile=True)
    run_turn(session, TurnCall(message=HOSTILE, system_prompt=HOSTILE))
    scripted_plugins(plugin("sd-plugin", "sd-a", RuntimeError(HOSTILE)), hostile=True)
    with pytest.raises(TurnError):
        run_turn(session, TurnCall(message=HOSTILE))
    session.refresh_from_db()
    spoil_rows(session)
    return session


def spoil_rows(session: Session) -> None:
    """Write hostile text into the columns that pages show and the pipeline validates."""
    ContextUnit.objects.update(claim=HOSTILE, topic=HOSTILE, role="x>\"'", source_id=HOSTILE)
    for turn in session.turns.all():
        turn.planner_plugin = turn.kb_plugin = turn.model = HOSTILE
        turn.assistant_preview = HOSTILE
        if turn.error:
            turn.error = {"code": HOSTILE, "message": HOSTILE, "details": {}}
        turn.unit_changes = {"added": [HOSTILE], "discarded": [HOSTILE + "2"], "deduplicated": [HOSTILE + "3"]}
        turn.save()
        turn.unit_events.update(reason=HOSTILE, text=HOSTILE)
        turn.unit_events.create(
            session=session, unit_id=HOSTILE, step="offered", store="x>\"'", execution_id="x>\"'", reason=HOSTILE
        )
        for batch in turn.event_batches.all():
            parts = {"input": {HOSTILE: [HOSTILE, {HOSTILE: 1}]}, "output": HOSTILE, "meta": [HOSTILE]}
            error = {"code": HOSTILE, "message": HOSTILE}
            hostile = [payload(place.ref, {**parts, "error": error}) for place in places(batch.payload_index)]
            batch.payload_index, batch.payloads = framed(hostile)
            batch.save()
    session.preferred_planner_plugin = session.preferred_model = session.preferred_kb_plugin = HOSTILE
    session.first_message = HOSTILE[:60]
    session.save()


@pytest.fixture
def admin(live_project: Project) -> Client:
    create_key(live_project, HOSTILE, "viewer", User.objects.create_user(f"maker {HOSTILE}"))
    return member_client(live_project, name=HOSTILE)


def addresses(session: Session) -> list[str]:
    """Return every page and fragment."""
    own = [session.session_id]
    found = [reverse(name) for name in ("sessions", "sessions-list", "knowledge", "plugins", "api-keys")]
    found.append(reverse("knowledge-base", args=[session.mounted_kb.kb_id]))
    found += [reverse(f"session{part}", args=own) for part in ("", "-head", "-messages", "-state", "-composer")]
    for turn in session.turns.all():
        found += _of_turn(turn, [*own, turn.request_id])
    return found


def _of_turn(turn: ExplainabilityTurn, of_turn: list[str]) -> list[str]:
    parts = ("", "-head", "-graph", "-outline", "-context")
    details = [reverse("turn-detail", args=of_turn) + f"?sel={quote(ref)}" for ref in stored_payloads(turn)]
    selected = reverse("turn", args=of_turn) + "?sel=exec-0.1~1"
    return [*(reverse(f"turn{part}", args=of_turn) for part in parts), *details, selected]


@pytest.mark.rule("PAGE-16")
def test_nothing_that_was_written_can_run(session: Session, admin: Client) -> None:
    shown = 0
    for address in addresses(session):
        response = admin.get(address)
        assert response.status_code == 200, address
        html = response.text
        assert HOSTILE not in html, address
        assert "alert(2)&gt;14" not in html, address  # template syntax in texts is not evaluated
        check_html(html)
        shown += html.count(escape("<script>alert(1)</script>"))
    assert shown > 60


def test_the_name_script_is_shown_as_such_everywhere(session: Session, admin: Client) -> None:
    for name in ("session", "session-head"):
        html = admin.get(reverse(name, args=[session.session_id])).text
        assert HOSTILE in texts_of(html, "h1")
    assert HOSTILE in texts_of(admin.get(reverse("sessions-list")).text, "a")


def test_messages_about_what_was_done_are_text_too(session: Session, admin: Client) -> None:
    page = parsed(admin.post(reverse("session-delete", args=[session.session_id]), follow=True).text)
    assert notice(page) == f"Deleted “{HOSTILE}”."
    html = admin.post(reverse("knowledge"), {"name": HOSTILE}, follow=True).text
    check_html(html)
    html = admin.post(reverse("api-keys"), {"name": HOSTILE, "role": HOSTILE}).text
    assert HOSTILE in text_at(html, "#name-error")
    check_html(html)


def test_addresses_and_filters_are_text_too(session: Session, admin: Client) -> None:
    html = admin.get("/", {"q": HOSTILE, "status": HOSTILE, "kb": HOSTILE}).text
    assert HOSTILE in [field.attributes.get("value") for field in parsed(html).css("input")]
    check_html(html)
    turn = add_turns(session, 1)[0]
    address = reverse("turn", args=[session.session_id, turn.request_id])
    check_html(admin.get(address, {"sel": HOSTILE, "open": HOSTILE, "shut": HOSTILE}).text)


def test_what_a_page_tells_its_scripts_is_text_too(session: Session, admin: Client) -> None:
    html = admin.get(reverse("session", args=[session.session_id])).text
    assert attributes_of(html, "[data-copy]", "value") == [HOSTILE]


def test_the_reader_of_this_test_sees_dangers() -> None:
    assert Reader("<p><script>x</script></p>").dangers == ["script"]
    assert Reader('<a href="javascript:x" onclick="y" style="z">a</a>').dangers == [
        "onclick",
        "style",
        "href=javascript:x",
    ]
    assert Reader("<p><b></p></b>").dangers
