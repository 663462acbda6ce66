"""The audit log: what is recorded, who may read it, and that no change is made without an entry."""

import csv
import io
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.db import DatabaseError
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from sessions_app.actions.knowledge.bases import create_base, delete_base, rename_base
from sessions_app.actions.sessions.removal import purge_deleted_sessions
from sessions_app.actions.sessions.session import delete_session
from sessions_app.actions.settings.api_keys import create_key, revoke_key
from sessions_app.actions.settings.audit import record, remove_old_entries
from sessions_app.actions.settings.projects import (
    add_member,
    change_project,
    create_login_link,
    create_project,
    end_login_link,
    remove_member,
    set_member,
)
from sessions_app.actions.settings.users import FAILED_LOGINS_A_MINUTE
from sessions_app.actions.upkeep.retention import carry_out_retention
from sessions_app.models import (
    ApiKey,
    AuditEntry,
    AuditKind,
    Experiment,
    KnowledgeBase,
    LoginLink,
    Membership,
    Project,
    Session,
)
from tests.api.conftest import Caller

TOKEN = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.fixture
def admin(caller: Callable[..., Caller]) -> Caller:
    """Return a caller who may read the log."""
    return caller("admin")


def kinds() -> list[str]:
    return list(AuditEntry.objects.order_by("pk").values_list("kind", flat=True))


def by_key(kind: str) -> AuditEntry:
    return AuditEntry.objects.get(kind=kind, actor_kind="key")


def base_changes(caller: Caller) -> None:
    kb_id = caller.post("/api/kbs", {"name": "Ships"}).json()["kb_id"]
    path = f"/api/kbs/{kb_id}"
    caller.post(f"{path}/sources", {"name": "s.md", "content": "The Anna is a ship."})
    source_id = caller.get(f"{path}/sources").json()["sources"][0]["sourceId"]
    caller.delete(f"{path}/sources/{source_id}")
    caller.post(f"{path}/restore", {"revision": 1})
    caller.post(f"{path}/compaction")


def session_changes(caller: Caller) -> None:
    session_id = caller.chat("My dog is called Rex.").json()["session_id"]
    path = f"/api/sessions/{session_id}"
    caller.get(f"{path}/export?format=json")
    caller.get(f"{path}/bundle")
    caller.post(f"{path}/kb/fork", {"name": "What I said"})
    caller.chat("My cat is called Tom.", session_id)
    caller.post(f"{path}/kb/save")
    caller.delete(f"{path}/memory")
    experiment = Experiment.objects.create(
        project=Project.objects.get(), session=Session.objects.get(), kind="trials", status="finished"
    )
    caller.delete(f"/api/experiments/{experiment.experiment_id}")
    caller.delete(path)


def suite_changes(caller: Caller) -> None:
    kb_id = caller.post("/api/kbs", {"name": "Ships"}).json()["kb_id"]
    path = f"/api/suites/{caller.post('/api/suites', {'name': 'Suite'}).json()['suite_id']}"
    body = {"name": "Anna", "message": "Who is Anna?", "kb_id": kb_id, "expect": {"contains": ["ship"]}}
    test_id = caller.post(f"{path}/tests", body).json()["test_id"]
    caller.patch(f"{path}/tests/{test_id}", {"name": "Anna again"})
    caller.delete(f"{path}/tests/{test_id}")
    caller.patch(path, {"name": "Renamed"})
    caller.get(f"{path}/file")
    caller.delete(path)


CHANGES = {
    base_changes: [
        "base.created", "base.source-added", "base.source-removed", "base.revision-restored", "base.compaction-asked",
    ],
    suite_changes: [
        "base.created", "suite.created", "test.added", "test.changed", "test.removed", "suite.renamed", "export.made",
        "suite.deleted",
    ],
    session_changes: [
        "export.made", "export.made", "base.forked", "base.saved", "memory.cleared", "experiment.deleted",
        "session.deleted",
    ],
}  # fmt: skip


@pytest.mark.parametrize("changes", CHANGES)
def test_calls_are_recorded_with_who_and_from_where(changes: Callable[[Caller], None], admin: Caller) -> None:
    changes(admin)
    recorded = AuditEntry.objects.filter(actor_kind="key").order_by("pk")
    assert [entry.kind for entry in recorded] == CHANGES[changes]
    key = ApiKey.objects.get(role="admin")
    for entry in recorded:
        assert (entry.actor, entry.address) == (f"admin ({key.prefix[4:]}…)", "127.0.0.1")
        assert entry.request_id
        assert entry.subject


def test_a_request_is_named_as_the_client_names_it(admin: Caller) -> None:
    admin.post("/api/kbs", {"name": "Ships"}, X_Request_Id="deploy-7")
    assert by_key("base.created").request_id == "deploy-7"


