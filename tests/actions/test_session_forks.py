"""A fork continues from its position and knows no later message."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from sessions_app.actions.knowledge.forks import save_session_kb
from sessions_app.actions.sessions import forks as session_forks
from sessions_app.actions.sessions.context_loads import Material, add_context
from sessions_app.actions.sessions.forks import fork_session
from sessions_app.actions.sessions.histories import History, append_messages, import_history
from sessions_app.actions.sessions.session import create_session, delete_session
from sessions_app.actions.settings.projects import ensure_default_project
from sessions_app.models import ConversationPoint, Session
from sessions_app.models.sessions.session import ForkReason
from sessions_app.queries.sessions.conversations import continuation, recognised_point
from tests.actions.knowledge_scene import held, seen
from tests.actions.transactions import recorded
from tests.layers.units import make_unit
from tests.preparing import prepared_turn

pytestmark = pytest.mark.django_db


@pytest.fixture
def source() -> Session:
    """Return a session of 20 messages with a summary of the first 12."""
    session = create_session(ensure_default_project())
    roles = ("user", "assistant") * 10
    import_history(
        session,
        History(messages=[{"role": role, "content": f"Thing {n} costs ${n}00."} for n, role in enumerate(roles, 1)]),
    )
    session.refresh_from_db()
    summary = prepared_turn(session, "And then?").new_summary
    assert summary is not None
    assert summary.through == 12
    session.summary = summary.as_record()
    session.save(update_fields=["summary"])
    return session


def load(session: Session, count: int, source_id: str = "ctx") -> None:
    units = [make_unit(f"{source_id}::{n}", f"valve {source_id} {n}", source_id=source_id) for n in range(count)]
    add_context(session, Material(units=units, name="notes", source_id=source_id))


def told_in(session: Session) -> str:
    """Return the conversation that the session's next turn sends to a model."""
    return "\n".join(item.content for item in prepared_turn(session, "And then?").request.history)


def test_a_fork_before_the_summarys_end_knows_nothing_later(source: Session) -> None:
    told = told_in(fork_session(source, 6, ForkReason.EDITED))
    assert "Thing 6 costs $600." in told
    assert not any(f"Thing {n} " in told for n in range(7, 21))


def test_a_fork_after_the_summarys_end_keeps_it(source: Session) -> None:
    fork = fork_session(source, 16, ForkReason.EDITED)
    source.refresh_from_db()
    assert fork.summary == source.summary
    assert "Thing 16 costs $1600." in told_in(fork)


@pytest.mark.rule("WINDOW-39")
@pytest.mark.parametrize(
    ("titles", "forked", "expected"),
    [
        (["Pump"], 0, "Pump (2)"),
        (["Pump", "Pump (3)"], 0, "Pump (4)"),
        (["Pump", "Pump (3)", "Pumps (9)", "Pump (x)"], 1, "Pump (4)"),
        (["x" * 200], 0, "x" * 196 + " (2)"),
        ([None], 0, None),
    ],
)
def test_a_fork_has_the_number_after_the_highest(titles: list[str | None], forked: int, expected: str | None) -> None:
    sessions = [create_session(ensure_default_project(), title=title) for title in titles]
    assert fork_session(sessions[forked], 0, ForkReason.EDITED).title == expected
    assert fork_session(sessions[forked], 0, ForkReason.EXPIRED).title == titles[forked]


def test_a_fork_with_renumbered_messages_makes_its_own_summary(source: Session) -> None:
    source.messages.filter(sequence__lte=2).delete()
    told = told_in(fork_session(source, 13, ForkReason.EDITED))
    assert all(f"Thing {n} costs ${n}00." in told for n in range(6, 14))


