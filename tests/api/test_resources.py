"""Knowledge bases, plugins, models and probes by the API."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from mrpvm import registry
from sessions_app.api.shell import health
from sessions_app.background import readiness
from sessions_app.ingest.load import Upload, load_source
from sessions_app.models import KBRevision, KnowledgeBase, Project
from tests.api.conftest import Caller
from tests.web.page_scene import member_client
from tests.wrappers.programs import wrapper


@pytest.mark.rule("DECISION-6", "DECISION-25", "DECISION-52", "API-13")
def test_a_base_is_made_and_read(editor: Caller, project: Project) -> None:
    answer = editor.post("/api/kbs", {"name": " Alpha "})
    assert answer.status_code == 201
    made = answer.json()
    assert (made["id"], made["kb_name"], made["is_default"]) == (made["kb_id"], "Alpha", False)
    assert editor.post("/api/kbs", {"name": "Alpha"}).json()["kb_id"] != made["kb_id"]
    load_source(
        KnowledgeBase.objects.get(kb_id=made["kb_id"]), Upload(name="a.txt", data=b"Dogs travel on the upper deck.")
    )
    found = editor.get(f"/api/kbs/{made['kb_id']}").json()
    assert (found["sourceCount"], found["unitCount"], found["revision"]) == (1, 1, 2)
    assert editor.get("/api/kbs/default").json()["isDefault"] is True
    assert editor.get("/api/kbs/kb-none").json()["error"]["code"] == "KB_NOT_FOUND"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "KB_VALIDATION_MISSING_NAME"),
        ({"name": " "}, "KB_VALIDATION_MISSING_NAME"),
        ({"name": "x" * 201}, "INVALID_INPUT"),
        ({"name": 7}, "INVALID_INPUT"),
    ],
)
def test_a_base_needs_a_name(editor: Caller, project: Project, body: Any, code: str) -> None:
    answer = editor.post("/api/kbs", body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)
    assert KnowledgeBase.objects.count() == 1


def test_bases_come_default_first_then_by_name(
    editor: Caller, django_assert_num_queries: Callable[[int], Any], known_keys: None
) -> None:
    for name in ("zebra", "Alpha", "mole", "Alpha"):
        editor.post("/api/kbs", {"name": name})
    with django_assert_num_queries(1):
        whole = [(row["name"], row["id"]) for row in editor.get("/api/kbs").json()["kbs"]]
    assert whole[0][0] == "Default KB"
    paged: list[tuple[str, str]] = []
    cursor = ""
    while cursor is not None:
        page = editor.get(f"/api/kbs?limit=2&cursor={cursor}").json()
        paged += [(row["name"], row["id"]) for row in page["kbs"]]
        cursor = page["next_cursor"]
    assert paged == whole
    assert len(whole) == 5


def test_external_programs_are_listed_without_commands(
    editor: Caller, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry.installed, "wrappers", [wrapper(tmp_path, capabilities=["verify"])])
    answer = editor.get("/api/plugins")
    (listed,) = answer.json()["wrappers"]
    assert (listed["id"], listed["capabilities"], listed["keywords"]) == ("calculator", ["verify"], ["product"])
    assert str(tmp_path) not in answer.content.decode()
    assert editor.get("/api/plugins?type=gs-plugin").json()["wrappers"] == []


def test_plugins_by_type(editor: Caller) -> None:
    every = editor.get("/api/plugins").json()["plugins"]
    assert [(row["type"], row["id"]) for row in every] == sorted((row["type"], row["id"]) for row in every)
    assert {row["type"] for row in every} == {"sd-plugin", "kb-plugin", "gs-plugin", "val-plugin", "mrp-plan-plugin"}
    detectors = editor.get("/api/plugins?type=sd-plugin").json()["plugins"]
    assert [row["id"] for row in detectors] == ["sd-llm-deep", "sd-llm-fast", "sd-symbolic"]
    assert [row["available"] for row in detectors] == [False, False, True]
    assert detectors[0]["unavailableReason"] == "No language model is configured."
    assert editor.get("/api/plugins?type=nope").json() == {"plugins": [], "wrappers": []}
    assert len(editor.get("/api/plugins?type=").json()["plugins"]) == len(every)
    assert all(row["available"] or row["usesLLM"] for row in every)


@pytest.mark.rule("DECISION-28")
def test_models_are_those_that_are_configured(editor: Caller, settings: Settings) -> None:
    assert editor.get("/api/models").json() == {"models": []}
    settings.MRPVM_LLM_BASE_URL, settings.MRPVM_LLM_MODEL = "http://127.0.0.1:1/v1", "some-model"
    assert editor.get("/api/models").json()["models"][0]["id"] == "some-model"


@pytest.mark.rule("API-9")
def test_the_stories_of_the_evaluation_are_listed(editor: Caller, settings: Settings, tmp_path: Path) -> None:
    sources = editor.get("/api/eval-sources").json()["sources"]
    assert [row["suite"] for row in sources] == sorted({row["suite"] for row in sources})
    beehive = next(row for row in sources if row["suite"] == "beehive")
    assert (beehive["file"], beehive["name"]) == ("manual.md", "Beehive monitor")
    story = settings.MRPVM_SHIPPED_DIR / "stories/development/beehive/manual.md"
    assert beehive["content"] == story.read_text(encoding="utf-8")
    assert Caller().get("/api/eval-sources").status_code == 401
    settings.MRPVM_SHIPPED_DIR = tmp_path
    assert editor.get("/api/eval-sources").json() == {"sources": []}


@pytest.fixture(autouse=True)
def _nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health._latest, "_until", 0.0)


def test_what_was_found_serves_all_who_ask_within_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    monkeypatch.setattr("sessions_app.api.shell.health.checks", lambda: looks.append(1) or {"database": True})
    monkeypatch.setattr("sessions_app.api.shell.health.time.monotonic", lambda: 1_000.0)
    assert [Caller().get("/api/ready").status_code for _ in range(3)] == [200] * 3
    assert len(looks) == 1
    monkeypatch.setattr("sessions_app.api.shell.health.time.monotonic", lambda: 1_002.0)
    assert Caller().get("/api/ready").status_code == 200
    assert len(looks) == 2


@pytest.mark.rule("DECISION-25")
@pytest.mark.parametrize("start", ["/api", ""])
def test_probes_are_public_without_details(editor: Caller, start: str) -> None:
    assert Caller().get(f"{start}/health").json() == {"status": "ok"}
    assert Caller().get(f"{start}/ready").json() == {"ready": True}
    told = editor.get(f"{start}/ready").json()
    assert set(told["checks"]) == {
        "config", "database", "disk", "kb", "index", "sessions", "plugins", "plugin_threads", "channels"
    }  # fmt: skip
    assert all(told["checks"].values())
    assert 0 <= told["text_caches"]["bytes"] <= told["text_caches"]["max_bytes"] == 16_000_000


@pytest.mark.parametrize("name", list(readiness._CHECKS))
def test_one_failed_check_is_503(editor: Caller, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def fail() -> bool:
        raise OSError("gone")

    monkeypatch.setitem(readiness._CHECKS, name, fail)
    answer = editor.get("/api/ready")
    assert answer.status_code == 503
    assert answer.json()["ready"] is False
    assert [key for key, value in answer.json()["checks"].items() if not value] == [name]
    assert Caller().get("/api/ready").json() == {"ready": False}


@pytest.mark.usefixtures("unvalidated")
def test_a_server_without_validators_is_ready(project: Project) -> None:
    assert readiness.checks()["plugins"]


def test_checks_look_at_what_they_name(project: Project, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    Project.objects.create(name="Readiness check", slug="readiness-check")
    assert all(readiness.checks().values())
    assert Project.objects.count() == 2
    load_source(KnowledgeBase.objects.get(), Upload(name="a.txt", data=b"Dogs travel on the upper deck."))
    assert readiness.checks()["index"]
    from sessions_app.models import Posting

    Posting.objects.all().delete()
    settings.ENVIRONMENT_PROBLEMS = ["PORT is wrong"]
    monkeypatch.setattr(registry, "installed", registry.Registry())
    settings.CHANNEL_LAYERS = {}
    found = readiness.checks()
    assert (found["index"], found["config"], found["plugins"]) == (False, False, False)
    assert Project.objects.count() == 2


def test_health_touches_no_database(project: Project, django_assert_num_queries: Callable[[int], Any]) -> None:
    with django_assert_num_queries(0):
        assert Caller().get("/api/health").status_code == 200


def test_a_base_goes_back_to_an_earlier_revision(editor: Caller, caller: Callable[..., Caller]) -> None:
    viewer = caller("viewer")
    kb_id = editor.post("/api/kbs", {"name": "Alpha"}).json()["kb_id"]
    for number in range(2):
        editor.post(f"/api/kbs/{kb_id}/sources", {"name": f"s{number}", "content": f"The pump {number} is blue."})
    listed = viewer.get(f"/api/kbs/{kb_id}/revisions").json()["revisions"]
    assert [(row["revision"], row["reason"], row["unitCount"], row["isCurrent"]) for row in listed] == [
        (3, "source-add", 2, True), (2, "source-add", 1, False), (1, "create", 0, False)
    ]  # fmt: skip
    restore = f"/api/kbs/{kb_id}/restore"
    assert viewer.post(restore, {"revision": 2}).status_code == 403
    refused = editor.post(restore, {"revision": 2, "expected_revision": 2})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "KB_REVISION_CONFLICT")
    assert editor.post(restore, {"revision": 9}).json()["error"]["code"] == "KB_REVISION_NOT_FOUND"
    assert editor.post(restore, {"revision": "two"}).status_code == 400
    made = editor.post(restore, {"revision": 2, "expected_revision": 3}).json()
    assert (made["revision"], made["unitCount"]) == (4, 1)
    asked = editor.post(f"/api/kbs/{kb_id}/compaction", {})
    assert (asked.status_code, asked.json()["revision"]) == (202, 4)
    assert viewer.post(f"/api/kbs/{kb_id}/compaction", {}).status_code == 403


def test_a_source_is_removed_from_a_base(editor: Caller, caller: Callable[..., Caller]) -> None:
    viewer = caller("viewer")
    kb_id = editor.post("/api/kbs", {"name": "Alpha"}).json()["kb_id"]
    sources = f"/api/kbs/{kb_id}/sources"
    for name in ("s0", "s1"):
        editor.post(sources, {"name": name, "content": f"The pump {name} is blue.", "source_id": name})
    assert viewer.delete(f"{sources}/s0").status_code == 403
    for _ in range(2):
        assert editor.delete(f"{sources}/s0").status_code == 204
    assert [row["sourceId"] for row in viewer.get(sources).json()["sources"]] == ["s1"]
    base = viewer.get(f"/api/kbs/{kb_id}").json()
    assert (base["revision"], base["unitCount"], base["sourceCount"]) == (4, 1, 1)


def test_who_restores_a_revision_is_noted_and_a_key_is_nobody(editor: Caller, project: Project) -> None:
    kb_id = editor.post("/api/kbs", {"name": "Alpha"}).json()["kb_id"]
    editor.post(f"/api/kbs/{kb_id}/sources", {"name": "s", "content": "The pump is blue."})
    browser = member_client(project)
    restore = f"/api/kbs/{kb_id}/restore"
    assert editor.post(restore, {"revision": 1}).status_code == 200
    assert browser.post(restore, {"revision": 2}, content_type="application/json").status_code == 200
    by = [row.created_by and row.created_by.get_username() for row in KBRevision.objects.order_by("pk")]
    assert by[-2] is None
    assert by[-1]
