"""The pages of tests: keeping a turn, running a suite, and links from results to their trials."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from sessions_app.actions.experiments.experiments import Author
from sessions_app.actions.experiments.suites import add_test, create_suite
from sessions_app.actions.sessions.session import create_session
from sessions_app.experiments.suites.suites import kept_turn
from sessions_app.models import AuditEntry, ExplainabilityTurn, Project, Suite, TestCase, TestResult
from tests.web.page_scene import HOSTILE, check_html, link_of, member_client, notice, parsed, talk, text_at, texts_of
from tests.web.test_experiment_pages import address, settled

ANNA = Author(name="anna")


@pytest.fixture
def suite(live_project: Project, turn: ExplainabilityTurn) -> Suite:
    """Return a suite with a test that expects the turn's answer."""
    made = create_suite(live_project, "Ferries", ANNA)
    add_test(made, kept_turn(turn), ANNA)
    return made


def page_of(suite: Suite, name: str = "suite", *more: str) -> str:
    return reverse(name, args=[suite.suite_id, *more])


def filled(client: Client, url: str) -> dict[str, Any]:
    """Return the values that an unchanged form of a test sends."""
    context = client.get(url).context
    fields, expected = context["fields"], context["expected"]
    sent = {"name": fields.name, "message": fields.message, "tags": context["tags"], "kb_id": context["asked_base"]}
    return sent | {name: "" if value is None else value for name, value in expected.items() if value is not False}


def test_a_turn_is_kept_and_its_run_leads_to_the_trial(live_project: Project, turn: ExplainabilityTurn) -> None:
    client = member_client(live_project)
    keep = link_of(client.get(address(turn, "turn")).text, "Keep as test")
    sent = filled(client, keep)
    assert "gate" in sent["contains"]
    made = client.post(keep, {**sent, "new_suite": "Ferries"}, follow=True)
    check_html(made.text)
    assert notice(made.text) == "The test stands in “Ferries”."
    suite = Suite.objects.get(name="Ferries")
    started = client.post(page_of(suite, "suite-run-start"), {"over": "heads"})
    found = settled(client, started["Location"])
    check_html(found)
    assert text_at(found, "#run-news > p .badge") == "1 passed"
    assert text_at(found, "h1") == "Run against the bases as they are"
    assert parsed(client.get(link_of(found, "Open")).text).css("svg")
    again = client.get(page_of(suite)).text
    check_html(again)
    assert parsed(again).css('[href$="#result-1"]')
    assert text_at(client.get(reverse("suites")).text, '[data-label="Last run"]').startswith("1 passed")
    experiment = client.get(reverse("experiment", args=[started["Location"].rsplit("/", 1)[1]]))
    assert experiment["Location"] == started["Location"]


def test_a_wrong_answer_is_kept_as_not_expected(live_project: Project, turn: ExplainabilityTurn) -> None:
    client, keep = member_client(live_project), address(turn, "turn-keep")
    as_answered = filled(client, keep)
    assert as_answered["status"] == "answered"
    wrong = link_of(client.get(keep).text, "That was wrong: expect another answer")
    of_wrong = filled(client, f"{keep}{wrong}")
    assert of_wrong["does_not_contain"] == as_answered["contains"]
    assert not any(of_wrong[name] for name in ("contains", "status", "basis", "cites"))
    client.post(address(turn, "turn-rate"), {"value": "down"})
    assert filled(client, keep) == of_wrong
    assert filled(client, f"{keep}{link_of(client.get(keep).text, 'Expect the answer that it gave')}") == as_answered


def test_of_no_answer_that_is_wrong_an_answer_is_expected(live_project: Project) -> None:
    unanswered = talk(create_session(live_project), "Who is the captain?")
    client, keep = member_client(live_project), address(unanswered, "turn-keep")
    assert filled(client, keep)["status"] == "no-context"
    of_wrong = filled(client, f"{keep}?wrong=yes")
    assert (of_wrong["status"], of_wrong["basis"], of_wrong["cites"]) == ("answered", "", "")


def test_a_test_that_breaks_is_told_since_the_run_before(live_project: Project, suite: Suite) -> None:
    client = member_client(live_project)
    settled(client, client.post(page_of(suite, "suite-run-start"))["Location"])
    edit = page_of(suite, "test", TestCase.objects.get().test_id)
    sent = filled(client, edit)
    assert client.post(edit, {**sent, "contains": "gate Z"})["Location"] == page_of(suite)
    found = settled(client, client.post(page_of(suite, "suite-run-start"))["Location"])
    assert texts_of(found, "[aria-labelledby=difference-title] p")[0].startswith("0 fixed, 1 broken, 0 as before.")
    assert text_at(found, '#result-1 [data-label="Reason"]') == "The answer does not contain “gate Z”."


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"contains": "", "cites": "", "status": "", "basis": ""}, "The test expects nothing"),
        ({"matches": "("}, "The pattern cannot be read"),
        ({"max_tokens": "many"}, "max tokens must be a whole number"),
        ({"name": " "}, "A name has 1 to 200 characters"),
    ],
)
def test_a_test_that_cannot_be_kept_keeps_what_was_written(
    live_project: Project, suite: Suite, changed: dict[str, str], told: str
) -> None:
    client = member_client(live_project)
    edit = page_of(suite, "test", TestCase.objects.get().test_id)
    refused = client.post(edit, {**filled(client, edit), "message": "Which gate?", "tags": "gates", **changed})
    assert refused.status_code == 400
    assert (refused.context["fields"].message, refused.context["tags"]) == ("Which gate?", "gates")
    assert text_at(refused.text, "[role=alert]").startswith(told)


