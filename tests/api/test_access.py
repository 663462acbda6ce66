"""The roles needed at every address of the API, and access to other projects."""

import re
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern
from django.utils import timezone
from pytest_django import Settings

from sessions_app.actions.sessions.session import delete_session
from sessions_app.actions.settings import api_keys
from sessions_app.actions.settings.api_keys import create_key, ensure_key, find_key, revoke_key
from sessions_app.actions.settings.members import create_invitation
from sessions_app.actions.settings.projects import change_project
from sessions_app.api.urls import urlpatterns
from sessions_app.models import (
    Alert,
    ApiKey,
    Experiment,
    Forgetting,
    Invitation,
    KnowledgeSource,
    Membership,
    Project,
    SavedFilter,
    Session,
    Suite,
    SuiteRun,
    TestCase,
)
from tests.api.conftest import Caller
from tests.payloads import stored_payloads

PUBLIC = {"health", "ready", "unknown"}
PAGES = {"docs"}
CANNOT_NOW = {
    "TURN_NOT_RUNNING", "EXPERIMENT_NOT_RUNNING", "EXPERIMENT_RUNNING", "KB_REVISION_CONFLICT", "WORKSPACE_DIRTY",
    "TEST_EXISTS", "KB_IS_DEFAULT", "FORGETTING_NOT_RUNNING",
}  # fmt: skip
METHODS = ("get", "post", "put", "patch", "delete")
ROUTES = [pattern for pattern in urlpatterns if isinstance(pattern, URLPattern) and pattern.name not in PUBLIC | PAGES]
KEYED = [pattern for pattern in ROUTES if "<" in str(pattern.pattern)]


@pytest.fixture
def talked(talked: Session, editor: Caller) -> Session:
    """Return a session of two turns with a source in its draft."""
    path = f"/api/sessions/{talked.session_id}/workspace/sources"
    staged = editor.post(path, {"name": "decks.md", "content": "Old."})
    assert staged.status_code == 200
    turn = talked.turns.get(turn_index=2)
    _, ran = Experiment.objects.bulk_create(
        Experiment(project=talked.project, session=talked, kind=kind, status="finished", created_by_name="ann", **over)
        for kind, over in (("trials", {"turn": turn}), ("suite", {"message": "Suite"}))
    )
    suite = Suite.objects.create(project=talked.project, name="Suite", created_by_name="ann")
    expected = {"contains": ["Rex"]}
    TestCase.objects.create(suite=suite, position=1, name="Rex", message="Rex?", turn=turn, expected=expected)
    SuiteRun.objects.create(suite=suite, experiment=ran)
    Forgetting.objects.create(project=talked.project, kind="text", status="cancelled", created_by_name="ann")
    Membership.objects.create(project=talked.project, user=User.objects.create_user("bea"), role="viewer")
    saved = SavedFilter.objects.create(project=talked.project, name="Slow", text="is:slow", created_by_name="ann")
    Alert.objects.create(
        project=talked.project, saved_filter=saved, limit_percent=5, window_minutes=60, least_turns=1, channel="hook",
        target="https://hooks.example/", created_by_name="ann",
    )  # fmt: skip
    create_invitation(talked.project, "viewer", "", "bo")
    return talked


def ids_of_rows(session: Session) -> dict[str, str]:
    """Return the value of each variable of a route, of rows in the session's project.

    A route with an unknown variable fails: add its value here.
    """
    turn = session.turns.get(turn_index=2)
    return {
        "session_id": session.session_id,
        "request_id": turn.request_id,
        "unit_id": session.context_units.get().unit_id,
        "ref": next(iter(stored_payloads(turn))),
        "kb_id": session.mounted_kb.kb_id,
        "source_id": KnowledgeSource.objects.get(name="decks.md").source_id,
        "experiment_id": Experiment.objects.get(kind="trials").experiment_id,
        "forgetting_id": Forgetting.objects.get().forgetting_id,
        "suite_id": Suite.objects.get().suite_id,
        "test_id": TestCase.objects.get().test_id,
        "run_id": Experiment.objects.get(kind="suite").experiment_id,
        "name": "bea",
        "filter_id": SavedFilter.objects.get().filter_id,
        "alert_id": Alert.objects.get().alert_id,
        "invitation_id": str(Invitation.objects.get().pk),
    }


