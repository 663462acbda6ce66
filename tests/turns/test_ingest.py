"""Ingest in a separate process: its progress is reported, and it does not delay turns."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, connections
from pytest_django import Settings

from mrpvm import registry
from mrpvm.contracts import ChunkInput, Normalisation
from mrpvm.errors import EngineTimeout, InvalidInput, TurnInterrupted
from mrpvm.sources.process import ReadingProcess
from mrpvm.sources.source import IngestedSource, SourceFile
from sessions_app import events, shutdown
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.ingest import process_slots
from sessions_app.ingest.load import Upload, load_context, load_source
from sessions_app.models import KnowledgeLayer, LayerUnit, Project, Session
from sessions_app.plugin_threads import workers
from sessions_app.turns.call import TurnCall
from sessions_app.turns.machine import install_plugins
from sessions_app.turns.pipeline import run_turn

TEXT = "\n\n".join(f"# Part {part}\n\nPump {part} is blue. It is in hall {part}." for part in range(6))


@pytest.fixture(autouse=True)
def _plugins() -> Any:
    install_plugins()
    yield
    workers.close()


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> list[str]:
    """Read every text in a separate process; return the names of the calls to it."""
    settings.MRPVM_READ_APART_BYTES = 1
    settings.MRPVM_LOADING_EVENT_SECONDS = 0
    read: list[str] = []
    for name in ("read", "ingest"):
        monkeypatch.setattr(ReadingProcess, name, noting(getattr(ReadingProcess, name), name, read))
    return read


def noting(call: Callable[..., Any], name: str, read: list[str]) -> Callable[..., Any]:
    def noted(self: ReadingProcess, file: SourceFile, *rest: Any) -> Any:
        assert not connection.in_atomic_block
        read.append(name)
        return call(self, file, *rest)

    return noted


def stored(source_id: str) -> list[dict[str, Any]]:
    found = LayerUnit.objects.filter(source_id=source_id).order_by("pk")
    skipped = ("id", "layer_id", "origin_id", "provenance")
    return [{key: value for key, value in row.items() if key not in skipped} for row in found.values()]


@pytest.mark.rule("UNIT-7")
def test_read_apart_or_not_the_units_are_the_same(project: Project, apart: list[str], settings: Settings) -> None:
    first, second = create_base(project, "a"), create_base(project, "b")
    upload = Upload(name="pumps.md", data=TEXT.encode(), source_id="src-1")
    load_source(first, upload)
    assert apart == ["ingest"]
    found = stored("src-1")
    LayerUnit.objects.all().delete()
    settings.MRPVM_READ_APART_BYTES = len(TEXT) + 1
    load_source(second, upload)
    assert apart == ["ingest"]
    assert stored("src-1") == found != []


@pytest.mark.rule("INGEST-5")
@pytest.mark.parametrize("is_apart", [False, True])
def test_sources_are_cut_as_the_settings_say(project: Project, settings: Settings, is_apart: bool) -> None:
    settings.MRPVM_READ_APART_BYTES = 1 if is_apart else 1_000_000
    text = "\n\n".join(f"Pump {number} is blue. It is in hall {number}." for number in range(20))
    counts = []
    for number, changes in enumerate(({}, {"WHOLE": 300}, {"WHOLE": 300, "TARGET": 300}, {"WHOLE": 300, "MIN": 0})):
        for name, value in changes.items():
            setattr(settings, f"MRPVM_CHUNK_{name}_CHARS", value)
        upload = Upload(name="pumps.txt", data=text.encode(), source_id=f"src-{number}")
        counts.append(load_source(create_base(project, f"{number}"), upload).source.chunk_count)
    assert counts == [1, 1, 3, 3]


class OtherDetector:
    """A detector of another package, which runs in the server even if another process reads the file."""

    def __init__(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        self._symbolic = registry.installed.seed_detector("sd-symbolic")
        self._meanwhile = meanwhile
        self.descriptor = self._symbolic.descriptor

    def detect(self, *given: Any) -> Any:
        return self._symbolic.detect(*given)

    def normalise(self, chunk: ChunkInput, context: Any) -> Normalisation:
        assert list(context.knowledge.search({"pump": 1.0}, 5)) == []
        self._meanwhile()
        return self._symbolic.normalise(chunk, context)


@pytest.fixture
def other(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def install(meanwhile: Callable[[], None] = lambda: None) -> None:
        plugins = registry.installed._plugins
        monkeypatch.setitem(plugins, ("sd-plugin", "sd-symbolic"), OtherDetector(meanwhile))

    return install


def test_plugins_of_others_normalise_in_the_server(session: Session, apart: list[str], other: Any) -> None:
    other()
    loaded = load_context(session, Upload(name="pumps.md", data=TEXT.encode()))
    assert apart == ["read"]
    assert loaded.load.added_count == 7


@pytest.mark.rule("INGEST-10")
def test_chunks_are_normalised_four_at_once_and_joined_in_order(session: Session, apart: list[str], other: Any) -> None:
    """Four chunks are read at once, and the first one is finished last."""
    met, guard, fifth, last = threading.Barrier(4), threading.Lock(), threading.Event(), threading.Event()
    running: list[int] = []
    most: list[int] = []

    def meanwhile() -> None:
        with guard:
            number = len(most)
            running.append(number)
            most.append(len(running))
        if number < 4:
            met.wait(30)
            fifth.wait(0.1)
        else:
            fifth.set()
        if number == 0:
            last.wait(30)
        with guard:
            running.remove(number)
            if len(most) == 6 and running == [0]:
                last.set()

    other(meanwhile)
    load_context(session, Upload(name="pumps.md", data=TEXT.encode()))
    assert max(most) == 4
    leaves = session.context_units.exclude(ku_type="aggregate").order_by("pk")
    assert [row.claim for row in leaves] == [f"Pump {part} is blue. It is in hall {part}." for part in range(6)]


@pytest.mark.parametrize("is_of_others", [True, False])
def test_open_pages_hear_how_far_it_is(
    session: Session, apart: list[str], other: Any, is_of_others: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_of_others:
        other()
    heard: list[Any] = []
    monkeypatch.setattr(events, "send", lambda pk, message: heard.append(message))
    load_context(session, Upload(name="pumps.md", data=TEXT.encode()))
    progress = [message for message in heard if message["kind"] == "context.progressed"]
    assert [message["payload"] for message in progress] == [
        {"source_name": "pumps.md", "done_chunks": done, "chunk_count": 6} for done in range(6)
    ]
    assert {message["sequence"] for message in progress} == {None}
    assert heard[-1]["kind"] == "context.loaded"


def test_turns_go_on_in_the_very_session_while_it_reads(session: Session, apart: list[str], other: Any) -> None:
    said: list[str] = []
    once = threading.Lock()

    def meanwhile() -> None:
        if once.acquire(blocking=False):
            run_turn(session, TurnCall(message="My dog is called Rex."))
            said.append("done")
            connections.close_all()

    other(meanwhile)
    loaded = load_context(session, Upload(name="pumps.md", data=TEXT.encode()))
    assert said == ["done"]
    assert loaded.load.session.unit_count == session.context_units.count() == 8


@pytest.mark.rule("INGEST-4")
@pytest.mark.parametrize("fault", ["time", "shutdown", "text"])
def test_what_ends_it_leaves_nothing(
    session: Session, apart: list[str], settings: Settings, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    layers = KnowledgeLayer.objects.count()
    expected: type[Exception] = InvalidInput
    data = b"# \n"
    if fault != "text":
        data = TEXT.encode()
        expected = EngineTimeout if fault == "time" else TurnInterrupted
        settings.MRPVM_INGEST_TIMEOUT_MS = 1 if fault == "time" else 60_000
        settings.MRPVM_SHUTDOWN_GRACE_MS = 0
        monkeypatch.setattr(shutdown, "refuse_new_turns", lambda: None)
        if fault == "shutdown":
            shutdown.begin()
    with pytest.raises(expected):
        load_context(session, Upload(name="pumps.html", data=data if fault != "text" else b"<p> </p>"))
    assert KnowledgeLayer.objects.count() == layers
    assert not LayerUnit.objects.exists()


def test_only_so_many_processes_at_once(session: Session, apart: list[str], settings: Settings) -> None:
    settings.MRPVM_INGEST_TIMEOUT_MS = 300
    with process_slots.one(lambda: None), process_slots.one(lambda: None), pytest.raises(EngineTimeout):
        load_context(session, Upload(name="pumps.md", data=TEXT.encode()))
    assert apart == []
    settings.MRPVM_INGEST_TIMEOUT_MS = 60_000
    assert load_context(session, Upload(name="pumps.md", data=TEXT.encode())).load.added_count == 7


def test_reading_holds_no_transaction_and_its_result_is_typed(project: Project, apart: list[str]) -> None:
    file = SourceFile(source_id="s", name="a.md", data=TEXT.encode())
    assert isinstance(ReadingProcess(timeout_ms=60_000).ingest(file, "sd-symbolic"), IngestedSource)
