"""Members and invitations by the API."""

from collections.abc import Callable
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.test import Client

from sessions_app.actions.settings.api_keys import revoke_key
from sessions_app.models import ApiKey, Membership, Project
from tests.api.conftest import Caller


def test_people_are_invited_changed_and_removed(project: Project, caller: Callable[..., Caller]) -> None:
    admin = caller("admin")
    made = admin.post("/api/invitations", {"role": "viewer", "note": "Bo"}).json()
    listed = admin.get("/api/invitations").json()["invitations"]
    assert listed == [{name: value for name, value in made.items() if name != "link"}]
    Client().post(urlsplit(made["link"]).path, {"name": "bo", "password": "long enough 1"})
    assert admin.get("/api/invitations").json()["invitations"] == []
    assert [(item["name"], item["role"]) for item in admin.get("/api/members").json()["members"]] == [("bo", "viewer")]
    assert admin.patch("/api/members/bo", {"role": "editor"}).json()["role"] == "editor"
    assert admin.patch("/api/members/bo", {"role": "king"}).status_code == 400
    assert admin.delete("/api/members/bo").status_code == 204
    assert admin.get("/api/members").json()["members"] == []
    assert admin.patch("/api/members/bo", {"role": "editor"}).json()["error"]["code"] == "MEMBER_NOT_FOUND"


def test_an_invitation_ends_with_the_key_that_made_it(project: Project, caller: Callable[..., Caller]) -> None:
    admin = caller("admin")
    made = admin.post("/api/invitations", {"role": "admin", "note": "me again"}).json()
    revoke_key(ApiKey.objects.get())
    path = urlsplit(made["link"]).path
    assert Client().post(path, {"name": "bo", "password": "long enough 1"}).status_code == 404


def test_the_last_admin_cannot_be_removed(project: Project, caller: Callable[..., Caller]) -> None:
    Membership.objects.create(project=project, user=User.objects.create_user("ann"), role="admin")
    admin = caller("admin")
    for answer in (admin.delete("/api/members/ann"), admin.patch("/api/members/ann", {"role": "viewer"})):
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "CONFLICT")
