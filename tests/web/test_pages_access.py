"""Access to pages and their forms."""

from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as DjangoSession
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.settings.projects import set_member
from sessions_app.models import Forgetting, Membership, Project
from sessions_app.queries.settings.projects import shown_projects
from sessions_app.web.urls import urlpatterns
from tests.web.page_scene import (
    add_turns,
    check_html,
    links_of,
    member_client,
    new_session,
    notice,
    parsed,
    text_at,
    texts_of,
)

WRITES = (
    "session-ask", "session-rename", "session-delete", "session-restore",
    "session-kb-mount", "session-kb-unstage", "session-kb-save", "session-kb-fork",
    "unit-retract", "unit-restore", "unit-correct",
)  # fmt: skip


def test_lists_show_only_the_own_project(project: Project) -> None:
    other = Project.objects.create(name="Other", slug="other")
    new_session(other, title="Of the others")
    create_base(other, "Base of the others")
    client = member_client(project)
    for name in ("sessions", "knowledge"):
        assert "of the others" not in client.get(reverse(name)).text.lower()


def test_a_page_offers_a_viewer_nothing_to_change(project: Project) -> None:
    viewer = member_client(project, "viewer")
    session = new_session(project)
    page = viewer.get(reverse("session", args=[session.session_id])).text
    assert text_at(page, "#composer-reason").startswith("Your role here is viewer")
    assert "disabled" in parsed(page).css("fieldset")[0].attributes
    for name in ("session-rename", "session-delete", "session-create"):
        address = reverse(name, args=[] if name.endswith("create") else [session.session_id])
        assert not parsed(page).css(f'[action="{address}"]')


@pytest.mark.rule("DECISION-25")
@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_only_admins_see_and_make_keys(project: Project, role: str) -> None:
    client = member_client(project, role)
    for response in (client.get(reverse("api-keys")), client.post(reverse("api-keys"), {"name": "x"})):
        assert response.status_code == 403
        assert text_at(response.text, "h1 + p").startswith(f"Your role here is {role}")
    assert reverse("api-keys") not in links_of(client.get(reverse("sessions")).text)
    assert not project.api_keys.exists()


def test_a_role_that_was_lowered_counts_at_once(project: Project) -> None:
    client = member_client(project, "editor", "falling")
    assert client.post(reverse("session-create")).status_code == 302
    Membership.objects.filter(user__username="falling").update(role="viewer")
    assert client.post(reverse("session-create")).status_code == 403


@pytest.mark.rule("API-6")
def test_writes_need_the_csrf_token(project: Project) -> None:
    session = new_session(project)
    member_client(project, name="strict")
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.get(username="strict"))
    for name in WRITES:
        response = strict.post(reverse(name, args=[session.session_id]))
        assert response.status_code == 403, name
    assert text_at(response.text, "h1") == "Form expired"


def test_the_address_of_a_form_leads_to_its_page(project: Project) -> None:
    client = member_client(project)
    for address, page in form_addresses(project):
        response = client.get(address)
        assert (response.status_code, response["Allow"]) == (405, "POST"), address
        html = response.text
        check_html(html)
        assert "Go to the page of the form" in texts_of(html, f'a.button[href="{page}"]'), address
        assert client.head(address).status_code == 405
    assert client.get(reverse("session-create"))["Location"] == "/"


FORMS_OF_SESSION = (
    "session-kb-test",
    "session-take-models", "session-memory-clear", "session-kb-unmount", "session-policies", "session-clear-preference",
)  # fmt: skip
OF_SUITE = ("run-start", "rename", "delete")
OF_LIST = ("turn-filter-save", "turns-keep", "turns-review")
OF_FILTER = ("change", "delete")
OF_BASE = ("test", "upload", "remove", "restore", "compact", "rename", "fork", "delete")


