"""An incomplete bundle is refused, and the turns of an imported one replay identically."""

import hashlib
import io
import json
import random
import re
import struct
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import pytest
from pytest_django import Settings

from mrpvm.errors import Conflict, TooLarge
from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.settings.projects import create_project, ensure_default_project
from sessions_app.actions.turns.counting import count_ended_turns
from sessions_app.experiments.replays.replay import replay
from sessions_app.interchange.bundle.form import MANIFEST, TABLES, BundledFile, BundleRefused, root_of
from sessions_app.interchange.bundle.importing import import_bundle
from sessions_app.interchange.bundle.writing import write_bundle
from sessions_app.models import (
    CountedTurns,
    ExplainabilityTurn,
    FrozenContent,
    KnowledgeBase,
    KnowledgeSource,
    LayerUnit,
    Message,
    Project,
    Session,
    SourceArtifact,
    TurnCounts,
    TurnEvents,
)
from sessions_app.queries.turns.overview import SPANS, overview
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import run_turn
from tests.experiments.walks import Walk, broken_solver_installed


@pytest.fixture
def project(transactional_db: None) -> Iterator[Project]:
    with broken_solver_installed():
        yield ensure_default_project()


@pytest.fixture
def walked(project: Project) -> Session:
    """Return a session after facts, questions, loads, saves, mounts and forks in random order."""
    walk = Walk(project, seed=3)
    for _ in range(30):
        walk.step()
    return Session.objects.get(pk=walk.session.pk)


def bundled(session: Session) -> bytes:
    file = io.BytesIO()
    write_bundle(Session.objects.get(pk=session.pk), file)
    return file.getvalue()


