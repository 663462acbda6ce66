"""The audit log page."""

from html.parser import HTMLParser

import pytest
from django.urls import reverse

from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.sessions.session import create_session
from sessions_app.models import AuditEntry, Project
from tests.web.page_scene import HOSTILE, check_html, links_of, member_client, parsed, text_at


class Entries(HTMLParser):
    """A parser of the page's entries: the texts of their cells by the row's id, and the addresses of links."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: dict[str, list[str]] = {}
        self.links: list[str] = []
        self._cells: list[str] | None = None
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "tr":
            name = given.get("id") or ""
            self._cells = self.rows.setdefault(name, []) if name.startswith("entry-") else None
        elif tag == "td" and self._cells is not None:
            self._cells.append("")
        elif tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))

    def handle_data(self, data: str) -> None:
        if self._cells:
            self._cells[-1] = f"{self._cells[-1]} {data}".strip()


def rows(html: str) -> list[list[str]]:
    return list(Entries(html).rows.values())


def test_the_log_shows_who_did_what(project: Project) -> None:
    admin = member_client(project, name="ann")
    admin.post(reverse("knowledge"), {"name": "Ships"})
    page = admin.get(reverse("audit"))
    check_html(page.text)
    _, who, what, subject, _, address = rows(page.text)[0]
    assert (who, what, address) == ("ann", "created a base", "127.0.0.1")
    assert "Ships" in subject


def test_what_pages_change_is_recorded(project: Project) -> None:
    admin, session = member_client(project, name="ann"), create_session(project)
    base = create_base(project, "Ships")
    before = AuditEntry.objects.latest("pk").pk
    for name, argument, form in (
        ("knowledge-rename", base.kb_id, {"name": "Boats"}),
        ("knowledge-delete", base.kb_id, {}),
        ("knowledge-undelete", base.kb_id, {}),
        ("session-delete", session.session_id, {}),
        ("session-restore", session.session_id, {}),
    ):
        assert admin.post(reverse(name, args=[argument]), form).status_code == 302
    found = AuditEntry.objects.filter(pk__gt=before).order_by("pk")
    assert [(entry.kind, entry.actor) for entry in found] == [
        (kind, "ann")
        for kind in ("base.renamed", "base.deleted", "base.restored", "session.deleted", "session.restored")
    ]
    assert found[0].facts == {"earlier_name": "Ships"}


def test_the_log_is_filtered_and_paged(project: Project) -> None:
    admin = member_client(project)
    for number in range(60):
        create_base(project, f"Base {number}")
    found = rows(admin.get(reverse("audit"), {"area": "base", "subject": "base 5"}).text)
    assert len(found) == 11
    page = Entries(admin.get(reverse("audit"), {"area": "base"}).text)
    older = next(link for link in page.links if "cursor=" in link)
    further = admin.get(reverse("audit") + older, headers={"HX-Request": "true"}).text
    assert Entries(further).rows
    assert not page.rows.keys() & Entries(further).rows.keys()
    assert not parsed(further).css("#main")
    for form in ("csv", "jsonl"):
        link = next(link for link in page.links if f"format={form}" in link)
        assert admin.get(link).status_code == 200
    for wrong in ({"area": "x", "since": "x", "until": "2026-99-01"}, {"cursor": "x"}):
        assert len(rows(admin.get(reverse("audit"), wrong).text)) == 50
    assert (
        text_at(admin.get(reverse("audit"), {"actor": "\0nobody"}).text, "#audit-list .empty h2") == "No matching entry"
    )


def test_hostile_texts_are_escaped(project: Project) -> None:
    admin = member_client(project)
    AuditEntry.objects.create(
        project=project, kind="base.renamed", actor_kind="key", actor=HOSTILE, subject=HOSTILE, facts={HOSTILE: HOSTILE}
    )
    html = admin.get(reverse("audit")).text
    check_html(html)
    assert "<script>alert(1)" not in html
    assert rows(html)[0][3] == HOSTILE


@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_the_log_is_for_admins(project: Project, role: str) -> None:
    client = member_client(project, role)
    assert client.get(reverse("audit")).status_code == 403
    assert reverse("audit") not in links_of(client.get(reverse("sessions")).text)


def test_other_projects_entries_are_not_shown(project: Project) -> None:
    create_base(Project.objects.create(name="Other", slug="other"), "Secret base")
    assert "Secret base" not in member_client(project).get(reverse("audit")).text
