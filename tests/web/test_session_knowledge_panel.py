"""The panel of the base and the draft on the session page, for each role."""

import pytest
from django.urls import reverse

from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.drafts import remove_source, stage_source
from sessions_app.actions.knowledge.source_rows import NewSource
from sessions_app.actions.sessions.session import create_session
from sessions_app.models import Project
from tests.actions.knowledge_scene import add_text
from tests.layers.units import make_unit
from tests.web.page_scene import link_of, member_client, parsed, session_html, text_at, texts_of, visible_text

SAVING_LINK = 'a[href="?saving=1#unsaved-draft"]'


def test_a_session_says_that_its_base_went_on(project: Project) -> None:
    base = create_base(project, "Handbook")
    session = create_session(project, base=base)
    client = member_client(project)
    assert "its newest is" not in visible_text(session_html(client, session))
    add_text(base, "rules.md", "x", [make_unit("u", "The pump hums.")])
    html = session_html(client, session, "session-state")
    assert "as of revision 1; its newest is 2" in texts_of(html, "dl.facts span")
    assert "Mount the newest" in texts_of(html, "button")
    assert "Mount the newest" not in texts_of(
        session_html(member_client(project, "viewer"), session, "session-state"), "button"
    )
    stage_source(session, NewSource(name="s", source_id="s", content="x", units=[make_unit("v", "The valve leaks.")]))
    html = session_html(client, session, "session-state")
    assert "as of revision 1; its newest is 2" in texts_of(html, "dl.facts span")
    assert "Mount the newest" not in texts_of(html, "button"), "the draft is to be settled first"


@pytest.mark.parametrize(("role", "is_offered"), [("editor", True), ("viewer", False)])
def test_a_draft_is_settled_by_those_who_may(project: Project, role: str, is_offered: bool) -> None:
    session = create_session(project, base=create_base(project, "Handbook"))
    client = member_client(project, role)
    assert not parsed(session_html(client, session)).css(SAVING_LINK)
    stage_source(session, NewSource(name="s", source_id="s", content="x", units=[make_unit("u", "The pump hums.")]))
    assert bool(parsed(session_html(client, session, "session-state")).css(SAVING_LINK)) == is_offered


def test_a_draft_lists_what_it_adds_and_removes(project: Project) -> None:
    base = create_base(project, "Handbook")
    add_text(base, "old.md", "x", [make_unit("u", "The pump hums.")], source_id="old")
    base.refresh_from_db()
    session = create_session(project, base=base)
    client = member_client(project)
    assert not parsed(session_html(client, session, "session-state")).css('[aria-label="Sources of the draft"]')
    remove_source(session, "old")
    stage_source(
        session, NewSource(name="n.md", source_id="n", content="y", units=[make_unit("v", "The valve leaks.")])
    )
    html = session_html(client, session, "session-state")
    draft = '[aria-label="Sources of the draft"] .unit__meta'
    assert texts_of(html, draft) == ["removed here; the base keeps it until a save", "1 unit, in this session alone"]
    assert len(parsed(html).css('[aria-label="Sources of the draft"] > li')) == 2
    of_source = client.get(link_of(html, "n.md")).text
    assert text_at(of_source, ".unit-page__text") == "The valve leaks."
    assert link_of(of_source, "n.md") == link_of(html, "n.md")
    buttons = parsed(html).css('[aria-label$="out of the draft"]')
    assert [button.attributes["aria-label"] for button in buttons] == ["Take n.md out of the draft"]
    seen = parsed(session_html(member_client(project, "viewer"), session, "session-state"))
    assert not seen.css('[aria-label$="out of the draft"]')


def test_a_source_that_the_draft_has_not_is_not_found(project: Project) -> None:
    session = create_session(project, base=create_base(project, "Handbook"))
    asked = reverse("unit", args=[session.session_id])
    assert member_client(project).get(asked, {"source": "n"}).status_code == 404