def form_addresses(project: Project) -> list[tuple[str, str]]:
    """Return every address that only accepts a form, with the page that has the form."""
    session = new_session(project)
    turn = add_turns(session, 1)[0]
    of_session = [session.session_id]
    page, base = reverse("session", args=of_session), session.mounted_kb
    skills, base_page = reverse("session-skills", args=of_session), reverse("knowledge-base", args=[base.kb_id])
    found = [(reverse(name, args=of_session), page) for name in (*WRITES, *FORMS_OF_SESSION)]
    found = [
        (address, "/" if address.endswith("/restore") and "/unit/" not in address else under)
        for address, under in found
    ]
    found += [(reverse(name, args=[*of_session, turn.request_id]), page) for name in ("turn-cancel", "turn-rate")]
    of_turn = [session.session_id, turn.request_id]
    tries, causes = reverse("turn-try", args=of_turn), reverse("turn-diagnosis", args=of_turn)
    found += [(reverse(name, args=of_turn), tries) for name in ("turn-continue", "turn-try-run")]
    found.append((reverse("turn-diagnose", args=of_turn), causes))
    found.append((reverse("session-bisect-run", args=of_session), reverse("session-bisect", args=of_session)))
    experiment = reverse("experiment", args=["exp-1"])
    found += [(reverse(f"experiment-{name}", args=["exp-1"]), experiment) for name in ("stop", "delete")]
    suite = reverse("suite", args=["suite-1"])
    found += [(reverse(f"suite-{name}", args=["suite-1"]), suite) for name in OF_SUITE]
    found.append((reverse("test-delete", args=["suite-1", "test-1"]), suite))
    found.append((reverse("suite-import"), reverse("suites")))
    found += [(reverse(f"knowledge-{name}", args=[base.kb_id]), base_page) for name in OF_BASE]
    found.append((reverse("knowledge-undelete", args=[base.kb_id]), reverse("knowledge")))
    found.append((reverse("project-choose", args=["other"]), reverse("projects")))
    found.append((reverse("session-import"), "/"))
    found.append((reverse("forget-plan"), reverse("forget")))
    act = Forgetting.objects.create(project=project, kind="text", created_by_name="anna")
    of_act = (reverse(name, args=[act.forgetting_id]) for name in ("forgetting-run", "forgetting-cancel"))
    found += [(address, reverse("forgetting", args=[act.forgetting_id])) for address in of_act]
    found += [(reverse(f"member-{name}", args=["ann"]), reverse("members")) for name in ("role", "remove")]
    found += [(reverse(f"retention-{name}"), reverse("retention")) for name in ("stop", "start")]
    found.append((reverse("invitation-withdraw", args=[1]), reverse("members")))
    found += [(reverse(name), reverse("turns")) for name in OF_LIST]
    found += [(reverse(f"turn-filter-{name}", args=["f-1"]), reverse("turn-filters")) for name in OF_FILTER]
    found += [
        (address, reverse("review")) for address in (reverse("review-clear"), reverse("review-rate", args=of_turn))
    ]
    found.append((reverse("alert-delete", args=["alert-1"]), reverse("alerts")))
    found.append((reverse("api-key-revoke", args=[1]), reverse("api-keys")))
    return [*found, (reverse("session-skills-reload", args=of_session), skills), (reverse("logout"), "/")]


def test_no_view_refuses_to_be_opened_without_naming_its_page() -> None:
    listed = {entry.name for entry in urlpatterns if hasattr(entry.callback, "form_page")}
    tested = {"logout", "api-key-revoke", "session-skills-reload", "turn-cancel", "turn-rate", "turn-continue"}
    tested |= {"turn-try-run", "turn-diagnose", "session-bisect-run", "experiment-stop", "experiment-delete"}
    tested |= {"knowledge-undelete", "project-choose"}
    tested |= {"session-import", "forget-plan", "forgetting-run", "forgetting-cancel"}
    tested |= {"suite-import", "test-delete", *(f"suite-{name}" for name in OF_SUITE)}
    tested |= {"member-role", "member-remove", "invitation-withdraw", "retention-stop", "retention-start"}
    tested |= {"review-clear", "review-rate", "alert-delete"}
    tested |= {*OF_LIST, *(f"turn-filter-{name}" for name in OF_FILTER)}
    tested |= {*WRITES, *FORMS_OF_SESSION, *(f"knowledge-{name}" for name in OF_BASE)}
    assert listed == tested
    views = Path("sessions_app/web")
    assert not [path for path in views.rglob("*.py") if "require_POST" in path.read_text()]


