"""The head of the turn page: question, answer and verdict, equal to the API's."""

from django.test import Client
from django.urls import reverse

from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.sessions.session import Choices, create_session
from sessions_app.ingest.load import Upload, load_source
from sessions_app.models import ExplainabilityTurn, Project, Session
from sessions_app.queries.turns.registry import events
from sessions_app.queries.turns.verdicts import verdict
from sessions_app.turns.call import TurnCall
from sessions_app.turns.close import TurnError
from sessions_app.turns.pipeline import run_turn
from tests.web.page_scene import attributes_of, links_of, member_client, parsed, text_at, texts_of, visible_text


def ask(session: Session, message: str, **choices: str) -> ExplainabilityTurn:
    try:
        turn = run_turn(session, TurnCall(message=message, choices=Choices(**choices))).turn
    except TurnError as failure:
        turn = failure.turn
    return ExplainabilityTurn.objects.select_related("session").get(pk=turn.pk)


def line_of(client: Client, turn: ExplainabilityTurn) -> str:
    """Return the markup of the verdict's line."""
    html = client.get(reverse("turn", args=[turn.session.session_id, turn.request_id])).text
    return str(parsed(html).css("p#verdict")[0].html)


def test_sources_that_disagree_are_named_with_their_units(live_project: Project) -> None:
    base = create_base(live_project, "Handbook")
    load_source(base, Upload(name="handbook.md", data=b"# Boarding\n\nCars board at gate B on all days."))
    base.refresh_from_db()
    session = create_session(live_project, base=base)
    ask(session, "Cars board at gate C.")
    turn = ask(session, "Where do cars board?")
    client = member_client(live_project, "viewer")
    line = line_of(client, turn)
    assert visible_text(line) == verdict(turn, events(turn)).text
    assert visible_text(line).endswith("this conversation says gate C; handbook.md says gate B.")
    told, written = (client.get(address).text for address in links_of(line)[-2:])
    assert text_at(told, ".unit-page__text") == "Cars board at gate C."
    assert text_at(written, ".unit-page__text") == "Cars board at gate B on all days."


def test_statements_of_one_source_that_disagree_are_named(live_project: Project) -> None:
    session = create_session(live_project)
    ask(session, "The meeting is on Monday.")
    ask(session, "The meeting is on Tuesday.")
    undecided = ask(session, "When is the meeting?")
    client = member_client(live_project, "viewer")
    line = line_of(client, undecided)
    assert visible_text(line).endswith("this conversation says on Monday; this conversation also says on Tuesday.")
    told = [text_at(client.get(address).text, ".unit-page__text") for address in links_of(line)[-2:]]
    assert told == ["The meeting is on Monday.", "The meeting is on Tuesday."]


def test_what_the_conversation_told_otherwise_is_named(live_project: Project, turn: ExplainabilityTurn) -> None:
    line = visible_text(line_of(member_client(live_project, "viewer"), turn))
    assert line == "Stated: by one sentence of this conversation; this conversation also says gate B."


def test_other_facts_of_the_conversation_are_not_told_otherwise(live_project: Project) -> None:
    session = create_session(live_project)
    ask(session, "Anna works in Leeds. Maria works in Turin.")
    line = visible_text(line_of(member_client(live_project, "viewer"), ask(session, "Where does Anna work?")))
    assert line == "Stated: by one sentence of this conversation."


def test_an_empty_base_is_no_reason_where_statements_disagree(live_project: Project) -> None:
    session = create_session(live_project, base=create_base(live_project, "Handbook"))
    ask(session, "The meeting is on Monday.")
    assert "Handbook is empty" in visible_text(
        line_of(member_client(live_project, "viewer"), ask(session, "Who has the key?"))
    )
    ask(session, "The meeting is on Tuesday.")
    turn = ask(session, "When is the meeting?")
    assert verdict(turn, events(turn)).text.endswith("says on Monday; this conversation also says on Tuesday.")


def test_undecided_evidence_is_quoted_from_both_sources(live_project: Project) -> None:
    base = create_base(live_project, "Handbook")
    text = b"# Aurora 200\n\nThe Aurora 200 is a heater. It weighs 8 kg. It needs a fuse."
    load_source(base, Upload(name="manual.md", data=text))
    base.refresh_from_db()
    session = create_session(live_project, base=base)
    ask(session, "The Aurora 200 weighs 18 kg.")
    turn = ask(session, "How much does the Aurora 200 weigh?")
    assert turn.answer_basis == "none"
    line = visible_text(line_of(member_client(live_project, "viewer"), turn))
    assert "this conversation says “The Aurora 200 weighs 18 kg.”" in line
    assert "manual.md says “The Aurora 200 is a heater. It weighs 8 kg. It needs a fuse.”" in line


