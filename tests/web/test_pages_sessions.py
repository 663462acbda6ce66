"""The list of sessions: filter, keyset pages, empty state, creating, renaming, deleting and restoring."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.sessions.session import UNDO_PERIOD, create_session
from sessions_app.actions.settings.projects import create_project
from sessions_app.models import ExplainabilityTurn, Project, Session, TurnRating
from tests.actions.knowledge_scene import add_text
from tests.layers.units import make_unit
from tests.web.page_scene import (
    add_turns,
    attributes_of,
    check_html,
    counted_queries,
    error_code,
    links_of,
    member_client,
    new_session,
    notice,
    parsed,
    session_html,
    text_at,
    texts_of,
)


@pytest.fixture
def client(project: Project) -> Client:
    return member_client(project, "editor")


def titles(html: str) -> list[str]:
    return texts_of(html, 'a[data-row-link][href^="/sessions/"]')


def test_an_empty_list_teaches_the_first_call(client: Client) -> None:
    html = client.get("/").text
    assert text_at(html, ".empty h2") == "No conversation yet"
    assert text_at(html, '[aria-label="First call with curl"]').startswith(
        "curl http://testserver/api/chat/completions"
    )
    assert 'base_url="http://testserver/v1"' in text_at(html, '[aria-label="First call with the OpenAI SDK"]')
    assert not parsed(html).css('[role="search"]')


@pytest.mark.parametrize(
    ("is_default", "told"), [(True, "The key was printed at the first start"), (False, "A key belongs to one project")]
)
def test_an_empty_list_says_where_its_projects_key_comes_from(project: Project, is_default: bool, told: str) -> None:
    shown = project if is_default else create_project("Zoo")
    assert text_at(member_client(shown, "admin").get("/").text, ".first-call p").startswith(told)


def test_a_row_shows_what_the_session_holds(client: Client, project: Project) -> None:
    session = new_session(project, title="Talk")
    add_turns(session, 2)
    add_turns(session, 1, "failed")
    Session.objects.filter(pk=session.pk).update(failed_turn_count=1)
    (row,) = parsed(client.get("/").text).css("tbody tr[id]")
    assert titles(str(row.html)) == ["Talk"]
    assert "failed" in texts_of(row, "span")
    assert texts_of(row, '[data-label="Turns"]')[0].startswith("3 ")
    assert texts_of(row, '[title="1 failed"]') == ["(1)"]
    assert len(row.css(".dots__dot")) == 3
    assert row.css(f'[title="{session.session_id}"]')
    assert row.css("time[datetime]")
    assert session.mounted_kb.name in row.text()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("q=DOG", ["dog"]),
        ("q=nothing", []),
        ("status=failed", ["bad"]),
        ("status=expired", ["old"]),
        ("status=active", ["dog"]),
        ("status=nonsense", ["old", "bad", "dog"]),
        ("kb=default", ["old", "bad", "dog"]),
        ("kb=kb-unknown", []),
    ],
)
def test_the_filter(client: Client, project: Project, query: str, expected: list[str]) -> None:
    new_session(project, title="dog")
    add_turns(new_session(project, title="bad"), 1, "failed")
    new_session(project, title="old", expires_at=timezone.now() - timedelta(hours=1))
    html = client.get(f"/?{query}").text
    assert titles(html) == expected
    assert texts_of(html, ".empty h2") == ([] if expected else ["No matching sessions"])


def test_the_list_fragment_follows_filter_and_address(client: Client, project: Project) -> None:
    new_session(project, title="dog")
    response = client.get(reverse("sessions-list"), {"q": "dog", "status": ""})
    assert titles(response.text) == ["dog"]
    assert response["HX-Replace-Url"] == "/?q=dog"
    assert not parsed(response.text).css("#main")


def test_pages_by_keyset_show_every_session_once(client: Client, project: Project) -> None:
    for number in range(2 * settings.MRPVM_SESSIONS_SHOWN + 5):
        new_session(project, title=f"s{number}")
    # Equal times must not lose a row between two pages.
    Session.objects.update(last_activity_at=timezone.now())
    seen: list[str] = []
    address = "/"
    for _ in range(3):
        html = client.get(address).text
        check_html(html)
        seen += titles(html)
        more = links_of(html, "#more-sessions a")
        if not more:
            break
        address = more[0]
        new_session(project, title="arrived meanwhile")
    assert len(seen) == len(set(seen)) == 2 * settings.MRPVM_SESSIONS_SHOWN + 5


def test_the_next_rows_come_as_rows(client: Client, project: Project) -> None:
    for _ in range(settings.MRPVM_SESSIONS_SHOWN + 1):
        new_session(project)
    html = client.get("/").text
    (address,) = attributes_of(html, '[hx-get^="/list"][hx-target="#more-sessions"]', "hx-get")
    rows = client.get(address).text
    assert rows.count("<tr") == 1  # a row without a table, which a parser drops
    assert not parsed(rows).css("table")


def test_a_refresh_gives_as_many_rows_as_were_loaded(client: Client, project: Project) -> None:
    for _ in range(settings.MRPVM_SESSIONS_SHOWN + 10):
        new_session(project)
    assert len(parsed(client.get("/list?limit=35").text).css("tr[data-row]")) == settings.MRPVM_SESSIONS_SHOWN + 10


@pytest.mark.parametrize("after", ["x", "~", "2026-01-01~1", "2026-01-01T00:00:00+00:00~x", "9999-01-01T00:00:00Z~1"])
def test_a_spoilt_cursor_starts_anew(client: Client, project: Project, after: str) -> None:
    new_session(project, title="first")
    assert titles(client.get("/", {"after": after}).text) == ["first"]


def test_a_new_conversation_is_made_and_opened(client: Client, project: Project) -> None:
    response = client.post(reverse("session-create"))
    session = Session.objects.get()
    assert response["Location"] == reverse("session", args=[session.session_id])
    assert session.project == project


def test_a_conversation_begins_with_the_base_it_was_asked_for(client: Client, project: Project) -> None:
    base, address = create_base(project, "Pumps"), reverse("session-create")
    page = client.get(reverse("knowledge-base", args=[base.kb_id])).text
    assert parsed(page).css(f'input[name="kb_id"][value="{base.kb_id}"]')
    client.post(address, {"kb_id": base.kb_id})
    assert Session.objects.get().mounted_kb == base
    other = create_base(Project.objects.create(name="Other", slug="other"), "Valves")
    assert error_code(client.post(address, {"kb_id": other.kb_id}, follow=True).text) == "KB_NOT_FOUND"
    assert Session.objects.count() == 1


def test_a_name_can_be_given_and_taken_away(client: Client, project: Project) -> None:
    session = new_session(project, first_message="Hello")
    address = reverse("session-rename", args=[session.session_id])
    response = client.post(address, {"title": "  New\n name ", "next": "/?q=x"})
    assert response["Location"] == "/?q=x"
    session.refresh_from_db()
    assert session.title == "New name"
    client.post(address, {"title": " "})
    session.refresh_from_db()
    assert session.title is None
    response = client.post(address, {"title": "x" * 201}, follow=True)
    assert notice(response.text).startswith("A title has at most 200 characters")


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example", "javascript:alert(1)", ""])
def test_a_form_leads_back_only_to_this_server(client: Client, project: Project, target: str) -> None:
    session = new_session(project)
    response = client.post(reverse("session-delete", args=[session.session_id]), {"next": target})
    assert response["Location"] == "/"


def test_a_deleted_session_can_be_taken_back(client: Client, project: Project) -> None:
    session = new_session(project, title="Dear")
    response = client.post(reverse("session-delete", args=[session.session_id]), follow=True)
    html = response.text
    undo = reverse("session-restore", args=[session.session_id])
    assert notice(html) == "Deleted “Dear”."
    assert parsed(html).css(f'.notice--said form[action="{undo}"]')
    assert titles(html) == []
    assert notice(client.post(undo, follow=True).text) == "“Dear” is back."
    assert titles(client.get("/").text) == ["Dear"]


def test_the_address_of_a_deleted_session_brings_it_back(client: Client, project: Project) -> None:
    """A refused undo leads there, so that it can be repeated."""
    session = new_session(project, title="Dear", deleted_at=timezone.now())
    new_session(project)
    Project.objects.update(quotas={"sessions": 1})
    undo, address = (reverse(name, args=[session.session_id]) for name in ("session-restore", "session"))
    refused = client.post(undo, follow=True)
    check_html(refused.text)
    assert (refused.status_code, error_code(refused.text)) == (404, "QUOTA_FULL")
    assert text_at(refused.text, "h1") == "“Dear” was deleted"
    assert not parsed(member_client(project, "viewer").get(address).text).css(f'main form[action="{undo}"]')
    Project.objects.update(quotas={})
    form = parsed(refused.text).css_first(f'main form[action="{undo}"]')
    assert client.post(undo, {"next": form.css_first('[name="next"]').attributes["value"]})["Location"] == address
    assert client.get(address).status_code == 200


def test_undo_has_an_end(client: Client, project: Project) -> None:
    session = new_session(project, deleted_at=timezone.now() - UNDO_PERIOD - timedelta(seconds=1))
    response = client.post(reverse("session-restore", args=[session.session_id]), follow=True)
    assert "too long ago" in notice(response.text)
    session.refresh_from_db()
    assert session.deleted_at is not None


def test_the_queries_do_not_grow_with_the_rows(client: Client, project: Project) -> None:
    counts = []
    for how_many in (2, 20):
        for _ in range(how_many):
            add_turns(new_session(project), 1)
        with counted_queries() as queries:
            client.get("/")
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 6


def test_sessions_are_ordered_by_turns_and_failures_page_by_page(
    client: Client, project: Project, settings: Settings
) -> None:
    settings.MRPVM_SESSIONS_SHOWN = 2
    for name, turns, failures in (("a", 1, 0), ("b", 3, 1), ("c", 2, 5), ("d", 3, 0)):
        new_session(project, title=name, turn_sequence=turns, failed_turn_count=failures)
    for sort, expected in (("turns", ["d", "b", "c", "a"]), ("failed", ["c", "b", "d", "a"])):
        first = client.get("/", {"sort": sort}).text
        (more,) = links_of(first, "#more-sessions a")
        assert titles(first) + titles(client.get(more).text) == expected


def test_sessions_are_ordered_by_what_their_last_turns_come_to(
    client: Client, project: Project, settings: Settings
) -> None:
    settings.MRPVM_SESSIONS_SHOWN = 2
    for name, durations, tokens, thumbs in (
        ("a", (10, 20, 900), 5, "uu"), ("b", (30, 30, 30), 0, "dd"), ("c", (25, 25, 25), 900, "d"), ("d", (), 0, ""),
    ):  # fmt: skip
        session = new_session(project, title=name)
        for turn, duration_ms in zip(add_turns(session, len(durations)), durations, strict=True):
            ExplainabilityTurn.objects.filter(pk=turn.pk).update(duration_ms=duration_ms, token_count=tokens)
        for turn, thumb in zip(session.turns.all(), thumbs, strict=False):
            TurnRating.objects.create(turn=turn, value={"u": "up", "d": "down"}[thumb])
    for sort, expected in (("p50", "bcad"), ("tokens", "cadb"), ("rating", "bcda")):
        first = client.get("/", {"sort": sort}).text
        assert [text.lower() for text in texts_of(first, '[aria-sort="descending"] a')] == [sort]
        (more,) = links_of(first, "#more-sessions a")
        assert titles(first) + titles(client.get(more).text) == list(expected)


@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_the_first_step_makes_a_base_where_the_role_may(project: Project, role: str) -> None:
    client = member_client(project, role)
    html = client.get(reverse("start")).text
    check_html(html)
    assert reverse("knowledge") in links_of(html, ".steps a")
    forms = attributes_of(html, ".steps form", "action")
    assert forms == ([reverse("knowledge"), reverse("session-create")] if role == "editor" else [])


def test_an_empty_conversation_names_the_base_to_ask_about(client: Client, project: Project) -> None:
    base = create_base(project, "Handbook")
    empty = [text_at(session_html(client, create_session(project, base=base)), "#messages .empty p")]
    add_text(base, "rules.md", "The pump hums.", [make_unit("a", "The pump hums.")])
    base.refresh_from_db()
    empty.append(text_at(session_html(client, create_session(project, base=base)), "#messages .empty p"))
    assert [text.split(".")[0] for text in empty] == [
        "State a fact, then ask about it",
        "Ask about Handbook, or state a fact",
    ]


def test_the_first_steps_lead_to_turns_worth_opening(client: Client, project: Project) -> None:
    assert "There is no turn yet." in texts_of(client.get(reverse("start")).text, ".steps p")
    session = new_session(project)
    answered, failed = *add_turns(session, 1), *add_turns(session, 1, "failed")
    ExplainabilityTurn.objects.filter(pk=answered.pk).update(outcome="answered")
    html = client.get(reverse("start")).text
    check_html(html)
    for turn in (answered, failed):
        assert reverse("turn", args=[session.session_id, turn.request_id]) in links_of(html)
    assert text_at(html, '[aria-label="First call with curl"]').startswith(
        "curl http://testserver/api/chat/completions"
    )
