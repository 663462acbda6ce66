"""Retention removes old rows in small batches; rows that are still needed stay, with the reason."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from mrpvm.errors import InvalidInput
from sessions_app.actions.experiments.suites import add_test, create_suite
from sessions_app.actions.sessions.forks import fork_session
from sessions_app.actions.sessions.removal import purge_deleted_sessions
from sessions_app.actions.sessions.session import create_session, delete_session
from sessions_app.actions.settings.retention import choose_retention, start_retention, stop_retention
from sessions_app.actions.upkeep.retention import Pace, carry_out_retention
from sessions_app.experiments.replays.recorded import NotReplayable
from sessions_app.experiments.replays.replay import replay
from sessions_app.experiments.suites.questions import AS_KEPT
from sessions_app.experiments.suites.suites import kept_turn, start_run
from sessions_app.experiments.trials.changes import Changes
from sessions_app.models import (
    AuditEntry,
    Experiment,
    ExplainabilityTurn,
    ImportedSpan,
    Message,
    Project,
    Retention,
    Session,
    TurnEvents,
)
from sessions_app.models.sessions.session import ForkReason
from sessions_app.models.turns.payload_frames import payload_texts, places
from sessions_app.queries.settings.retention import removal_preview, retention_of
from tests.actions.transactions import recorded
from tests.experiments.conftest import ANNA, Talk, stored, tried
from tests.llm.provider import Provider

pytestmark = pytest.mark.django_db(transaction=True)

SAID = ("My dog is called Rex.", "I like tea.", "What is my dog called?")
NOW = timedelta(0)


def age(days: int = 40) -> None:
    """Make everything that is stored older."""
    by = timedelta(days=days)
    ExplainabilityTurn.with_trials.update(created_at=F("created_at") - by)
    Session.objects.update(last_activity_at=F("last_activity_at") - by)
    Experiment.objects.update(created_at=F("created_at") - by)
    ImportedSpan.objects.update(received_at=F("received_at") - by)


def kept(project: Project, days: Mapping[str, int]) -> dict[str, tuple[int, dict[str, int]]]:
    """Return, for each kind with a rule, how many rows would be removed, and how many stay for which reason."""
    return {
        item.kind.value: (item.removed.number, {each.reason: each.count.number for each in item.kept})
        for item in removal_preview(project, {"trials": 0, **days})
        if item.days
    }


def test_a_project_keeps_everything_unless_it_says_so(talk: Talk, project: Project) -> None:
    talk(*SAID)
    age(10_000)
    assert carry_out_retention() == 0
    assert (Message.objects.count(), ExplainabilityTurn.objects.count()) == (6, 3)


def test_old_traces_go_and_what_was_said_stays(talk: Talk, project: Project) -> None:
    turn = talk(*SAID)
    age()
    talk("I am new.")
    assert kept(project, {"traces": 30}) == {
        "traces": (2, {"the last turn of its session, which may go on from it": 1})
    }
    choose_retention(project, {"traces": 30})
    assert carry_out_retention(rest=NOW) == 2
    assert list(turn.session.turns.values_list("turn_index", flat=True)) == [3]
    assert (turn.session.messages.count(), ExplainabilityTurn.objects.count()) == (6, 2)
    assert retention_of(project).removed == {"traces": 2}
    assert AuditEntry.objects.get(kind="retention.finished").facts == {"traces": 2}


def test_other_projects_keep_what_they_keep(talk: Talk, project: Project) -> None:
    talk(*SAID)
    other = Project.objects.create(name="Other", slug="other")
    create_session(other)
    age()
    choose_retention(other, {"traces": 1, "messages": 1, "payloads": 1})
    assert carry_out_retention(rest=NOW) == 1
    assert list(Session.objects.filter(deleted_at__isnull=False).values_list("project__slug", flat=True)) == ["other"]


def test_what_tests_experiments_and_forks_need_stays(talk: Talk, project: Project) -> None:
    tested, alone, forked = talk(*SAID), talk(*SAID), talk(*SAID)
    suite = create_suite(project, "Dogs", ANNA)
    add_test(suite, kept_turn(stored(tested.session.turns.get(turn_index=2))), ANNA)
    tried(stored(alone.session.turns.get(turn_index=1)), Changes())
    fork_session(forked.session, 2, ForkReason.EDITED)
    age()
    Session.objects.filter(forked_from=forked.session_id).update(last_activity_at=timezone.now())
    days = {"traces": 30, "messages": 30, "payloads": 30}
    told = kept(project, days)
    assert told["traces"] == (2, {
        "a test asks over a turn of its session": 3,
        "an experiment over its session is kept": 3,
        "the last turn of its session, which may go on from it": 1,
    })  # fmt: skip
    assert told["payloads"] == (8, {"a test asks over what it saw": 1})
    assert told["messages"] == (0, {
        "a fork of it is there": 1, "a test asks over one of its turns": 1, "an experiment over it is kept": 1,
    })  # fmt: skip
    choose_retention(project, {"trials": 0, **days})
    carry_out_retention(rest=NOW)
    assert retention_of(project).removed == {"traces": 2, "payloads": 6}
    assert Session.objects.filter(deleted_at=None).count() == 4
    assert replay(stored(tested.session.turns.get(turn_index=2))).result == "identical"


def test_old_sessions_are_deleted_whole(talk: Talk, project: Project) -> None:
    old = talk(*SAID).session
    age()
    new = talk(*SAID).session
    imported = talk(*SAID).session
    Session.objects.filter(pk=imported.pk).update(
        imported_at=timezone.now(), last_activity_at=timezone.now() - timedelta(days=400)
    )
    assert kept(project, {"messages": 30}) == {"messages": (1, {"it came in a bundle later than that": 1})}
    choose_retention(project, {"messages": 30})
    assert carry_out_retention(rest=NOW) == 1
    assert set(Session.objects.filter(deleted_at=None)) == {new, imported}
    assert Session.objects.get(pk=old.pk).deleted_at is not None


def test_the_newest_run_of_a_suite_stays(talk: Talk, project: Project) -> None:
    turn = talk(*SAID)
    suite = create_suite(project, "Dogs", ANNA)
    add_test(suite, kept_turn(turn), ANNA)
    runs = [start_run(suite, AS_KEPT, ANNA, wait_ms=30_000) for _ in range(2)]
    age()
    told = kept(project, {"trials": 30})["trials"]
    assert told == (1, {"the newest run of a suite, which the next is compared with": 1})
    assert carry_out_retention(rest=NOW) == 1  # the server's setting is 30 days
    assert list(Experiment.objects.all()) == [runs[1].experiment]


def test_requests_to_models_go_and_other_payloads_stay(provider: Provider, talk: Talk, project: Project) -> None:
    turn = talk(*SAID)
    assert b"requests" in texts(turn)
    age()
    choose_retention(project, {"model-exchanges": 30})
    assert carry_out_retention(rest=NOW) == 3
    left = texts(stored(turn))
    assert b'"requests"' not in left
    assert b"dog" in left
    with pytest.raises(NotReplayable) as refused:
        replay(stored(turn))
    assert refused.value.details["missing"] == "model-exchanges"


def texts(turn: ExplainabilityTurn) -> bytes:
    """Return the payloads of the turn."""
    batches = TurnEvents.objects.filter(turn=turn)
    return b"".join(text for row in batches for text in payload_texts(row.payloads, places(row.payload_index)).values())


def test_a_turn_without_a_model_replays_afterwards(talk: Talk, project: Project) -> None:
    turn = talk(*SAID)
    age()
    choose_retention(project, {"model-exchanges": 30})
    assert carry_out_retention(rest=NOW) == 3
    assert replay(stored(turn)).result == "identical"


def test_removing_stops_when_told_and_goes_on_later(
    talk: Talk, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = talk(SAID[0]).session
    ExplainabilityTurn.objects.bulk_create(
        ExplainabilityTurn(session=session, turn_index=index, status="succeeded") for index in range(2, 33)
    )
    age()
    choose_retention(project, {"payloads": 30})
    seen: list[dict[str, Any]] = []

    def stop() -> None:
        seen.append(retention_of(project).removed)
        if len(seen) == 2:
            stop_retention(project)

    with recorded(monkeypatch) as transactions:
        removed = carry_out_retention(stop, rest=NOW)
    assert 0 < seen[0]["payloads"] < seen[1]["payloads"] == removed < 32
    assert len(transactions) >= 3
    assert carry_out_retention(rest=NOW) == 0
    start_retention(project)
    assert carry_out_retention(rest=NOW) == 32 - removed
    kinds = AuditEntry.objects.filter(kind__startswith="retention.").order_by("pk").values_list("kind", flat=True)
    assert list(kinds) == [f"retention.{what}" for what in ("changed", "stopped", "started", "finished")]


def test_a_transaction_takes_fewer_rows_after_one_that_took_long() -> None:
    times = iter((0.0, 0.01, 1.0, 1.2, 2.0, 2.2, 3.0, 3.05))
    pace, sizes = Pace(10, 4, clock=lambda: next(times)), []
    for _ in range(4):
        with pace.kept():
            sizes.append(pace.size)
    assert [*sizes, pace.size] == [4, 8, 4, 2, 2]


def test_a_run_rests_before_the_next_begins(talk: Talk, project: Project) -> None:
    choose_retention(project, {"payloads": 30})
    carry_out_retention()
    talk(*SAID)
    age()
    assert carry_out_retention() == 0
    assert retention_of(project).finished_at is not None
    choose_retention(project, {"payloads": 20})
    assert carry_out_retention() == 3


def test_spans_of_which_no_trace_was_drawn_go_too(talk: Talk, project: Project) -> None:
    ImportedSpan.objects.bulk_create(
        ImportedSpan(project=project, trace_id="a" * 32, span_id=f"{number:016x}", span={}) for number in range(3)
    )
    age()
    choose_retention(project, {"imported-traces": 30})
    assert carry_out_retention(rest=NOW) == 3
    assert not ImportedSpan.objects.exists()


def store_traces(session: Session, span_counts: Sequence[int]) -> None:
    """Store traces of another application with these numbers of spans."""
    for number, span_count in enumerate(span_counts):
        turn = ExplainabilityTurn.objects.create(
            session=session,
            turn_index=100 + number,
            request_id=f"imported-{number}",
            kind="imported",
            status="succeeded",
        )
        ImportedSpan.objects.bulk_create(
            ImportedSpan(
                project=session.project, turn=turn, trace_id=f"{number:032x}", span_id=f"{index:016x}", span={}
            )
            for index in range(span_count)
        )


@pytest.mark.parametrize("is_session_deleted", [False, True])
def test_a_trace_of_many_spans_goes_in_several_transactions(
    talk: Talk, project: Project, monkeypatch: pytest.MonkeyPatch, is_session_deleted: bool
) -> None:
    session = talk(SAID[0]).session
    store_traces(session, [1_200, 3, 700])
    age()
    with recorded(monkeypatch) as transactions:
        if is_session_deleted:
            delete_session(session)
            Session.objects.filter(pk=session.pk).update(deleted_at=timezone.now() - timedelta(days=1))
            assert purge_deleted_sessions() == 1
        else:
            choose_retention(project, {"imported-traces": 30})
            assert carry_out_retention(rest=NOW) == 3
    assert not ImportedSpan.objects.exists()
    assert not ExplainabilityTurn.objects.filter(kind="imported").exists()
    assert max(written.value_count for written in transactions) < 600


def test_the_spans_of_a_trace_that_stays_stay(talk: Talk, project: Project) -> None:
    session = talk(SAID[0]).session
    store_traces(session, [3, 2])
    age()
    ImportedSpan.objects.filter(trace_id=f"{0:032x}", span_id=f"{0:016x}").update(received_at=timezone.now())
    choose_retention(project, {"imported-traces": 30})
    assert carry_out_retention(rest=NOW) == 1
    assert ImportedSpan.objects.count() == 3


@pytest.mark.parametrize("days", [{"coffee": 3}, {"traces": -1}, {"traces": 36_501}])
def test_rules_that_cannot_be_are_refused(project: Project, days: dict[str, int]) -> None:
    with pytest.raises(InvalidInput):
        choose_retention(project, days)
    assert not Retention.objects.exists()


def test_deleted_sessions_are_not_counted_again(talk: Talk, project: Project) -> None:
    session = talk(*SAID).session
    delete_session(session)
    assert kept(project, {"messages": 1, "traces": 1, "payloads": 1}) == {
        "messages": (0, {}), "traces": (0, {}), "payloads": (0, {}),
    }  # fmt: skip
