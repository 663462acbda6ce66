"""The picture of a base's family on its page."""

import pytest
from django.test import Client
from django.urls import reverse

from sessions_app.actions.forks import fork_base
from sessions_app.actions.knowledge import add_source, create_base
from sessions_app.models import Project
from sessions_app.queries.base_pages import family_of
from sessions_app.web.fragments.lineage import lineage_picture
from tests.search.units import make_unit
from tests.web.page_scene import check_html, member_client, project

__all__ = ["project"]


@pytest.fixture
def admin(project: Project) -> Client:
    return member_client(project, name="boss")


def test_the_lineage_shows_forks_from_the_revision_they_came_from(admin: Client, project: Project) -> None:
    handbook = create_base(project, "Handbook")
    add_source(handbook, "rules.md", "Text", (make_unit("a", "The pump hums."),))
    fork = fork_base(handbook, "<Winter>")
    add_source(handbook, "more.md", "Text", (make_unit("b", "The valve leaks."),))
    picture = lineage_picture(family_of(fork, generations=4, forks=8, revisions=12), fork)
    parent, child = picture.lanes
    assert [dot.kept.revision for dot in parent.dots] == [1, 2, 3]
    assert child.fork.startswith(f"M{parent.dots[1].x} {parent.y} ")
    assert child.fork.endswith(f" {child.dots[0].x} {child.y}")
    assert (parent.is_shown_base, child.is_shown_base) == (False, True)
    html = admin.get(reverse("knowledge-base", args=[fork.kb_id])).content.decode()
    check_html(html)
    assert "&lt;Winter&gt;, revision 1: fork" in html
