"""Suites of tests: checks a test, keeps a turn as one, and starts runs."""

from collections.abc import Collection, Sequence
from concurrent.futures import wait
from copy import replace
from dataclasses import dataclass
from itertools import chain, count
from typing import Literal

from mrpvm.conversation.answers import words_told
from mrpvm.errors import InvalidInput, MRPError
from mrpvm.wire import from_wire
from sessions_app.actions.experiments.experiments import Author
from sessions_app.actions.experiments.suites import TEST_NAME_CHARS, TestFields, add_tests, begin_run
from sessions_app.experiments.replays.recorded import recorded_turn
from sessions_app.experiments.running.pool import pool
from sessions_app.experiments.running.work import run_experiment
from sessions_app.experiments.suites.expected import Expected, check_expected
from sessions_app.experiments.suites.questions import Target
from sessions_app.experiments.trials.changes import Changes, check_changes
from sessions_app.experiments.trials.live import Estimate, check_allowed, estimate, with_messages
from sessions_app.models import ExplainabilityTurn, KnowledgeBase, Suite, SuiteRun, TestCase
from sessions_app.queries.experiments.rerun import base_of_id
from sessions_app.queries.experiments.suites import state_of_draft, state_of_revision, suites_using, tests_of
from sessions_app.queries.sessions.lookups import session as session_of
from sessions_app.queries.turns.registry import answer_of, cited_unit_ids

_OF_PLACE = ("base", "revision", "draft", "message")


def check_test(fields: TestFields) -> None:
    """Refuse a test that could never be run.

    Raises:
        InvalidInput: as for `check_expected` and `check_changes`; the choices name a place or another message.
        Conflict: NOT_REPLAYABLE, the turn.
    """
    check_expected(Expected.of_record(fields.expected))
    choices = from_wire(Changes, fields.choices)
    check_changes(choices)
    if any(getattr(choices, name) is not None for name in _OF_PLACE):
        raise InvalidInput("The message and the base of a test are fields of its own, not choices.")
    if fields.turn is not None:
        recorded_turn(fields.turn)