def address(pattern: URLPattern, ids: dict[str, str]) -> str:
    """Return the route's address with these ids."""
    return "/api/" + re.sub(r"<\w+:(\w+)>", lambda match: ids[match[1]], str(pattern.pattern))


def methods_of(pattern: URLPattern) -> list[str]:
    """Return the methods that the route's view answers."""
    view = pattern.callback.view_class  # type: ignore[attr-defined]
    return [method for method in METHODS if hasattr(view, method)]


def calls(patterns: list[URLPattern], session: Session) -> list[tuple[str, str]]:
    """Return the method and address of every call; deletions come last, the most nested addresses first."""
    ids = ids_of_rows(session)
    made = [(method, address(pattern, ids)) for pattern in patterns for method in methods_of(pattern)]
    return sorted(made, key=lambda item: (METHODS.index(item[0]), -item[1].count("/")))


def call(client: Client, method: str, path: str, headers: dict[str, str], kb_id: str = "kb") -> Any:
    """Return the answer to a call with a body that is valid for most routes."""
    if method == "get":
        return client.get(path, headers=headers)
    body = {
        "title": "t",
        "content": "c",
        "text": "My dog is called Max.",
        "name": "n",
        "kb_id": kb_id,
        "revision": 1,
        "message": "c",
        "expect": {"contains": ["c"]},
        "role": "editor",
        "q": "is:slow",
        "value": "up",
        "trials": [{"deliberation_level": 1}],
        "messages": [{"role": "user", "content": "c"}],
    }
    return getattr(client, method)(path, body, content_type="application/json", headers=headers)


@pytest.mark.rule("DECISION-8", "DECISION-25")
def test_nothing_answers_without_a_key_or_a_login(talked: Session) -> None:
    for method, path in calls(ROUTES, talked):
        answer = call(Client(), method, path, {})
        assert answer.status_code == 401, (method, path)
        assert answer.json()["error"]["code"] == "UNAUTHENTICATED"
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert Session.objects.filter(deleted_at__isnull=True).count() == 1


def test_access_that_ended_opens_nothing(talked: Session, project: Project, caller: Callable[..., Caller]) -> None:
    _, revoked = create_key(project, "revoked", "admin")
    revoke_key(ApiKey.objects.get(name="revoked"))
    removed, disabled, superuser = Client(), Client(), Client()
    for name, client in (("removed", removed), ("disabled", disabled)):
        user = User.objects.create_user(name)
        Membership.objects.create(project=project, user=user, role="admin")
        client.force_login(user)
    superuser.force_login(User.objects.create_superuser("root"))
    Membership.objects.filter(user__username="removed").delete()
    User.objects.filter(username="disabled").update(is_active=False)
    for method, path in calls(ROUTES, talked):
        for client, headers, status in (
            (Client(), {"Authorization": f"Bearer {revoked}"}, 401),
            (disabled, {}, 401),
            (removed, {}, 403),
            (superuser, {}, 403),
        ):
            assert call(client, method, path, headers).status_code == status, (method, path)


def test_what_was_deleted_is_not_there(talked: Session, caller: Callable[..., Caller]) -> None:
    headers = caller("admin").headers
    delete_session(talked)
    for method, path in calls([pattern for pattern in KEYED if "session_id" in str(pattern.pattern)], talked):
        answer = call(Client(), method, path, headers, talked.mounted_kb.kb_id)
        is_done = method == "delete" and "/workspace/" not in path
        assert answer.status_code == (204 if is_done else 404), (method, path)


@pytest.mark.rule("DECISION-8", "API-6")
def test_what_belongs_to_another_project_is_not_there(talked: Session, stranger: Caller) -> None:
    before = Session.objects.filter(pk=talked.pk).values().get()
    for method, path in calls(KEYED, talked):
        answer = call(Client(), method, path, stranger.headers, talked.mounted_kb.kb_id)
        if method == "delete" and "/workspace/" not in path:
            assert answer.status_code == 204, path  # as for an id that never existed
        else:
            assert answer.status_code == 404, (method, path)
            assert answer.json()["error"]["code"].endswith("_NOT_FOUND")
    assert Session.objects.filter(pk=talked.pk).values().get() == before


@pytest.mark.rule("API-9")
def test_what_belongs_to_the_project_is_there(talked: Session, caller: Callable[..., Caller]) -> None:
    headers = caller("admin").headers
    for method, path in calls(KEYED, talked):
        answer = call(Client(), method, path, headers, talked.mounted_kb.kb_id)
        is_done = answer.status_code < 300
        assert is_done or answer.json()["error"]["code"] in CANNOT_NOW, (method, path, answer.content)
        assert {"no-store", "private"} & set(answer.headers["Cache-Control"].split(", ")), path


