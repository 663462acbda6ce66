"""The context that is sent to the model, by the public endpoint: window, summary, flags, and the stored report."""

import itertools
import json
from typing import Any

import pytest

from mrpvm.conversation.summary import MODEL_MESSAGES
from sessions_app.actions.sessions.histories import History, append_messages, remove_message
from sessions_app.models import ExplainabilityTurn, Project, Session
from tests.api.conftest import Caller
from tests.configured_model import acting
from tests.llm.provider import Provider, refuse, say
from tests.preparing import prepared_turn

CHAT = "/api/chat/completions"
PLAIN = {"enable_history_summarization": False, "enable_session_memory": False, "enable_query_rewriting": False}


def begun(editor: Caller, count: int) -> Session:
    """Return a session with this number of messages."""
    session_id = editor.post("/api/sessions", {}).json()["session_id"]
    session = Session.objects.get(session_id=session_id)
    append_messages(
        session,
        History(
            messages=[
                {"role": ("user", "assistant")[place % 2], "content": f"Thing {place} costs ${place}00."}
                for place in range(count)
            ]
        ),
    )
    session.refresh_from_db()
    return session


def ask(editor: Caller, session: Session, **more: Any) -> dict[str, Any]:
    """Ask a question; return the turn's context report."""
    answer = editor.chat("What is my dog called?", session.session_id, **more)
    assert answer.status_code == 200, answer.content
    turn = ExplainabilityTurn.objects.get(request_id=answer.json()["request_id"])
    assert turn.context_report is not None
    return dict(turn.context_report)


def section(report: dict[str, Any], name: str) -> dict[str, Any]:
    """Return one section of a report."""
    return next(item for item in report["sections"] if item["name"] == name)


def sent(provider: Provider) -> list[dict[str, str]]:
    """Return the messages of the last request to a solver's model."""
    asked = [body for body in provider.bodies if "=== GROUP" in str(body) or "intents" in str(body["messages"][-1])]
    return list(asked[-1]["messages"])


@pytest.mark.rule("SESSION-29", "POLICY-12")
def test_without_summaries_the_window_is_20_messages_and_a_note(editor: Caller) -> None:
    session = begun(editor, 45)
    conversation = section(ask(editor, session, **PLAIN), "conversation")
    assert (conversation["kept_count"], conversation["omitted_count"], conversation["rule"]) == (20, 25, "messages")
    assert conversation["note"] == "(older messages omitted; showing last 20 messages)"
    assert conversation["places"] == [26, 45]
    assert "text" not in conversation


def test_a_turn_of_its_own_flags_cuts_elsewhere(editor: Caller) -> None:
    session = begun(editor, 45)
    conversation = section(ask(editor, session, history_max_turns=2, **PLAIN), "conversation")
    assert (conversation["kept_count"], conversation["places"]) == (4, [42, 45])


@pytest.mark.rule("CONTEXT-72", "WINDOW-36", "FOLLOWUP-36")
def test_older_messages_are_summarised_the_rest_verbatim(editor: Caller) -> None:
    session = begun(editor, 10)
    report = ask(editor, session)
    summary, conversation = section(report, "summary"), section(report, "conversation")
    assert (summary["places"], conversation["places"]) == ([1, 4], [5, 10])
    assert "$300" in summary["text"]
    assert conversation["note"] == "(4 older messages summarised)"
    session.refresh_from_db()
    assert session.summary["through"] == 4


def test_an_imported_conversation_is_summarised_whole_at_once(editor: Caller) -> None:
    session = begun(editor, 101)
    report = ask(editor, session)
    assert section(report, "summary")["places"] == [1, 96]
    assert section(report, "conversation")["places"] == [97, 101]


def test_a_long_import_sends_only_the_newest_messages(editor: Caller, provider: Provider) -> None:
    session = begun(editor, 401)
    provider.otherwise = acting(say("Things cost $399."))
    report = ask(editor, session, goal_solver_plugin="gs-symbolic", seed_detector_plugin="sd-symbolic")
    asked = report["requests"][0]["body"]["messages"][-1]["content"]
    assert asked.count("\nUser: ") + asked.count("\nAssistant: ") == MODEL_MESSAGES
    assert "Thing 395 costs" in asked
    assert "Thing 355 costs" not in asked.partition("New messages:")[2]
    assert section(report, "summary")["places"] == [1, 396]


@pytest.mark.rule("POLICY-40", "FOLLOWUP-39")
def test_context_size_is_constant_over_500_exchanges(project: Project) -> None:
    """The limit is about 1,100 tokens. The messages are stored without running 500 turns, which would add nothing."""
    from sessions_app.actions.sessions.session import create_session

    sizes = []
    for exchanges in (8, 50, 500):
        session = create_session(project)
        told = [
            {"role": role, "content": f"On day {place} the {place}th ship sailed with {place * 7} crates of tea. " * 6}
            for place in range(exchanges)
            for role in ("user", "assistant")
        ]
        append_messages(session, History(messages=told))
        session.refresh_from_db()
        report = prepared_turn(session, "And then?").report.as_record()
        sizes.append(report["tokens"])
    assert max(sizes) <= 1_100
    assert sizes[0] <= sizes[1] >= 0.95 * sizes[2]