def test_people_keys_and_settings_are_recorded(project: Project) -> None:
    before = len(kinds())
    membership = add_member(project, "ann")
    set_member(project, membership.user, "viewer")
    set_member(project, membership.user, "viewer")
    key, plain = create_key(project, "laptop")
    revoke_key(key)
    revoke_key(key)
    change_project(project, "Renamed", project.slug, "strict")
    change_project(project, "Renamed", project.slug, "strict")
    create_login_link(membership.user)
    end_login_link(LoginLink.objects.get())
    remove_member(membership)
    remove_member(membership)
    create_project("Second")
    assert kinds()[before:] == [
        "user.created", "member.added", "member.role-changed", "key.created", "key.revoked", "project.changed",
        "login-link.created", "login-link.ended", "member.removed", "project.created", "base.created",
    ]  # fmt: skip
    changed = AuditEntry.objects.get(kind="project.changed").facts
    assert changed == {"name": {"from": "Default", "to": "Renamed"}, "grounding": {"from": "", "to": "strict"}}
    assert AuditEntry.objects.get(kind="member.role-changed").facts == {"from": "editor", "to": "viewer"}
    assert plain not in str(list(AuditEntry.objects.values()))


def test_logins_are_recorded_in_the_projects_of_the_user(project: Project, settings: Settings) -> None:
    settings.MRPVM_LOGINS_PER_MINUTE = 0
    user = User.objects.create_user("ann", password="right")
    Membership.objects.create(project=project, user=user)
    client = Client(REMOTE_ADDR="192.0.2.7")
    client.post("/login", {"username": "ann", "password": f"wrong {TOKEN}"})
    client.post("/login", {"username": "nobody", "password": "wrong"})
    client.get("/login/link/unknown")
    client.post("/login", {"username": "ann", "password": "right"})
    client.post("/logout")
    found = AuditEntry.objects.filter(kind__startswith="login.").order_by("pk")
    assert [(entry.kind, entry.subject, entry.project_id, entry.actor) for entry in found] == [
        ("login.failed", "user ann", project.pk, ""),
        ("login.failed", "user nobody", None, ""),
        ("login.failed", "", None, ""),
        ("login.succeeded", "user ann", project.pk, "ann"),
        ("login.ended", "user ann", project.pk, "ann"),
    ]
    assert {entry.address for entry in found} == {"192.0.2.7"}
    assert "wrong" not in str([entry.facts for entry in found]).replace("wrong name or password", "")


def test_a_flood_of_failed_logins_fills_nothing(project: Project, settings: Settings) -> None:
    settings.MRPVM_LOGINS_PER_MINUTE = 0
    for number in range(FAILED_LOGINS_A_MINUTE + 5):
        Client().get(f"/login/link/{number}")
    found = AuditEntry.objects.filter(kind="login.failed")
    assert found.count() == FAILED_LOGINS_A_MINUTE + 1
    assert found.filter(facts__reason__startswith="further attempts").count() == 1


def test_changes_of_users_by_any_door_are_recorded(project: Project) -> None:
    user = User.objects.create_user("ann", password="one")
    user.is_staff = True
    user.set_password("two")
    user.save()
    user.delete()
    found = AuditEntry.objects.filter(kind__startswith="user.").order_by("pk")
    assert [entry.kind for entry in found] == ["user.created", "user.changed", "user.deleted"]
    assert found[1].facts == {"is_staff": {"from": False, "to": True}, "password": True}