def repacked(data: bytes, change: Callable[[str, bytes], bytes]) -> bytes:
    """Return the zip with each file replaced by the result of `change`."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as changed:
        for name in source.namelist():
            changed.writestr(name, change(name, source.read(name)))
    return target.getvalue()


@pytest.mark.rule("BUNDLE-1")
@pytest.mark.rule("BUNDLE-2")
@pytest.mark.rule("BUNDLE-8")
def test_turns_of_an_imported_bundle_replay_identically(walked: Session) -> None:
    elsewhere = create_project("Elsewhere")
    imported = import_bundle(elsewhere, io.BytesIO(bundled(walked)))
    turns = ExplainabilityTurn.objects.filter(session__project=elsewhere).order_by("pk")
    assert turns.count() == imported.turn_count > 10
    for turn in turns:
        assert replay(turn).divergence is None, (turn.turn_index, turn.user_message)
    messages = [list(item.messages.values_list("role", "content")) for item in (walked, imported.session)]
    assert messages[0] == messages[1]


def test_turns_are_counted_though_their_import_took_long(walked: Session) -> None:
    """The turns of others, which began later and were counted meanwhile, have greater keys."""
    elsewhere, data = create_project("Elsewhere"), bundled(walked)
    CountedTurns.objects.create(pk=1, newest_turn=2**40)
    imported = import_bundle(elsewhere, io.BytesIO(data))
    count_ended_turns(lambda: None)
    assert overview(elsewhere, SPANS["24h"]).whole.turn_count == imported.turn_count
    assert not TurnCounts.objects.filter(is_outdated=True).exists()


@pytest.mark.rule("BUNDLE-4")
def test_equal_sessions_make_equal_bytes(walked: Session) -> None:
    first = bundled(walked)
    assert bundled(walked) == first
    elsewhere = create_project("Elsewhere")
    copy = import_bundle(elsewhere, io.BytesIO(first)).session
    tables = ("layerunit", "hiddenunit", "knowledgelayer", "message", "explainabilityturn", "turnevents")
    with zipfile.ZipFile(io.BytesIO(first)) as one, zipfile.ZipFile(io.BytesIO(bundled(copy))) as other:
        for name in (f"{table}.jsonl" for table in tables):
            assert re.sub(rb"i[0-9a-f]{6}-", b"", other.read(name)) == one.read(name), name


def test_a_bundle_of_an_imported_session_is_imported_again(walked: Session) -> None:
    data, ids = bundled(walked), {walked.session_id}
    for _ in range(3):
        session = import_bundle(walked.project, io.BytesIO(data)).session
        data = bundled(session)
        ids.add(session.session_id)
    assert len(ids) == 4
    turn = session.turns.filter(kind="chat").order_by("-turn_index").first()
    assert turn is not None
    assert replay(turn).divergence is None


def test_a_session_with_the_name_of_a_client_is_imported_again(project: Project) -> None:
    walk = Walk(project, seed=3)
    walk.session = create_session(project, client_name="walk-1")
    for _ in range(30):
        walk.step()
    import_bundle(project, io.BytesIO(bundled(walk.session)))
    turns = ExplainabilityTurn.objects.filter(session__session_id__endswith="-walk-1").order_by("pk")
    assert turns.count() > 3
    for turn in turns:
        assert replay(turn).divergence is None, (turn.turn_index, turn.user_message)


def test_a_session_with_a_remembered_text_is_imported_twice(project: Project) -> None:
    walk = Walk(project, seed=1)
    walk.turn("/remember I like tea.")
    kept = walk.session.remembered_texts.get()
    imported = import_bundle(project, io.BytesIO(bundled(walk.session))).session
    own = imported.remembered_texts.get()
    assert (own.content, own.record_id == kept.record_id) == (kept.content, False)
    assert replay(imported.turns.get(kind="command")).divergence is None


def test_a_turn_that_was_stored_in_several_parts_is_imported(project: Project, settings: Settings) -> None:
    settings.MRPVM_TRACE_FLUSH_MS = 0
    walk = Walk(project, seed=1)
    for message in ("My dog is called Rex. My cat is called Tom.", "What is my dog called?"):
        walk.turn(message)
    assert TurnEvents.objects.filter(turn__session=walk.session).count() > walk.session.turns.count()
    imported = import_bundle(project, io.BytesIO(bundled(walk.session))).session
    assert replay(imported.turns.get(turn_index=2)).divergence is None


@pytest.mark.rule("BUNDLE-7")
def test_an_imported_session_takes_no_more_messages(project: Project) -> None:
    walked = Walk(project, seed=1).session
    session = import_bundle(project, io.BytesIO(bundled(walked))).session
    assert session.session_id != walked.session_id
    with pytest.raises(Conflict) as refused:
        run_turn(session, TurnCall(message="Hello?"))
    assert refused.value.code == "SESSION_READ_ONLY"


def other_content(name: str, content: bytes) -> bytes:
    return content.replace(b"Rex", b"Max") if name == "message.jsonl" else content


def newer_form(name: str, content: bytes) -> bytes:
    return json.dumps(json.loads(content) | {"version": 99}).encode() if name == MANIFEST else content


def no_manifest_entry(name: str, content: bytes) -> bytes:
    stated = json.loads(content) if name == MANIFEST else {}
    return json.dumps(stated | {"files": stated["files"][1:]}).encode() if stated else content


def other_root(name: str, content: bytes) -> bytes:
    return json.dumps(json.loads(content) | {"root": "0" * 64}).encode() if name == MANIFEST else content


@pytest.mark.rule("BUNDLE-5")
@pytest.mark.rule("BUNDLE-6")
@pytest.mark.parametrize("change", [other_content, newer_form, no_manifest_entry, other_root])
def test_an_altered_bundle_is_refused_and_nothing_stored(
    project: Project, change: Callable[[str, bytes], bytes]
) -> None:
    walk = Walk(project, seed=1)
    for message in ("My dog is called Rex.", "What is my dog called?"):
        walk.turn(message)
    data, counts = bundled(walk.session), (Session.objects.count(), KnowledgeBase.objects.count())
    with pytest.raises(BundleRefused):
        import_bundle(project, io.BytesIO(repacked(data, change)))
    with pytest.raises(BundleRefused):
        import_bundle(project, io.BytesIO(data[: len(data) // 2]))
    assert counts == (Session.objects.count(), KnowledgeBase.objects.count())


def test_a_bundle_with_a_path_or_a_bomb_is_refused(project: Project) -> None:
    data = bundled(Walk(project, seed=1).session)
    with_path = io.BytesIO(data)
    with zipfile.ZipFile(with_path, "a") as archive:
        archive.writestr("../settings.py", "x")
    with pytest.raises(BundleRefused, match=r"\.\./settings\.py"):
        import_bundle(project, with_path)
    with pytest.raises(BundleRefused):
        import_bundle(
            project,
            io.BytesIO(repacked(data, lambda name, kept: b" " * 9_000_000 if name == "session.jsonl" else kept)),
        )


def test_bundle_that_would_fill_the_memory_is_refused(project: Project) -> None:
    """A few hundred kB can hold lists that take many MB, and each entry of a zip's directory becomes an object."""
    whole = bundled(Session.objects.get(pk=Walk(project, seed=1).session.pk))

    # Random digits, since a very high compression ratio is refused anyway.
    lists = b"".join(b"[%d]," % digit for digit in random.Random(1).choices(range(10), k=510_000))

    def many_lists(name: str, content: bytes) -> bytes:
        return b"[" + lists + b"[]]\n" if name == "message.jsonl" else content

    def true_manifest(name: str, content: bytes) -> bytes:
        return rewritten_manifest(content, altered) if name == MANIFEST else content

    altered = repacked(whole, many_lists)
    with_lists = repacked(altered, true_manifest)
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", 20, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
    directory = entry * 60_000
    with_entries = directory + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0, 0, len(directory), 0, 0)
    for bomb, said in ((with_lists, "more values than a row has"), (with_entries, "more files than a bundle has")):
        tracemalloc.start()
        with pytest.raises(BundleRefused, match=said):
            import_bundle(project, io.BytesIO(bomb))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 20_000_000


