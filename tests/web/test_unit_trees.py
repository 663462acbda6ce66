"""The tree of a source's units on its base's page."""

import pytest
from django.test import Client
from django.urls import reverse

from sessions_app.actions.knowledge.bases import create_base
from sessions_app.models import Project
from tests.actions.knowledge_scene import add_text
from tests.layers.units import make_unit
from tests.web.page_scene import (
    admin_of_another_project,
    check_html,
    elements,
    links_of,
    member_client,
    parsed,
    text_at,
    texts_of,
)


@pytest.fixture
def admin(project: Project) -> Client:
    return member_client(project, name="boss")


def test_a_source_is_shown_as_the_tree_of_its_units(admin: Client, project: Project) -> None:
    base = create_base(project, "Handbook")
    parts = tuple(f"p{number}" for number in range(60))
    units = (
        make_unit("top", "All <b>pumps</b>.", child_unit_ids=parts, ku_type="aggregate"),
        *(make_unit(name, f"Pump {name}.", parent_unit_ids=("top",)) for name in parts),
    )
    add_text(base, "rules.md", "Text", units, source_id="rules")
    address, tree = (reverse(name, args=[base.kb_id]) for name in ("knowledge-base", "knowledge-tree"))
    assert "?source=rules" in links_of(admin.get(address).text)
    html = admin.get(address, {"source": "rules"}).text
    check_html(html)
    assert text_at(html, ".tree summary") == "All <b>pumps</b>. aggregate, 60 parts Open"
    assert parsed(html).css(f'[hx-get="{tree}?unit=top"]')
    looked_at = admin.get(address, {"unit": "top"}).text
    check_html(looked_at)
    assert len(elements(looked_at, ".tree__leaf")) == 50
    assert "Show more parts" in texts_of(looked_at, ".tree button")
    first = admin.get(tree, {"unit": "top"}).text
    rest = admin.get(tree, {"unit": "top", "after": "50"}).text
    assert [len(elements(html, ".tree__leaf")) for html in (first, rest)] == [50, 10]
    assert parsed(first).css('[hx-get*="after=50"], [href*="after=50"]')
    assert "Show more parts" not in texts_of(rest, "button, a")
    add_text(base, "rules.md", "Text", [make_unit("new", "A valve.")], source_id="rules")
    assert admin.get(tree, {"unit": "top"}).status_code == 404  # hidden by the newer source
    assert "A valve." in texts_of(admin.get(address, {"source": "rules"}).text, ".tree a")
    for query in ({"source": "nope"}, {"source": "rules\0x"}):
        assert admin.get(address, query).status_code == 404
    assert admin_of_another_project().get(tree, {"unit": "new"}).status_code == 404


def test_a_part_of_two_sources_is_shown_with_its_twin(admin: Client, project: Project) -> None:
    base = create_base(project, "Handbook")
    for name in ("one.md", "two.md"):
        parts = tuple(f"{name}-{part}" for part in "ab")
        units = (
            make_unit(f"{name}-top", f"All of {name}.", child_unit_ids=parts, ku_type="composite"),
            make_unit(f"{name}-a", "The pump hums.", parent_unit_ids=(f"{name}-top",)),
            make_unit(f"{name}-b", f"The valve of {name} leaks.", parent_unit_ids=(f"{name}-top",)),
        )
        add_text(base, name, "Text " + name, units)
        base.refresh_from_db()
    tree = reverse("knowledge-tree", args=[base.kb_id])
    html = {name: admin.get(tree, {"unit": f"{name}-top"}).text for name in ("one.md", "two.md")}
    assert {name: texts_of(text, ".tree__leaf") for name, text in html.items()} == {
        "one.md": [
            "The pump hums. atomic, stands in two.md too, and is shown there", "The valve of one.md leaks. Explanation"
        ],
        "two.md": ["The pump hums. Explanation", "The valve of two.md leaks. Explanation"],
    }  # fmt: skip
    shown = reverse("knowledge-base", args=[base.kb_id])
    assert links_of(html["one.md"]) == [f"{shown}?unit=two.md-a", f"{shown}?unit=one.md-b"]
    check_html(admin.get(reverse("knowledge-base", args=[base.kb_id]), {"unit": "one.md-top"}).text)


def test_parts_that_are_gone_are_counted(admin: Client, project: Project) -> None:
    base = create_base(project, "Handbook")
    units = (
        make_unit("top", "All.", child_unit_ids=("a", "b", "c"), ku_type="composite"),
        make_unit("a", "The pump hums.", parent_unit_ids=("top",)),
    )
    add_text(base, "rules.md", "Text", units)
    for name in ("knowledge-tree", "knowledge-base"):
        html = admin.get(reverse(name, args=[base.kb_id]), {"unit": "top"}).text
        assert texts_of(html, ".tree__leaf")[-1] == "2 parts are not shown: removed, or derived from what is gone."
