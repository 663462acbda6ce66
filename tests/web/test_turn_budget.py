"""The model's context on the turn page: the bar of sections, omissions, and each section's exact text."""

import re
from itertools import pairwise
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.actions.sessions.session import create_session
from sessions_app.models import ExplainabilityTurn, Message, Project
from sessions_app.web.turns.panels.budget import BAR_WIDTH, LEAST_WIDTH, budget_parts
from tests.configured_model import acting
from tests.llm.provider import Provider, refuse
from tests.web.page_scene import (
    HOSTILE,
    add_turns,
    attributes_of,
    member_client,
    new_session,
    parsed,
    talk,
    text_at,
    texts_of,
)
from tests.web.test_turn_panels import get, spaced


def section(client: Client, turn: ExplainabilityTurn, place: int) -> str:
    """Return a section's text, requested by itself."""
    response = client.get(reverse("turn-section", args=[turn.session.session_id, turn.request_id, place]))
    assert response.status_code == 200
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    return response.text


def lines(html: str) -> dict[str, str]:
    """Return each section's line by its name."""
    summaries = parsed(html).css("summary:has(.budget__sign)")
    return {texts_of(summary, ".budget__name")[0]: spaced(summary) for summary in summaries}


def with_report(turn: ExplainabilityTurn, *sections: dict[str, Any], **more: Any) -> ExplainabilityTurn:
    turn.context_report = {"conversationSource": "stored", "chars": 0, "tokens": 0, "sections": list(sections), **more}
    turn.save()
    return turn


@pytest.mark.rule("CONTEXT-24")
def test_sections_show_sizes_and_open_to_the_sent_text(
    live_project: Project, provider: Provider, unvalidated: None
) -> None:
    session = new_session(live_project, system_prompt="Answer in one sentence.")
    choices = {"seed_detector": "sd-symbolic", "goal_solver": "gs-llm-fast"}
    talk(session, "My dog is called Rex.", **choices)
    turn = talk(session, "What is my dog called?", **choices)
    assert turn.context_report is not None
    client = member_client(live_project, "viewer")
    page = get(client, turn, "turn-context")
    shown, stored = lines(page), turn.context_report["sections"]
    parts = ["Persona", "Style", "System prompt"]
    assert list(shown) == [*parts, "Conversation", "Evidence", "Message"]
    for line, item in zip(shown.values(), stored, strict=True):
        assert f"{item['chars']} characters, {item['tokens']} tokens" in line
    assert "this session, 2 messages" in shown["Conversation"]
    sums = f"{turn.context_report['chars']} characters, about {turn.context_report['tokens']} tokens"
    assert text_at(page, ".budget .card__head .numeric").startswith(sums)
    sent = provider.bodies[-1]["messages"]
    texts = [section(client, turn, place) for place in range(6)]
    assert texts[2] == "Answer in one sentence."
    assert "\n\n".join(texts[:3]) in sent[0]["content"]
    conversation = "\n\n".join(f"**{item['role']}**: {item['content']}" for item in sent[1:3])
    assert texts[3] == conversation
    assert texts[4] == "My dog is called Rex."
    assert texts[5] == "What is my dog called?"
    assert [len(text) for text in texts] == [item["chars"] for item in stored]


def test_what_was_cut_is_said_with_the_rule_that_cut_it(live_project: Project) -> None:
    session = new_session(live_project, flags={"history_max_turns": 1, "enable_history_summarization": False})
    for number in range(3):
        turn = talk(session, f"My dog number {number} is called Rex.")
    line = lines(get(member_client(live_project), turn, "turn-context"))["Conversation"]
    assert "this session, 2 messages" in line
    assert "2 messages left out, by the cap on messages" in line


def test_a_refused_summary_is_a_warning_with_its_request(
    live_project: Project, provider: Provider, unvalidated: None
) -> None:
    session = create_session(live_project)
    provider.otherwise = acting(refuse(400, "I will not"))
    for number in range(6):
        turn = talk(session, f"Thing {number} costs $50.", seed_detector="sd-symbolic", goal_solver="gs-symbolic")
        if (turn.context_report or {}).get("warnings"):
            break
    client = member_client(live_project)
    page = get(client, turn, "turn-context")
    assert "the model did not summarise the older messages, so rules did" in text_at(page, ".budget__warnings")
    assert texts_of(page, "#request-preparing summary span") == ["To prepare the context", "1 call"]
    assert "Thing 0 costs $50." in " ".join(texts_of(get(client, turn, "turn-requests", "preparing"), ".request__text"))
    (cut,) = texts_of(page, ".budget__cut")
    assert cut.endswith("left out, covered by the summary")


def test_what_is_gone_is_counted_and_what_never_was_is_not_found(project: Project) -> None:
    session = new_session(project)
    turn = add_turns(session, 3)[-1]
    conversation = {"name": "conversation", "source": "stored", "chars": 50, "tokens": 13, "kept_count": 4}
    evidence = {"name": "evidence", "source": "retrieval", "chars": 7, "tokens": 2, "kept_count": 2}
    with_report(turn, conversation | {"places": [1, 4]}, evidence | {"unit_ids": [f"unit-{session.pk}-1", "unit-gone"]})
    Message.objects.filter(session=session, sequence=2).delete()
    client = member_client(project)
    address = reverse("turn-section", args=[session.session_id, turn.request_id, 0])
    shown = client.get(address, headers={"HX-Request": "true"}).text
    assert text_at(shown, "p") == "1 of what stood here is no longer stored."
    assert "**user**: user 1\n\n**user**: user 2\n\n**assistant**: assistant 2" in parsed(shown).text()
    assert section(client, turn, 1) == "Fact 1."
    assert client.get(address.replace("/sections/0", "/sections/2")).status_code == 404
    stranger = new_session(project)
    assert client.get(address.replace(session.session_id, stranger.session_id)).status_code == 404


