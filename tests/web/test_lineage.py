"""The graph of a base's forks on its page."""

import pytest
from django.test import Client
from django.urls import reverse

from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.forks import fork_base, fork_session_kb, save_session_kb
from sessions_app.actions.sessions.session import create_session
from sessions_app.models import KBRevision, KnowledgeBase, Project
from sessions_app.queries.knowledge.pages import base_family
from sessions_app.web.knowledge.lineage import Dot, LineagePicture, lineage_picture
from tests.actions.knowledge_scene import add_text, tell
from tests.layers.units import make_unit
from tests.web.page_scene import check_html, member_client, texts_of


@pytest.fixture
def admin(project: Project) -> Client:
    return member_client(project, name="boss")


def shown(base: KnowledgeBase, revisions: int = 12) -> LineagePicture:
    return lineage_picture(base_family(base, generations=4, forks=8, revisions=revisions), base)


def curve(start: Dot, end: Dot) -> str:
    return f"M{start.x} {start.y} C{start.x} {end.y} {start.x} {end.y} {end.x} {end.y}"


def descent(start: Dot, end: Dot) -> str:
    middle = (start.y + end.y) // 2
    return f"M{start.x} {start.y} C{start.x} {middle} {end.x} {middle} {end.x} {end.y}"


def add(base: KnowledgeBase, name: str) -> None:
    base.refresh_from_db()
    add_text(base, name, f"Text {name}", (make_unit(name, f"Pump {name}."),))
    base.refresh_from_db()


def test_lineage_shows_forks_at_their_revision(admin: Client, project: Project) -> None:
    handbook = create_base(project, "Handbook")
    add_text(handbook, "rules.md", "Text", (make_unit("a", "The pump hums."),))
    fork = fork_base(handbook, "<Winter>")
    add_text(handbook, "more.md", "Text", (make_unit("b", "The valve leaks."),))
    picture = shown(fork)
    parent, child = picture.lanes
    assert [dot.kept.revision for dot in parent.dots] == [1, 2, 3]
    assert picture.curves == [curve(parent.dots[1], child.dots[0])]
    assert (parent.is_shown_base, child.is_shown_base) == (False, True)
    html = admin.get(reverse("knowledge-base", args=[fork.kb_id])).text
    check_html(html)
    assert any(dot.startswith("<Winter>, revision 1: fork") for dot in texts_of(html, ".lineage-picture__dot title"))


def test_a_sessions_fork_starts_at_its_mounted_revision(project: Project) -> None:
    handbook = create_base(project, "Handbook")
    add(handbook, "1")
    session = create_session(project, base=handbook)
    for name in "2345":
        add(handbook, name)
    fork = fork_session_kb(session)
    picture = shown(fork)
    parent, child = picture.lanes
    assert picture.curves == [curve(parent.dots[1], child.dots[0])]
    for name in "678":
        add(fork, name)
    picture = shown(fork, revisions=3)  # without the fork's first revision
    parent, child = picture.lanes
    assert [dot.kept.revision for dot in child.dots] == [2, 3, 4]
    assert picture.curves == [curve(parent.dots[0], child.dots[0])]
    KBRevision.objects.update(origin_base=None, origin_revision=None)  # created before origins were stored
    picture = shown(fork)
    parent, child = picture.lanes
    assert picture.curves == [curve(parent.dots[-1], child.dots[0])]


def test_a_save_into_another_base_shows_where_it_came_from(admin: Client, project: Project) -> None:
    handbook, winter = create_base(project, "Handbook"), create_base(project, "Winter")
    session = create_session(project, base=handbook)
    add(handbook, "1")
    tell(session, "Valve 1 leaks.")
    save_session_kb(session, target=winter)
    tell(session, "Valve 2 leaks.")
    save_session_kb(session)
    picture = shown(winter)
    origin, target = picture.lanes
    assert (origin.base, target.base) == (handbook, winter)
    assert picture.curves == [descent(origin.dots[0], target.dots[1])]
    assert not picture.cuts
    check_html(admin.get(reverse("knowledge-base", args=[winter.kb_id])).text)
    picture = shown(fork_base(winter, "Spring"))
    assert [lane.base.name for lane in picture.lanes] == ["Winter", "Spring"]
    assert picture.cuts == ["Of the other bases 1 revision came from bases that are not shown."]


def test_a_fork_saved_back_into_its_parent_is_drawn_upwards(project: Project) -> None:
    handbook = create_base(project, "Handbook")
    session = create_session(project, base=handbook)
    fork_session_kb(session)
    tell(session, "Valve 1 leaks.")
    save_session_kb(session, target=handbook)
    picture = shown(handbook)
    parent, child = picture.lanes
    assert picture.curves == [descent(child.dots[0], parent.dots[1]), curve(parent.dots[0], child.dots[0])]