@pytest.mark.parametrize("path", ["/api/sessions", "/api/kbs"])
def test_lists_show_the_own_project_alone(path: str, talked: Session, editor: Caller, stranger: Caller) -> None:
    own, others = editor.get(path).content.decode(), stranger.get(path).content.decode()
    assert talked.session_id in own or talked.mounted_kb.kb_id in own
    assert talked.session_id not in others
    assert talked.mounted_kb.kb_id not in others


TRIES = re.compile(r"/(replay|diagnosis|bisect|runs)$|^/api/kbs/[^/]+/tests$")
"""Ends of paths that run recorded turns and tests again, which a viewer may."""
ADMINS = (
    "/api/alerts",
    "/api/audit",
    "/api/forget",
    "/api/invitations",
    "/api/members",
    "/api/settings/retention",
    "/api/settings/quotas",
    "/api/storage",
)
"""Beginnings of what is only for admins."""
EXPERIMENTS = "/api/experiments"
"""Where a viewer may begin what needs a session to be named, and change what the viewer began."""


@pytest.mark.rule("DECISION-24", "DECISION-25")
def test_a_viewer_reads_and_writes_nothing(talked: Session, caller: Callable[..., Caller]) -> None:
    headers = caller("viewer").headers
    for method, path in calls(ROUTES, talked):
        answer = call(Client(), method, path, headers, talked.mounted_kb.kb_id)
        is_read = method == "get" and not path.startswith(ADMINS)
        if is_read or TRIES.search(path):
            assert answer.status_code in (200, 201), (path, answer.content)
        elif path in (EXPERIMENTS, f"{EXPERIMENTS}/estimate"):
            assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_INPUT")
        else:
            assert answer.status_code == 403, (method, path)
            error = answer.json()["error"]
            assert error["code"] == "FORBIDDEN"
            if path.startswith(EXPERIMENTS):
                continue
            needed = "admin" if path.endswith("llm-roles") or path.startswith(ADMINS) else "editor"
            assert error["message"] == f"Your role here is viewer; this needs the role {needed}."
    until = time.monotonic() + 10
    while Experiment.objects.filter(status="running").exists() and time.monotonic() < until:
        time.sleep(0.05)  # a running experiment would write while the tables are emptied


def test_chat_key_opens_no_other_address(talked: Session, caller: Callable[..., Caller]) -> None:
    headers = caller("chat").headers
    for method, path in calls([route for route in ROUTES if route.name != "chat"], talked):
        answer = call(Client(), method, path, headers, talked.mounted_kb.kb_id)
        assert answer.status_code == 403, (method, path)
        assert answer.json()["error"]["message"].startswith("Your role here is chat; this needs the role")


@pytest.mark.parametrize(
    "header", ["Bearer mrp_wrong", "Bearer", "bearer x", "Bearer \u00e9", "Bearer mrp_" + "x" * 64]
)
def test_a_bad_key_is_refused_although_there_is_a_login(header: str, project: Project) -> None:
    client = Client()
    user = User.objects.create_user("ann")
    Membership.objects.create(project=project, user=user)
    client.force_login(user)
    assert client.get("/api/sessions").status_code == 200
    answer = client.get("/api/sessions", headers={"Authorization": header})
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "UNAUTHENTICATED")


def test_a_revoked_key_opens_nothing(project: Project, editor: Caller) -> None:
    assert editor.get("/api/sessions").status_code == 200
    revoke_key(ApiKey.objects.get())
    assert editor.get("/api/sessions").status_code == 401


@pytest.mark.rule("API-6")
def test_a_login_needs_the_csrf_token_to_write(project: Project) -> None:
    client = Client(enforce_csrf_checks=True)
    user = User.objects.create_user("ann")
    Membership.objects.create(project=project, user=user, role="editor")
    client.force_login(user)
    refused = client.post("/api/sessions", {}, content_type="application/json")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "FORBIDDEN")
    token = "a" * 32
    client.cookies["mrpvm_csrf"] = token
    made = client.post("/api/sessions", {}, content_type="application/json", headers={"X-CSRFToken": token})
    assert made.status_code == 201


