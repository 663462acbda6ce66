"""Saved filters of the list of turns, and actions on several turns."""

import pytest
from django.test import Client
from django.urls import reverse
from selectolax.lexbor import LexborHTMLParser

from sessions_app.actions.experiments.experiments import Author
from sessions_app.actions.turns.saved_filters import save_filter
from sessions_app.models import AuditEntry, ExplainabilityTurn, Project, SavedFilter, Suite
from tests.web.page_scene import (
    HOSTILE,
    add_turns,
    admin_of_another_project,
    check_html,
    member_client,
    new_session,
    notice,
)

ANNA = Author(name="anna")


def page(client: Client, address: str, **query: str) -> LexborHTMLParser:
    """Return a page, checked for sound HTML."""
    answer = client.get(address, query)
    assert answer.status_code == 200
    check_html(answer.text)
    return LexborHTMLParser(answer.text)


def texts(found: LexborHTMLParser, selector: str) -> list[str]:
    return [node.text(strip=True) for node in found.css(selector)]


def test_a_filter_is_saved_shared_renamed_and_deleted(project: Project) -> None:
    add_turns(new_session(project), 1, "failed")
    editor, viewer = member_client(project, "editor", "anna"), member_client(project, "viewer")
    saved = editor.post(reverse("turn-filter-save"), {"q": "status:failed after:2020-01-01", "name": " Went  wrong "})
    shown = page(editor, saved["Location"])
    assert texts(shown, '[aria-label="Saved filters"] [aria-current]') == ["Went wrong"]
    assert "Save this filter" not in texts(shown, "summary")
    stored = SavedFilter.objects.get()
    shared = reverse("turn-filter", args=[stored.filter_id])
    assert len(page(viewer, viewer.get(shared)["Location"]).css("[data-row]")) == 1
    listed = page(viewer, reverse("turn-filters"))
    assert shared in texts(listed, "pre")[0]
    assert listed.css("form[action*='/filters/']") == []
    change = reverse("turn-filter-change", args=[stored.filter_id])
    editor.post(change, {"name": "Failed", "q": "status:failed"})
    assert viewer.get(shared)["Location"] == f"{reverse('turns')}?q=status%3Afailed"
    editor.post(reverse("turn-filter-delete", args=[stored.filter_id]))
    assert viewer.get(shared).status_code == 404
    kinds = AuditEntry.objects.filter(kind__startswith="filter.").order_by("pk").values_list("kind", "actor")
    assert list(kinds) == [(f"filter.{done}", "anna") for done in ("saved", "changed", "deleted")]


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("", "status:failed", "1 to 80 characters"),
        ("Empty", "  ", "says what it looks for"),
        ("Wrong", "status:faild", "status is one of"),
        ("Taken", "status:failed", "There is a filter 'Taken' already."),
    ],
)
def test_a_bad_filter_is_refused_with_the_reason(project: Project, name: str, text: str, reason: str) -> None:
    save_filter(project, "Taken", "is:slow", ANNA)
    told = member_client(project).post(reverse("turn-filter-save"), {"q": text, "name": name}, follow=True)
    assert reason in notice(told.text)
    assert SavedFilter.objects.count() == 1


def test_filters_of_another_project_are_not_there(project: Project) -> None:
    saved = save_filter(project, "Failed", "status:failed", ANNA)
    stranger, viewer = admin_of_another_project(), member_client(project, "viewer")
    assert texts(page(stranger, reverse("turn-filters")), ".table__title") == []
    for name, data in (("change", {"name": "Mine", "q": "x"}), ("delete", {})):
        address = reverse(f"turn-filter-{name}", args=[saved.filter_id])
        assert stranger.post(address, data).status_code == 404
        assert viewer.post(address, data).status_code == 403
    assert viewer.post(reverse("turn-filter-save"), {"q": "x", "name": "x"}).status_code == 403
    assert SavedFilter.objects.get().name == "Failed"


def test_names_and_filters_are_shown_as_text(project: Project) -> None:
    save_filter(project, HOSTILE[:80], "word", ANNA)
    client = member_client(project)
    add_turns(new_session(project), 1)
    for address in (reverse("turns"), reverse("turn-filters")):
        assert HOSTILE[:40] in page(client, address).body.text()


def test_chosen_and_found_turns_are_kept_as_tests_once(live_project: Project, turn: ExplainabilityTurn) -> None:
    client = member_client(live_project, "editor")
    boxes = page(client, reverse("turns")).css('[name="turn"][form="several"]')
    chosen = [box.attributes["value"] for box in boxes][:1]
    assert chosen == [turn.request_id]
    keep = reverse("turns-keep")
    first = client.post(keep, {"which": "chosen", "turn": chosen, "new_suite": "Ferries"}, follow=True)
    assert notice(first.text) == "1 turn kept as tests."
    suite = Suite.objects.get(name="Ferries")
    rest = {"which": "found", "q": "ferry", "suite": suite.suite_id}
    kept = notice(client.post(keep, rest, follow=True).text)
    assert kept == "2 turns kept as tests. 1 could not be kept: It is a test of the suite already."
    assert suite.tests.filter(turn=turn, message=turn.user_message).count() == 1
    assert suite.tests.count() == 3
    nothing = client.post(keep, {"which": "chosen", "suite": suite.suite_id}, follow=True)
    assert notice(nothing.text).startswith("No turn was chosen")
    assert member_client(live_project, "viewer").post(keep, rest).status_code == 403
    assert admin_of_another_project().post(keep, {"turn": chosen, "new_suite": "X"}, follow=True).status_code == 200
    assert not Suite.objects.filter(name="X").exists()
