"""`python -m bench.diagnosis [--turns N]`: how turns replay, and what trials and searches cost and find.

It runs in one process on a new SQLite file, with the messages of `mixed_talk`. A trial is compared with the
time that the machine took for the same turn in this run.
"""

import argparse
import statistics
import time
from itertools import islice
from typing import Any

from bench.growth import hold_talk, in_new_database, sessions_of_mixed_talk

_TRIED = 100
_TOLD = tuple(f"The {place} opens at {hour} am." for hour, place in enumerate(
    ("museum", "library", "harbour", "castle", "market", "station", "theatre", "garden", "tower", "bakery", "mill",
     "chapel"), start=1))  # fmt: skip


def replayed() -> tuple[int, int, list[float]]:
    """Return the number of turns, how many replay identically, and the milliseconds of each replay."""
    from sessions_app.experiments.replays.replay import replay
    from sessions_app.queries.turns.registry import ended_turns

    turns = list(ended_turns(None, None, None))
    results = [replay(turn) for turn in turns]
    return len(turns), sum(result.divergence is None for result in results), [item.duration_ms for item in results]


def trial_ratio() -> float:
    """Return the median of a trial's time as a share of the machine's time for the turn."""
    from sessions_app.experiments.replays.recorded import recorded_turn
    from sessions_app.experiments.trials.changes import Changes
    from sessions_app.experiments.trials.trial import run_trial
    from sessions_app.queries.turns.registry import ended_turns

    ratios = []
    for turn in islice(ended_turns(None, None, None).reverse(), _TRIED):
        recorded = recorded_turn(turn)
        machine_ms = recorded.records[-1][1]
        _ = recorded.state, recorded.knowledge
        if machine_ms > 0:
            started = time.perf_counter()
            run_trial(recorded, Changes())
            ratios.append((time.perf_counter() - started) * 1000 / machine_ms)
    return statistics.median(ratios)


def diagnosed() -> tuple[int, int]:
    """Return the trials and milliseconds of a diagnosis in a session of twelve units that goes through every step."""
    from sessions_app.actions.experiments.experiments import Author
    from sessions_app.actions.sessions.session import create_session
    from sessions_app.actions.settings.projects import ensure_default_project
    from sessions_app.experiments.diagnosis.search import USUAL_BOUNDS, Expectation
    from sessions_app.experiments.running.experiments import start_diagnosis
    from sessions_app.queries.turns.registry import turn as turn_of
    from sessions_app.turns.call import TurnCall
    from sessions_app.turns.pipeline import run_turn

    project = ensure_default_project()
    session = create_session(project)
    for message in _TOLD:
        run_turn(session, TurnCall(message=message))
    turn = run_turn(session, TurnCall(message="When does the museum open?")).turn
    stored = turn_of(project, session.session_id, turn.request_id)
    expected = Expectation(should_contain="midnight")
    experiment = start_diagnosis(stored, expected, USUAL_BOUNDS, Author(name="bench"), wait_ms=60_000)
    return experiment.tried_count, (experiment.result or {})["duration_ms"]


def bisected(turn_count: int) -> tuple[int, int]:
    """Return the trials and milliseconds of finding the turn of a session since which the answer is as it is."""
    from sessions_app.actions.experiments.experiments import Author
    from sessions_app.actions.sessions.session import create_session
    from sessions_app.actions.settings.projects import ensure_default_project
    from sessions_app.experiments.diagnosis.search import Expectation
    from sessions_app.experiments.running.experiments import start_bisect
    from sessions_app.queries.turns.registry import turn as turn_of
    from sessions_app.turns.call import TurnCall
    from sessions_app.turns.pipeline import run_turn

    project = ensure_default_project()
    session = create_session(project)
    told_at = turn_count * 2 // 5
    for number in range(1, turn_count):
        message = "The kitchen opens at 7 am." if number == told_at else "What is the capital of Mars?"
        run_turn(session, TurnCall(message=message))
    last = run_turn(session, TurnCall(message="When does the kitchen open?")).turn
    stored = turn_of(project, session.session_id, last.request_id)
    started = time.perf_counter()
    experiment = start_bisect(stored, Expectation(), Author(name="bench"), wait_ms=60_000)
    if (experiment.result or {}).get("number") != told_at:
        raise AssertionError(f"The turn {told_at} was not found: {experiment.result}")
    return experiment.tried_count, round((time.perf_counter() - started) * 1000)


def causes_found(name: str) -> tuple[int, int, list[str], int, int]:
    """Return how many planted causes of `bench.causes` were listed first, of how many, and which were not.

    The last two values are the maximum of clicks from the findings to the expected answer, and of trials in a search.
    """
    from bench import causes
    from sessions_app.actions.sessions.session import create_session
    from sessions_app.actions.settings.projects import ensure_default_project
    from sessions_app.models import ExplainabilityTurn
    from sessions_app.queries.turns.registry import turn as turn_of
    from sessions_app.turns.call import TurnCall
    from sessions_app.turns.pipeline import run_turn

    project = ensure_default_project()

    def talk(*messages: str, **call: Any) -> ExplainabilityTurn:
        session = create_session(project)
        for message in messages[:-1]:
            run_turn(session, TurnCall(message=message))
        turn = run_turn(session, TurnCall(message=messages[-1], **call)).turn
        return turn_of(project, session.session_id, turn.request_id)

    searches = []
    for case in getattr(causes, name):
        with causes.planted(talk, case) as turn:
            searches.append(causes.searched(turn, case))
    right = [each for each in searches if each.is_right]
    missed = [f"{each.case.kind}: {each.case.question}" for each in searches if not each.is_right]
    clicks = max(each.clicks or 0 for each in right)
    return len(right), len(searches), missed, clicks, max(each.trial_count for each in searches)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.diagnosis", description="Measure replays and diagnoses.")
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--bisected", type=int, default=1_000, metavar="TURNS", help="turns of the session to bisect")
    given = parser.parse_args()
    with in_new_database():
        hold_talk(sessions_of_mixed_talk(given.turns))
        turn_count, identical_count, durations = replayed()
        ratio = trial_ratio()
        trial_count, diagnosis_ms = diagnosed()
        bisect_count, bisect_ms = bisected(given.bisected)
        planted = {name: causes_found(name) for name in ("CASES", "FURTHER")}
    print(f"{'turns that replay identically, of':42}{identical_count:>12,}{turn_count:>9,}")
    print(f"{'replay of a turn, median ms':42}{statistics.median(durations):>12.1f}")
    print(f"{'trial over the machine in its turn':42}{ratio:>12.2f}")
    print(f"{'trials of a diagnosis, and its ms':42}{trial_count:>12}{diagnosis_ms:>9,}")
    print(f"{f'trials to bisect {given.bisected:,} turns, and ms':42}{bisect_count:>12}{bisect_ms:>9,}")
    for name, (right_count, case_count, missed, clicks, most_trials) in planted.items():
        origin = "planted" if name == "CASES" else "later"
        print(f"{f'causes found first, of those {origin}':42}{right_count:>12}{case_count:>9}")
        print(f"{'clicks to the answer, and trials, at most':42}{clicks:>12}{most_trials:>9}")
        for case in missed:
            print(f"  not first: {case}")


if __name__ == "__main__":
    main()
