"""Mount and draft of a session, by the plain forms of its page [KB-8, KB-10, KB-12]."""

import pytest
from django.test import Client
from django.urls import reverse

from sessions_app.actions.drafts import stage_source
from sessions_app.actions.knowledge import add_source, create_base
from sessions_app.actions.sessions import create_session
from sessions_app.actions.source_rows import NewSource
from sessions_app.models import KnowledgeBase, Project, Session
from tests.actions.knowledge_scene import held
from tests.search.units import make_unit
from tests.web.page_scene import check_html, member_client, project

__all__ = ["project"]


@pytest.fixture
def session(project: Project) -> Session:
    """Give a session with an unsaved draft."""
    session = create_session(project, base=create_base(project, "Handbook"))
    unit = make_unit("rules::a", "The pump hums.")
    stage_source(session, NewSource(name="rules", source_id="rules", content="The pump hums.", units=[unit]))
    return session


def sent(client: Client, session: Session, name: str, **values: str) -> str:
    """Send a form of the page; gives the page that follows."""
    response = client.post(reverse(name, args=[session.session_id]), values, follow=True)
    assert response.redirect_chain == [(reverse("session", args=[session.session_id]), 302)]
    html = response.content.decode()
    check_html(html)
    session.refresh_from_db()
    return html


def holding(word: str) -> list[str]:
    return [base.name for base in KnowledgeBase.objects.all() if held(base, word)]


@pytest.mark.parametrize(
    ("name", "values", "kept_in", "told"),
    [
        ("session-kb-save", {}, ["Handbook"], "Saved into “Handbook”."),
        ("session-kb-fork", {}, ["Handbook fork"], "Made “Handbook fork”."),
        ("session-kb-mount", {"discard_draft": "yes"}, [], "The draft was discarded."),
    ],
)
def test_a_draft_is_settled(
    project: Project, session: Session, name: str, values: dict[str, str], kept_in: list[str], told: str
) -> None:
    html = sent(member_client(project, "editor"), session, name, **values)
    assert told in html
    assert not session.is_dirty
    assert holding("pump") == kept_in
    assert session.mounted_kb.name == (kept_in or ["Handbook"])[0]


def test_the_newest_revision_is_mounted(project: Project) -> None:
    base = create_base(project, "Handbook")
    session, client = create_session(project, base=base), member_client(project, name="ana", role="editor")
    add_source(base, "more", "More", [make_unit("b", "The valve leaks.")])
    html = sent(client, session, "session-kb-mount")
    assert "The session sees revision 2 of “Handbook” now." in html
    assert "mounted on the session&#x27;s page by ana" in html
    assert session.draft.unit_count == 1


def test_an_unsaved_draft_is_not_thrown_away_by_a_mount(project: Project, session: Session) -> None:
    assert 'data-code="WORKSPACE_DIRTY"' in sent(member_client(project), session, "session-kb-mount")
    assert session.is_dirty


def test_a_save_over_somebody_s_change_is_refused_and_keeps_the_draft(project: Project, session: Session) -> None:
    add_source(session.mounted_kb, "more", "More", [make_unit("b", "The valve leaks.")])
    html = sent(member_client(project), session, "session-kb-save")
    assert "has been changed since this session mounted it" in html
    assert session.is_dirty
    assert holding("pump") == []