def kept_turn(turn: ExplainabilityTurn, *, is_wrong: bool = False) -> TestFields:
    """Return the test that holds a turn to what it answered: its answer, status, basis and citations.

    Where the answer `is_wrong`, the test only expects another one, and an answer at all where there was none.

    Raises:
        Conflict: NOT_REPLAYABLE.
    """
    recorded = recorded_turn(turn)
    status = turn.answer_status or "failed"
    answer = words_told(answer_of(turn)).strip()
    said = (answer,) if status == "answered" and answer else ()
    if is_wrong:
        expected = Expected(does_not_contain=said) if said else Expected(status="answered")
    else:
        cited = tuple(dict.fromkeys(cited_unit_ids(turn)))
        expected = Expected(contains=said, status=status, basis=turn.answer_basis or None, cites=cited)
    mounted = recorded.state.session.mounted_kb_id
    return TestFields(
        name=recorded.message.strip()[:200],
        message=recorded.message,
        turn=turn,
        base=base_of_id(turn.session.project_id, mounted),
        expected=expected.as_record(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTests:
    """The results of keeping several turns: the tests that were added, and by turn why another could not be kept."""

    tests: Sequence[TestCase]
    refused: Sequence[tuple[ExplainabilityTurn, str]]


def keep_turns(suite: Suite, turns: Sequence[ExplainabilityTurn], author: Author) -> KeptTests:
    """Add a test for each turn that can be run again and has none in the suite; see `kept_turn`.

    Raises:
        Conflict: the suite would have too many tests; none is added.
    """
    tests = tests_of(suite)
    names, kept_turns = {test.name for test in tests}, {test.turn_id for test in tests}
    several: list[TestFields] = []
    refused: list[tuple[ExplainabilityTurn, str]] = []
    for turn in turns:
        if turn.pk in kept_turns:
            refused.append((turn, "It is a test of the suite already."))
            continue
        try:
            fields = kept_turn(turn)
        except MRPError as error:
            refused.append((turn, error.message))
            continue
        name = _free_name(fields.name, names)
        several.append(replace(fields, name=name))
        names.add(name)
    return KeptTests(tests=add_tests(suite, several, author), refused=refused)


def _free_name(name: str, taken: Collection[str]) -> str:
    """Return the name, with a number behind it where it is taken."""
    plain = " ".join(name.split())
    numbered = (f"{plain[: TEST_NAME_CHARS - 6]} ({number})" for number in count(2))
    return next(free for free in chain([plain], numbered) if free not in taken)


def start_run(suite: Suite, target: Target, author: Author, *, wait_ms: int = 0) -> SuiteRun:
    """Begin a run of a suite; each test is a trial of its experiment.

    Args:
        wait_ms: how long to wait for its end.

    Raises:
        InvalidInput: as for `check_changes`; the target names several places; no test would run.
        Unavailable: SERVER_BUSY, SERVER_SHUTTING_DOWN.
        NotFound: SESSION_NOT_FOUND.
    """
    pool.refuse_if_full()
    run = _begin(suite, target, author)
    wait([pool.start(run_experiment, run.experiment)], timeout=wait_ms / 1000)
    run.experiment.refresh_from_db()
    return run


def run_now(suite: Suite, target: Target, author: Author) -> SuiteRun:
    """Run a suite on the calling thread and return the ended run.

    Raises:
        InvalidInput, NotFound: as for `start_run`.
    """
    run = _begin(suite, target, author)
    run_experiment(run.experiment)
    run.experiment.refresh_from_db()
    return run


def start_base_tests(base: KnowledgeBase, target: Target, author: Author, *, wait_ms: int = 0) -> list[SuiteRun]:
    """Begin a run of each suite that has tests of a base; of each only those tests run.

    Args:
        wait_ms: how long to wait for the end of all of them.

    Raises:
        InvalidInput, Unavailable, NotFound: as for `start_run`.
    """
    pool.refuse_if_full()
    target = replace(target, only_of=base.kb_id, state=_state(base, target))
    runs = [_begin(suite, target, author) for suite in suites_using(base)]
    wait([pool.start(run_experiment, run.experiment) for run in runs], timeout=wait_ms / 1000)
    for run in runs:
        run.experiment.refresh_from_db()
    return runs


def _state(base: KnowledgeBase, target: Target) -> str | None:
    if target.draft is not None:
        facts: Literal["with", "without"] = "without" if target.without_told else "with"
        return state_of_draft(session_of(base.project, target.draft), base, facts)
    return None if target.revision is None else state_of_revision(base, target.revision)


def _begin(suite: Suite, target: Target, author: Author) -> SuiteRun:
    check_changes(target.choices)
    if sum((target.base is not None, target.draft is not None, target.heads)) > 1:
        raise InvalidInput("A suite is run against one base, one draft, or the present states of its own bases.")
    if target.revision is not None and target.base is None:
        raise InvalidInput("A revision needs its base.")
    tests = _meant(suite, target)
    if target.allow_model:
        check_allowed(estimate_tests(tests), suite.project)
    return begin_run(suite, tests, target.as_record(), author, asks_models=target.allow_model)


def estimate_tests(tests: Sequence[TestCase]) -> Estimate:
    """Return what the tests are likely to take from a model if they may ask one; for tests of bases the message counts.

    Raises:
        Conflict: NOT_REPLAYABLE.
    """
    of_turns = estimate([recorded_turn(test.turn) for test in tests if test.turn is not None])
    return with_messages(of_turns, [test.message for test in tests if test.turn is None])


def _meant(suite: Suite, target: Target) -> Sequence[TestCase]:
    """Return the tests that the target means.

    Raises:
        InvalidInput: there are none.
    """
    tests = tests_of(suite)
    if not tests:
        raise InvalidInput("The suite has no tests yet.")
    if target.tags:
        tests = [test for test in tests if set(target.tags) & set(test.tags)]
    if not tests:
        raise InvalidInput(f"No test of the suite has one of these tags: {', '.join(target.tags)}.")
    of_base = target.only_of
    if target.draft is not None and of_base is None:
        of_base = session_of(suite.project, target.draft).mounted_kb.kb_id
    if of_base is not None:
        tests = [test for test in tests if test.base is not None and test.base.kb_id == of_base]
    if not tests:
        raise InvalidInput("None of these tests asks this base.")
    return tests
