"""Retention by the API and on its page."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db.models import F
from django.urls import reverse

from sessions_app.actions.upkeep.retention import carry_out_retention
from sessions_app.models import AuditEntry, ExplainabilityTurn, Project, Retention
from tests.api.conftest import Caller
from tests.web.page_scene import check_html, input_fields, member_client, parsed, texts_of

RETENTION = "/api/settings/retention"


def by_kind(body: dict[str, list[dict[str, object]]]) -> dict[object, dict[str, object]]:
    return {rule["kind"]: rule for rule in body["kinds"]}


def said(message: str) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": message}]}


def test_rules_are_chosen_previewed_and_taken_back(project: Project, caller: Callable[..., Caller]) -> None:
    admin = caller("admin")
    shown = admin.get(RETENTION).json()
    assert by_kind(shown)["trials"] | {"name": ""} == {
        "kind": "trials", "name": "", "days": 30, "server_days": 30, "is_chosen": False,
    }  # fmt: skip
    assert shown["run"]["status"] == "waiting"
    for message in ("My dog is called Rex.", "What is my dog called?"):
        answer = admin.post("/api/chat/completions", said(message))
        assert answer.status_code == 200, answer.content
    ExplainabilityTurn.objects.update(created_at=F("created_at") - timedelta(days=9))
    preview = by_kind(admin.get(f"{RETENTION}/preview?payloads=7&model_exchanges=10").json())
    assert preview["payloads"]["removed"] == {"count": 2, "is_more": False}
    assert preview["model-exchanges"]["removed"] == {"count": 0, "is_more": False}
    assert admin.get(RETENTION).json() == shown
    changed = admin.patch(RETENTION, {"days": {"payloads": 7, "trials": 0}}).json()
    assert {kind: rule["days"] for kind, rule in by_kind(changed).items() if rule["is_chosen"]} == {
        "trials": 0, "payloads": 7,
    }  # fmt: skip
    assert carry_out_retention() == 2
    run = admin.get(RETENTION).json()["run"]
    assert (run["status"], run["removed"]) == ("finished", {"payloads": 2})
    assert admin.patch(RETENTION, {"days": {"payloads": None, "trials": None}}).json()["kinds"] == shown["kinds"]
    entry = AuditEntry.objects.filter(kind="retention.changed").earliest("pk")
    assert entry.facts == {"payloads": {"from": 0, "to": 7}, "trials": {"from": 30, "to": 0}}


def test_removing_is_stopped_and_started(project: Project, caller: Callable[..., Caller]) -> None:
    admin = caller("admin")
    assert admin.post(f"{RETENTION}/stop").json()["run"]["status"] == "stopped"
    assert admin.patch(RETENTION, {"days": {"payloads": 7}}).json()["run"]["status"] == "stopped"
    assert admin.post(f"{RETENTION}/start").json()["run"]["status"] == "waiting"


@pytest.mark.parametrize(
    ("days", "place"),
    [
        ({"coffee": 1}, "There is no retention of 'coffee'."),
        ({"audit": 7, "traces": -1}, "days.traces: "),
        ({"traces": "soon"}, "days.traces: "),
        ({"traces": 99_999}, "days.traces: "),
        (7, "days: "),
    ],
)
def test_rules_that_cannot_be_are_refused(
    project: Project, caller: Callable[..., Caller], days: object, place: str
) -> None:
    admin = caller("admin")
    answer = admin.patch(RETENTION, {"days": days})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, "INVALID_INPUT")
    assert error["message"].startswith(place)
    assert not any(rule["is_chosen"] for rule in admin.get(RETENTION).json()["kinds"])


def test_the_page_previews_saves_and_stops(project: Project) -> None:
    admin, address = member_client(project, "admin", "ann"), reverse("retention")
    check_html(admin.get(address).text)
    answer = admin.post("/api/chat/completions", said("Hello"), content_type="application/json")
    assert answer.status_code == 200, answer.content
    ExplainabilityTurn.objects.update(created_at=F("created_at") - timedelta(days=9))
    preview = admin.post(address, {"payloads": "7", "preview": "1"})
    check_html(preview.text)
    assert "Removed now" in texts_of(preview.text, "th")
    refused = admin.post(address, {"payloads": "soon"})
    check_html(refused.text)
    assert (refused.status_code, bool(parsed(refused.text).css('[value="soon"]'))) == (400, True)
    assert admin.post(address, {"payloads": "7"}).status_code == 302
    assert carry_out_retention() == 1
    shown = admin.get(address)
    check_html(shown.text)
    assert "removed after 7 days" in texts_of(shown.text, '[data-label="Rule"]')
    assert AuditEntry.objects.get(kind="retention.changed").actor == "ann"
    assert admin.post(reverse("retention-stop")).status_code == 302
    run = admin.get(address, headers={"HX-Request": "true"}).text
    assert (texts_of(run, "#run button"), bool(parsed(run).css("#main"))) == (["Start again"], False)


def test_the_page_saves_what_was_changed_alone(project: Project) -> None:
    admin, address = member_client(project, "admin", "ann"), reverse("retention")
    assert admin.post(address, {"messages": "7"}).status_code == 302
    shown = input_fields(admin.get(address).text)
    assert admin.post(address, {"messages": "0"}).status_code == 302  # by another admin
    preview = admin.post(address, shown | {"audit": "30", "preview": "1"}).text
    assert parsed(preview).css('[name="messages"][value="0"]')
    assert admin.post(address, shown | {"audit": "30"}).status_code == 302
    assert Retention.objects.get(project=project).days == {"messages": 0, "audit": 30}


@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_the_page_is_for_admins(project: Project, role: str) -> None:
    client = member_client(project, role, "bo")
    for address in ("retention-stop", "retention-start", "retention"):
        assert client.post(reverse(address)).status_code == 403
    assert client.get(reverse("retention")).status_code == 403
