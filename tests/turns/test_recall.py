"""The effect of the conversation on a turn's evidence and answer, with complete turns."""

from collections.abc import Callable

import pytest

from mrpvm.contracts import CallContext, Retrieval, RetrieveInput
from mrpvm.conversation.answers import QUOTED_OPENING, UNKNOWN_TEXT
from mrpvm.plugins.kb_retrievers.fast import FastKBRetriever
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.sessions.session import Choices, create_session
from sessions_app.background.precompute import derive_ahead
from sessions_app.ingest.load import Upload, load_source
from sessions_app.models import Project
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import TurnResult, run_turn

CRANES = [f"The harbour crane B{number} was inspected in May." for number in range(6)]
BASE = " ".join(["The Birch chair stands in the hall.", *CRANES, "The Trustee holds the keys."])


@pytest.fixture
def asked(project: Project) -> Callable[..., TurnResult]:
    """Return a function that asks in a new session and returns the last turn."""
    base = create_base(project, "harbour")
    load_source(base, Upload(name="harbour.txt", data=BASE.encode()))
    base.refresh_from_db()
    derive_ahead()  # artifacts of a sentence model, which the server computes in the background

    def ask(*messages: str, **flags: object) -> TurnResult:
        session = create_session(project, Choices(kb="kb-fast"), base=base, flags=flags)
        return [run_turn(session, TurnCall(message=message)) for message in messages][-1]

    return ask


def evidence(result: TurnResult) -> list[str]:
    """Return the texts of the evidence in order."""
    assert result.outcome.answer is not None
    return [entry.unit.text for group in result.outcome.answer.groups for entry in group.evidence]


def test_an_unrelated_question_before_changes_nothing(asked: Callable[..., TurnResult]) -> None:
    question = "List the harbour cranes that were inspected in May."
    alone, after = asked(question), asked("Who is the Birch chair?", question)
    assert after.outcome.answer_text == alone.outcome.answer_text
    assert evidence(after) == evidence(alone)
    assert sum(crane in evidence(alone) for crane in CRANES) == len(CRANES)


def test_a_follow_up_asked_twice_gets_one_answer(asked: Callable[..., TurnResult]) -> None:
    once = asked("Where does the Birch chair stand?", "Who put it there?")
    again = asked("Where does the Birch chair stand?", "Who put it there?", "Who put it there?", "who put it there")
    assert evidence(once) == evidence(again)
    assert once.outcome.answer_text == again.outcome.answer_text


def test_short_replies_between_change_no_follow_up(asked: Callable[..., TurnResult]) -> None:
    once = asked("Where does the Birch chair stand?", "Who put it there?")
    again = asked(
        "Where does the Birch chair stand?", "Yes", "Who put it there?", "The second one", "Who put it there?"
    )
    assert evidence(once) == evidence(again)
    assert once.outcome.answer_text == again.outcome.answer_text


@pytest.mark.parametrize(("enabled", "contexts"), [(True, ["the Trustee"]), (False, [None])])
def test_without_rewriting_a_message_is_searched_as_it_is(
    asked: Callable[..., TurnResult], monkeypatch: pytest.MonkeyPatch, enabled: bool, contexts: list[str | None]
) -> None:
    searched: list[RetrieveInput] = []
    retrieve = FastKBRetriever.retrieve

    def heard(plugin: FastKBRetriever, request: RetrieveInput, context: CallContext) -> Retrieval:
        searched.append(request)
        return retrieve(plugin, request, context)

    monkeypatch.setattr(FastKBRetriever, "retrieve", heard)
    result = asked("The Trustee signed the lease.", "What does it hold?", enable_query_rewriting=enabled)
    (intent,) = searched[-1].intents
    assert intent.target == "What does it hold?"
    assert [intent.context] == contexts
    assert (searched[-1].profiles[0].query_text == "What does it hold") is not enabled
    read_as = (result.turn.context_report or {}).get("rewriting", {}).get("read_as")
    assert read_as == (["What does it hold? (the Trustee)"] if enabled else None)


@pytest.mark.parametrize(
    ("enabled", "status", "read_as"), [(True, "answered", ["Where does Maria work?"]), (False, "no-context", None)]
)
def test_a_question_that_only_names_somebody_new(
    asked: Callable[..., TurnResult], enabled: bool, status: str, read_as: list[str] | None
) -> None:
    told = "Anna works in Leeds. Maria works in Turin."
    result = asked(told, "Where does Anna work?", "And Maria?", enable_query_rewriting=enabled)
    assert result.outcome.answer_status == status
    assert (result.turn.context_report or {}).get("rewriting", {}).get("read_as") == read_as


def test_what_is_told_again_is_no_longer_forgotten(asked: Callable[..., TurnResult]) -> None:
    told, order, question = (
        "My sister Clara is a nurse.",
        "Forget that my sister Clara is a nurse.",
        "Is Clara a nurse?",
    )
    assert "nurse" not in asked(told, order, question).outcome.answer_text
    again = asked(told, order, told, question)
    assert "Yes" in again.outcome.answer_text
    session = again.turn.session
    assert list(session.context_units.values_list("claim", flat=True)) == [order, told]
    assert session.unit_count == 2


def test_a_pronoun_means_the_same_through_many_follow_ups(asked: Callable[..., TurnResult]) -> None:
    """This also holds when its antecedent is no longer in the window."""
    told = ("My grandmother was born in Krakow.", "She moved to Chicago in 1950.", "She worked as a teacher.")
    follow_ups = ("Where was she born?", "When did she move to Chicago?") * 3
    result = asked(*told, *follow_ups)
    assert result.outcome.read_as == ("When did she move to Chicago? (my grandmother)",)
    assert result.outcome.answer_text == "My grandmother was born in Krakow. She moved to Chicago in 1950. [1]"


@pytest.mark.parametrize(
    ("follow_up", "quoted"),
    [("Why?", "storm"), ("And when was that?", "1987")],
)
def test_a_follow_up_that_names_nothing_shows_the_topic_before(project: Project, follow_up: str, quoted: str) -> None:
    base = create_base(project, "boats")
    text = "The ferry Linnet sank in 1987. A storm drove it onto the rocks. Raising the Linnet took 90,000 dollars."
    load_source(base, Upload(name="boats.txt", data=text.encode()))
    base.refresh_from_db()

    def shown(*messages: str, **flags: object) -> str:
        session = create_session(project, Choices(kb="kb-fast"), base=base, flags=flags)
        return [run_turn(session, TurnCall(message=message)) for message in messages][-1].outcome.answer_text

    first = "Did the ferry Linnet sink?"
    assert shown(first, follow_up).startswith(QUOTED_OPENING)
    assert shown(first, follow_up, follow_up) == shown(first, follow_up)
    assert shown(follow_up) == UNKNOWN_TEXT
    assert shown(first, follow_up, enable_query_rewriting=False) == UNKNOWN_TEXT
    assert quoted in shown(first, follow_up)