@pytest.mark.parametrize("escape", [rb"\u0000", rb"\ud800"])
def test_a_bundle_with_text_that_cannot_be_stored_is_refused(project: Project, escape: bytes) -> None:
    walk = Walk(project, seed=1)
    walk.turn("My dog is called Rex.")
    whole = bundled(walk.session)
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        names = [name for name in archive.namelist() if b"Rex" in archive.read(name)]
    assert {"message.jsonl", "explainabilityturn.jsonl", "layerunit.jsonl", "turnevents.jsonl"} <= set(names)
    counts = (Session.objects.count(), KnowledgeBase.objects.count())
    for name in names:
        with pytest.raises(BundleRefused):
            import_bundle(project, io.BytesIO(with_text(whole, name, b"Rex", escape)))
    assert counts == (Session.objects.count(), KnowledgeBase.objects.count())


def with_text(bundle: bytes, changed: str, text: bytes, other: bytes) -> bytes:
    """Return the bundle with a text in one file replaced, and a matching manifest."""
    altered = repacked(bundle, lambda name, kept: kept.replace(text, other) if name == changed else kept)
    return repacked(altered, lambda name, kept: rewritten_manifest(kept, altered) if name == MANIFEST else kept)


OTHER_VALUES: Sequence[tuple[Any, Any]] = (
    (ExplainabilityTurn.request_id, ""),
    (ExplainabilityTurn.request_id, "req-1/x"),
    (ExplainabilityTurn.status, "running"),
    (ExplainabilityTurn.created_at, "9999-12-31T23:30:00+00:00"),
    (ExplainabilityTurn.created_at, "0001-01-01T00:00:00+00:00"),
    (ExplainabilityTurn.model_usage, [["m-1", 1, []]]),
    (ExplainabilityTurn.model_usage, [["m-1", 1]]),
    (ExplainabilityTurn.cited_sources, [None]),
    (ExplainabilityTurn.response_document, {"sessionId": "s", "groups": [{"intent": "Why?"}]}),
    (ExplainabilityTurn.context_report, "x"),
    (ExplainabilityTurn.client_request, []),
    (ExplainabilityTurn.unit_changes, {"discarded": -1}),
    (ExplainabilityTurn.error, {"code": 1}),
    (ExplainabilityTurn.view, [[0], 0, [1_000_000]]),
    (ExplainabilityTurn.view, [[0], 0, [-5]]),
    (ExplainabilityTurn.view, [[0], 0, ["x"]]),
    (ExplainabilityTurn.view, [[0], "x"]),
    (Session.flags, []),
    (TurnEvents.judged, [["unit-1", "offered", "kb", "exec-0.3~1", 1, 0.5, "", "x"]]),
    (TurnEvents.events, [["turn.finished", 1, {"status": "succeeded", "answerStatus": [], "error": None}]]),
    (FrozenContent.content, {"skills": [{"name": "a", "declared_tools": [1.5]}]}),
    (LayerUnit.phase_scopes, [1]),
    (SourceArtifact.content, []),
    (Message.payload, [1]),
)
"""Columns of rows in a bundle, and values that no server writes there."""