def test_long_messages_stay_within_the_tokens_of_the_policy(
    editor: Caller, provider: Provider, unvalidated: None
) -> None:
    """The defaults are 800 tokens and a summary of 200. The rest is summarised, and shortened messages are marked."""
    session = begun(editor, 0)
    told = [
        {"role": role, "content": f"Thing {place} costs ${place}00. " + "And so on and so on. " * 120}
        for place, role in enumerate(("user", "assistant") * 4)
    ]
    append_messages(session, History(messages=told))
    provider.otherwise = acting(say("Things cost money."))
    answering = {"goal_solver_plugin": "gs-llm-fast", "seed_detector_plugin": "sd-symbolic"}
    report = ask(editor, session, **answering)
    conversation, summary = section(report, "conversation"), section(report, "summary")
    assert (summary["places"], conversation["places"]) == ([1, 6], [7, 8])
    assert conversation["tokens"] <= 800
    assert summary["tokens"] <= 200
    assert "(2 messages shown in part)" in conversation["note"]
    user, assistant = sent(provider)[-3:-1]
    assert len(assistant["content"]) <= 2_000
    assert all(item["content"].endswith("[... cut: the message has 2,540 characters]") for item in (user, assistant))
    assert conversation["text"] == f"**user**: {user['content']}\n\n**assistant**: {assistant['content']}"
    wide = ask(editor, session, verbatim_max_tokens=3_000, **answering)
    assert section(wide, "conversation")["kept_count"] == 4
    assert "(1 message shown in part)" in section(wide, "conversation")["note"]


def test_tool_results_and_system_messages_reach_the_model(
    editor: Caller, provider: Provider, unvalidated: None
) -> None:
    session = begun(editor, 0)
    append_messages(
        session,
        History(
            messages=[
                {"role": "system", "content": "The shop is closed on Mondays."},
                {"role": "user", "content": "What does the ship weigh?"},
                {"role": "tool", "content": "4,200 tons"},
                {"role": "assistant", "content": "It weighs 4,200 tons."},
            ]
        ),
    )
    editor.chat("/calc 20+22", session.session_id)
    report = ask(editor, session, goal_solver_plugin="gs-llm-fast", seed_detector_plugin="sd-symbolic")
    system, user, call, result, answer, own_call, own_result = sent(provider)[1:-1]
    assert system == {"role": "system", "content": "The shop is closed on Mondays."}
    assert [user["role"], answer["role"]] == ["user", "assistant"]
    assert (result["role"], result["content"]) == ("tool", "4,200 tons")
    assert result["tool_call_id"] == call["tool_calls"][0]["id"]
    assert own_result["content"] == "42"
    assert own_call["tool_calls"][0]["function"] == {"name": "builtin_calculate", "arguments": '{"input": "20+22"}'}
    assert section(report, "conversation")["kept_count"] == 5


def test_the_message_after_a_reply_is_called_the_latest(editor: Caller, provider: Provider, unvalidated: None) -> None:
    notes, prompts = [], []
    for count in (0, 2):
        report = ask(editor, begun(editor, count), goal_solver_plugin="gs-llm-fast", seed_detector_plugin="sd-symbolic")
        notes.append(section(report, "message").get("note"))
        prompts.append(json.loads(sent(provider)[-1]["content"]).get("message_is"))
    assert notes == prompts == [None, "latest reply in the conversation above"]
    assert "answers the last question of the conversation; it is no new request" in sent(provider)[0]["content"]


@pytest.mark.rule("POLICY-43", "FOLLOWUP-42")
def test_the_model_gets_summary_and_note_before_the_conversation(
    editor: Caller, provider: Provider, unvalidated: None
) -> None:
    session = begun(editor, 10)
    provider.otherwise = acting(say("Thing 3 costs $300, thing 0 costs $000, thing 1 costs $100 and thing 2 $200."))
    report = ask(editor, session, goal_solver_plugin="gs-llm-fast", seed_detector_plugin="sd-symbolic")
    summary = section(report, "summary")
    assert summary["source"] == "a model"
    lead, *rest = sent(provider)[1:-1]
    assert lead["role"] == "system"
    assert lead["content"].startswith("Session summary: Thing 3 costs $300")
    assert lead["content"].endswith("(4 older messages summarised)")
    assert [item["content"] for item in rest] == [f"Thing {place} costs ${place}00." for place in range(4, 10)]
    assert [request["body"]["messages"][0]["role"] for request in report["requests"]] == ["system"]


@pytest.mark.rule("POLICY-52")
def test_a_model_that_does_not_summarise_leaves_it_to_the_rules(editor: Caller, provider: Provider) -> None:
    session = begun(editor, 10)
    provider.otherwise = refuse(400)
    report = ask(editor, session, goal_solver_plugin="gs-symbolic", seed_detector_plugin="sd-symbolic")
    assert section(report, "summary")["source"] == "rules"
    assert report["warnings"] == ["summary_failed"]


