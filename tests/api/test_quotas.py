"""A project's quotas are enforced at every address, and shown with its usage."""

import io
import logging
import re
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connections
from django.urls import reverse
from pytest_django import Settings

from mrpvm.errors import MRPError, Unavailable
from sessions_app.actions.knowledge.bases import create_base, delete_base, restore_base
from sessions_app.actions.sessions.session import create_session, delete_session, restore_session
from sessions_app.actions.settings.quotas import choose_quotas, count_model_use, take_turn
from sessions_app.interchange.bundle.writing import write_bundle
from sessions_app.logs import Outages
from sessions_app.models import AuditEntry, KnowledgeSource, ModelUse, Project, Session
from sessions_app.queries.settings.quotas import uses
from tests.api.conftest import Caller
from tests.llm.provider import Provider
from tests.web.page_scene import check_html, input_fields, member_client, parsed

QUOTAS = "/api/settings/quotas"


def shown(caller: Caller) -> dict[str, tuple[float, float | None]]:
    return {item["kind"]: (item["used"], item["limit"]) for item in caller.get(QUOTAS).json()["quotas"]}


def refusal(answer: Any) -> tuple[int, str, str]:
    error = answer.json()["error"]
    return answer.status_code, error["code"], error["details"].get("quota", "")


def test_limits_are_chosen_and_taken_back(project: Project, caller: Callable[..., Caller]) -> None:
    admin = caller("admin")
    before = shown(admin)
    assert {limit for _, limit in before.values()} == {None}
    admin.patch(QUOTAS, {"limits": {"sessions": 3, "cost-a-day": 0.5}})
    assert (shown(admin)["sessions"], shown(admin)["cost-a-day"]) == ((0, 3), (0, 0.5))
    assert admin.patch(QUOTAS, {"limits": {"sessions": None, "cost-a-day": None}}).status_code == 200
    assert shown(admin) == before
    first = AuditEntry.objects.filter(kind="quotas.changed").earliest("pk")
    assert first.facts == {"sessions": {"from": None, "to": 3}, "cost-a-day": {"from": None, "to": 0.5}}


@pytest.mark.parametrize("limits", [{"coffee": 1}, {"sessions": 0}, {"sessions": -1}, {"units": 1.5}, {"bytes": 1e18}])
def test_limits_that_cannot_be_are_refused(
    project: Project, caller: Callable[..., Caller], limits: dict[str, float]
) -> None:
    assert refusal(caller("admin").patch(QUOTAS, {"limits": limits}))[:2] == (400, "INVALID_INPUT")
    project.refresh_from_db()
    assert project.quotas == {}


def test_sessions_end_at_the_limit_and_a_deleted_one_makes_room(
    project: Project, caller: Callable[..., Caller], caplog: pytest.LogCaptureFixture
) -> None:
    editor = caller("editor")
    choose_quotas(project, {"sessions": 2})
    made = [editor.post("/api/sessions", {}).json()["session_id"] for _ in range(2)]
    for path, body in (
        ("/api/sessions", {}),
        ("/api/chat/completions", {"messages": [{"role": "user", "content": "Hello"}]}),
        ("/v1/chat/completions", {"model": "mrpvm", "messages": [{"role": "user", "content": "Hello"}]}),
    ):
        with caplog.filtering(Outages()):
            answer = editor.client.post(path, body, content_type="application/json", headers=editor.headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (507, "QUOTA_FULL"), path
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == [], "no defect"
    editor.delete(f"/api/sessions/{made[0]}")
    assert editor.post("/api/sessions", {}).status_code == 201
    with pytest.raises(MRPError):
        restore_session(Session.objects.get(session_id=made[0]))
    assert Session.objects.filter(deleted_at=None).count() == 2


def test_other_projects_have_room_of_their_own(project: Project, other_project: Project) -> None:
    choose_quotas(project, {"sessions": 1, "calls-a-minute": 1})
    project.refresh_from_db()
    create_session(project)
    take_turn(project)
    with pytest.raises(MRPError):
        create_session(project)
    with pytest.raises(MRPError):
        take_turn(project)
    create_session(other_project)
    take_turn(other_project)


def test_sessions_made_at_once_are_all_counted(project: Project) -> None:
    choose_quotas(project, {"sessions": 3})
    project.refresh_from_db()
    codes: list[str] = []

    def make() -> None:
        try:
            create_session(Project.objects.get(pk=project.pk))
        except MRPError as error:
            codes.append(error.code)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (Session.objects.count(), codes) == (3, ["QUOTA_FULL"] * 5)


def test_turns_of_a_minute_are_counted_over_all_doors(project: Project, caller: Callable[..., Caller]) -> None:
    editor = caller("editor")
    choose_quotas(project, {"calls-a-minute": 2})
    assert editor.chat("My dog is called Rex.").status_code == 200
    hello = {"model": "mrpvm", "messages": [{"role": "user", "content": "Hello"}]}
    post = editor.client.post
    asked = post("/v1/chat/completions", hello, content_type="application/json", headers=editor.headers)
    assert asked.status_code == 200
    refused = editor.chat("I like tea.")
    assert refusal(refused) == (429, "QUOTA_REACHED", "calls-a-minute")
    assert 0 < int(refused.headers["Retry-After"]) <= 61
    refused = post("/v1/chat/completions", hello, content_type="application/json", headers=editor.headers)
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "insufficient_quota")
    assert Session.objects.count() == 2
    assert shown(caller("admin"))["calls-a-minute"] == (2, 2)  # not the refused ones