def test_a_bundle_whose_values_have_other_types_is_refused(project: Project) -> None:
    """Pages, and the count of all projects' turns, read these values as turns write them."""
    walk = Walk(project, seed=1)
    walk.stage()
    for message in ("/calc 6*7", "What does the pump a1 need?"):
        walk.turn(message)
    staged = KnowledgeSource.objects.get(layer=walk.session.draft)
    SourceArtifact.objects.create(source=staged, plugin_id="kb-balanced", name="sums.json", content=b"{}")
    whole = bundled(walk.session)
    counts = (Session.objects.count(), KnowledgeBase.objects.count())
    refused = []
    for column, value in OTHER_VALUES:
        with suppress(BundleRefused):
            import_bundle(project, io.BytesIO(with_value(whole, column.field, value)))
            continue
        refused.append((column, value))
    assert refused == list(OTHER_VALUES)
    assert counts == (Session.objects.count(), KnowledgeBase.objects.count())
    assert import_bundle(project, io.BytesIO(with_value(whole, ExplainabilityTurn.kind.field, "command"))).turn_count


def with_value(bundle: bytes, field: Any, value: Any) -> bytes:
    """Return the bundle with another value in the last row of a file, and a matching manifest."""
    table = next(table for table in TABLES if table.model is field.model)
    place = [each.name for each in table.fields].index(field.name)

    def changed(name: str, content: bytes) -> bytes:
        if name != table.file_name:
            return content
        *rows, last = content.splitlines()
        row = json.loads(last)
        row[place] = value
        return b"\n".join([*rows, json.dumps(row).encode(), b""])

    altered = repacked(bundle, changed)
    return repacked(altered, lambda name, kept: rewritten_manifest(kept, altered) if name == MANIFEST else kept)


@pytest.mark.parametrize("text", ["a\0", "a\ud800"])
@pytest.mark.parametrize("name", ["sessionId", "product", "leftOut"])
def test_a_bundle_whose_manifest_cannot_be_stored_is_refused(project: Project, name: str, text: str) -> None:
    whole = bundled(Session.objects.get(pk=Walk(project, seed=1).session.pk))

    def with_text_there(file: str, content: bytes) -> bytes:
        return json.dumps({**json.loads(content), name: [text]}).encode() if file == MANIFEST else content

    with pytest.raises(BundleRefused, match="manifest holds a NUL"):
        import_bundle(project, io.BytesIO(repacked(whole, with_text_there)))


def rewritten_manifest(manifest: bytes, archive: bytes) -> bytes:
    """Return a manifest that matches the other files of a zip."""
    stated = json.loads(manifest)
    with zipfile.ZipFile(io.BytesIO(archive)) as whole:
        for item in stated["files"]:
            content = whole.read(item["name"])
            item |= {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    files = [BundledFile(**item) for item in stated["files"]]
    return json.dumps({**stated, "root": root_of(files)}).encode()


def test_a_bundle_over_the_limit_is_refused(project: Project, settings: Settings) -> None:
    session = Walk(project, seed=1).session
    data = bundled(session)
    settings.MRPVM_MAX_BUNDLE_BYTES = 100
    with pytest.raises(TooLarge):
        bundled(session)
    with pytest.raises(TooLarge):
        import_bundle(project, io.BytesIO(data))


@pytest.mark.rule("BUNDLE-3")
def test_a_bundle_holds_no_secret(project: Project) -> None:
    walk = Walk(project, seed=1)
    walk.turn("My key is sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD.")
    with zipfile.ZipFile(io.BytesIO(bundled(walk.session))) as archive:
        assert not [name for name in archive.namelist() if b"sk-abcdef" in archive.read(name)]
