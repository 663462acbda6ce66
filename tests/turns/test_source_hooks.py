"""KB plugins get every stored source, and their artifacts belong to the source."""

import json
from collections.abc import Callable, Iterator
from copy import replace
from dataclasses import dataclass, field
from threading import Event

import pytest
from django.db import connection
from pytest_django import Settings

from mrpvm import registry
from mrpvm.contracts import Descriptor, SourceReply, SourceText
from mrpvm.plugins.kb_retrievers.fast.plugin import FastKBRetriever
from sessions_app.actions.knowledge.forks import fork_base
from sessions_app.ingest.load import Upload, load_context, load_source
from sessions_app.layers import EffectiveView, SessionKnowledge
from sessions_app.layers.upkeep.compaction import compact_base
from sessions_app.models import KnowledgeBase, KnowledgeSource, LayerUnit, PluginFailure, Session, SourceArtifact
from sessions_app.plugin_threads import workers
from sessions_app.turns.machine import install_plugins
from tests.actions.knowledge_scene import add_text

TEXT = b"# Pumps\n\nThe pump uses a valve. The valve is brass."


@dataclass
class Reader(FastKBRetriever):
    """A retriever that records the sources that it reads."""

    name: str
    answer: Callable[[SourceText], SourceReply]
    read: list[SourceText] = field(default_factory=list)
    descriptor: Descriptor = FastKBRetriever.descriptor

    def __post_init__(self) -> None:
        self.descriptor = replace(self.descriptor, id=self.name)

    def on_source_text(self, source: SourceText) -> SourceReply:
        self.read.append(source)
        return self.answer(source)


def length(source: SourceText) -> SourceReply:
    return SourceReply(status="accepted", artifacts={"length": str(len(source.content)).encode()})


@pytest.fixture(autouse=True)
def _plugins() -> Iterator[None]:
    install_plugins()
    yield
    workers.close()


def installed(monkeypatch: pytest.MonkeyPatch, *readers: Reader) -> None:
    shipped = registry.installed.seed_detector("sd-symbolic")
    monkeypatch.setattr(registry, "installed", registry.Registry([shipped, *readers]))


def upload(text: bytes = TEXT) -> Upload:
    return Upload(name="pumps.md", data=text, source_id="src-1")


def kept(base: KnowledgeBase, plugin_id: str = "kb-mine") -> dict[str, bytes]:
    head = KnowledgeBase.objects.select_related("head").get(pk=base.pk).head
    return dict(SessionKnowledge(EffectiveView.of_layer(head)).for_plugin(plugin_id).source_artifacts("src-1"))


@pytest.mark.rule("BUILTIN-32")
def test_the_shipped_retrievers_keep_figures_and_a_summary(base: KnowledgeBase) -> None:
    source = load_source(base, upload()).source
    for plugin in registry.installed.kb_retrievers():
        found = kept(base, plugin.descriptor.id)
        assert set(found) == {"src-1.json", "src-1.summary.md"}
        figures = json.loads(found["src-1.json"])
        assert (figures["pluginId"], figures["sourceHash"]) == (plugin.descriptor.id, source.hash)
        assert figures["unitCount"] == source.unit_count > 0
    assert SourceArtifact.objects.count() == 2 * len(registry.installed.kb_retrievers())


@pytest.mark.rule("INGEST-1", "PLUGIN-10")
def test_readers_get_the_stored_source_in_order(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    def noting(name: str) -> Callable[[SourceText], SourceReply]:
        return lambda source: order.append(name) or SourceReply(status="skipped")

    second, first = Reader("kb-b", noting("kb-b")), Reader("kb-a", noting("kb-a"))
    installed(monkeypatch, second, first)
    source = load_source(base, upload()).source
    assert order == [plugin.descriptor.id for plugin in registry.installed.kb_retrievers()] == ["kb-a", "kb-b"]
    [read] = first.read
    assert (read.source_id, read.name, read.content, read.session_id) == ("src-1", "pumps.md", source.content, None)
    assert {item.id for item in read.units} == set(LayerUnit.objects.values_list("unit_id", flat=True))
    assert not SourceArtifact.objects.exists()


@pytest.mark.rule("PLUGIN-10")
def test_a_failing_or_late_reader_is_skipped(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    released = Event()

    def fail(source: SourceText) -> SourceReply:
        raise RuntimeError("no")

    def wait(source: SourceText) -> SourceReply:
        released.wait(30)
        return length(source)

    def unsaid(source: SourceText) -> SourceReply:
        return SourceReply(status="error", artifacts={"length": b"0"}, error="unreadable")

    settings.MRPVM_PLUGIN_TIMEOUT_MS = 200
    installed(
        monkeypatch,
        Reader("kb-fails", fail),
        Reader("kb-late", wait),
        Reader("kb-unsaid", unsaid),
        Reader("kb-mine", length),
    )
    try:
        source = load_source(base, upload()).source
    finally:
        released.set()
    assert KnowledgeSource.objects.get() == source
    assert list(SourceArtifact.objects.values_list("plugin_id", flat=True)) == ["kb-mine"]
    for name in ("kb-fails", "kb-late", "kb-unsaid"):
        assert f"plugin {name} failed on source-text {source.source_id}: " in caplog.text
    kept = PluginFailure.objects.order_by("pk").values_list("plugin_id", "event", "source_id")
    assert list(kept) == [(name, "source-text", source.source_id) for name in ("kb-fails", "kb-late", "kb-unsaid")]


@pytest.mark.rule("BUILTIN-32", "BASE-15")
def test_they_go_with_the_source(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, Reader("kb-mine", length))
    load_source(base, upload())
    older = KnowledgeBase.objects.select_related("head").get(pk=base.pk)
    assert kept(base) == {"length": str(len(KnowledgeSource.objects.get().content)).encode()}
    assert kept(base, "kb-theirs") == {}
    assert kept(fork_base(older)) == kept(base)
    load_source(base, upload(b"The pump is new."))
    assert kept(base) == {"length": b"16"}
    compact_base(KnowledgeBase.objects.select_related("head").get(pk=base.pk))
    assert kept(base) == {"length": b"16"}
    now = KnowledgeBase.objects.get(pk=base.pk)
    add_text(now, "pumps.md", "newest", (), source_id="src-1")  # nothing was derived from this one
    assert kept(base) == {}
    KnowledgeSource.objects.all().delete()
    assert not SourceArtifact.objects.exists()


@pytest.mark.rule("SESSION-33", "INGEST-1", "PLUGIN-10")
def test_a_context_load_is_told_and_nothing_is_kept(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Reader("kb-mine", length)
    installed(monkeypatch, reader)
    loaded = load_context(session, upload())
    [read] = reader.read
    assert (read.keeps_artifacts, read.session_id, len(read.units)) == (
        False,
        session.session_id,
        loaded.load.added_count,
    )
    assert not SourceArtifact.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_readers_are_called_outside_of_every_transaction(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    inside: list[bool] = []

    def look(*call: object) -> None:
        inside.append(connection.in_atomic_block)

    monkeypatch.setattr("sessions_app.ingest.hooks._tell", look)
    load_source(base, upload())
    assert inside == [False] * len(registry.installed.kb_retrievers())
