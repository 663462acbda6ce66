"""The life cycle of a session: created, renamed, expired, deleted, restored, removed."""

from concurrent.futures import ThreadPoolExecutor, wait
from datetime import timedelta

import pytest
from django.db import connections, transaction
from django.utils import timezone

from mrpvm.errors import Conflict, InvalidInput, Unavailable
from sessions_app import events
from sessions_app.actions.sessions.forks import fork_session
from sessions_app.actions.sessions.histories import History, begin_session, import_history
from sessions_app.actions.sessions.recognition import resume_session
from sessions_app.actions.sessions.removal import expire_sessions, purge_deleted_sessions
from sessions_app.actions.sessions.session import (
    UNDO_PERIOD,
    Choices,
    create_session,
    delete_session,
    rename_session,
    restore_session,
)
from sessions_app.background.sweeper import sweep
from sessions_app.ingest.load import Upload, load_context
from sessions_app.layers import create_layer, index_units
from sessions_app.models import ExplainabilityTurn, KBMount, KnowledgeLayer, Session
from sessions_app.models.sessions.session import ForkReason
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import run_turn
from sessions_app.turns.slots import start_turn
from tests.actions.transactions import recorded
from tests.kernel.scripted import detection, plugin, retrieval

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.rule("SESSION-1")
def test_a_new_session_has_a_random_id_a_mount_and_the_defaults(project):
    session = create_session(project)
    assert session.session_id.startswith("sess-")
    assert len(session.session_id) == len("sess-") + 32
    assert session.mounted_kb.is_default
    mount = KBMount.objects.get(session=session)
    assert mount.reason == "session-create"
    assert session.events.get(kind="kb.mounted").payload == events.mounted_facts(mount)
    assert session.preferred_planner_plugin == "planner-default"
    assert session.preferred_kb_plugin is None


@pytest.mark.rule("SESSION-7", "PLUGIN-43")
def test_creation_notifies_created_before_loaded(project, plugins):
    heard = []
    kb = plugin("kb-plugin", "kb-a", retrieval("fact"))
    kb.on_session_event = lambda event: heard.append((event.event_type, event.reason))
    plugins(kb)
    create_session(project)
    assert heard == [("session-created", None), ("kb-loaded", "session-create")]


@pytest.mark.rule("DECISION-34", "SESSION-34")
def test_a_sessions_index_holds_its_units_alone(session, plugins):
    plugins(plugin("sd-plugin", "sd-a", detection("why", claims=["Rex is a dog.", "Tom is a cat."])))
    run_turn(session, TurnCall(message="Rex is a dog. Tom is a cat. Why?"))
    committed = session.context_units.filter(state="committed").order_by("id")
    rebuilt = create_layer(KnowledgeLayer.Kind.JOURNAL, session.journal.parent)
    index_units(rebuilt, [unit.to_value() for unit in committed])
    assert postings_of(rebuilt) == postings_of(session.journal)
    assert len(postings_of(rebuilt)) >= 4


def postings_of(layer):
    """Return the layer's postings without the keys of its rows."""
    return sorted(layer.postings.values_list("unit__unit_id", "term", "frequency", "length"))


@pytest.mark.rule("SESSION-8")
@pytest.mark.parametrize(
    "choices",
    [Choices(kb="kb-none"), Choices(deliberation_level=7), Choices(grounding="lax"), Choices(model="m" * 201)],
)
def test_a_refused_creation_leaves_nothing(project, choices):
    layers = KnowledgeLayer.objects.count()
    with pytest.raises(InvalidInput):
        create_session(project, choices)
    assert not Session.objects.exists()
    assert KnowledgeLayer.objects.count() == layers


@pytest.mark.rule("DECISION-16")
def test_titles_are_trimmed_and_bounded(session):
    assert rename_session(session, "  Pets  ").title == "Pets"
    assert rename_session(session, "   ").title is None
    with pytest.raises(InvalidInput):
        rename_session(session, "x" * 201)


def test_a_session_is_not_renamed_under_a_turn(session, plugins):
    plugins()
    start_turn(session, TurnCall(message="hello"))
    with pytest.raises(Conflict) as caught:
        rename_session(session, "Pets")
    assert caught.value.code == "TURN_IN_PROGRESS"
    session.turns.update(lease_until=timezone.now())
    assert rename_session(session, "Pets").title == "Pets"


