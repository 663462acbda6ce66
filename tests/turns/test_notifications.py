"""Lifecycle events: every enabled KB plugin gets them completely, after the transaction, even if a plugin fails."""

import logging
import sys
from collections.abc import Callable, Iterator
from copy import replace
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import pytest
from django.db import transaction
from pytest_django import Settings

from mrpvm import registry
from mrpvm.contracts import LifecycleEvent, PluginError
from mrpvm.plugins.kb_retrievers.balanced.plugin import BalancedKBRetriever
from mrpvm.plugins.kb_retrievers.fast.plugin import FastKBRetriever
from mrpvm.plugins.kb_retrievers.thinkingdb.plugin import ThinkingDBKBRetriever
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.forks import fork_base, fork_session_kb, save_session_kb
from sessions_app.actions.knowledge.mounts import mount_base, unmount_base
from sessions_app.actions.knowledge.revisions import restore_revision
from sessions_app.actions.sessions.forks import fork_session
from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.settings import plugin_failures
from sessions_app.actions.turns.running import request_cancel
from sessions_app.ingest.load import Upload, load_context, load_source, stage_file
from sessions_app.models import KBMount, KnowledgeBase, PluginFailure, Project, Session
from sessions_app.plugin_threads import workers
from sessions_app.turns.call import TurnCall
from sessions_app.turns.machine import install_plugins
from sessions_app.turns.pipeline import TurnError, run_turn
from tests.actions.knowledge_scene import add_text
from tests.kernel.scripted import Scripted, detection, plugin, retrieval
from tests.layers.units import make_unit
from tests.turns.failure_scene import fail

pytestmark = pytest.mark.django_db(transaction=True)
type Install = Callable[..., None]


@dataclass
class Listener:
    """Makes KB plugins that record their events, and the state of the database that another thread sees then."""

    heard: list[tuple[str, LifecycleEvent]] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)

    def named(self, plugin_id: str, act: Callable[[LifecycleEvent], Any] = lambda event: "accepted") -> Scripted:
        scripted = plugin("kb-plugin", plugin_id, retrieval("Rex is a dog."))

        def hear(event: LifecycleEvent) -> Any:
            self.heard.append((plugin_id, event))
            self.rows.append(KBMount.objects.count())
            return act(event)

        scripted.on_session_event = hear  # type: ignore[method-assign]
        return scripted

    def events(self) -> list[LifecycleEvent]:
        """Return the events since the last call."""
        heard, self.heard = [event for _, event in self.heard], []
        return heard


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture(autouse=True)
def _called_in_time() -> Iterator[None]:
    install_plugins()
    yield
    workers.close()


@pytest.fixture
def base(project: Project) -> KnowledgeBase:
    return create_base(project, "Pumps")


def upload(words: str, name: str = "pumps.md") -> Upload:
    return Upload(name=name, data=words.encode())


def kinds(events: list[LifecycleEvent]) -> list[tuple[str, str | None]]:
    return [(event.event_type, event.reason) for event in events]


def check_content(event: LifecycleEvent, base: KnowledgeBase, session: Session | None, reason: str) -> None:
    """Check the fields of an event about a base."""
    base = KnowledgeBase.objects.select_related("head", "parent").get(pk=base.pk)
    assert (event.kb_id, event.kb_name, event.reason) == (base.kb_id, base.name, reason)
    assert event.session_id == (session.session_id if session else None)
    assert event.repository_meta == {
        "kb_id": base.kb_id,
        "name": base.name,
        "created_at": base.created_at.isoformat(),
        "updated_at": base.updated_at.isoformat(),
        "parent_kb_id": base.parent.kb_id if base.parent else None,
        "is_default": base.is_default,
        "revision": base.revision,
        "source_count": base.source_count,
        "unit_count": base.head.unit_count,
    }
    assert event.snapshot == {
        "layer_id": base.head_id,
        "revision": base.revision,
        "unit_count": base.head.unit_count,
    }
    if session is None:
        assert event.workspace_stats is None
    else:
        draft = Session.objects.select_related("draft").get(pk=session.pk).draft
        stats = {"source_count": draft.source_count, "unit_count": draft.unit_count, "dirty": False}
        assert event.workspace_stats == stats
    check_empty(event, "units", "scope")