class TestWhatItKnew:
    """A fork has all units of its source up to its position."""

    @pytest.fixture(params=["few", "many"])
    def knowing(self, request: pytest.FixtureRequest, settings: Settings, source: Session) -> Session:
        if request.param == "many":
            settings.MRPVM_UNITS_AT_ONCE = 2
            settings.MRPVM_UNITS_A_TRANSACTION = 2
        load(source, 5)
        append_messages(source, History(messages=[{"role": "user", "content": "What of the valves?"}]))
        load(source, 2, "later")
        return Session.objects.get(pk=source.pk)

    def test_it_finds_them_as_its_own(self, knowing: Session) -> None:
        fork = fork_session(knowing, 21, ForkReason.EDITED)
        assert seen(fork, "valve") == [(f"valve ctx {number}", "session") for number in range(5)]
        assert fork.unit_count == fork.context_units.count() == 5
        rows = [list(each.context_units.order_by("pk")[:5]) for each in (knowing, fork)]
        assert [row.to_value() for row in rows[1]] == [row.to_value() for row in rows[0]]
        assert [row.committed_at for row in rows[1]] == [row.committed_at for row in rows[0]]
        assert fork_session(fork, 21, ForkReason.EDITED).unit_count == 5

    def test_it_goes_on_learning_and_saves_everything(self, knowing: Session) -> None:
        fork = fork_session(knowing, 21, ForkReason.EDITED)
        load(fork, 1, "new")
        base = save_session_kb(Session.objects.get(pk=fork.pk))
        assert held(base, "valve") == [*(f"valve ctx {number}" for number in range(5)), "valve new 0"]

    def test_what_the_source_loses_meanwhile_is_not_there(
        self, knowing: Session, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with session_forks.forking(knowing, 21) as fork:
            load(knowing, 3)
            made = fork(ForkReason.EDITED)
        assert seen(made, "valve") == []
        assert made.unit_count == 0


def test_no_transaction_grows_with_what_it_knew(
    source: Session, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.MRPVM_UNITS_AT_ONCE = 2
    settings.MRPVM_UNITS_A_TRANSACTION = 3
    load(source, 30)
    append_messages(source, History(messages=[{"role": "user", "content": "What of the valves?"}]))
    with recorded(monkeypatch) as transactions:
        fork = fork_session(source, 21, ForkReason.EDITED)
    assert max(written.value_count for written in transactions[:-1]) < 250
    assert transactions[-1].statement_count < 40
    assert (fork.unit_count, fork.journal.own_unit_count) == (30, 0)


def expired_line(first: Session, length: int) -> list[Session]:
    """Return `first` and `length` forks, each of the one before after that expired; the last one is active."""
    line = [first]
    for _ in range(length):
        Session.objects.filter(pk=line[-1].pk).update(expired_at=timezone.now())
        line.append(fork_session(line[-1], 2, ForkReason.EXPIRED))
    first.refresh_from_db()
    return line


@pytest.mark.parametrize("expiries", [1, 7])
def test_what_goes_on_after_many_expiries_is_found_at_once(
    source: Session, expiries: int, django_assert_num_queries: Callable[..., Any]
) -> None:
    line = expired_line(source, expiries)
    with django_assert_num_queries(2):
        assert continuation(source) == line[-1]
    with django_assert_num_queries(0):
        assert continuation(line[-1]) == line[-1]
    Session.objects.filter(pk=line[-1].pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert continuation(source) == line[-1]
    delete_session(line[-1])
    assert continuation(source) == line[-2]


def test_an_edited_fork_is_not_what_goes_on_after_an_expiry(source: Session) -> None:
    (_, later) = expired_line(source, 1)
    fork_session(source, 2, ForkReason.EDITED)
    assert continuation(source) == later


@pytest.mark.parametrize("depth", [1, 7])
def test_forks_of_one_conversation_are_told_from_others_at_once(
    source: Session, depth: int, django_assert_num_queries: Callable[..., Any]
) -> None:
    line = expired_line(source, depth)
    ConversationPoint.objects.bulk_create(
        ConversationPoint(session=item, conversation_hash="alike", sequence=2) for item in line
    )
    with django_assert_num_queries(2):
        point, is_ambiguous = recognised_point("alike")
    assert (point.session, is_ambiguous) == (line[-1], False)
    other = create_session(source.project)
    ConversationPoint.objects.create(session=other, conversation_hash="alike", sequence=2)
    with django_assert_num_queries(2):
        assert recognised_point("alike") == (None, True)


def test_browsers_hear_which_revision_a_fork_has_mounted(source: Session) -> None:
    fork = fork_session(source, 6, ForkReason.EDITED)
    told = fork.events.get(kind="kb.mounted").payload
    assert (told["kb_id"], told["revision"], told["reason"]) == (fork.mounted_kb.kb_id, 1, "session-fork")