def test_the_label_is_the_title_or_how_the_conversation_began(session, plugins):
    plugins()
    run_turn(session, TurnCall(message="Why   is the\nsky blue?"))
    session.refresh_from_db()
    assert session.label == "Why is the sky blue?"


@pytest.mark.rule("SESSION-18")
def test_deleting_twice_is_once_and_can_be_undone(session):
    delete_session(session)
    delete_session(session)
    assert session.events.filter(kind="session.deleted").count() == 1
    assert restore_session(session).deleted_at is None


def test_undo_ends_and_the_sweep_removes_the_rows(session, plugins):
    plugins()
    run_turn(session, TurnCall(message="Why?"))
    delete_session(session)
    Session.objects.update(deleted_at=timezone.now() - UNDO_PERIOD - timedelta(seconds=1))
    with pytest.raises(Conflict):
        restore_session(session)
    assert sweep()["purged"] == 1
    assert not Session.objects.exists()
    assert not KnowledgeLayer.objects.exclude(kind="base").exists()


@pytest.mark.rule("SESSION-11", "SESSION-12", "SESSION-14")
def test_idle_sessions_expire_but_not_under_a_running_turn(session, plugins, settings):
    """The time to live in this test is 30 minutes."""
    settings.MRPVM_SESSION_IDLE_TTL_MINUTES = 30
    plugins()
    run_turn(session, TurnCall(message="Why?"))
    session.refresh_from_db()
    assert session.expires_at == session.last_activity_at + timedelta(minutes=30)
    start_turn(session, TurnCall(message="Why?"))
    Session.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert expire_sessions() == 0
    session.turns.filter(status="running").update(status="failed")
    assert expire_sessions() == 1
    assert expire_sessions() == 0
    session.refresh_from_db()
    assert session.is_expired


def test_expired_sessions_are_kept_as_long_as_the_operator_wants(project, settings):
    """They are kept for ever unless `MRPVM_KEEP_EXPIRED_DAYS` is set."""
    archived, older, living = (create_session(project) for _ in range(3))
    for session, days in ((archived, 6), (older, 8)):
        Session.objects.filter(pk=session.pk).update(expired_at=timezone.now() - timedelta(days=days))
    assert sweep()["outdated"] == 0
    settings.MRPVM_KEEP_EXPIRED_DAYS = 7
    assert [sweep()["outdated"], sweep()["outdated"]] == [1, 0]
    assert set(Session.objects.filter(deleted_at=None)) == {archived, living}
    assert older.events.filter(kind="session.deleted").count() == 1


