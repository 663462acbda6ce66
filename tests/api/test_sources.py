"""Texts and files added to a base or a session's memory by the API."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from sessions_app.models import KnowledgeBase, KnowledgeLayer, KnowledgeSource, LayerUnit, QuarantinedChunk, Session
from tests.actions.knowledge_scene import add_text
from tests.api.conftest import Caller
from tests.api.doubles import HalfReadingDetector, registered
from tests.layers.units import make_unit
from tests.sources.office_files import docx, mediawiki, paragraph, xlsx
from tests.sources.pdfs import pdf

SOURCES, CONTEXT = "/api/kbs/default/sources", "/api/sessions/{}/context"
DECKS = "# Dogs\n\nDogs travel on the upper deck.\n\n# Cats\n\nCats sleep in the cabin.\n"
PAGE = b"<html><body><h1>Dogs</h1><p>Dogs travel on the upper deck.</p></body></html>"
HALF = "# Dogs\n\nDogs travel on the upper deck.\n\n# Rest\n\nThis is nonsense.\n"


def units_of(kb_id: str = "default") -> int:
    head = KnowledgeBase.objects.select_related("head").get(is_default=True).head
    return head.unit_count


@pytest.mark.rule("BASE-3")
def test_a_text_becomes_a_source(editor: Caller, talked: Session) -> None:
    made = editor.post(SOURCES, {"name": "decks.md", "content": DECKS})
    assert made.status_code == 201
    source = made.json()
    assert source["sourceId"].startswith("src-")
    assert (source["name"], source["chunkCount"], source["unitCount"]) == ("decks.md", 2, 3)
    assert (source["kb_id"], source["quarantinedChunkCount"]) == (talked.mounted_kb.kb_id, 0)
    assert KnowledgeSource.objects.get().content == DECKS
    listed = editor.get(SOURCES).json()
    assert listed["next_cursor"] is None
    assert listed["sources"] == [{key: value for key, value in source.items() if key not in ("kb_id", "unchanged")}]
    assert source["unchanged"] is False
    assert (source["status"], source["updatedAt"]) == ("ready", source["addedAt"])
    fresh = editor.post("/api/sessions", {}).json()["session_id"]
    said = editor.chat("Where do dogs travel?", fresh).json()["choices"][0]["message"]["content"]
    assert "upper deck" in said


def test_a_text_that_is_there_already_changes_nothing(editor: Caller, talked: Session) -> None:
    workspace = f"/api/sessions/{talked.session_id}/workspace"
    given = {"name": "decks.md", "content": DECKS, "source_id": "decks"}
    first = editor.post(SOURCES, given).json()
    editor.post(f"/api/sessions/{talked.session_id}/kb/load", {"kb_id": "default"})
    layers = KnowledgeLayer.objects.count()
    again = editor.post(SOURCES, given)
    assert (again.status_code, again.json()) == (201, first | {"unchanged": True})
    staged = editor.post(f"{workspace}/sources", given).json()
    assert (staged["unchanged"], staged["workspace_dirty"]) == (True, False)
    assert (editor.get("/api/kbs/default").json()["revision"], KnowledgeLayer.objects.count()) == (2, layers)
    LayerUnit.objects.filter(claim="Cats sleep in the cabin.").update(topic="")  # as earlier rules read it
    assert editor.post(SOURCES, given).json()["unchanged"] is False
    named = editor.post(SOURCES, given | {"name": "Decks"}).json()
    assert (named["unchanged"], named["name"]) == (False, "Decks")
    changed = {"name": "Decks", "source_id": "decks", "content": DECKS.replace("upper", "lower")}
    assert editor.post(f"{workspace}/sources", changed).json()["workspace_dirty"] is True


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("decks.md", DECKS.encode(), "application/octet-stream"),
        ("decks.txt", "\ufeffDogs travel on the upper deck.".encode("utf-16-le"), "text/plain"),
        ("decks.html", PAGE, "text/html"),
        ("decks.pdf", pdf("Dogs travel on the upper deck."), "application/pdf"),
        ("decks.docx", docx(paragraph("Dogs travel on the upper deck.")), "application/octet-stream"),
        ("decks.xlsx", xlsx({"Decks": [["Dogs travel on the upper deck."]]}), "application/octet-stream"),
        ("decks.jsonl", b'{"text": "Dogs travel on the upper deck."}\n{"text": "Cats sleep."}', "text/plain"),
        ("decks.xml", mediawiki(("Dogs", "Dogs travel on the ''upper'' deck.")), "text/xml"),
        ("decks", "Dogs travel on the upper deck. Größe".encode("latin-1"), "text/plain; charset=latin-1"),
    ],
)
def test_files_become_memory(editor: Caller, session_id: str, name: str, data: bytes, kind: str) -> None:
    loaded = editor.upload(CONTEXT.format(session_id), name, data, kind)
    assert loaded.status_code == 200
    assert loaded.json()["name"] == name
    said = editor.chat("Where do dogs travel?", session_id).json()["choices"][0]["message"]["content"]
    assert "upper deck" in said


def test_a_file_may_be_named_and_replaced(editor: Caller) -> None:
    first = editor.upload(
        SOURCES, "a.pdf", pdf("Dogs travel on the upper deck."), source_id="decks", name="Decks"
    ).json()
    assert (first["sourceId"], first["name"]) == ("decks", "Decks")
    again = editor.upload(SOURCES, "a.html", PAGE.replace(b"upper", b"lower"), source_id="decks")
    assert again.status_code == 201
    (listed,) = editor.get(SOURCES).json()["sources"]
    assert (listed["name"], listed["addedAt"]) == ("a.html", first["addedAt"])
    assert listed["updatedAt"] == again.json()["updatedAt"] > first["updatedAt"]  #
    assert units_of() == 1


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"content": "x"}, "INVALID_INPUT"),
        ({"name": "x"}, "INVALID_INPUT"),
        ({"name": " ", "content": "x"}, "INVALID_INPUT"),
        ({"name": "x", "content": "x", "source_id": "../etc"}, "INVALID_SOURCE_ID"),
        ({"name": "x", "content": "x", "seed_detector_plugin": "nope"}, "INVALID_SEED_DETECTOR_PLUGIN"),
    ],
)
def test_a_bad_source_is_refused(editor: Caller, body: Any, code: str) -> None:
    answer = editor.post(SOURCES, body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)


def test_limits_of_a_form(editor: Caller, talked: Session, settings: Settings) -> None:
    settings.MRPVM_MAX_UPLOAD_BYTES = 100
    answer = editor.upload(SOURCES, "a.txt", b"x" * 101)
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "KB_VALIDATION_TOO_LARGE")
    settings.MRPVM_MAX_BASE_UNITS = 1
    answer = editor.upload(SOURCES, "a.md", DECKS.encode())
    assert answer.json()["error"]["code"] == "KB_VALIDATION_MAX_TOTAL_UNITS"
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    answer = editor.upload(SOURCES, "a.txt", b"x", name="n" * 200)
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "BODY_TOO_LARGE")
    assert not KnowledgeSource.objects.exists()


def test_forms_that_make_no_sense(editor: Caller, talked: Session) -> None:
    two = [SimpleUploadedFile("a.txt", b"x"), SimpleUploadedFile("b.txt", b"x")]
    many = {f"f{number}": SimpleUploadedFile("a.txt", b"x") for number in range(101)}
    nul = {"file": SimpleUploadedFile("a.txt", b"x"), "name": "a\0b"}
    for form in ({"file": two}, {"file": two[0], "other": two[1]}, many, nul):
        answer = editor.client.post(SOURCES, form, headers=editor.headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_JSON")
    broken = editor.client.post(SOURCES, b"--x", content_type="multipart/form-data", headers=editor.headers)
    assert broken.status_code == 400
    plain = editor.client.post(SOURCES, b"x", content_type="text/plain", headers=editor.headers)
    assert plain.json()["error"]["code"] == "UNSUPPORTED_MEDIA_TYPE"


@pytest.mark.rule("INGEST-11", "BASE-19")
def test_a_refused_part_is_quarantined_and_stops_nothing(editor: Caller, talked: Session) -> None:
    context = CONTEXT.format(talked.session_id)
    with registered(HalfReadingDetector()) as plugin:
        chosen = {"seed_detector_plugin": plugin.descriptor.id, "source_id": "half", "name": "half.md"}
        made = editor.post(SOURCES, {"content": HALF, **chosen}).json()
        loaded = editor.post(context, {"content": HALF, **chosen}).json()
        alone = editor.post(SOURCES, {"content": "All nonsense.", **chosen, "source_id": "alone"})
    assert (made["unitCount"], made["quarantinedChunkCount"]) == (1, 1)
    assert (loaded["addedUnitCount"], loaded["quarantinedChunkCount"]) == (1, 1)
    assert (alone.status_code, alone.json()["error"]["code"]) == (422, "NORMALIZER_VALIDATION_FAILED")
    for path in ("/api/kbs/default/quarantine", f"/api/sessions/{talked.session_id}/quarantine"):
        (chunk,) = editor.get(path).json()["chunks"]
        assert (chunk["sourceId"], chunk["sourceName"], chunk["chunkIndex"]) == ("half", "half.md", 1)
        assert "This is nonsense." in chunk["text"]
        assert "set $k9 role Odd" in chunk["controlText"]
        assert chunk["diagnostics"]
    editor.post(SOURCES, {"content": HALF, "source_id": "half", "name": "half.md"})
    editor.post(context, {"content": HALF, "source_id": "half", "name": "half.md"})
    assert editor.get("/api/kbs/default/quarantine").json()["chunks"] == []
    assert editor.get(f"/api/sessions/{talked.session_id}/quarantine").json()["chunks"] == []
    assert QuarantinedChunk.objects.count() == 1  # of the source's earlier version, which older mounts still show


@pytest.mark.rule("BASE-3")
def test_a_source_whose_units_wait_to_be_derived_anew_is_dirty(editor: Caller, talked: Session) -> None:
    """It is dirty in the base and in a draft over that base."""
    editor.post(SOURCES, {"content": "Dogs travel on the upper deck.", "name": "decks.txt", "source_id": "decks"})
    base = KnowledgeBase.objects.get(is_default=True)
    (origin,) = LayerUnit.objects.filter(source_id="decks")
    derived = make_unit("n::0", "Dogs see the sea", source_id="notes", derived_from_unit_ids=(origin.unit_id,))
    add_text(base, "notes", "x", [derived], source_id="notes")
    editor.post(SOURCES, {"content": "Dogs travel on the lower deck.", "name": "decks.txt", "source_id": "decks"})
    session_id = editor.post("/api/sessions").json()["session_id"]
    shown = editor.get(f"/api/sessions/{session_id}/workspace").json()["workspace"]
    for listed in (editor.get(SOURCES).json(), shown):
        assert {row["sourceId"]: row["status"] for row in listed["sources"]} == {"decks": "ready", "notes": "dirty"}
    assert units_of() == 1


def test_a_list_of_sources_costs_the_same_for_any_number(editor: Caller, talked: Session) -> None:
    costs = []
    for number in range(3):
        editor.post(SOURCES, {"name": "a.txt", "content": f"Dogs travel on deck {number}."})
        with CaptureQueriesContext(connection) as queries:
            assert len(editor.get(SOURCES).json()["sources"]) == number + 1
        costs.append(sum("knowledgesource" in query["sql"] or "quarantined" in query["sql"] for query in queries))
    assert costs == [costs[0]] * 3