def test_what_was_written_in_a_section_is_text(project: Project) -> None:
    turn = add_turns(new_session(project), 1)[0]
    with_report(
        turn, {"name": HOSTILE, "source": HOSTILE, "chars": 9, "tokens": 3, "text": HOSTILE, "note": HOSTILE},
        warnings=[HOSTILE],
    )  # fmt: skip
    client = member_client(project)
    get(client, turn, "turn-context")
    assert section(client, turn, 0) == HOSTILE
    response = client.get(
        reverse("turn-section", args=[turn.session.session_id, turn.request_id, 0]), headers={"HX-Request": "true"}
    )
    assert HOSTILE not in response.text


def test_a_turn_without_a_report_has_no_bar(project: Project) -> None:
    turn = add_turns(new_session(project), 1)[0]
    assert not parsed(get(member_client(project), turn, "turn-context")).css('[class="card budget"]')


@pytest.mark.parametrize("count", [0, 1])
def test_an_empty_bar_can_be_drawn(count: int) -> None:
    empty = {"name": "message", "source": "request", "chars": 0, "tokens": 0}
    assert [part.percent for part in budget_parts([empty] * count)] == [0] * count


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=6))
def test_the_bar_is_in_proportion_with_a_least_width(sizes: list[int]) -> None:
    parts = budget_parts([{"name": "x", "source": "y", "chars": size, "tokens": 1} for size in sizes])
    assert parts[0].at == 0
    assert parts[-1].at + parts[-1].width == BAR_WIDTH
    for part, following in pairwise(parts):
        assert part.at + part.width == following.at
    assert all(part.width >= LEAST_WIDTH for part in parts)
    for one, size in zip(parts, sizes, strict=True):
        for other, other_size in zip(parts, sizes, strict=True):
            assert size < other_size or one.width >= other.width - 1


def test_what_the_window_left_out_is_drawn_and_its_cap_named(live_project: Project) -> None:
    session = new_session(live_project, flags={"history_max_turns": 1, "enable_history_summarization": False})
    for message in ("My dog is called Rex.", "My cat is called Tom."):
        talk(session, message)
    turn = talk(session, "What is my dog called?")
    left_out = sum(len(row.content) for row in session.messages.order_by("sequence")[:2])
    page = get(member_client(live_project, "viewer"), turn, "turn-context")
    assert text_at(page, ".budget__legend:has(.budget__sign--left-out)").startswith(
        f"Left out: 2 older messages, {left_out:,} characters"
    )
    (width,) = attributes_of(page, ".budget__left-out", "width")
    assert parsed(page).css(f'.budget__part[x="{width}"]')
    caps = texts_of(page, ".budget__caps li")
    assert "Window: at most 1 exchange (set by this session)" in caps
    assert "Window: at most 16,000 characters (set by the server)" in caps


def test_a_unit_that_says_otherwise_is_marked_among_the_units(live_project: Project) -> None:
    session = new_session(live_project)
    talk(session, "Vehicles board at gate B.")
    turn = talk(session, "Vehicles board at gate C. Where do vehicles board?")
    page = get(member_client(live_project, "viewer"), turn, "turn-context")
    (against, *_) = texts_of(page, '.badge.status-warn[title^="It says something else"]')
    assert re.search("says gate [BC]$", against)


def test_the_bar_shows_what_the_cap_leaves_free(live_project: Project) -> None:
    session = new_session(live_project)
    talk(session, "My dog is called Rex.")
    turn = talk(session, "What is my dog called?")
    page = get(member_client(live_project, "viewer"), turn, "turn-context")
    (drawn,) = parsed(page).css("rect.budget__free")
    at, width = (int(str(drawn.attributes[name])) for name in ("x", "width"))
    (room,) = re.findall(r"room for ([\d,]+) more characters", drawn.text())
    free = int(room.replace(",", ""))
    shown = sum(item["chars"] for item in (turn.context_report or {})["sections"])
    assert (width, at) == (round(BAR_WIDTH * free / (free + shown)), BAR_WIDTH - width)


def test_a_unit_s_score_is_a_bar_of_its_parts_with_the_formula(live_project: Project) -> None:
    session = new_session(live_project)
    talk(session, "My dog is called Rex.")
    turn = talk(session, "What is my dog called?")
    page = get(member_client(live_project, "viewer"), turn, "turn-context")
    (row,) = parsed(page).css("#ledger-1")
    (label,) = attributes_of(row, "svg.score-bar", "aria-label")
    formula = re.fullmatch(r"bm25 [\d.]+ \+ .*session x1\.15 [\d.]+ = (1\.\d\d)", label)
    assert formula is not None
    assert texts_of(row, '[data-label="Score"]') == [formula[1]]
    widths = attributes_of(row, ".score-bar__part", "width")
    assert len(widths) == label.count("+") + 1
    assert sum(map(float, widths)) == pytest.approx(100, abs=0.1)
