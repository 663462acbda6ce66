"""A session's draft by the API: reading it, staging and removing sources."""

from collections.abc import Callable

import pytest
from pytest_django import Settings

from mrpvm.contracts import SourceReply, SourceText
from sessions_app.models import ContextUnit, ExplainabilityTurn, Session
from sessions_app.queries.turns.registry import unit_events
from tests.api.conftest import Caller
from tests.sources.pdfs import pdf

PLANS = "# Dogs\n\nDogs travel on the upper deck.\n"


@pytest.fixture
def address(session_id: str) -> str:
    return f"/api/sessions/{session_id}/workspace"


@pytest.fixture(params=[200, 0], ids=["at-once", "in-layers"])
def staged(request: pytest.FixtureRequest, settings: Settings, editor: Caller, address: str) -> str:
    """Stage a source in the draft itself, or in a layer of its own; return its id."""
    settings.MRPVM_UNITS_AT_ONCE = request.param
    made = editor.post(f"{address}/sources", {"name": "decks.md", "content": PLANS})
    assert made.status_code == 200
    source = made.json()
    assert (source["name"], source["unitCount"], source["workspace_dirty"]) == ("decks.md", 1, True)
    assert source["seed_detector_plugin"] == "sd-symbolic"
    return str(source["sourceId"])


@pytest.mark.rule("SESSION-32", "BASE-6")
def test_what_is_staged_is_known_to_its_session_alone(
    editor: Caller, address: str, staged: str, session_id: str
) -> None:
    said = editor.chat("Where do dogs travel?", session_id).json()["choices"][0]["message"]["content"]
    assert "upper deck" in said
    found = editor.get(address).json()
    shown = found["workspace"]
    assert (shown["dirty"], shown["sourceCount"], shown["unitCount"]) == (True, 1, 1)
    assert [row["sourceId"] for row in shown["sources"]] == [staged]
    assert (shown["sources"][0]["status"], found["next_cursor"]) == ("ready", None)
    assert editor.get("/api/kbs/default").json()["unitCount"] == 0
    assert editor.get(f"/api/sessions/{session_id}").json()["workspace_dirty"] is True


def test_a_save_makes_it_the_base_s(editor: Caller, address: str, staged: str, session_id: str) -> None:
    assert editor.post(f"/api/sessions/{session_id}/kb/save", {}).json()["workspace_dirty"] is False
    assert [row["sourceId"] for row in editor.get("/api/kbs/default/sources").json()["sources"]] == [staged]
    removed = editor.delete(f"{address}/sources/{staged}")
    assert (removed.status_code, removed.json()["workspace"]["sources"]) == (200, [])
    assert editor.get("/api/kbs/default/sources").json()["sources"] != []
    assert editor.get(address).json()["workspace"]["dirty"] is True


@pytest.mark.rule("BASE-8")
def test_a_dirty_draft_blocks_a_mount_until_discarded(
    editor: Caller, address: str, staged: str, session_id: str
) -> None:
    load = f"/api/sessions/{session_id}/kb/load"
    refused = editor.post(load, {"kb_id": "default"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "WORKSPACE_DIRTY")
    assert editor.get(address).json()["workspace"]["dirty"] is True
    assert editor.post(load, {"kb_id": "default", "discard_draft": True}).status_code == 200
    assert editor.get(address).json()["workspace"]["unitCount"] == 0


def test_a_source_is_replaced_and_taken_out(editor: Caller, address: str) -> None:
    for text in ("Dogs travel on the upper deck.", "Dogs travel on the lower deck."):
        made = editor.upload(f"{address}/sources", "decks.pdf", pdf(text), source_id="decks")
        assert (made.status_code, made.json()["sourceId"]) == (200, "decks")
    shown = editor.get(address).json()["workspace"]
    assert shown["sourceCount"] == 1
    assert shown["sources"][0]["updatedAt"] > shown["sources"][0]["addedAt"]  #
    assert editor.delete(f"{address}/sources/decks").json()["workspace"]["dirty"] is False
    again = editor.delete(f"{address}/sources/decks")
    assert (again.status_code, again.json()["error"]["code"]) == (404, "SOURCE_NOT_FOUND")


def test_sources_come_in_pages(editor: Caller, address: str) -> None:
    for number in range(3):
        editor.post(f"{address}/sources", {"name": f"{number}.txt", "content": f"Dog {number} is brown."})
    first = editor.get(f"{address}?limit=2").json()
    second = editor.get(f"{address}?limit=2&cursor={first['next_cursor']}").json()
    names = [row["name"] for found in (first, second) for row in found["workspace"]["sources"]]
    assert names == ["2.txt", "1.txt", "0.txt"]
    assert second["next_cursor"] is None


def test_who_may_not(editor: Caller, caller: Callable[..., Caller], stranger: Caller, address: str) -> None:
    body = {"name": "a.txt", "content": "Dogs are brown."}
    viewer = caller("viewer")
    assert viewer.get(address).status_code == 200
    assert viewer.post(f"{address}/sources", body).status_code == 403
    assert viewer.delete(f"{address}/sources/a").status_code == 403
    for refused in (stranger.get(address), stranger.post(f"{address}/sources", body)):
        assert (refused.status_code, refused.json()["error"]["code"]) == (404, "SESSION_NOT_FOUND")
    assert not Session.objects.get().is_dirty


@pytest.mark.rule("DECISION-15", "SESSION-17")
def test_an_expired_session_is_read_and_not_changed(editor: Caller, address: str) -> None:
    Session.objects.update(expires_at="2020-01-01T00:00Z")
    assert editor.get(address).status_code == 200
    refused = editor.post(f"{address}/sources", {"name": "a.txt", "content": "Dogs are brown."})
    assert (refused.status_code, refused.json()["error"]["code"]) == (410, "SESSION_EXPIRED")


@pytest.mark.rule("BASE-6")
def test_plugins_read_what_is_staged(
    editor: Caller, address: str, session_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every KB plugin gets the source; its artifacts are part of a save."""
    read: list[SourceText] = []

    def on_source_text(source: SourceText) -> SourceReply:
        read.append(source)
        return SourceReply(status="accepted")

    from mrpvm import registry

    plugin = registry.installed.kb_retrievers()[0]
    monkeypatch.setattr(type(plugin), "on_source_text", staticmethod(on_source_text), raising=False)
    editor.post(f"{address}/sources", {"name": "decks.md", "content": PLANS})
    assert [(source.name, source.session_id, len(source.units)) for source in read] == [("decks.md", session_id, 1)]


def test_a_saved_fact_is_cited_as_the_sessions(editor: Caller, address: str, session_id: str) -> None:
    editor.chat("Pump P1 depends on valve V2.", session_id)
    editor.post(f"/api/sessions/{session_id}/kb/save", {"name": "Pumps"})
    editor.post(f"{address}/sources", {"name": "pumps.md", "content": "Pump P1 depends on valve V2."})
    asked = editor.chat("What does Pump P1 depend on?", session_id).json()
    assert "V2" in asked["choices"][0]["message"]["content"]
    steps = unit_events(ExplainabilityTurn.objects.get(request_id=asked["request_id"]))
    known = ContextUnit.objects.get(session__session_id=session_id, claim="Pump P1 depends on valve V2.")
    assert {(step.unit_id, step.store) for step in steps if step.step == "cited"} == {(known.unit_id, "session")}
