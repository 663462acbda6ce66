"""API keys, and the number of queries of several pages."""

import json
import re

import pytest
from django.contrib.sessions.models import Session as DjangoSession
from django.test import Client
from django.urls import reverse

from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.forks import fork_base
from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.settings.api_keys import create_key, find_key
from sessions_app.models import ApiKey, Project
from tests.actions.knowledge_scene import add_text
from tests.web.page_scene import check_html, counted_queries, member_client, notice, parsed, text_at, texts_of


@pytest.fixture
def admin(project: Project) -> Client:
    return member_client(project, name="boss")


def test_a_key_is_shown_once(admin: Client, project: Project) -> None:
    response = admin.post(reverse("api-keys"), {"name": "For the bot", "role": "viewer"})
    assert (response.status_code, response["Location"]) == (302, reverse("api-keys"))  # a reload creates no second key
    stored = DjangoSession.objects.get().get_decoded()
    response = admin.get(reverse("api-keys"))
    html = response.text
    check_html(html)
    plain = re.search(r"mrp_[\w-]{32,}", html)
    assert plain is not None
    assert "no-store" in response["Cache-Control"]
    assert plain[0] not in str(stored)
    key = find_key(plain[0])
    assert key is not None
    assert (key.name, key.role, key.project) == ("For the bot", "viewer", project)
    assert key.created_by is not None
    assert key.created_by.username == "boss"
    later = admin.get(reverse("api-keys")).text
    assert plain[0] not in later
    assert f"{plain[0][:12]}…" in texts_of(later, '[data-label="Key"]')
    (row,) = (text for text in texts_of(later, "tr") if "For the bot" in text)
    assert "never" not in row
    assert ApiKey.objects.count() == 1


def test_a_key_is_shown_at_once_where_it_cannot_be_kept(admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise ConnectionError("away")

    monkeypatch.setattr("sessions_app.web.settings.api_keys.cache.set", away)
    response = admin.post(reverse("api-keys"), {"name": "For the bot", "role": "editor"})
    assert response.status_code == 200
    assert re.search(r"mrp_[\w-]{32,}", response.text)


@pytest.mark.parametrize("role", ["chat", "viewer", "editor", "admin"])
def test_the_call_shown_with_a_key_is_allowed_to_it(admin: Client, role: str) -> None:
    page = parsed(admin.post(reverse("api-keys"), {"name": "Bot", "role": role}, follow=True).text)
    shown = page.css('[aria-label="A first call with it"]')[0].text()
    address, key = re.search(r"curl http://testserver(\S+)", shown), re.search(r"mrp_[\w-]{32,}", shown)
    assert address
    assert key
    body = re.search(r"-d '(.*)'", shown)
    assert (body is None) == (role == "viewer")
    assert ("/mcp" in page.text()) == (role != "chat")
    headers = {"Authorization": f"Bearer {key[0]}"}
    if body is None:
        assert Client().get(address[1], headers=headers).status_code == 200
    else:
        assert json.loads(body[1])["messages"]
        empty = Client().post(address[1], {}, "application/json", headers=headers)
        assert empty.status_code == 400  # allowed, and no message


def test_a_key_that_cannot_be_made_says_why(admin: Client) -> None:
    for form in ({"name": "", "role": "viewer"}, {"name": "x" * 121, "role": "viewer"}, {"name": "x", "role": "king"}):
        response = admin.post(reverse("api-keys"), form)
        assert response.status_code == 400
        assert parsed(response.text).css('[class="field__error"]')
    assert not ApiKey.objects.exists()


def test_a_revoked_key_stays_listed_and_opens_nothing(admin: Client, project: Project) -> None:
    key, plain = create_key(project, "Old")
    page = admin.get(reverse("api-keys")).text
    assert "Yes, revoke for good" in texts_of(page, "button")
    html = admin.post(reverse("api-key-revoke", args=[key.pk]), follow=True).text
    assert notice(html) == "Revoked “Old”."
    assert text_at(html, ".is-revoked .table__actions").startswith("revoked ")
    assert find_key(plain) is None


def test_another_project_s_key_cannot_be_revoked(admin: Client) -> None:
    other = Project.objects.create(name="Other", slug="other")
    key, plain = create_key(other, "Theirs")
    assert admin.post(reverse("api-key-revoke", args=[key.pk])).status_code == 404
    assert find_key(plain) is not None


def test_the_queries_do_not_grow(admin: Client, project: Project) -> None:
    counts = []
    for how_many in (3, 30):
        base = create_base(project, f"Base {how_many}")
        for number in range(how_many):
            add_text(base, f"s{number}", "x", ())
            fork_base(base, f"fork {number}")
            create_session(project, base=base)
            create_key(project, f"key {number}", "viewer", base and None)
        total = 0
        for address in (
            reverse("knowledge"),
            reverse("knowledge-base", args=[base.kb_id]),
            reverse("api-keys"),
            reverse("plugins"),
        ):
            with counted_queries() as queries:
                assert admin.get(address).status_code == 200
            total += len(queries)
        counts.append(total)
    assert counts[0] == counts[1]