def check_empty(event: LifecycleEvent, *names: str) -> None:
    """Check that these parts of the envelope are there and empty."""
    assert {name: getattr(event, name) for name in names} == {name: () if name == "units" else None for name in names}


def check_loaded(event: LifecycleEvent, session: Session, reason: str, previous: KnowledgeBase | None) -> None:
    assert event.event_type == "kb-loaded"
    check_content(event, Session.objects.get(pk=session.pk).mounted_kb, session, reason)
    assert event.previous_kb_id == (previous.kb_id if previous else None)
    assert event.previous_kb_name == (previous.name if previous else None)


@pytest.mark.rule("PLUGIN-43", "BASE-17")
def test_every_enabled_plugin_hears_in_the_registry_s_order(
    project: Project, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    heard: list[str] = []
    for kind in (BalancedKBRetriever, FastKBRetriever, ThinkingDBKBRetriever):
        monkeypatch.setattr(kind, "on_session_event", lambda self, event: heard.append(self.descriptor.id))
        monkeypatch.setattr(kind, "descriptor", replace(kind.descriptor, heeds_events=True))
    settings.MRPVM_DISABLED_PLUGINS = ["kb-fast"]
    monkeypatch.setattr(registry, "installed", registry.Registry([]))
    install_plugins()
    fork_base(create_base(project, "Motors"))
    assert heard == ["kb-balanced", "kb-thinkingdb"]


@pytest.mark.rule("SESSION-7")
def test_a_session_is_created_before_its_base_is_loaded(
    project: Project, base: KnowledgeBase, plugins: Install, listener: Listener
) -> None:
    plugins(listener.named("kb-a"))
    session = create_session(project, base=base)
    created, loaded = listener.events()
    assert (created.event_type, created.session_id) == ("session-created", session.session_id)
    assert created.requested_kb_id == base.kb_id
    rest = set(LifecycleEvent.__struct_fields__) - {"event_type", "session_id", "requested_kb_id"}
    check_empty(created, *rest)
    check_loaded(loaded, session, "session-create", None)
    assert listener.rows == [1, 1]  # the change is already stored


@pytest.mark.rule("PLUGIN-43")
def test_a_forked_session_is_created_before_its_base_is_loaded(
    session: Session, plugins: Install, listener: Listener
) -> None:
    plugins(listener.named("kb-a"))
    fork = fork_session(session, 0, "edit")
    created, loaded = listener.events()
    assert (created.event_type, created.session_id) == ("session-created", fork.session_id)
    assert created.requested_kb_id == session.mounted_kb.kb_id
    check_loaded(loaded, fork, "session-create", None)


@pytest.mark.rule("PLUGIN-42")
def test_every_change_of_a_mount_is_told_whole(
    session: Session, base: KnowledgeBase, plugins: Install, listener: Listener
) -> None:
    plugins(listener.named("kb-a"))
    default = session.mounted_kb
    mount_base(session, base, reason="mount-api")
    [loaded] = listener.events()
    check_loaded(loaded, session, "mount-api", default)
    assert loaded.requested_kb_id == base.kb_id
    unmount_base(session, reason="unmount-admin")
    [loaded] = listener.events()
    check_loaded(loaded, session, "unmount-admin", base)


@pytest.mark.rule("PLUGIN-42")
def test_saves_and_forks_are_told_whole(
    session: Session, base: KnowledgeBase, plugins: Install, listener: Listener
) -> None:
    plugins(listener.named("kb-a"))
    mount_base(session, base, reason="mount-api")
    stage_file(session, upload("The pump is blue."))
    listener.events()
    save_session_kb(session)
    saved, loaded = listener.events()
    assert saved.event_type == "kb-saved"
    check_content(saved, base, session, "save")
    check_loaded(loaded, session, "save", base)
    assert saved.repository_meta is not None
    assert saved.repository_meta["unit_count"] == 1
    for act, reason in ((fork_session_kb, "fork"), (lambda it: save_session_kb(it, fork=True), "save-fork")):
        before = Session.objects.get(pk=session.pk).mounted_kb
        fork = act(session)
        forked, loaded = listener.events()
        assert forked.event_type == "kb-forked"
        check_content(forked, fork, session, reason)
        check_loaded(loaded, session, reason, before)


@pytest.mark.rule("PLUGIN-43")
def test_what_changes_a_base_without_a_session_is_told_whole(
    base: KnowledgeBase, plugins: Install, listener: Listener
) -> None:
    plugins(listener.named("kb-a"))
    load_source(base, upload("The pump is blue."))
    [saved] = listener.events()
    assert saved.event_type == "kb-saved"
    check_content(saved, base, None, "source-add")
    restore_revision(base, 1)
    [saved] = listener.events()
    assert saved.event_type == "kb-saved"
    check_content(saved, base, None, "restore")
    fork = fork_base(base)
    [forked] = listener.events()
    assert forked.event_type == "kb-forked"
    check_content(forked, fork, None, "fork")
    check_empty(forked, "session_id", "previous_kb_id", "previous_kb_name", "requested_kb_id", "workspace_stats")


@pytest.mark.rule("SESSION-33", "TURN-12", "TURN-27", "PLUGIN-43")
def test_units_are_told_when_they_are_there(session: Session, plugins: Install, listener: Listener) -> None:
    said, loaded_words = (detection("why", claims=[words]) for words in ("Rex is a dog.", "The pump is blue."))
    plugins(listener.named("kb-a"), plugin("sd-plugin", "sd-a", said, loaded_words))
    run_turn(session, TurnCall(message="Rex is a dog. Why?"))
    staged, kept = listener.events()
    assert (staged.scope, staged.reason) == ("current-turn", "seed-detection")
    assert (kept.scope, kept.reason) == ("committed-session", "turn-commit")
    load_context(session, upload("The pump is blue."))
    [loaded] = listener.events()
    assert (loaded.scope, loaded.reason) == ("committed-session", "session-context-api")
    for event, words in ((staged, "Rex is a dog."), (kept, "Rex is a dog."), (loaded, "The pump is blue.")):
        assert event.event_type == "session-kus-added"
        assert (event.session_id, event.kb_id) == (session.session_id, session.mounted_kb.kb_id)
        assert [unit.text for unit in event.units] == [words]
        check_empty(event, "repository_meta", "workspace_stats", "snapshot", "requested_kb_id", "previous_kb_id")
    load_context(session, upload("The pump is blue."))
    assert listener.events() == []  # no unit was added


@pytest.mark.rule("SESSION-8", "TURN-39")
def test_nothing_is_told_of_what_was_undone(base: KnowledgeBase, plugins: Install, listener: Listener) -> None:
    plugins(listener.named("kb-a"))
    with transaction.atomic():
        add_text(base, "s", "x", [make_unit("u", "The pump is blue.")])
        assert listener.heard == []
        transaction.set_rollback(True)
    assert listener.heard == []


@pytest.mark.rule("TURN-41", "PLUGIN-44")
def test_a_failing_or_late_plugin_is_recorded_and_skipped(
    session: Session,
    base: KnowledgeBase,
    plugins: Install,
    listener: Listener,
    settings: Settings,
    caplog: pytest.LogCaptureFixture,
) -> None:
    released = Event()

    def fail(event: LifecycleEvent) -> None:
        raise RuntimeError("deaf")

    settings.MRPVM_PLUGIN_TIMEOUT_MS = 100
    plugins(
        listener.named("kb-a", fail),
        listener.named("kb-b", lambda event: released.wait(30)),
        listener.named("kb-c"),
        listener.named("kb-d", lambda event: "error"),
        listener.named("kb-e", lambda event: PluginError(code="FULL", message="the disk is full")),
        listener.named("kb-f", lambda event: sys.exit("enough")),
        listener.named("kb-g", lambda event: "acepted"),
    )
    try:
        with caplog.at_level(logging.ERROR, plugin_failures.__name__):
            mount_base(session, base, reason="mount-api")
    finally:
        released.set()
    assert [name for name, _ in listener.heard] == ["kb-a", "kb-b", "kb-c", "kb-d", "kb-e", "kb-f", "kb-g"]
    assert len({id(event) for _, event in listener.heard}) == 1
    assert Session.objects.get(pk=session.pk).mounted_kb == base
    errors = {
        "kb-a": "RuntimeError: deaf",
        "kb-b": "TimeoutError: no answer within 100 ms",
        "kb-d": "it gave no reason",
        "kb-e": "FULL: the disk is full",
        "kb-f": "SystemExit: enough",
        "kb-g": "it replied 'acepted'; it may reply 'accepted', 'skipped', 'error' or a PluginError",
    }
    said = [f"plugin {name} failed on kb-loaded: {error}" for name, error in errors.items()]
    assert [record.getMessage() for record in caplog.records] == said
    assert "Traceback" in caplog.text
    kept = PluginFailure.objects.order_by("pk").values_list("plugin_id", "error", "event", "session_id", "kb_id")
    assert list(kept) == [(*item, "kb-loaded", session.session_id, base.kb_id) for item in errors.items()]


@pytest.mark.rule("TURN-41")
@pytest.mark.parametrize("hangs_on", ["kb-loaded", "session-kus-added"])
def test_notified_plugins_share_the_rest_of_a_turns_time(
    hangs_on: str, session: Session, base: KnowledgeBase, plugins: Install, listener: Listener, settings: Settings
) -> None:
    """Otherwise the turn's lease would end, and another process would close the turn."""
    released = Event()

    def hang(event: LifecycleEvent) -> None:
        # Events after the mount are slow too, so that the turn cannot end in the time that the mount took.
        released.wait(10 if event.event_type == hangs_on else 0.5 * (hangs_on == "kb-loaded"))

    settings.MRPVM_REQUEST_TIMEOUT_MS = 1_000  # long enough to reach it on a busy machine
    plugins(listener.named("kb-a", hang), listener.named("kb-b", hang))
    try:
        with pytest.raises(TurnError) as caught:
            run_turn(session, TurnCall(message="Why?", base=base))
    finally:
        released.set()
    assert caught.value.code == "ENGINE_TIMEOUT"
    assert [name for name, event in listener.heard if event.event_type == hangs_on] == ["kb-a"]
    late, skipped = PluginFailure.objects.filter(event=hangs_on).order_by("pk")
    assert (late.plugin_id, skipped.plugin_id) == ("kb-a", "kb-b")
    assert late.error.startswith("TimeoutError: no answer within ")
    assert skipped.error == "TimeoutError: no time was left for it"


def test_a_turn_is_stopped_while_a_notified_plugin_hangs(
    session: Session, plugins: Install, listener: Listener
) -> None:
    released = Event()

    def stop(event: LifecycleEvent) -> None:
        request_cancel(session.turns.get())
        released.wait(10)

    plugins(listener.named("kb-a", stop), listener.named("kb-b", stop))
    try:
        turn, error = fail(session)
    finally:
        released.set()
    assert (turn.status, error.code) == ("cancelled", "TURN_CANCELLED")
    assert [name for name, _ in listener.heard] == ["kb-a"]
    assert not PluginFailure.objects.exists()


def test_a_failure_names_its_session_of_any_length(db: None) -> None:
    longest = "x" * 128
    plugin_failures.record_failure("kb-a", "session-created", "no", session_id=longest)
    kept = PluginFailure.objects.get()
    kept.full_clean()  # SQLite stores texts of any length
    assert kept.session_id == longest


def test_the_newest_failures_are_kept_without_secrets(db: None, settings: Settings) -> None:
    settings.MRPVM_MAX_PLUGIN_FAILURES = 2
    assert plugin_failures.sweep_failures() == 0
    for number in range(4):
        plugin_failures.record_failure("kb-a", "kb-saved", f"{number} token sk-abcdefghijkl\0{'x' * 4_100}")
    assert plugin_failures.sweep_failures() == 2
    newest, other = PluginFailure.objects.all()
    assert (newest.error[:8], other.error[0]) == ("3 token ", "2")
    assert "abcdefghijkl" not in newest.error
    assert newest.error.endswith("… (cut; it has 4119 characters)")