def test_a_member_names_the_project_it_means(project: Project, other_project: Project, talked: Session) -> None:
    client = Client()
    user = User.objects.create_user("ann")
    client.force_login(user)
    assert client.get("/api/sessions").status_code == 403
    Membership.objects.create(project=other_project, user=user)
    assert client.get("/api/sessions").json()["sessions"] == []
    assert client.get("/api/sessions", headers={"X-Project": "default"}).status_code == 403
    Membership.objects.create(project=project, user=user)
    assert len(client.get("/api/sessions", headers={"X-Project": "default"}).json()["sessions"]) == 1
    assert client.get("/api/sessions", headers={"X-Project": "other"}).json()["sessions"] == []


def test_a_key_is_kept_as_a_digest_and_shown_once(project: Project) -> None:
    key, plain = create_key(project, " laptop ", "viewer")
    assert plain.startswith("mrp_")
    assert len(plain) >= 36
    assert (key.name, key.role, plain.startswith(key.prefix)) == ("laptop", "viewer", True)
    stored = ApiKey.objects.values().get()
    assert plain not in str(stored)
    assert create_key(project, "other")[1] != plain
    found = find_key(plain)
    assert found is not None
    assert found.pk == key.pk
    assert find_key(plain[:-1]) is None


def test_a_given_key_is_taken_over_once(project: Project) -> None:
    plain = "mrp_" + "0123456789abcdef" * 2
    first = ensure_key(project, "given", plain, "admin")
    assert ensure_key(project, "again", plain, "viewer").pk == first.pk
    found = find_key(plain)
    assert found is not None
    assert found.role == "admin"


def test_the_last_use_is_noted_once_a_minute(
    project: Project, django_assert_num_queries: Callable[[int], Any], settings: Settings
) -> None:
    settings.MRPVM_KEY_CACHE_SECONDS = 0
    key, plain = create_key(project, "laptop")
    with django_assert_num_queries(2):
        find_key(plain)
    first = ApiKey.objects.get(pk=key.pk).last_used_at
    with django_assert_num_queries(1):
        find_key(plain)
    assert first is not None
    ApiKey.objects.update(last_used_at=timezone.now() - timedelta(minutes=2))
    find_key(plain)
    noted = ApiKey.objects.get(pk=key.pk).last_used_at
    assert noted is not None
    assert noted >= first


def test_a_key_is_read_once_while_it_is_known(
    project: Project, django_assert_num_queries: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(api_keys.time, "monotonic", lambda: now)
    key, plain = create_key(project, "laptop")
    find_key(plain)
    with django_assert_num_queries(0):
        assert find_key(plain) == key
    # As another process does, which cannot clear this one's cache.
    ApiKey.objects.filter(pk=key.pk).update(revoked_at=timezone.now())
    assert find_key(plain) == key
    now += settings.MRPVM_KEY_CACHE_SECONDS
    assert find_key(plain) is None


def test_a_key_shows_its_project_as_it_was_changed(project: Project) -> None:
    _, plain = create_key(project, "laptop")
    find_key(plain)
    change_project(project, "Renamed", project.slug, "strict")
    found = find_key(plain)
    assert found is not None
    assert (found.project.name, found.project.grounding) == ("Renamed", "strict")


@pytest.mark.rule("DECISION-24", "DECISION-25")
def test_chats_are_counted_for_each_caller(
    settings: Settings, editor: Caller, caller: Callable[..., Caller], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions_app.call_rates.time", lambda: 1_200_000_010.0)
    settings.MRPVM_CHATS_PER_MINUTE = 2
    assert [editor.chat("Hello").status_code for _ in range(2)] == [200, 200]
    refused = editor.chat("Hello")
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "RATE_LIMITED")
    assert 0 < int(refused.headers["Retry-After"]) <= 60
    assert editor.get("/api/sessions").status_code == 200
    assert caller("admin").chat("Hello").status_code == 200
    monkeypatch.setattr("sessions_app.call_rates.time", lambda: 1_200_000_080.0)
    assert editor.chat("Hello").status_code == 200


def test_a_cache_that_is_away_costs_the_limit_and_no_call(
    settings: Settings, editor: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*given: Any, **named: Any) -> None:
        raise ConnectionError("the cache is away")

    settings.MRPVM_CHATS_PER_MINUTE = 1
    monkeypatch.setattr("sessions_app.call_rates.cache.add", away)
    assert [editor.chat("Hello").status_code for _ in range(2)] == [200, 200]