def test_sources_end_at_the_limit_and_nothing_is_stored(project: Project, caller: Callable[..., Caller]) -> None:
    editor = caller("editor")
    session = editor.post("/api/sessions", {}).json()["session_id"]
    path = f"/api/sessions/{session}/workspace/sources"
    stored = editor.upload(path, "a.md", b"The ferry to Nore leaves from gate A.", "text/markdown")
    assert stored.status_code in (200, 201), stored.content
    found = {use.kind.value: use.used for use in uses(project)}
    assert found["units"] > 0 < found["bytes"]
    for kind in ("units", "bytes"):
        choose_quotas(project, {"units": None, "bytes": None})
        choose_quotas(project, {kind: found[kind]})
        refused = editor.upload(path, "b.md", b"The ferry to Sund leaves from gate B.", "text/markdown")
        assert refusal(refused) == (507, "QUOTA_FULL", kind)
    assert {use.kind.value: use.used for use in uses(project)} == found


def test_tokens_and_cost_of_a_day_end_turns(
    project: Project, caller: Callable[..., Caller], settings: Settings, provider: Provider
) -> None:
    editor = caller("editor")
    assert editor.chat("My dog is called Rex. What is my dog called?").status_code == 200
    tokens = sum(row.input_tokens + row.output_tokens for row in ModelUse.objects.filter(project=project))
    assert tokens > 0
    assert shown(caller("admin"))["tokens-a-day"] == (tokens, None)
    choose_quotas(project, {"tokens-a-day": tokens + 1})
    assert editor.chat("I like tea.").status_code == 200
    refused = editor.chat("What do I like?")
    assert refusal(refused) == (429, "QUOTA_REACHED", "tokens-a-day")
    assert int(refused.headers["Retry-After"]) <= 86_401
    choose_quotas(project, {"tokens-a-day": None, "cost-a-day": 2})
    settings.MRPVM_MODEL_PRICES = {"priced": (1.0, 10.0)}
    count_model_use(project.pk, [("priced", 500_000, 100_000), ("priced", 100_000, 0), ("unpriced", 10**9, 0)])
    assert editor.chat("What do I like?").status_code == 200
    count_model_use(project.pk, [("priced", 0, 40_000)])
    assert refusal(editor.chat("What do I like?")) == (429, "QUOTA_REACHED", "cost-a-day")


def test_a_refusal_says_in_words_what_is_used_up_and_until_when(project: Project) -> None:
    def said(kind: str, limit: int) -> str:
        project.quotas = {kind: limit}
        for _ in range(3):  # a minute may end meanwhile
            try:
                take_turn(project)
            except Unavailable as error:
                return error.message
        return ""

    count_model_use(project.pk, [("large", 2_000, 0)])
    assert re.fullmatch(r"This project may use 1 turn a minute\. Try again in \d+ s\.", said("calls-a-minute", 1))
    assert said("tokens-a-day", 1) == "This project may use 1 token a day. Try again after midnight UTC."
    assert said("tokens-a-day", 2_000) == "This project may use 2,000 tokens a day. Try again after midnight UTC."


def test_the_page_shows_use_against_limits(project: Project) -> None:
    admin, address = member_client(project, "admin", "ann"), reverse("quotas")
    create_session(project)
    check_html(admin.get(address).text)
    assert admin.post(address, {"sessions": "4", "cost-a-day": "1.5"}).status_code == 302
    page = admin.get(address).text
    check_html(page)
    assert parsed(page).css('[aria-label="Sessions: 25 % used"]')
    refused = admin.post(address, {"sessions": "many"})
    check_html(refused.text)
    assert (refused.status_code, bool(parsed(refused.text).css('[value="many"]'))) == (400, True)
    assert member_client(project, "editor", "bo").get(address).status_code == 403