@pytest.mark.rule("DECISION-3", "SESSION-10")
def test_a_full_server_refuses_and_makes_room_by_expiry(project, settings):
    settings.MRPVM_MAX_SESSIONS = 1
    first = create_session(project)
    with pytest.raises(Unavailable) as caught:
        create_session(project)
    assert caught.value.code == "SESSION_LIMIT"
    Session.objects.filter(pk=first.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert create_session(project)
    with pytest.raises(Unavailable):
        create_session(project)


def test_a_session_under_a_running_turn_keeps_its_place(session, plugins, settings):
    """Its time to live has passed, and the end of the turn extends it."""
    settings.MRPVM_MAX_SESSIONS = 1
    plugins()
    start_turn(session, TurnCall(message="Why?"))
    Session.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(Unavailable):
        create_session(session.project)


@pytest.mark.parametrize(
    "make",
    [
        lambda session: fork_session(session, 0, ForkReason.EDITED),
        lambda session: begin_session(session.project, History(messages=[{"role": "user", "content": "Hello."}])),
        lambda session: restore_session(Session.objects.get(deleted_at__isnull=False)),
    ],
    ids=["fork", "history", "undo"],
)
def test_on_a_full_server_no_way_leads_to_one_more_session(session, settings, make):
    delete_session(create_session(session.project))
    settings.MRPVM_MAX_SESSIONS = 1
    with pytest.raises(Unavailable) as caught:
        make(session)
    assert caught.value.code == "SESSION_LIMIT"
    assert Session.objects.filter(deleted_at=None).count() == 1


def test_a_successor_of_an_expired_session_needs_a_place(session, settings):
    """The place of the expired session was released."""
    settings.MRPVM_MAX_SESSIONS = 1
    Session.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    session.refresh_from_db()
    other = create_session(session.project)
    with pytest.raises(Unavailable):
        resume_session(session)
    delete_session(other)
    assert resume_session(session).session.forked_from == session


def test_sessions_made_at_once_count_each_other(project, settings):
    settings.MRPVM_MAX_SESSIONS = 1

    def make():
        try:
            create_session(project)
        except Unavailable as refused:
            return refused.code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            create_session(project)
            other = pool.submit(make)
            wait([other], timeout=0.3)
        assert other.result() == "SESSION_LIMIT"
    assert Session.objects.count() == 1


@pytest.mark.rule("SESSION-36")
def test_the_registry_keeps_the_newest_entries_and_numbers_go_on(session, plugins, settings):
    settings.MRPVM_MAX_EXPLAINABILITY_ENTRIES = 2
    plugins()
    for _ in range(4):
        run_turn(session, TurnCall(message="Why?"))
    assert list(session.turns.values_list("turn_index", flat=True)) == [3, 4]
    assert session.messages.count() == 8


def test_a_registry_far_over_its_limit_is_trimmed_slowly(session, plugins, settings):
    """A turn's transaction removes only a few entries, because it holds SQLite's write lock."""
    plugins()
    run_turn(session, TurnCall(message="Why?"))
    ExplainabilityTurn.objects.bulk_create(
        ExplainabilityTurn(session=session, turn_index=index, status="succeeded", deliberation_level=0)
        for index in range(2, 31)
    )
    Session.objects.update(turn_sequence=30)
    settings.MRPVM_MAX_EXPLAINABILITY_ENTRIES = 2
    kept = []
    for _ in range(4):
        run_turn(session, TurnCall(message="Why?"))
        kept.append(session.turns.count())
    assert kept == [31 - 10, 22 - 10, 13 - 10, 2]


def test_a_long_session_is_purged_in_short_transactions(session, plugins, monkeypatch):
    plugins()
    run_turn(session, TurnCall(message="Why?"))
    import_history(session, History(messages=[{"role": "user", "content": f"Thing {n}."} for n in range(1_200)]))
    delete_session(session)
    Session.objects.update(deleted_at=timezone.now() - UNDO_PERIOD - timedelta(seconds=1))
    with recorded(monkeypatch) as transactions:
        assert purge_deleted_sessions() == 1
    assert not Session.objects.exists()
    assert len(transactions) >= 5
    assert max(written.value_count for written in transactions) <= 1_500


@pytest.mark.rule("SESSION-35")
def test_at_the_cap_the_oldest_chat_units_make_room(session, plugins, settings):
    settings.MRPVM_MAX_SESSION_UNITS = 2
    for claim in ("one", "two", "three"):
        plugins(plugin("sd-plugin", "sd-a", detection("why", claims=[claim])))
        turn = run_turn(session, TurnCall(message="Why?")).turn
    session.refresh_from_db()
    assert session.unit_count == 2
    assert [unit.claim for unit in session.context_units.order_by("id")] == ["two", "three"]
    assert turn.unit_changes["evicted"]


@pytest.mark.rule("DECISION-4", "SESSION-35")
def test_at_the_cap_what_was_loaded_goes_last(session, plugins, settings):
    """Loaded units are removed last, although they are older than told ones; the entry names the removed units."""
    for name, text in (("pump.txt", "The pump is blue."), ("valve.txt", "The valve is red.")):
        load_context(session, Upload(name=name, data=text.encode()))

    def tell(claim, cap):
        settings.MRPVM_MAX_SESSION_UNITS = cap
        plugins(plugin("sd-plugin", "sd-a", detection("why", claims=[claim])))
        gone = run_turn(session, TurnCall(message="Why?")).turn.unit_changes["evicted"]
        return claims_of(session), len(gone)

    assert tell("one", 3) == (["The pump is blue.", "The valve is red.", "one"], 0)
    assert tell("two", 3) == (["The pump is blue.", "The valve is red.", "two"], 1)
    assert tell("three", 2) == (["The valve is red.", "three"], 2)


def claims_of(session):
    """Return the claims of the session's units, the oldest first."""
    return list(session.context_units.order_by("id").values_list("claim", flat=True))