@pytest.mark.rule("CONTEXT-5", "CONTEXT-21")
def test_a_requests_history_loses_the_current_message(editor: Caller) -> None:
    session = begun(editor, 10)
    history = [{"role": "user", "content": "Mine."}, {"role": "user", "content": "What is my dog called?"}]
    report = ask(editor, session, conversation_history=history)
    assert report["conversationSource"] == "request"
    assert section(report, "conversation")["text"] == "**user**: Mine."
    assert not any(item["name"] == "summary" for item in report["sections"])


def test_a_long_answer_in_a_requests_history_is_cut_with_a_note(editor: Caller) -> None:
    history = [{"role": "user", "content": "Go on."}, {"role": "assistant", "content": "The quay is long. " * 300}]
    text = section(ask(editor, begun(editor, 0), conversation_history=history), "conversation")["text"]
    assert text.endswith("[... cut: the message has 5,400 characters]")
    assert len(text) < 2_100


def test_a_first_message_has_no_conversation(editor: Caller) -> None:
    report = ask(editor, begun(editor, 0))
    assert [item["name"] for item in report["sections"]] == ["message"]
    assert report["conversationSource"] == "none"


@pytest.mark.rule("CONTEXT-44")
def test_a_failed_turn_reports_and_keeps_the_summary(editor: Caller) -> None:
    from tests.api.doubles import WaitingSolver, registered

    session = begun(editor, 10)
    with registered(WaitingSolver()) as solver:
        solver.go_on.set()
        answer = editor.chat("What is my dog called?", session.session_id, goal_solver_plugin="gs-waiting")
    assert answer.status_code == 422
    turn = ExplainabilityTurn.objects.get()
    assert section(turn.context_report, "summary")
    session.refresh_from_db()
    assert session.summary is None


def test_evidence_has_a_section_of_its_own(editor: Caller) -> None:
    session = begun(editor, 0)
    editor.chat("My dog is called Rex.", session.session_id)
    evidence = section(ask(editor, session), "evidence")
    assert evidence["kept_count"] == len(evidence["unit_ids"]) >= 1
    assert evidence["chars"] > 0


@pytest.mark.parametrize("level", ["project", "session", "request"])
def test_each_level_outranks_the_ones_before_it(editor: Caller, project: Project, level: str) -> None:
    session = begun(editor, 30)
    project.flags = {"history_max_turns": 3, **PLAIN}
    session.flags = {"history_max_turns": 4} if level != "project" else {}
    project.save()
    session.save()
    chosen = {"history_max_turns": 5} if level == "request" else {}
    expected = {"project": 6, "session": 8, "request": 10}[level]
    assert section(ask(editor, session, **chosen), "conversation")["kept_count"] == expected


@pytest.mark.parametrize(
    "wrong",
    [{"history_max_turns": 0}, {"history_max_turns": 2.5}, {"enable_session_memory": 1}, {"document_bias": "some"},
     {"session_memory_ttl_hours": "4"}, {"query_rewriting_enabled": "yes"}],
)  # fmt: skip
def test_a_flag_of_the_wrong_kind_is_refused(editor: Caller, wrong: dict[str, Any]) -> None:
    answer = editor.chat("Hello", **wrong)
    assert answer.status_code == 400
    assert not Session.objects.exists()


def test_all_off_is_the_path_without_the_feature(editor: Caller) -> None:
    """In a short conversation without follow-ups no policy applies, so all combinations give the same answer."""
    answers = set()
    for values in itertools.product((True, False), repeat=3):
        flags = dict(zip(PLAIN, values, strict=True))
        session = begun(editor, 0)
        editor.chat("My dog is called Rex.", session.session_id, **flags)
        answer = editor.chat("What is my dog called?", session.session_id, **flags).json()
        answers.add(answer["choices"][0]["message"]["content"])
        if not flags["enable_history_summarization"]:
            session.refresh_from_db()
            assert session.summary is None
    assert len(answers) == 1


def test_a_message_that_is_taken_away_is_not_told_by_the_summary(editor: Caller) -> None:
    """Open pages are notified."""
    session = begun(editor, 20)
    ask(editor, session)
    session.refresh_from_db()
    assert "thing 3" in str(session.summary).casefold()
    remove_message(session, 4)
    session.refresh_from_db()
    assert session.summary is None
    report = ask(editor, session)
    assert "thing 2" in str(section(report, "summary")).casefold()
    assert "thing 3" not in str(section(report, "summary")).casefold()
    kinds = list(session.events.values_list("kind", flat=True))
    assert kinds.count("messages.changed") == 2


def test_a_session_is_named_by_the_first_message_that_is_left(editor: Caller) -> None:
    session = begun(editor, 4)
    first, second = session.messages.filter(role="user").values_list("content", flat=True)
    assert session.first_message == first
    for sequence, left in ((2, first), (1, second), (3, "")):
        remove_message(session, sequence)
        session.refresh_from_db()
        assert session.first_message == left
