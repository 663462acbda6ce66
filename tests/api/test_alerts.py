"""Alerts in the API and on their page: only for admins of the project."""

from collections.abc import Callable

from django.test import Client
from django.urls import reverse

from sessions_app.models import Alert, Project
from tests.api.conftest import Caller
from tests.web.page_scene import check_html, member_client, text_at, texts_of

HOOK = "https://hooks.example/T0/secret-part"


def test_admins_make_read_and_delete_alerts(caller: Callable[..., Caller], other_project: Project) -> None:
    admin, editor, stranger = caller("admin"), caller("editor"), caller("admin", other_project)
    saved = editor.post("/api/turns/filters", {"name": "Failed", "q": "status:failed"}).json()["filter_id"]
    body = {"filter_id": saved, "limit_percent": 12.5, "window_minutes": 60, "channel": "hook", "target": HOOK}
    assert editor.post("/api/alerts", body).status_code == editor.get("/api/alerts").status_code == 403
    assert stranger.post("/api/alerts", body).json()["error"]["code"] == "FILTER_NOT_FOUND"
    for bad in ({"target": "http://127.0.0.1/"}, {"limit_percent": 100}, {"window_minutes": 0}, {"channel": "mail"}):
        assert admin.post("/api/alerts", body | bad).status_code == 400
    made = admin.post("/api/alerts", body)
    assert made.status_code == 201
    assert made.json()["signing_key"].startswith("whsec_")
    (listed,) = admin.get("/api/alerts").json()["alerts"]
    assert (listed["limit_percent"], listed["least_turns"], listed["crossings"]) == (12.5, 20, [])
    assert "signing_key" not in listed
    path = f"/api/alerts/{listed['alert_id']}"
    assert editor.delete(path).status_code == 403
    assert stranger.delete(path).status_code == 204
    assert Alert.objects.exists()
    assert admin.delete(path).status_code == 204
    assert not Alert.objects.exists()


def test_the_page_shows_a_key_once_and_no_whole_address(caller: Callable[..., Caller], project: Project) -> None:
    saved = caller("editor").post("/api/turns/filters", {"name": "Failed", "q": "status:failed"}).json()["filter_id"]
    admin = member_client(project)
    sent = {"filter_id": saved, "limit": "20", "window": "60", "least": "5", "channel": "hook", "target": HOOK}
    refused = admin.post(reverse("alerts"), sent | {"limit": "much"})
    assert refused.status_code == 400
    assert text_at(refused.text, "#alert-error").startswith("The limit is a number")
    made = admin.post(reverse("alerts"), sent)
    assert "whsec_" in made.text
    shown = admin.get(reverse("alerts"))
    for page in (refused, made, shown):
        check_html(page.text)
    assert "hooks.example" in texts_of(shown.text, "[aria-labelledby^=alert-] p")[0]
    assert "whsec_" not in shown.text
    assert "secret-part" not in shown.text
    _check_editor(member_client(project, "editor"))
    admin.post(reverse("alert-delete", args=[Alert.objects.get().alert_id]))
    assert not Alert.objects.exists()


def _check_editor(editor: Client) -> None:
    assert editor.get(reverse("alerts")).status_code == 403
    assert editor.post(reverse("alert-delete", args=[Alert.objects.get().alert_id])).status_code == 403
