"""Each request is carried out completely or not at all, also when two come at once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from threading import Barrier, BrokenBarrierError
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connections
from django.db.models import QuerySet
from django.utils import timezone
from pytest_django import Settings

from mrpvm.conversation.conversation_hash import empty_hash
from mrpvm.errors import Conflict, InvalidInput, Unavailable
from sessions_app.actions.experiments import suites
from sessions_app.actions.experiments.experiments import Author
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.sessions import histories, recognition
from sessions_app.actions.sessions.session import change_session, create_session
from sessions_app.actions.settings.projects import ensure_default_project
from sessions_app.actions.turns import alerts, saved_filters
from sessions_app.actions.turns.saved_filters import save_filter
from sessions_app.models import ConversationPoint, KBMount, Message, Session, Suite
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import run_turn
from sessions_app.turns.slots import start_turn

SAID = histories.History(messages=[{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello."}])


@pytest.mark.rule("SESSION-8")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("failing", [Message, ConversationPoint])
def test_a_session_with_its_history_is_made_whole(failing: type, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: Any, **named: Any) -> None:
        raise RuntimeError("the database is gone")

    project = ensure_default_project()
    conversation_hash = empty_hash(project.slug, "key-1", None)
    with monkeypatch.context() as patch:
        patch.setattr(failing, "objects", SimpleNamespace(bulk_create=fail, create=fail, filter=failing.objects.filter))  # type: ignore[attr-defined]
        with pytest.raises(RuntimeError):
            recognition.recognise_session(project, conversation_hash, lambda: SAID)
    assert not Session.objects.exists()
    made = histories.begin_session(
        project, histories.History(messages=[{"role": "user", "content": "Hello."}]), metadata={"a": "b"}
    )
    assert (made.message_sequence, made.metadata) == (1, {"a": "b"})


@pytest.mark.django_db(transaction=True)
def test_flags_are_not_changed_beside_a_title_that_is_refused() -> None:
    session = create_session(ensure_default_project())
    with pytest.raises(InvalidInput):
        change_session(session, {"flags": {"query_rewriting": False}, "title": "x" * 201})
    session.refresh_from_db()
    assert session.flags == {}


@pytest.mark.django_db(transaction=True)
def test_a_turn_that_is_refused_mounts_nothing(settings: Settings) -> None:
    project = ensure_default_project()
    session, base = create_session(project), create_base(project, "Handbook")
    settings.MRPVM_MAX_RUNNING_TURNS = 0
    with pytest.raises(Unavailable):
        run_turn(session, TurnCall(message="Hello", base=base))
    assert KBMount.objects.count() == 1
    settings.MRPVM_MAX_RUNNING_TURNS = 1
    turn = start_turn(session, TurnCall(message="Hello", base=base))
    assert turn.session.mounted_kb == base
    with pytest.raises(Conflict):
        start_turn(session, TurnCall(message="Hello", base=base))


@pytest.mark.django_db(transaction=True)
def test_two_requests_to_an_expired_session_share_its_successor(monkeypatch: pytest.MonkeyPatch) -> None:
    session = create_session(ensure_default_project())
    Session.objects.update(expired_at=timezone.now())
    session.refresh_from_db()
    both_have_looked, look = Barrier(2, timeout=30), recognition.continuation
    looks: list[Session] = []

    def together(found: Session) -> Session:
        looks.append(found)
        latest = look(found)
        if len(looks) <= 2:
            both_have_looked.wait()
        return latest

    monkeypatch.setattr(recognition, "continuation", together)
    with ThreadPoolExecutor(2) as pool:
        found = [asked.result() for asked in [pool.submit(_on_its_own, session) for _ in range(2)]]
    assert found[0] == found[1]
    assert Session.objects.count() == 2


def _on_its_own(session: Session) -> int:
    try:
        return recognition.resume_session(session).session.pk
    finally:
        connections.close_all()


@pytest.fixture
def both_look(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str], None]:
    """Return a function that lets each of two callers of a method wait for the other, if it comes there too."""
    both = Barrier(2, timeout=0.5)

    def patch(owner: Any, name: str) -> None:
        look = getattr(owner, name)

        def looking(*given: Any, **named: Any) -> Any:
            found = look(*given, **named)
            with suppress(BrokenBarrierError):
                both.wait()
            return found

        monkeypatch.setattr(owner, name, looking)

    return patch


def _both(act: Callable[[], Any]) -> list[Any]:
    """Return what two threads get, a refusal as its code."""

    def work(_: int) -> Any:
        try:
            return act()
        except Conflict as refused:
            return refused.code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(work, range(2)))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["suite", "filter", "alert"])
def test_two_at_once_do_not_pass_a_limit(
    kind: str, both_look: Callable[[Any, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    project, author, numbers = ensure_default_project(), Author(name="anna"), count()
    watched = save_filter(project, "Failed", "status:failed", author)
    for module, most in ((suites, "MOST_SUITES"), (alerts, "MOST_ALERTS")):
        monkeypatch.setattr(module, most, 1)
    monkeypatch.setattr(saved_filters, "MOST_FILTERS", 2)
    limits = {"limit_percent": 20.0, "window_minutes": 60, "least_turns": 1, "channel": "hook"}
    acts: dict[str, Callable[[], Any]] = {
        "suite": lambda: suites.create_suite(project, f"Suite {next(numbers)}", author),
        "filter": lambda: save_filter(project, f"Filter {next(numbers)}", "status:failed", author),
        "alert": lambda: alerts.create_alert(watched, author, target="https://example.org/hook", **limits),
    }
    both_look(QuerySet, "count")
    assert _both(acts[kind]).count("CONFLICT") == 1


@pytest.mark.django_db(transaction=True)
def test_two_first_runs_share_the_session_of_their_suite(both_look: Callable[[Any, str], None]) -> None:
    suite = suites.create_suite(ensure_default_project(), "Ferry", Author(name="anna"))
    both_look(suites, "create_session")
    _both(lambda: suites.begin_run(Suite.objects.get(pk=suite.pk), [], {}, Author(name="anna")))
    assert Session.objects.count() == 1
    assert Suite.objects.get().session == Session.objects.get()