def test_after_a_login_one_stands_on_the_page_of_the_form(project: Project, client: Client) -> None:
    for address, page in form_addresses(project):
        for response in (client.post(address), client.get(address)):
            assert response["Location"] == f"{reverse('login')}?{urlencode({'next': page}, safe='/')}", address
    session = new_session(project)
    from_list = client.post(reverse("session-rename", args=[session.session_id]), {"next": "/?q=x"})
    assert from_list["Location"] == f"{reverse('login')}?next=/%3Fq%3Dx"
    elsewhere = client.post(reverse("session-rename", args=[session.session_id]), {"next": "https://evil.example/"})
    assert "evil" not in elsewhere["Location"]
    assert client.post(reverse("session-create"))["Location"] == "/login?next=/sessions"  # from there to the list


def test_a_message_survives_an_expired_login(project: Project, client: Client, settings: Settings) -> None:
    settings.MRPVM_LOGINS_PER_MINUTE = 3
    session = new_session(project)
    page, ask = (reverse(name, args=[session.session_id]) for name in ("session", "session-ask"))
    refused = client.post(ask, {"content": "Is <b> open?", "deliberation_level": "2", "next": "/x"}, follow=True)
    assert notice(refused.text) == "Your login has expired. Log in; your message will be in its field again."
    member_client(project, name="anna")
    client.force_login(User.objects.get(username="anna"))
    html = client.get(page).text
    assert "Is <b> open?" in texts_of(html, "textarea")
    assert parsed(html).css('option[value="2"][selected]')
    assert "open?" not in texts_of(client.get(page).text, "textarea")
    assert not session.turns.exists()


def test_strangers_cannot_have_much_kept(project: Project, client: Client, settings: Settings) -> None:
    settings.MRPVM_LOGINS_PER_MINUTE = 1
    ask = reverse("session-ask", args=[new_session(project).session_id])
    client.post(ask, {"content": "x" * (settings.MRPVM_MAX_MESSAGE_CHARS + 1)})
    assert not DjangoSession.objects.exists()
    for _ in range(2):
        html = Client().post(ask, {"content": "Hi"}, follow=True).text
    assert DjangoSession.objects.count() == 1
    assert notice(html) == "Your login has expired. Log in; nothing was done."


@pytest.mark.parametrize("session_id", ["no such", "sess-0", "%00", "a%0Ab", "x" * 600, "..%2e"])
def test_ids_of_any_form_are_just_not_there(project: Project, session_id: str) -> None:
    assert member_client(project).get(f"/sessions/{session_id}").status_code == 404


def test_a_client_s_own_session_name_works_in_addresses(project: Project) -> None:
    client = member_client(project)
    session = new_session(project, session_id="my dog's #1 talk? 100% ü")
    turn = add_turns(session, 1)[0]
    address = reverse("session", args=[session.session_id])
    assert address in links_of(client.get(reverse("sessions")).text)
    assert client.get(address).status_code == 200
    assert client.get(reverse("turn", args=[session.session_id, turn.request_id])).status_code == 200


def test_a_slash_at_the_end_leads_to_the_page(project: Project) -> None:
    client, found = member_client(project), reverse("knowledge-base", args=["default"])
    assert client.get(f"{found}/?unit=u1&x=%2F")["Location"] == f"{found}?unit=u1&x=%2F"
    assert client.get("/knowledge/", follow=True).status_code == 200
    assert client.post("/sessions/").status_code == 405  # no form has this target