def test_a_base_is_asked_by_a_test_written_by_hand(live_project: Project, suite: Suite) -> None:
    client = member_client(live_project)
    new = page_of(suite, "test-new")
    check_html(client.get(new).text)
    sent = {"name": HOSTILE, "message": HOSTILE, "does_not_contain": "zebra", "tags": "a, b"}
    sent["kb_id"] = client.get(new).context["bases"][0].kb_id
    shown = client.post(new, sent, follow=True).text
    check_html(shown)
    assert HOSTILE not in shown
    made = TestCase.objects.get(turn=None)
    assert (made.tags, made.expected) == (["a", "b"], {"doesNotContain": ["zebra"]})
    found = settled(client, client.post(page_of(suite, "suite-run-start"), {"tag": ["b"]})["Location"])
    check_html(found)
    assert HOSTILE not in found
    assert list(TestResult.objects.values_list("name", "outcome")) == [(HOSTILE, "passed")]


def test_a_suite_goes_out_and_comes_in_as_a_file(live_project: Project, suite: Suite) -> None:
    client = member_client(live_project)
    file = client.get(page_of(suite, "suite-file"))
    assert file["Content-Disposition"] == 'attachment; filename="suite.yaml"'
    assert AuditEntry.objects.get(kind="export.made").actor_kind == "user"
    upload = SimpleUploadedFile("suite.yaml", file.content.replace(b"Ferries", b"Copy"))
    read = client.post(reverse("suite-import"), {"file": upload}, follow=True).text
    assert notice(read) == "The suite “Copy” is as the file says."
    bad = SimpleUploadedFile("suite.yaml", b"suite: X\ntests: [{message: a, colour: red}]")
    refused = client.post(reverse("suite-import"), {"file": bad}, follow=True).text
    assert "there is no field 'colour'" in notice(refused)
    renamed = client.post(page_of(suite, "suite-rename"), {"name": "Boats"}, follow=True)
    assert text_at(renamed.text, "h1") == "Boats"
    client.post(page_of(suite, "suite-delete"))
    assert [each.name for each in Suite.objects.all()] == ["Copy"]


def test_a_viewer_runs_tests_and_writes_none(live_project: Project, suite: Suite, turn: ExplainabilityTurn) -> None:
    client = member_client(live_project, "viewer")
    shown = client.get(page_of(suite)).text
    check_html(shown)
    assert page_of(suite, "test-new") not in shown
    assert client.post(page_of(suite, "suite-run-start")).status_code == 302
    for refused in (page_of(suite, "suite-delete"), page_of(suite, "test-new"), reverse("suite-import")):
        assert client.post(refused).status_code == 403
    assert client.get(address(turn, "turn-keep")).status_code == 403
    assert client.post(reverse("suites"), {"name": "x"}).status_code == 403


def test_the_empty_list_teaches_what_a_test_is(live_project: Project) -> None:
    shown = member_client(live_project).get(reverse("suites")).text
    check_html(shown)
    assert text_at(shown, ".empty h2") == "No suite yet"


def test_a_save_says_what_it_breaks_before_it_is_made(
    live_project: Project, suite: Suite, turn: ExplainabilityTurn
) -> None:
    client = member_client(live_project)
    session = turn.session
    shown = client.get(reverse("session-kb-saving", args=[session.session_id])).text
    assert text_at(shown, '[aria-label="Test this save"] p').startswith("1 test asks this base.")
    save = reverse("session-kb-test", args=[session.session_id])
    found = settled(client, client.post(save, {"include_conversation_units": "yes"})["Location"])
    check_html(found)
    assert text_at(found, ".notice") == "This save breaks 0 of 1 test."
    assert "Save" in texts_of(found, "button")
    base = reverse("knowledge-base", args=[session.mounted_kb.kb_id])
    assert "Ferries" in texts_of(client.get(base).text, "dl.facts a")
    client.post(reverse("session-kb-save", args=[session.session_id]), {"include_conversation_units": "yes"})
    asked = {"name": "saved", "message": turn.user_message, "kb_id": session.mounted_kb.kb_id, "contains": "gate"}
    client.post(page_of(suite, "test-new"), asked)
    revision = reverse("knowledge-test", args=[session.mounted_kb.kb_id])
    told = settled(client, client.post(revision, {"revision": "1"})["Location"])
    check_html(told)
    assert "Restoring revision 1 breaks 1 of 2 tests." in texts_of(told, ".notice")
