"""The pages of forgetting, from a message's link to the certificate; only for admins."""

import time

from django.test import Client
from django.urls import reverse

from sessions_app.actions.sessions.session import create_session
from sessions_app.models import Forgetting, Project
from tests.web.page_scene import (
    POLLING,
    check_html,
    links_of,
    member_client,
    notice,
    parsed,
    session_html,
    talk,
    text_at,
    texts_of,
)


def settled(client: Client, address: str) -> str:
    """Wait until the process on a page has ended; return the page."""
    ended_by = time.monotonic() + 60
    while parsed(html := client.get(address).text).css(POLLING) and time.monotonic() < ended_by:
        time.sleep(0.1)
    return html


def test_a_message_is_looked_for_confirmed_and_gone(live_project: Project) -> None:
    client = member_client(live_project)
    session = create_session(live_project)
    talk(session, "The ferry to Nore leaves from gate <b>A</b>.")
    talk(session, "Which gate does the ferry to Nore leave from?")
    ways = links_of(session_html(client, session), 'a[href^="/forget?kind=message&"][href$="sequence=2"]')
    form = client.get(ways[0]).text
    check_html(form)
    fields = {field.attributes["name"]: field.attributes["value"] for field in parsed(form).css("[type=hidden][value]")}
    planned = client.post(reverse("forget-plan"), {**fields, "csrfmiddlewaretoken": ""})
    html = settled(client, planned["Location"])
    check_html(html)
    assert text_at(html, "h1") == "What would be forgotten"
    assert "layer units" in texts_of(html, '[data-label="Place"]')
    act = Forgetting.objects.get()
    client.post(reverse("forgetting-run", args=[act.forgetting_id]), {"confirm": "something else"})
    assert "Nothing was forgotten." in notice(client.get(planned["Location"]).text)
    act.refresh_from_db()
    client.post(reverse("forgetting-run", args=[act.forgetting_id]), {"confirm": act.work["name"]})
    html = settled(client, planned["Location"])
    check_html(html)
    assert text_at(html, "h1") == "Certificate: forgotten"
    listed = client.get(reverse("forget")).text
    check_html(listed)
    for shown in (html, listed, session_html(client, session)):
        assert "leaves from gate" not in shown
    for turn in session.turns.all():
        page = client.get(reverse("turn", args=[session.session_id, turn.request_id]))
        assert page.status_code == 200
        check_html(page.text)
        for tab in ("context", "state", "choice", "timeline"):
            found = client.get(reverse(f"turn-{tab}", args=[session.session_id, turn.request_id]))
            assert found.status_code == 200, tab


def test_a_member_who_is_no_admin_finds_no_way_there(live_project: Project) -> None:
    client = member_client(live_project, "editor")
    assert client.get(reverse("forget")).status_code == 403
    assert reverse("forget") not in links_of(client.get(reverse("sessions")).text)
