"""Continuing from a trial in a fork, which has the trial's choices."""

import pytest

from mrpvm.errors import InvalidInput, NotFound
from mrpvm.llm.port import Sampling
from sessions_app.actions.knowledge.bases import create_base, delete_base
from sessions_app.experiments.trials.changes import Changes
from sessions_app.experiments.trials.continuation import continue_from
from sessions_app.models import KnowledgeBase, Session
from sessions_app.queries.sessions.frozen_content import personas_of
from sessions_app.queries.turns.registry import answer_of
from sessions_app.queries.turns.verdicts import mounted_bases
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import run_turn
from tests.experiments.conftest import Talk, stored, tried
from tests.experiments.test_experiments import ASKED


def test_a_fork_keeps_what_the_trial_chose(talk: Talk) -> None:
    turn = talk(*ASKED)
    persona = next(iter(personas_of(turn.session).personas))
    changes = Changes(
        message="What do I like?",
        deliberation_level=1,
        grounding="strict",
        persona=persona.id,
        agent="default",
        style="focus",
        system_prompt="Be brief.",
        sampling=Sampling(temperature=0.5, max_tokens=9),
        limits={"max_llm_calls": 2},
        flags={"history_max_turns": 3},
    )
    made = stored(continue_from(turn, changes))
    fork = Session.objects.get(pk=made.session_id)
    assert (made.user_message, made.deliberation_level, made.assistant_preview) == (
        "What do I like?",
        1,
        "I like tea. [1]",
    )
    assert (fork.active_persona, fork.active_style, fork.system_prompt) == (persona.id, "focus", "Be brief.")
    assert made.conditions is not None
    asked = made.conditions.content["state"]["asked"]
    assert asked["limits"]["maxLlmCalls"] == 2
    assert fork.forked_at == 4
    run_turn(fork, TurnCall(message="And what do I like?"))
    later = stored(fork.turns.get(turn_index=made.turn_index + 1))
    assert later.conditions is not None
    asked = later.conditions.content["state"]["asked"]
    assert (asked["grounding"], asked["flags"]["historyMaxTurns"]) == ("strict", 3)
    assert asked["limits"]["maxLlmCalls"] == 2
    assert (later.deliberation_level, fork.model_config["temperature"]) == (1, 0.5)


def test_every_turn_of_a_fork_answers_within_its_max_tokens(talk: Talk) -> None:
    turn = talk("My dog is called Rex and he likes to sleep on the red sofa in the hall.", "What is my dog called?")
    made = continue_from(turn, Changes(sampling=Sampling(max_tokens=3)))
    again = run_turn(Session.objects.get(pk=made.session_id), TurnCall(message="What is my dog called?"))
    longer = TurnCall(message="What is my dog called?", sampling=Sampling(max_tokens=400))
    still = run_turn(Session.objects.get(pk=made.session_id), longer)
    assert (again.finish_reason, still.finish_reason) == ("length", "length")
    assert again.outcome.answer_text == still.outcome.answer_text
    assert len(again.outcome.answer_text) < len(answer_of(turn) or "")


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        (Changes(persona="nobody"), NotFound), (Changes(draft="sess-1"), InvalidInput),
        (Changes(limits={"request_timeout_ms": 3_000_000}), InvalidInput), (Changes(base="kb-nobody"), NotFound),
    ],
)  # fmt: skip
def test_what_no_session_can_keep_is_refused_without_a_fork(
    talk: Talk, changes: Changes, error: type[Exception]
) -> None:
    turn = talk(*ASKED)
    with pytest.raises(error):
        continue_from(turn, changes)
    assert Session.objects.count() == 1


def test_a_trial_over_another_base_names_that_base(talk: Talk) -> None:
    turn = talk(*ASKED)
    other = create_base(turn.session.project, "Other")
    plain, over, drafted = tried(turn, Changes(), Changes(base=other.kb_id), Changes(draft=turn.session.session_id))
    traces = [each.trace for each in (plain, over, drafted) if each.trace is not None]
    named = [found.name for found in (mounted_bases([trace])[trace.pk] for trace in traces) if found is not None]
    default = KnowledgeBase.objects.get(is_default=True).name
    assert named == [default, "Other", f"{default}, as a save would make it"]


def test_a_deleted_base_is_not_tried(talk: Talk) -> None:
    turn = talk(*ASKED)
    other = create_base(turn.session.project, "Other")
    delete_base(other)
    [refused] = tried(turn, Changes(base=other.kb_id))
    assert (refused.error or {}).get("code") == "KB_NOT_FOUND"


def test_a_fork_is_told_what_was_supposed_if_asked(talk: Talk) -> None:
    turn = talk(*ASKED)
    changes = Changes(message="What is my cat called?", with_units=("My cat is called Tom.",))
    assert continue_from(turn, changes).answer_status == "no-context"
    assert continue_from(turn, changes, tells_supposed=True).assistant_preview == "My cat is called Tom. [1]"
