"""Replays of turns: identical ones, and the reported differences of others."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import Settings

from mrpvm import registry
from mrpvm.contracts import Descriptor
from mrpvm.knowledge.embedding.encoder import is_encoder_installed
from mrpvm.llm.redaction import REDACTED
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.drafts import stage_source
from sessions_app.actions.knowledge.mounts import mount_base
from sessions_app.actions.sessions.session import create_session
from sessions_app.background.doctor import findings
from sessions_app.commands.messages import answer_message
from sessions_app.experiments.replays.recorded import NotReplayable, recorded_turn
from sessions_app.experiments.replays.replay import replay
from sessions_app.ingest.load import Upload, load_source
from sessions_app.models import (
    ExplainabilityTurn,
    LayerUnit,
    Message,
    PluginStatistics,
    Project,
    RememberedText,
    Session,
    TurnEvents,
)
from sessions_app.queries.sessions.memory import stored_memory
from sessions_app.turns.call import TurnCall
from tests.actions.test_own_units import source
from tests.experiments.conftest import Talk, stored
from tests.experiments.walks import broken_solver_installed

ASKED = ("My dog is called Rex.", "What is my dog called?")


def rows() -> dict[str, int]:
    tables = (ExplainabilityTurn, TurnEvents, Message, LayerUnit, PluginStatistics, Session)
    return {table.__name__: table.objects.count() for table in tables}


def test_a_replay_is_identical_and_writes_nothing(talk: Talk) -> None:
    turn = talk(*ASKED)
    before, session = rows(), Session.objects.values().get(pk=turn.session_id)
    assert replay(turn).result == "identical"
    assert (rows(), Session.objects.values().get(pk=turn.session_id)) == (before, session)


def test_a_turn_replays_that_saw_a_secret_in_a_source(project: Project) -> None:
    base = create_base(project, "Ferries")
    load_source(base, Upload(name="ferry.txt", data=b"The ferry leaves at nine, its password is hunter22-9x."))
    base.refresh_from_db()
    session = create_session(project, base=base)
    turn = stored(answer_message(session, TurnCall(message="When does the ferry leave?")).turn)
    assert any(REDACTED in str(item.text) for item in recorded_turn(turn).payloads.values())
    assert replay(turn).result == "identical"


def test_turns_replay_though_those_that_they_remember_are_gone(project: Project, settings: Settings) -> None:
    settings.MRPVM_MAX_EXPLAINABILITY_ENTRIES = 20
    session = create_session(project)
    for number in range(23):
        known = stored_memory(session, timezone.now(), 24)
        message = (
            f"Boat {number} leaves at {number + 1}:00." if number % 2 == 0 else f"When does boat {number - 1} leave?"
        )
        answer_message(Session.objects.get(pk=session.pk), TurnCall(message=message))
    kept = [stored(turn) for turn in session.turns.order_by("turn_index")]
    assert [turn.turn_index for turn in kept] == list(range(4, 24))
    memory = recorded_turn(kept[-1]).state.memory
    assert known is not None
    assert memory is not None
    assert (memory.as_record(), memory.turn_count) == (known.as_record(), 22)
    assert len(memory.resolved_terms) > len(ASKED)
    assert [replay(turn).result for turn in kept[1:]] == ["identical"] * 19


def test_a_turn_replays_whose_summary_an_earlier_turn_made(project: Project, settings: Settings) -> None:
    settings.MRPVM_MAX_EXPLAINABILITY_ENTRIES = 2
    settings.MRPVM_HISTORY_MAX_TURNS = settings.MRPVM_VERBATIM_MAX_TURNS = 1
    session = create_session(project)
    for number in range(6):
        flags = {"enable_history_summarization": number < 3}
        call = TurnCall(message=f"Boat {number} leaves at {number + 1}:00.", flags=flags)
        answer_message(Session.objects.get(pk=session.pk), call)
    turn = stored(session.turns.latest("turn_index"))
    assert recorded_turn(turn).state.summary.sentences
    assert replay(turn).result == "identical"


@pytest.mark.skipif(not is_encoder_installed(), reason="needs the embeddings extra")
def test_a_replay_is_identical_where_units_got_vectors_meanwhile(talk: Talk) -> None:
    told = [f"The {place} costs {number} euros." for number, place in enumerate(("museum", "harbour", "castle") * 3)]
    turn = talk(*told, "What does it cost?")
    assert replay(turn).result == "identical"


@pytest.mark.parametrize("part", ["event", "payload", "answer"])
def test_the_first_difference_is_named_with_both_sides(talk: Talk, part: str) -> None:
    turn = talk(*ASKED)
    if part == "event":
        batch = turn.event_batches.get()
        batch.events = [[name, at, {**data, "label": "other"} if name == "frame.opened" else data]
                        for name, at, data in batch.events]  # fmt: skip
        batch.save()
    elif part == "payload":
        LayerUnit.objects.filter(unit_id__contains="session").update(topic="another topic")
    else:
        turn.messages.filter(role="assistant").update(content="My cat is called Rex.")
    found = replay(stored(turn)).divergence
    assert found is not None
    assert found.difference.part in ({"payload", "ledger"} if part == "payload" else {part})
    assert found.difference.recorded != found.difference.replayed
    assert found.reason == "unexplained"


def test_a_plugin_of_another_version_is_named(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    turn = talk(*ASKED)
    plugin: Any = registry.installed.get("gs-plugin", "gs-symbolic")
    told = plugin.descriptor
    newer = Descriptor(**{name: getattr(told, name) for name in told.__slots__} | {"version": "99.0", "name": "Newer"})
    monkeypatch.setattr(type(plugin), "descriptor", newer)
    found = replay(turn).divergence
    assert found is not None
    assert (found.reason, "99.0" in found.detail) == ("plugin-version", True)


def test_a_plugin_that_was_installed_since_is_named(talk: Talk) -> None:
    turn = talk(*ASKED)
    with broken_solver_installed():
        found = replay(turn).divergence
    assert found is not None
    assert (found.reason, found.detail) == ("plugin-new", "Installed since: gs-plugin gs-broken.")


def test_a_turn_without_its_payloads_says_since_when(talk: Talk) -> None:
    turn = talk(*ASKED)
    now = timezone.now()
    ExplainabilityTurn.objects.filter(pk=turn.pk).update(payloads_removed_at=now)
    with pytest.raises(NotReplayable) as refused:
        replay(stored(turn))
    assert refused.value.details == {"missing": "payloads", "since": now.isoformat()}


def test_a_turn_from_before_replay_says_so(talk: Talk) -> None:
    turn = talk(*ASKED)
    ExplainabilityTurn.objects.filter(pk=turn.pk).update(view=None, conditions=None)
    with pytest.raises(NotReplayable, match="older than replay"):
        replay(stored(turn))


def test_what_was_removed_since_is_whole_to_the_doctor(talk: Talk) -> None:
    turn = talk(*ASKED)
    session = Session.objects.get(pk=turn.session_id)
    for number in range(2):
        stage_source(session, source("notes", f"The pump needs oil {number}."))
    mount_base(session, create_base(session.project, "Other"), reason="load-api", discard_draft=True)
    assert LayerUnit.objects.filter(layer__kind="removed").count() == 2
    assert [finding.text for finding in findings()] == []


@pytest.fixture
def remembering(project: Project) -> Callable[[str], ExplainabilityTurn]:
    """Return a function that runs a command in one session with memories, and returns its turn."""
    session = create_session(project)
    answer_message(session, TurnCall(message="My name is Ada."))

    def answered(text: str) -> ExplainabilityTurn:
        return stored(answer_message(Session.objects.get(pk=session.pk), TurnCall(message=text)).turn)

    answered("/remember The boat leaves at 9.")
    return answered


@pytest.mark.parametrize(
    "text",
    [
        "/remember Tea is at 5.", "/remember The boat leaves at 9.", "/memory show boat", "/memory long consolidate",
        "/memory evidence ingest notes.txt", "/reload_skills", "/reload_persona", "/new", "/calc 6*7", "/style focus",
        "/checklist Pack.", "/nothing",
    ],
)  # fmt: skip
def test_a_command_replays_after_its_session_changed(
    remembering: Callable[[str], ExplainabilityTurn], text: str
) -> None:
    turn = remembering(text)
    for later in ("/remember Pack a coat.", "/style playful", "/reload_skills"):
        remembering(later)
    RememberedText.objects.filter(content__contains="boat").delete()
    before = (rows(), RememberedText.objects.count())
    assert replay(turn).result == "identical"
    assert (rows(), RememberedText.objects.count()) == before


def test_a_command_that_asks_something_else_diverges(remembering: Callable[[str], ExplainabilityTurn]) -> None:
    turn = remembering("/memory show boat")
    ExplainabilityTurn.objects.filter(pk=turn.pk).update(user_message="/memory show coat")
    found = replay(stored(turn)).divergence
    assert found is not None
    assert (found.difference.part, found.reason) == ("payload", "unexplained")
    assert found.difference.recorded["arguments"][0]["text"] == "boat"
    assert found.difference.replayed["arguments"][0]["text"] == "coat"


def test_a_command_without_its_payload_says_since_when(remembering: Callable[[str], ExplainabilityTurn]) -> None:
    turn = remembering("/memory show boat")
    now = timezone.now()
    ExplainabilityTurn.objects.filter(pk=turn.pk).update(payloads_removed_at=now)
    with pytest.raises(NotReplayable) as refused:
        replay(stored(turn))
    assert refused.value.details == {"missing": "payloads", "since": now.isoformat()}


@pytest.mark.parametrize(
    ("options", "refusal"),
    [(["--session", "sess-1"], "no session"), (["--sample", "0"], "--sample"), (["--sample", "-1"], "--sample")],
)
@pytest.mark.django_db
def test_the_command_refuses_what_names_no_turns(options: list[str], refusal: str) -> None:
    with pytest.raises(CommandError, match=refusal):
        call_command("replay", *options)