def test_what_cannot_be_recorded_is_not_done(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    base, (key, _) = create_base(project, "Ships"), create_key(project, "laptop")
    membership = add_member(project, "ann")

    def refuse(*_: Any, **__: Any) -> None:
        raise DatabaseError("no room")

    before = [list(model.objects.order_by("pk").values()) for model in (KnowledgeBase, ApiKey, Membership, Project)]
    monkeypatch.setattr(AuditEntry, "save", refuse)
    for change in (
        lambda: create_base(project, "More"),
        lambda: rename_base(base, "Boats"),
        lambda: delete_base(base),
        lambda: create_key(project, "other"),
        lambda: revoke_key(key),
        lambda: set_member(project, membership.user, "admin"),
        lambda: remove_member(membership),
        lambda: change_project(project, "Renamed", "default", ""),
        lambda: create_project("Second"),
    ):
        with pytest.raises(DatabaseError):
            change()
    models = (KnowledgeBase, ApiKey, Membership, Project)
    assert [list(model.objects.order_by("pk").values()) for model in models] == before


def test_entries_are_only_added(project: Project) -> None:
    create_base(project, "Ships")
    entry = AuditEntry.objects.latest("pk")
    before = list(AuditEntry.objects.values())
    for change in (
        entry.save,
        entry.delete,
        AuditEntry.objects.all().delete,
        lambda: AuditEntry.objects.update(actor="nobody"),
        lambda: AuditEntry.objects.bulk_update([entry], ["actor"]),
    ):
        with pytest.raises(TypeError, match="never changed"):
            change()
    assert list(AuditEntry.objects.values()) == before


def test_secrets_are_blacked_out(project: Project) -> None:
    record(AuditKind.BASE_RENAMED, project.pk, f"base {TOKEN}", earlier_name=TOKEN, nested=[{"password": "hunter22"}])
    create_key(project, f"for {TOKEN}")
    stored = str(list(AuditEntry.objects.values()))
    assert TOKEN not in stored
    assert "hunter22" not in stored
    assert "earlier_name" in stored


def test_old_entries_go_and_that_is_recorded(project: Project, settings: Settings) -> None:
    create_base(project, "Ships")
    count = AuditEntry.objects.count()
    old = timezone.now() - timedelta(days=40)
    AuditEntry.objects.bulk_create(
        AuditEntry(project=project, kind="base.renamed", actor_kind="server", actor="server", subject="x", at=old)
        for _ in range(1_500)
    )
    AuditEntry.objects.create(kind="user.deleted", actor_kind="server", actor="server", subject="x", at=old)
    assert carry_out_retention() + remove_old_entries() == 0
    settings.MRPVM_KEEP_AUDIT_DAYS = 30
    assert (carry_out_retention(rest=timedelta(0)), remove_old_entries()) == (1_500, 1)
    trimmed = AuditEntry.objects.filter(kind="audit.trimmed")
    assert [entry.facts["count"] for entry in trimmed.order_by("pk")] == [500, 500, 500, 1]
    assert AuditEntry.objects.count() == count + 5
    assert AuditEntry.objects.get(kind="retention.finished").facts == {"audit": 1_500}


def test_a_purged_session_leaves_its_entries(project: Project, session_id: str) -> None:
    session = Session.objects.get(session_id=session_id)
    delete_session(session)
    Session.objects.update(deleted_at=timezone.now() - timedelta(days=400))
    purge_deleted_sessions()
    assert not Session.objects.exists()
    assert kinds()[-2:] == ["session.deleted", "session.purged"]
    assert session_id in AuditEntry.objects.latest("pk").subject


def test_admins_page_and_filter_the_log(project: Project, admin: Caller, stranger: Caller) -> None:
    for number in range(5):
        admin.post("/api/kbs", {"name": f"Base {number}"})
    first = admin.get("/api/audit?area=base&limit=2").json()
    second = admin.get(f"/api/audit?area=base&limit=2&cursor={first['next_cursor']}").json()
    names = [entry["subject"] for page in (first, second) for entry in page["entries"]]
    assert [name[:13] for name in names] == [f"base “Base {number}”" for number in (4, 3, 2, 1)]
    assert len(admin.get("/api/audit?subject=BASE 3").json()["entries"]) == 1
    assert {entry["actor"][:6] for entry in admin.get("/api/audit?actor=Admin").json()["entries"]} == {"admin "}
    tomorrow = (timezone.now() + timedelta(days=1)).date()
    assert admin.get(f"/api/audit?since={tomorrow}").json()["entries"] == []
    assert admin.get("/api/audit?until=9999-12-31").json()["entries"]
    assert admin.get("/api/audit?area=nothing").status_code == 400
    assert admin.get("/api/audit?cursor=x").status_code == 400
    assert admin.get(f"/api/audit?cursor={'+' * 501}").status_code == 400, "spaces are counted"
    assert "Base" not in stranger.get("/api/audit?area=base").content.decode().replace("Default", "")


@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_others_than_admins_do_not_read_the_log(role: str, caller: Callable[..., Caller]) -> None:
    reader = caller(role)
    for path in ("/api/audit", "/api/audit/export"):
        assert reader.get(path).status_code == 403


def text_sent(answer: Any) -> str:
    """Return the whole text of a streamed answer."""

    async def read() -> bytes:
        return b"".join([part async for part in answer.streaming_content])

    return async_to_sync(read)().decode()


def test_the_log_is_sent_as_files(project: Project, admin: Caller) -> None:
    admin.post("/api/kbs", {"name": "=1+1"})
    AuditEntry.objects.bulk_create(
        AuditEntry(project=project, kind="base.renamed", actor_kind="user", actor="=cmd()", subject="“x”, 'y'\n")
        for _ in range(1_200)
    )
    count = AuditEntry.objects.filter(project=project).count()
    answer = admin.get("/api/audit/export")
    lines = [json.loads(line) for line in text_sent(answer).splitlines()]
    assert len(lines) == count
    assert [line["id"] for line in lines] == sorted(line["id"] for line in lines)
    rows = list(csv.DictReader(io.StringIO(text_sent(admin.get("/api/audit/export?format=csv")))))
    assert len(rows) == count + 1  # the first export was recorded
    assert {row["actor"] for row in rows if row["kind"] == "base.renamed"} == {"'=cmd()"}
    assert kinds()[-2:] == ["export.made", "export.made"]