@pytest.mark.parametrize(
    "address", ["/nothing/", "//example.com/", "//example.com//", "/knowledge//", "///example.com/"]
)
def test_a_slash_at_the_end_of_no_page_leads_nowhere(project: Project, address: str) -> None:
    assert member_client(project).get("/", PATH_INFO=address).status_code == 404


def test_a_member_of_two_projects_switches_between_them(project: Project) -> None:
    client = member_client(project, "viewer", name="ada")
    other = Project.objects.create(name="Second", slug="second")
    address = reverse("project-choose", args=["second"])
    assert client.post(address).status_code == 404
    set_member(other, User.objects.get(username="ada"), "viewer")
    assert "Second" in texts_of(client.get(reverse("projects"), headers={"HX-Request": "true"}).text, "button")
    assert parsed(client.post(address, follow=True).text).css('[title="Project Second"]')
    assert shown_projects([User.objects.get(username="ada").pk]) == {User.objects.get(username="ada").pk: other.pk}


@pytest.mark.parametrize("is_fragment", [False, True])
def test_a_form_of_a_page_of_another_project_changes_nothing(project: Project, is_fragment: bool) -> None:
    other = Project.objects.create(name="Other", slug="other")
    client = member_client(project, name="ann")
    set_member(other, User.objects.get(username="ann"), "admin")
    set_member(other, User.objects.create_user("bo"), "viewer")
    set_member(project, User.objects.get(username="bo"), "viewer")
    client.post(reverse("project-choose", args=["other"]), {"page_project": "default"})
    headers = {"Referer": "http://testserver/members"} | ({"HX-Request": "true"} if is_fragment else {})
    for name, arguments, form in (
        ("member-remove", ["bo"], {}), ("member-role", ["bo"], {"role": "admin"}), ("api-keys", [], {"name": "K"}),
        ("quotas", [], {"sessions": "1"}), ("retention", [], {"messages": "1"}), ("knowledge", [], {"name": "New"}),
    ):  # fmt: skip
        asked = client.post(reverse(name, args=arguments), {**form, "page_project": "default"}, headers=headers)
        assert asked.status_code == (422 if is_fragment else 403)
    assert dict(Membership.objects.filter(user__username="bo").values_list("project__slug", "role")) == {
        "default": "viewer", "other": "viewer",
    }  # fmt: skip
    other.refresh_from_db()
    assert (other.quotas, other.api_keys.count(), other.knowledge_bases.count()) == ({}, 0, 0)
    if is_fragment:
        assert "another project than “Other”" in asked.text
        return
    check_html(asked.text)
    assert text_at(asked.text, "h1 + p").startswith("Nothing was done: the page that sent this is of “Default”")
    assert parsed(asked.text).css('[name="next"]')[0].attributes["value"] == "http://testserver/members"


def test_an_address_in_another_own_project_leads_there(project: Project) -> None:
    other = Project.objects.create(name="Other", slug="other")
    session, base = new_session(other), create_base(other, "Theirs")
    client, stranger = member_client(project, name="ann"), member_client(project, name="bo")
    set_member(other, User.objects.get(username="ann"), "viewer")
    for name, key in (("session", session.session_id), ("knowledge-base", base.kb_id)):
        address = reverse(name, args=[key])
        assert stranger.get(address).status_code == 404
        asked = client.get(address)
        assert asked.status_code == 403
        assert text_at(asked.text, "h1 + p") == "It belongs to “Other”, and the pages show “Default” now."
    form = parsed(asked.text).css_first("main form")
    shown = client.post(str(form.attributes["action"]), {"next": form.css_first('[name="next"]').attributes["value"]})
    assert shown["Location"] == address
    assert client.get(address).status_code == 200
