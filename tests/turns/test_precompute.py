"""Artifacts of bases' units are computed before the first question."""

from collections.abc import Iterator, Mapping, Sequence
from copy import replace
from dataclasses import dataclass, field
from threading import Event
from types import SimpleNamespace

import pytest
from django.core.cache import cache
from pytest_django import Settings

from mrpvm import registry
from mrpvm.contracts import Descriptor
from mrpvm.plugins.kb_retrievers.fast.plugin import FastKBRetriever
from mrpvm.values import KnowledgeUnit
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.forks import fork_base
from sessions_app.background import precompute
from sessions_app.background.precompute import derive_ahead
from sessions_app.layers import EffectiveView, SessionKnowledge
from sessions_app.models import KnowledgeBase, Project, Session, UnitArtifact
from sessions_app.plugin_threads import workers
from sessions_app.turns.machine import install_plugins
from tests.actions.knowledge_scene import add_text, tell
from tests.layers.units import make_unit


@dataclass
class Lengths(FastKBRetriever):
    """A retriever that derives the length of a unit's claim, and records the units that it was given."""

    name: str = "kb-lengths"
    artifact_version: str | None = "1"
    fails_on: str = ""
    waits_for: Event | None = None
    given: list[str] = field(default_factory=list)
    descriptor: Descriptor = FastKBRetriever.descriptor

    def __post_init__(self) -> None:
        self.descriptor = replace(self.descriptor, id=self.name)

    def artifacts_of(self, units: Sequence[KnowledgeUnit]) -> Mapping[str, bytes]:
        if self.waits_for is not None:
            self.waits_for.wait(10)
        self.given += [unit.id for unit in units]
        if any(unit.id == self.fails_on for unit in units):
            raise RuntimeError("no length")
        return {unit.id: str(len(unit.claim or "")).encode() for unit in units}


@pytest.fixture(autouse=True)
def _plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    install_plugins()
    monkeypatch.setattr(precompute, "_progress", {})
    yield
    workers.close()


def installed(monkeypatch: pytest.MonkeyPatch, *readers: FastKBRetriever) -> None:
    shipped = registry.installed.seed_detector("sd-symbolic")
    monkeypatch.setattr(registry, "installed", registry.Registry([shipped, *readers]))


def fill(base: KnowledgeBase, count: int, name: str = "u") -> None:
    add_text(base, name, "", [make_unit(f"{name}{number}", f"pump {number}") for number in range(count)])
    base.refresh_from_db()


def kept(base: KnowledgeBase, plugin_id: str = "kb-lengths") -> Mapping[str, bytes]:
    port = SessionKnowledge(EffectiveView.of_layer(base.head)).for_plugin(plugin_id)
    return port.artifacts("1", [hit.unit.id for hit in port.newest(100)])


@pytest.mark.rule("BASE-14")
def test_every_unit_of_every_base_has_its_own(
    base: KnowledgeBase, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = Lengths()
    installed(monkeypatch, reader)
    other = create_base(project, "other")
    fill(base, 20)
    fill(other, 3, "o")
    assert derive_ahead() == 23
    assert kept(base) == {f"u{number}": str(len(f"pump {number}")).encode() for number in range(20)}
    assert kept(other).keys() == {"o0", "o1", "o2"}
    assert kept(fork_base(base)) == kept(base)
    assert derive_ahead() == 0
    assert len(reader.given) == 23
    fill(base, 2, "new")
    assert derive_ahead() == 2
    assert reader.given[23:] == ["new0", "new1"]


def test_what_a_question_derived_already_is_left_alone(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Lengths()
    installed(monkeypatch, reader)
    fill(base, 3)
    row = base.head.units.get(unit_id="u1")
    UnitArtifact.objects.create(plugin_id="kb-lengths", unit=row, version="1", content=b"6")
    stale = base.head.units.get(unit_id="u2")
    UnitArtifact.objects.create(plugin_id="kb-lengths", unit=stale, version="0", content=b"old")
    assert derive_ahead() == 2
    assert reader.given == ["u0", "u2"]
    assert kept(base)["u2"] == b"6"


def test_a_new_version_derives_anew(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Lengths()
    installed(monkeypatch, reader)
    fill(base, 3)
    assert derive_ahead() == 3
    reader.artifact_version = "2"
    assert derive_ahead() == 3
    assert set(UnitArtifact.objects.values_list("version", flat=True)) == {"2"}
    reader.artifact_version = None
    assert derive_ahead() == 0


def test_what_a_session_was_told_waits_for_its_questions(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, Lengths())
    tell(session, "The rotor hums")
    assert derive_ahead() == 0


def test_a_layer_that_would_take_hours_is_left_to_its_questions(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    installed(monkeypatch, Lengths())
    settings.MRPVM_PRECOMPUTE_UNITS = 2
    fill(base, 3)
    assert derive_ahead() == 0
    fill(base, 2, "new")
    assert derive_ahead() == 2


def test_a_failure_is_noted_stops_no_other_and_is_tried_again(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken, sound = Lengths("kb-broken", fails_on="u9"), Lengths("kb-sound")
    installed(monkeypatch, broken, sound)
    fill(base, 10)
    assert derive_ahead() == 8 + 10
    assert "plugin kb-broken failed on units" in caplog.text
    broken.fails_on = ""
    assert derive_ahead() == 2
    assert kept(base, "kb-broken") == kept(base, "kb-sound")


def test_one_that_is_late_is_left_behind(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.MRPVM_PLUGIN_TIMEOUT_MS = 50
    released = Event()
    installed(monkeypatch, Lengths(waits_for=released))
    fill(base, 1)
    try:
        assert derive_ahead() == 0
        assert "no answer within 50 ms" in caplog.text
        assert not UnitArtifact.objects.exists()
    finally:
        released.set()


def test_it_takes_a_while_at_most_and_goes_on_the_next_time(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, Lengths())
    fill(base, 20)
    moments = iter([0.0, 1.0, 2.0, 40.0])
    with monkeypatch.context() as patched:
        patched.setattr(precompute, "time", SimpleNamespace(monotonic=lambda: next(moments)))
        assert derive_ahead() == 8
    assert derive_ahead() == 12


def test_another_process_at_it_is_left_to_it(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, Lengths())
    fill(base, 1)
    cache.add("ahead", 1)
    try:
        assert derive_ahead() == 0
    finally:
        cache.delete("ahead")
    watched: list[int] = []
    assert derive_ahead(lambda: watched.append(1)) == 1
    assert watched == [1]


def test_a_layer_that_fails_keeps_no_other_waiting(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest layer is tried first, and after a failure last."""
    reader = Lengths(fails_on="new0")
    installed(monkeypatch, reader)
    fill(base, 3)
    fill(base, 1, "new")
    assert derive_ahead() == 3
    fill(base, 1, "newer")
    reader.given.clear()
    assert derive_ahead() == 1
    assert reader.given == ["newer0", "new0"]


def test_a_claim_that_ran_out_is_not_taken_from_who_has_it_now(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, Lengths())
    fill(base, 1)
    derive_ahead(lambda: cache.set("ahead", "another process's"))
    assert cache.get("ahead") == "another process's"
    cache.delete("ahead")
