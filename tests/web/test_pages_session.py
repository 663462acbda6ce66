"""The session page: the conversation, the session's contents, and use without JavaScript."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.drafts import stage_source
from sessions_app.actions.knowledge.mounts import mount_base
from sessions_app.actions.knowledge.source_rows import NewSource
from sessions_app.actions.sessions.histories import History, append_messages
from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.turns.ratings import rate_turn
from sessions_app.models import Message, Project
from sessions_app.queries.sessions.pages import EXCHANGES_SHOWN, TURNS_SHOWN, UNITS_SHOWN
from tests.kernel.scripted import plugin
from tests.layers.units import make_unit
from tests.llm.provider import Provider
from tests.web.page_scene import (
    Install,
    add_turns,
    attributes_of,
    check_html,
    counted_queries,
    error_code,
    links_of,
    member_client,
    new_session,
    notice,
    parsed,
    session_html,
    text_at,
    texts_of,
    visible_text,
)


@pytest.mark.rule("PAGE-1", "CONTEXT-44")
def test_the_conversation_shows_failed_turns_in_their_place(project: Project) -> None:
    session = new_session(project)
    add_turns(session, 1)
    failed = add_turns(session, 1, "failed")[0]
    add_turns(session, 1)
    html = session_html(member_client(project), session)
    shown = visible_text(html)
    order = [shown.index(text) for text in ("Question 1?", "assistant 1", "Question 2?", "Refused 2.", "Question 3?")]
    assert order == sorted(order)
    (exchange,) = parsed(html).css("#turn-2")
    assert "Failed: the validators refused" in text_at(exchange, ".notice")
    assert text_at(exchange, ".notice code") == "VALIDATION_REJECTED"
    assert reverse("turn", args=[session.session_id, failed.request_id]) in links_of(exchange)


@pytest.mark.rule("PAGE-8", "CONTEXT-52")
def test_each_answer_leads_to_its_turn_and_can_be_copied(project: Project) -> None:
    session = new_session(project)
    turns = add_turns(session, 3)
    html = session_html(member_client(project), session)
    for turn in turns:
        assert reverse("turn", args=[session.session_id, turn.request_id]) in links_of(html)
    assert texts_of(html, ".way-in__word") == ["explain"] * 3
    assert parsed(html).css('[data-copy][value="assistant 2"]')


def test_a_sent_prompt_is_offered_only_where_something_was_sent(project: Project) -> None:
    session = new_session(project)
    alone, asked, summed = add_turns(session, 3)
    for turn, report in ((alone, {"modelCalls": 0}), (asked, {"modelCalls": 2}), (summed, {"requests": [{}]})):
        turn.context_report = report
        turn.save()
    html = session_html(member_client(project), session)
    offered = [
        f"{reverse('turn', args=[session.session_id, turn.request_id])}?tab=context#requests-title" in links_of(html)
        for turn in (alone, asked, summed)
    ]
    assert offered == [False, True, True]


def test_turns_are_listed_by_question_and_answer(project: Project) -> None:
    session = new_session(project)
    turn = add_turns(session, 1)[0]
    turn.assistant_preview = "1. A bag\n2. A **dog**"
    turn.save()
    html = session_html(member_client(project), session, panel="turns")
    (row,) = texts_of(html, "#registry-1")
    assert "Question 1?" in row.partition("1. A bag 2. A dog")[0]
    assert "1. A bag 2. A dog" in row


def test_answers_are_read_as_markdown_and_questions_as_they_are(project: Project) -> None:
    session = new_session(project)
    turn = add_turns(session, 1)[0]
    turn.messages.filter(role="assistant").update(content="**Bold** `code` [1]\n\n- one\n- two")
    turn.user_message = "**not bold**"
    turn.save()
    html = session_html(member_client(project), session)
    assert (texts_of(html, ".bubble strong"), texts_of(html, ".bubble code")) == (["Bold"], ["code"])
    assert "one" in texts_of(html, ".bubble li")
    address = reverse("turn", args=[session.session_id, turn.request_id])
    assert text_at(html, f'a.cite[href="{address}/sources/1"][aria-label="Source 1"]') == "1"
    assert "**not bold**" in texts_of(html, "div.bubble__text")


def test_a_running_turn_shows_as_such_and_can_be_stopped(project: Project) -> None:
    session = new_session(project)
    turn = add_turns(session, 1, "running")[0]
    client = member_client(project)
    html = session_html(client, session)
    stop = reverse("turn-cancel", args=[session.session_id, turn.request_id])
    assert text_at(html, ".exchange.is-running .notice strong") == "Working on it"
    assert parsed(html).css(f'[action="{stop}"]')
    assert parsed(html).css(f'.exchange.is-running[data-request-id="{turn.request_id}"]')
    assert notice(client.post(stop, follow=True).text) == "The turn is being stopped."
    turn.refresh_from_db()
    assert turn.cancel_requested_at is not None
    turn.status = "cancelled"
    turn.save()
    assert error_code(client.post(stop, follow=True).text) == "TURN_NOT_RUNNING"


def turn_numbers(html: str) -> list[int]:
    return [int(name.removeprefix("turn-")) for name in attributes_of(html, ".exchange[id^=turn-]", "id")]


def test_older_exchanges_come_in_order_and_without_gaps(project: Project) -> None:
    session = new_session(project)
    total = 2 * EXCHANGES_SHOWN + 3
    add_turns(session, total)
    client = member_client(project)
    seen: list[int] = []
    html = session_html(client, session)
    while True:
        seen = turn_numbers(html) + seen
        more = attributes_of(html, '[hx-get*="before="]', "hx-get")
        if not more:
            break
        html = client.get(more[0]).text
    assert seen == list(range(1, total + 1))
    again = client.get(reverse("session-messages", args=[session.session_id]), {"count": 50}).text
    assert len(turn_numbers(again)) == 50
    earlier = session_html(client, session, before=5)
    assert "Back to the newest messages" in texts_of(earlier, "#messages > .notice a")
    assert not parsed(earlier).css("#messages[hx-get]"), "an earlier part is not renewed"


def test_imported_messages_come_before_the_first_turn(project: Project) -> None:
    session = new_session(project)
    for sequence, role in enumerate(("system", "user", "assistant", "tool"), start=1):
        Message.objects.create(session=session, sequence=sequence, role=role, content=f"imported {role}")
    session.message_sequence = 4
    add_turns(session, 1)
    html = session_html(member_client(project), session)
    shown = visible_text(html)
    places = [shown.index(f"imported {role}") for role in ("system", "user", "assistant", "tool")]
    assert places == sorted(places)
    assert places[-1] < shown.index("Question 1?")


def questions(html: str) -> list[str]:
    return re.findall(r"appended (?:early|middle|late|at last)|Question \d+", visible_text(html))


def test_appended_messages_stand_where_they_were_said(project: Project) -> None:
    """This also holds on pages with a part of the conversation; each message is in one part."""
    session = new_session(project)
    for name in ("early", "middle", "late"):
        append_messages(session, History(messages=[{"role": "user", "content": f"appended {name}"}]))
        session.refresh_from_db()
        add_turns(session, EXCHANGES_SHOWN)
    append_messages(session, History(messages=[{"role": "user", "content": "appended at last"}]))
    client = member_client(project)
    parts = [session_html(client, session, "session-messages", before=before) for before in (31, 61, 91)]
    told = [questions(part) for part in parts]
    assert [(texts[0], texts[-1]) for texts in told] == [
        ("appended early", "appended middle"), ("Question 31", "appended late"), ("Question 61", "appended at last"),
    ]  # fmt: skip
    assert [sum(text.startswith("appended") for text in texts) for texts in told] == [2, 1, 1]
    assert questions(session_html(client, session, "session-messages"))[-1] == "appended at last"


def test_the_state_names_where_each_unit_came_from(project: Project) -> None:
    session = new_session(project)
    turn = add_turns(session, 1)[0]
    html = session_html(member_client(project), session, "session-state")
    assert text_at(html, f"#unit-{turn.context_units.get().pk} .unit__text") == "Fact 1."
    assert "from turn 1" in texts_of(html, f'a[href="{reverse("turn", args=[session.session_id, turn.request_id])}"]')
    assert session.mounted_kb.name in texts_of(html, "dl.facts a")
    settings = session_html(member_client(project), session, "session-state", panel="settings")
    assert "planner-default" in texts_of(settings, "[aria-labelledby=state-preferences] dd")


def test_an_answer_of_a_document_stands_below_its_question(project: Project) -> None:
    session = new_session(project)
    turn = add_turns(session, 1)[0]
    turn.context_units.update(title="Where can I park?")
    html = session_html(member_client(project), session, "session-state")
    assert text_at(html, f"#unit-{turn.context_units.get().pk} [data-testid=unit-title]") == "Where can I park?"


def test_pending_units_are_marked(project: Project) -> None:
    session = new_session(project)
    turn = add_turns(session, 1)[0]
    turn.context_units.update(state="pending")
    assert parsed(session_html(member_client(project), session, "session-state")).css('[class="unit is-pending"]')


@pytest.mark.parametrize(("what", "shown"), [("units", UNITS_SHOWN), ("turns", TURNS_SHOWN)])
def test_more_units_and_turns_are_loaded_on_demand(project: Project, what: str, shown: int) -> None:
    session = new_session(project)
    add_turns(session, shown + 3)
    client = member_client(project)
    mark = {"units": r"Fact (\d+)\.", "turns": r"Turn (\d+)\b"}[what]
    panel = {"units": "knowledge", "turns": "turns"}[what]
    html = session_html(client, session, "session-state", panel=panel)
    first = re.findall(mark, visible_text(html))
    (more,) = attributes_of(html, f'[hx-get*="{what}_before="]', "hx-get")
    rest = re.findall(mark, visible_text(client.get(more).text))
    assert [int(number) for number in first + rest] == list(range(shown + 3, 0, -1))
    whole = session_html(client, session, "session-state", panel=panel, **{what: shown + 3})
    assert len(re.findall(mark, visible_text(whole))) == shown + 3


@pytest.mark.rule("PAGE-10")
def test_controls_offer_every_plugin_and_pin_none(project: Project) -> None:
    create_base(project, "Handbook")
    session = new_session(project)
    html = session_html(member_client(project), session, "session-composer")
    for name in (
        "planner_plugin",
        "seed_detector_plugin",
        "kb_plugin",
        "goal_solver_plugin",
        "deliberation_level",
        "kb_id",
        "grounding",
    ):
        (select,) = parsed(html).css(f'select[name="{name}"]')
        assert select.css('option[value=""]')
        assert not select.css("[selected]")
    assert "Message reader (seed detector)" in texts_of(html, "label")
    assert "Handbook" in texts_of(html, 'select[name="kb_id"] option')
    assert parsed(html).css('option[value="sd-symbolic"]')
    assert "needs a language model" in texts_of(html, 'option[value="gs-llm-fast"][disabled]')[0]
    assert parsed(html).css("input[name=model][disabled]")
    assert text_at(html, "#hint-model") == "No language model is configured."


def test_with_a_model_the_controls_offer_what_needs_one(project: Project, provider: Provider) -> None:
    html = session_html(member_client(project), new_session(project, preferred_model="large"), "session-composer")
    assert not parsed(html).css("[disabled]")
    assert parsed(html).css('option[value="gs-llm-fast"]')
    assert parsed(html).css('[placeholder="auto (large)"]')
    assert parsed(html).css(f'[hx-get="{reverse("model-names")}"]')


@pytest.mark.parametrize("form", ["markdown", "json"])
def test_the_conversation_can_be_exported(project: Project, form: str) -> None:
    session = new_session(project)
    add_turns(session, 1)
    client = member_client(project, "viewer")
    address = f"{reverse('api:export', args=[session.session_id])}?format={form}"
    assert parsed(session_html(client, session)).css(f'[href="{address}"][download]')
    exported = client.get(address)
    assert exported.status_code == 200
    assert "assistant 1" in exported.text


def test_an_answer_is_rated_with_a_note_also_without_javascript(project: Project) -> None:
    session = new_session(project)
    turn = add_turns(session, 1)[0]
    add_turns(session, 1, "failed")
    client = member_client(project)
    assert session_html(client, session).count('aria-label="Good answer"') == 1
    rate = reverse("turn-rate", args=[session.session_id, turn.request_id])
    answer = client.post(rate, {"value": "down", "note": "It was <b>the cat</b>."})
    assert answer["Location"].endswith("?before=2#turn-1")
    html = session_html(client, session)
    assert parsed(html).css('[aria-pressed="true"][aria-label="Bad answer"]')
    assert (
        text_at(html, "#rating-note-1 summary") == text_at(html, "#rating-note-1 textarea") == "It was <b>the cat</b>."
    )
    exported = client.get(reverse("api:export", args=[session.session_id]), {"format": "json"}).json()
    assert exported["turns"][0]["rating"]["value"] == "down"
    fragment = client.post(rate, {"value": "up", "note": "x" * 3000}, headers={"HX-Request": "true"}).text
    check_html(fragment)
    assert text_at(fragment, "#rating-note-1 [role=alert]") == "A note has at most 2000 characters; this one has 3000."
    assert text_at(fragment, "#rating-note-1 textarea") == "x" * 3000
    assert parsed(fragment).css('[aria-pressed="true"][aria-label="Bad answer"]')


def test_a_thumb_pressed_again_keeps_a_note_not_yet_saved(project: Project) -> None:
    session = new_session(project)
    turn = add_turns(session, 1)[0]
    client = member_client(project)
    rate = reverse("turn-rate", args=[session.session_id, turn.request_id])
    client.post(rate, {"value": "down"})
    fragment = client.post(rate, {"value": "", "note": "Typed."}, headers={"HX-Request": "true"}).text
    assert parsed(fragment).css('[aria-pressed="true"][aria-label="Bad answer"]')
    assert text_at(fragment, "#rating-note-1 textarea") == "Typed."
    client.post(rate, {"value": "", "note": ""})
    assert not turn.scores.exists()


def test_a_viewer_sees_ratings_and_gives_none(project: Project) -> None:
    session = new_session(project)
    turn = add_turns(session, 1)[0]
    rate_turn(turn, "up", "Quite so.")
    viewer = member_client(project, "viewer")
    html = session_html(viewer, session)
    assert text_at(html, "#rating-1") == "Rated good by somebody: Quite so."
    assert not parsed(html).css('[aria-label="Good answer"]')
    assert viewer.post(reverse("turn-rate", args=[session.session_id, turn.request_id])).status_code == 403


@pytest.mark.rule("DECISION-15")
def test_an_expired_session_is_an_archive(project: Project) -> None:
    session = new_session(project, expires_at=timezone.now() - timedelta(minutes=1))
    add_turns(session, 1)
    client = member_client(project)
    html = session_html(client, session)
    assert text_at(html, "#composer .notice strong") == "This session has expired."
    assert text_at(html, ".bubble--assistant .bubble__text") == "assistant 1"
    assert not parsed(html).css("form.composer")
    assert parsed(html).css(f'form[action="{reverse("session-create")}"]')
    response = client.post(reverse("session-ask", args=[session.session_id]), {"content": "Hi"}, follow=True)
    assert error_code(response.text) == "SESSION_EXPIRED"
    assert session.turns.count() == 1


def test_the_time_to_expiry_is_shown_where_one_is_set(project: Project) -> None:
    client = member_client(project)
    assert not parsed(session_html(client, new_session(project))).css("[data-countdown]")
    assert parsed(session_html(client, new_session(project, expires_at=timezone.now() + timedelta(minutes=5)))).css(
        "[data-countdown]"
    )


def test_a_page_says_from_which_event_on_it_wants_news(project: Project) -> None:
    session = create_session(project)
    html = session_html(member_client(project), session)
    assert parsed(html).css(f'[data-live-url="/live/sessions/{session.session_id}?revision=1"][data-live-since="2"]')


@pytest.mark.parametrize("name", ["session", "session-messages", "session-state"])
def test_the_queries_do_not_grow_with_the_conversation(project: Project, name: str) -> None:
    client = member_client(project)
    session_html(client, new_session(project), name)  # read once per process
    counts = []
    for how_many in (3, 30):
        session = new_session(project)
        add_turns(session, how_many - 1)
        add_turns(session, 1, "failed")
        with counted_queries() as queries:
            session_html(client, session, name)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 11


def test_a_message_is_answered_without_javascript(live_project: Project) -> None:
    client = member_client(live_project, "editor")
    session = create_session(live_project)
    ask = reverse("session-ask", args=[session.session_id])
    for content in ("My dog is called Rex.", "My cat is called Tom.", "What is my dog called?"):
        response = client.post(ask, {"content": content})
        assert response["Location"] == reverse("session", args=[session.session_id]) + "#latest"
    html = session_html(client, session)
    (latest,) = texts_of(html, "#turn-3")
    assert "My dog is called Rex." in latest.partition("What is my dog called?")[2]


def test_what_was_refused_need_not_be_typed_and_chosen_again(live_project: Project) -> None:
    client = member_client(live_project, "editor")
    session = create_session(live_project, base=create_base(live_project, "Handbook"))
    stage_source(session, NewSource(name="s", source_id="s", content="x", units=[make_unit("u", "The pump hums.")]))
    winter = create_base(live_project, "Winter")
    response = client.post(
        reverse("session-ask", args=[session.session_id]),
        {"content": "Is <b> open?", "kb_id": winter.kb_id, "deliberation_level": "2"},
    )
    assert response["Location"] == reverse("session", args=[session.session_id])  # which can be reloaded
    html = session_html(client, session)
    check_html(html)
    assert error_code(html) == "WORKSPACE_DIRTY"
    assert "Is <b> open?" in texts_of(html, "textarea")
    assert parsed(html).css(f'option[value="{winter.kb_id}"][selected]')
    assert parsed(html).css('option[value="2"][selected]')
    assert not parsed(session_html(client, session)).css("option[selected]")


def test_choices_of_the_form_are_pins(live_project: Project, scripted_plugins: Install) -> None:
    scripted_plugins(plugin("gs-plugin", "gs-b", RuntimeError("it broke")))
    client = member_client(live_project, "editor")
    session = create_session(live_project)
    base = create_base(live_project, "Handbook")
    ask = reverse("session-ask", args=[session.session_id])
    html = client.post(ask, {"content": "Why?", "goal_solver_plugin": "gs-b", "kb_id": base.kb_id}, follow=True)
    assert error_code(html.text) == text_at(html.text, "#turn-1 code") == "PLUGIN_STAGE_EXHAUSTED"
    session.refresh_from_db()
    assert session.mounted_kb == base
    assert session.turns.get().status == "failed"
    refused = client.post(ask, {"content": "Why?", "planner_plugin": "none"}, follow=True).text
    assert error_code(refused) == "INVALID_PLANNER_PLUGIN"
    for name, value in (("grounding", "lax"), ("model", "m" * 201)):
        assert error_code(client.post(ask, {"content": "Why?", name: value}, follow=True).text) == "INVALID_INPUT"
    assert error_code(client.post(ask, {"content": "  "}, follow=True).text) == "INVALID_CONTENT"
    assert session.turns.count() == 1


def test_a_preference_is_shown_where_it_began_and_can_be_cleared(project: Project) -> None:
    session = new_session(project, preferred_goal_solver_plugin="gs-b")
    for turn, solver in zip(add_turns(session, 3), ("gs-a", "gs-b", "gs-b"), strict=True):
        turn.goal_solver_plugin = solver
        turn.save()
    client = member_client(project)
    html = session_html(client, session)
    shown = visible_text(html)
    assert shown.count("From now on: gs-b") == 1
    assert shown.index("Question 2?") < shown.index("From now on: gs-b") < shown.index("Question 3?")
    settings = session_html(client, session, "session-state", panel="settings")
    assert "from turn 2" in texts_of(settings, "[aria-labelledby=state-preferences] dd span")
    clear = reverse("session-clear-preference", args=[session.session_id])
    assert member_client(project, "viewer").post(clear).status_code == 403
    assert notice(client.post(clear, {"name": "title"}, follow=True).text).startswith("There is no preference")
    assert client.post(clear, {"name": "preferred_goal_solver_plugin"}).status_code == 302
    session.refresh_from_db()
    assert session.preferred_goal_solver_plugin is None
    assert session.events.filter(kind="preferences.changed").count() == 1
    assert "From now on" not in visible_text(session_html(client, session))


def test_an_answer_names_the_turns_and_sources_that_it_cites(project: Project) -> None:
    session = new_session(project)
    first, second = add_turns(session, 2)
    second.cited_sources = [f"session::{first.request_id}", "handbook.md", "handbook.md"]
    second.save()
    html = session_html(member_client(project), session)
    address = reverse("turn", args=[session.session_id, second.request_id])
    chips = parsed(html).css("a.source-chip")
    assert [(chip.attributes["href"], chip.text()) for chip in chips] == [
        (f"{address}/sources/1", "turn 1"),
        (f"{address}/sources/2", "handbook.md"),
    ]


def test_a_mount_stands_between_the_turns_as_a_divider(project: Project) -> None:
    session = new_session(project)
    add_turns(session, 1)
    mount_base(session, create_base(project, "Handbook"), reason="mount-page")
    session.refresh_from_db()
    add_turns(session, 1)
    html = session_html(member_client(project), session)
    places = parsed(html).css("#turn-1, #turn-2, .chat__divider")
    assert ["chat__divider" in str(place.attributes["class"]) for place in places] == [False, True, False]


def test_what_failed_or_was_stopped_can_be_sent_again(project: Project) -> None:
    session = new_session(project)
    for status in ("succeeded", "failed", "cancelled"):
        add_turns(session, 1, status)
    html = session_html(member_client(project), session)
    again = f'.exchange form[action="{reverse("session-ask", args=[session.session_id])}"]'
    assert len(parsed(html).css(again)) == 2
    assert not parsed(session_html(member_client(project, "viewer"), session)).css(again)
    (stopped,) = texts_of(html, "#turn-3")
    assert "Stopped after" in stopped
    assert "Nothing of it was remembered" not in stopped


def test_policies_are_seen_with_their_source_and_chosen(project: Project) -> None:
    project.flags = {"enable_query_rewriting": False}
    project.save()
    session = new_session(project)
    client, address = member_client(project), reverse("session-policies", args=[session.session_id])
    before = session_html(client, session, panel="settings")
    assert texts_of(before, ".policies__row span").count("from the project") == 1
    assert texts_of(before, "option").count("no, inherited") == 2
    assert parsed(before).css('[placeholder="10, inherited"]')
    assert "from the server" in texts_of(before, ".policies__row span")
    assert client.post(address, {"history_max_turns": "3", "enable_query_rewriting": "yes"}).status_code == 302
    after = session_html(client, session, panel="settings")
    assert texts_of(after, ".policies__row span").count("from this session") == 2
    assert parsed(after).css('[value="3"][placeholder]')
    assert texts_of(after, "option[selected]").count("yes") == 1
    client.post(address, {"history_max_turns": ""})
    session.refresh_from_db()
    assert session.flags == {"enable_query_rewriting": True}
    for value in ("many", "0"):
        assert error_code(client.post(address, {"history_max_turns": value}, follow=True).text) == "INVALID_INPUT"
    viewer = member_client(project, "viewer")
    assert viewer.post(address, {"history_max_turns": "3"}).status_code == 403
    assert "Save policies" not in texts_of(session_html(viewer, session, panel="settings"), "button")


def test_an_old_page_takes_back_no_policy_of_others(project: Project) -> None:
    session = new_session(project)
    client, address = member_client(project), reverse("session-policies", args=[session.session_id])
    (form,) = parsed(session_html(client, session, panel="settings")).css("form.policies")
    shown = {str(item.attributes["name"]): item.attributes.get("value") or "" for item in form.css("input[name]")}
    chosen = {str(item.attributes["name"]): "" for item in form.css("select")}
    client.post(address, {"verbatim_max_turns": "4", "document_bias": "off"})
    client.post(address, shown | chosen | {"history_max_turns": "3"})
    session.refresh_from_db()
    assert session.flags == {"verbatim_max_turns": 4, "document_bias": "off", "history_max_turns": 3}