@pytest.mark.parametrize(
    ("written", "limit", "shown_as"),
    [("500 MB", 500 * 1024**2, "500 MB"), ("1.5gb", 1536 * 1024**2, "1536 MB"), ("1000 bytes", 1000, "1000"),
     ("2048", 2048, "2 KB")],
)  # fmt: skip
def test_the_page_takes_and_shows_a_size_with_its_unit(
    project: Project, written: str, limit: int, shown_as: str
) -> None:
    admin, address = member_client(project, "admin", "ann"), reverse("quotas")
    assert admin.post(address, {"bytes": written}).status_code == 302
    project.refresh_from_db()
    assert project.quotas["bytes"] == limit
    assert parsed(admin.get(address).text).css(f'[name="bytes"][value="{shown_as}"]')
    assert admin.post(address, {"bytes": f"{written} or so"}).status_code == 400


def test_the_page_saves_what_was_changed_alone(project: Project) -> None:
    admin, address = member_client(project, "admin", "ann"), reverse("quotas")
    assert admin.post(address, {"bytes": "500 MB", "sessions": "4"}).status_code == 302
    shown = input_fields(admin.get(address).text)
    assert admin.post(address, {"bytes": "600 MB"}).status_code == 302  # by another admin
    assert admin.post(address, shown | {"sessions": ""}).status_code == 302
    project.refresh_from_db()
    assert project.quotas == {"bytes": 600 * 1024**2}


def test_deleted_sessions_and_expired_ones_do_not_count(project: Project) -> None:
    session = create_session(project)
    delete_session(session)
    assert {use.kind.value: use.used for use in uses(project)}["sessions"] == 0


def test_saves_forks_and_imports_end_at_the_limit(project: Project, caller: Callable[..., Caller]) -> None:
    editor = caller("editor")
    talk = [{"role": "user", "content": "My dog is called Rex. Rex likes tea."}]
    for _ in range(2):
        said = editor.post("/v1/chat/completions", {"model": "mrpvm", "messages": talk}).json()
        talk += [said["choices"][0]["message"], {"role": "user", "content": "I like milk."}]
    session = Session.objects.get()
    bundle = io.BytesIO()
    write_bundle(session, bundle)
    own = f"/api/sessions/{session.session_id}/kb"
    edited = {"model": "mrpvm", "messages": [*talk[:2], {"role": "user", "content": "What does Rex like?"}]}
    doors: dict[str, Callable[[], Any]] = {
        "save": lambda: editor.post(f"{own}/save", {}),
        "fork of what it sees": lambda: editor.post(f"{own}/fork", {"name": "Mine"}),
        "fork of the session": lambda: editor.post("/v1/chat/completions", edited),
        "import": lambda: editor.upload("/api/bundles", "s.zip", bundle.getvalue()),
    }
    found = {use.kind.value: use.used for use in uses(project)}
    for kind, names in (("units", list(doors)), ("sessions", ["fork of the session", "import"])):
        choose_quotas(project, {"units": None, "sessions": None})
        choose_quotas(project, {kind: found[kind]})
        for name in names:
            answer = doors[name]()
            assert (answer.status_code, answer.json()["error"]["code"]) == (507, "QUOTA_FULL"), name
            assert {use.kind.value: use.used for use in uses(project)} == found, name
    choose_quotas(project, {"units": None, "sessions": None})
    for name, door in doors.items():
        assert door().status_code in (200, 201), name


def test_what_adds_nothing_is_done_above_a_limit(project: Project, caller: Callable[..., Caller]) -> None:
    editor = caller("editor")
    session = editor.post("/api/sessions", {}).json()["session_id"]
    path = f"/api/sessions/{session}/workspace/sources"
    editor.upload(path, "a.md", b"# Nore\n\nThe ferry is blue.\n\n# Sund\n\nThe ship is red.", "text/markdown")
    source = KnowledgeSource.objects.get(name="a.md")
    choose_quotas(project, {"units": 1, "bytes": 1})
    assert editor.post(f"/api/sessions/{session}/kb/save", {"name": "Ferries"}).status_code == 200
    assert editor.delete(f"{path}/{source.source_id}").status_code == 200
    assert refusal(editor.chat("What colour is it?", session_id=session)) == (507, "QUOTA_FULL", "units")


def test_what_comes_back_needs_room_again(project: Project, caller: Callable[..., Caller]) -> None:
    base = create_base(project, "Ferries")
    editor = caller("editor")
    editor.upload(f"/api/kbs/{base.kb_id}/sources", "a.md", b"The ferry leaves from gate A.", "text/markdown")
    before = {use.kind.value: use.used for use in uses(project)}["units"]
    delete_base(base)
    told = create_session(project)
    editor.chat("My dog is called Rex.", session_id=told.session_id)
    project = choose_quotas(project, {"units": before})
    with pytest.raises(MRPError, match="no room"):
        restore_base(project, base.kb_id)
    delete_session(told)
    restore_base(project, base.kb_id)
    with pytest.raises(MRPError, match="no room"):
        restore_session(Session.objects.get(pk=told.pk))