def test_other_things_with_the_same_name_are_no_contradiction(live_project: Project) -> None:
    base = create_base(live_project, "Handbook")
    for name, text in (
        ("manual.md", b"The Aurora 200 needs a fuse of 16 ampere."),
        ("returns.md", b"The warranty of the Aurora 200 lasts 2 years. The Aurora 200 comes in a box."),
    ):
        load_source(base, Upload(name=name, data=text))
    base.refresh_from_db()
    turn = ask(create_session(live_project, base=base), "What does the Aurora 200 need?")
    assert turn.answer_basis == "stated"
    assert " says " not in visible_text(line_of(member_client(live_project, "viewer"), turn))


def test_an_empty_base_and_a_pinned_plugin_are_named(live_project: Project) -> None:
    session, client = create_session(live_project), member_client(live_project, "viewer")
    unanswered = line_of(client, ask(session, "Where do cars board?"))
    assert texts_of(unanswered, "a")[-1] == "the mounted base Default KB is empty"
    failed = line_of(client, ask(session, "Where do cars board?", goal_solver="gs-llm-fast"))
    assert texts_of(failed, "a")[-1] == "you pinned this solver alone"
    assert links_of(failed)[-1] == "?tab=choice"


def test_what_is_told_of_an_ended_turn_follows_the_session(live_project: Project) -> None:
    session, client = create_session(live_project), member_client(live_project, "viewer")
    turn = ask(session, "My dog is called Rex.")
    before = line_of(client, turn)
    ask(session, "What is my dog called?")
    assert line_of(client, turn) == before


def test_the_turn_page_mounts_a_base_that_would_answer(live_project: Project) -> None:
    base = create_base(live_project, "Handbook")
    load_source(base, Upload(name="handbook.md", data=b"# Boarding\n\nCars board at gate B on all days."))
    create_base(live_project, "Cooking")
    session = create_session(live_project)
    turn = ask(session, "Where do cars board?")
    client, address = member_client(live_project, "editor"), [session.session_id, turn.request_id]
    assert reverse("turn-remedies", args=address) in links_of(client.get(reverse("turn", args=address)).text)
    html = client.get(reverse("turn-remedies", args=address)).text
    assert text_at(html, ".remedies li > span") == "Handbook says “Cars board at gate B on all days.”"
    (kb_id,) = attributes_of(html, "[name=kb_id]", "value")
    mount_url, turn_url = reverse("session-kb-mount", args=[session.session_id]), reverse("turn", args=address)
    mounted = client.post(mount_url, {"kb_id": kb_id, "next": turn_url}, follow=True)
    assert mounted.redirect_chain[-1][0] == turn_url
    assert "mounted now" in texts_of(client.get(reverse("turn-remedies", args=address)).text, ".remedies li > span")
    again = ask(Session.objects.get(pk=session.pk), "Where do cars board?")
    assert "gate B" in again.assistant_preview
    undo = parsed(mounted.text).css_first(".notice--said form")
    assert undo is not None
    client.post(undo.attributes["action"])
    assert Session.objects.get(pk=session.pk).mounted_kb == session.mounted_kb
    reader = member_client(live_project, "viewer", name="reader")
    assert not parsed(reader.get(reverse("turn-remedies", args=address)).text).css("[name=kb_id]")


def test_a_question_is_asked_again_from_its_turn(live_project: Project) -> None:
    session = create_session(live_project)
    ask(session, "Cars board at gate C.")
    turn = ask(session, "Where do cars board?")
    ask(session, "Forget that cars board at gate C.")
    ask(session, "Cars board at gate B.")
    page_url = reverse("turn", args=[session.session_id, turn.request_id])
    client = member_client(live_project, "editor")
    (form,) = parsed(client.get(page_url).text).css("#turn-head .menu__list form")
    sent = {field.attributes["name"]: field.attributes["value"] for field in form.css("input[name]")}
    back = client.post(form.attributes["action"], sent)
    assert back["Location"] == reverse("session", args=[session.session_id]) + "#latest"
    again = session.turns.order_by("-turn_index")[0]
    assert again.user_message == "Where do cars board?"
    assert "gate B" in again.assistant_preview
    assert not parsed(member_client(live_project, "viewer").get(page_url).text).css("#turn-head .menu__list form")
