"""The list of turns of all sessions: its rows, its filters, and how far back it searches."""

import re

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries, Settings
from selectolax.lexbor import LexborNode

from mrpvm.errors import MRPError
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.mounts import mount_base
from sessions_app.actions.turns.outcomes import fill_missing_outcomes
from sessions_app.actions.turns.ratings import rate_turn
from sessions_app.models import ExplainabilityTurn, Project
from sessions_app.queries.turns import lists as turn_lists
from tests.web.page_scene import (
    add_turns,
    admin_of_another_project,
    check_html,
    link_of,
    links_of,
    member_client,
    new_session,
    parsed,
    text_at,
    texts_of,
)
from tests.web.test_turn_panels import spaced


def rows(client: Client, **query: object) -> list[LexborNode]:
    """Return the rows of the list."""
    answer = client.get(reverse("turns"), query)
    assert answer.status_code == 200
    check_html(answer.text)
    return rows_of(answer.text)


def rows_of(html: str) -> list[LexborNode]:
    return parsed(html).css('tr[id^="turn-"][data-row]')


def asked(found: list[LexborNode]) -> list[str]:
    return [texts_of(row, "[data-row-link]")[0] for row in found]


@pytest.fixture
def turns(project: Project) -> list[ExplainabilityTurn]:
    """Return six turns of two sessions, with one for each filter of the list."""
    made = add_turns(new_session(project, title="One"), 3) + add_turns(new_session(project, title="Two"), 3)
    changes = (
        {"outcome": "no-answer"},
        {"outcome": "quoted"},
        {"outcome": "failed", "status": "failed", "kind": "imported"},
        {"is_rewritten": True, "outcome": "answered", "answer_basis": "stated"},
        {"left_out_count": 4, "outcome": "answered"},
        {
            "duration_ms": 2_500,
            "outcome": "answered",
            "is_grounded": False,
            "token_count": 672,
            "goal_solver_plugin": "gs-llm-fast",
        },
    )
    for number, (turn, columns) in enumerate(zip(made, changes, strict=True), start=1):
        ExplainabilityTurn.objects.filter(pk=turn.pk).update(user_message=f"Q{number}?", **columns)
    return made


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["Q6?", "Q5?", "Q4?", "Q3?", "Q2?", "Q1?"]),
        ("status:no-answer", ["Q1?"]),
        ("status:unanswered", ["Q2?", "Q1?"]),
        ("status:quoted", ["Q2?"]),
        ("status:failed", ["Q3?"]),
        ("is:rewritten", ["Q4?"]),
        ("is:left-out", ["Q5?"]),
        ("is:ungrounded", ["Q6?"]),
        ("is:slow", ["Q6?"]),
        ("is:imported", ["Q3?"]),
        ("rating:down", ["Q2?"]),
        ("-status:answered is:slow", []),
    ],
)
def test_turns_are_found_by_what_became_of_them(
    project: Project, turns: list[ExplainabilityTurn], text: str, expected: list[str]
) -> None:
    rate_turn(turns[1], "down", "No.")
    assert asked(rows(member_client(project, "viewer"), q=text)) == expected


def test_a_row_tells_outcome_base_solver_tokens_and_time(project: Project, turns: list[ExplainabilityTurn]) -> None:
    newest, *_ = rows(member_client(project))
    told = spaced(newest)
    for words in ("Answered", "Q6?", "Two", turns[-1].session.mounted_kb.name, "gs-llm-fast", "672", "2.5 s"):
        assert words in told
    assert reverse("turn", args=[turns[-1].session.session_id, turns[-1].request_id]) in links_of(newest)


def test_a_row_shows_the_answer_or_the_error(project: Project, turns: list[ExplainabilityTurn]) -> None:
    ExplainabilityTurn.objects.filter(pk=turns[5].pk).update(assistant_preview="Cars **board** at gate B. [1]")
    ExplainabilityTurn.objects.filter(pk=turns[4].pk).update(assistant_preview="")
    ExplainabilityTurn.objects.filter(pk=turns[2].pk).update(
        assistant_preview="", error=MRPError("It took too long.").as_record()
    )
    shown = {asked([row])[0]: texts_of(row, ".table__sub") for row in rows(member_client(project))}
    assert shown["Q6?"] == ["Cars board at gate B. [1]"]
    assert shown["Q5?"] == []
    assert shown["Q3?"] == ["It took too long."]


def test_an_answer_that_no_source_supports_has_a_badge(project: Project, turns: list[ExplainabilityTurn]) -> None:
    marked = [row for row in rows(member_client(project)) if "not from your sources" in texts_of(row, ".badge")]
    assert asked(marked) == ["Q6?"]


def test_an_imported_turn_has_a_badge(project: Project, turns: list[ExplainabilityTurn]) -> None:
    marked = [row for row in rows(member_client(project)) if "imported" in spaced(row).split()]
    assert asked(marked) == ["Q3?"]


def test_a_turn_is_listed_with_the_base_that_it_ran_over(project: Project) -> None:
    session = new_session(project)
    add_turns(session, 1)
    mount_base(session, create_base(project, "Handbook"), reason="user")
    session.refresh_from_db()
    add_turns(session, 1)
    later, earlier = rows(member_client(project))
    assert "Handbook" in later.text()
    assert "Handbook" not in earlier.text()


def test_pages_follow_each_other_without_gaps(project: Project, settings: Settings) -> None:
    settings.MRPVM_SEARCHED_ROWS = 7
    add_turns(new_session(project), 20)
    client = member_client(project)
    address, seen = reverse("turns"), []
    for _ in range(20):
        html = client.get(address).text
        seen += asked(rows_of(html))
        address = link_of(html, "Search further back")
        if address is None:
            break
    assert [int(re.sub(r"\D", "", text)) for text in seen] == list(range(20, 0, -1))


@pytest.mark.parametrize(
    "text", ["status:no-answer", "is:rewritten", "is:left-out", "is:slow", "is:imported", "rating:down"]
)
def test_a_filter_with_an_index_is_found_however_far_back(
    project: Project, turns: list[ExplainabilityTurn], settings: Settings, text: str
) -> None:
    rate_turn(turns[1], "down", "No.")
    add_turns(new_session(project), 20)
    settings.MRPVM_SEARCHED_ROWS = 5
    assert len(rows(member_client(project), q=text)) == 1


@pytest.mark.parametrize(
    ("sort", "expected"), [("time", ["Q6?", "Q3?", "Q2?", "Q1?"]), ("tokens", ["Q6?", "Q5?", "Q4?", "Q3?"])]
)
def test_turns_are_ordered_by_time_and_by_tokens(
    project: Project, turns: list[ExplainabilityTurn], sort: str, expected: list[str]
) -> None:
    ExplainabilityTurn.objects.filter(user_message__in=("Q4?", "Q5?")).update(duration_ms=0)
    client = member_client(project)
    html = client.get(reverse("turns"), {"sort": sort}).text
    assert asked(rows_of(html))[:4] == expected
    assert parsed(html).css('[aria-sort="descending"]')


def test_pages_of_an_ordered_list_follow_each_other(project: Project) -> None:
    add_turns(new_session(project), 120)
    client, address, seen = member_client(project), f"{reverse('turns')}?sort=time", []
    while address:
        html = client.get(address).text
        seen += asked(rows_of(html))
        address = next(iter(links_of(html, "#more-turns a")), "")
    assert [int(re.sub(r"\D", "", text)) for text in seen] == list(range(120, 0, -1))


def test_a_turn_stored_without_an_outcome_goes_by_its_status(project: Project) -> None:
    (turn,) = add_turns(new_session(project), 1, "interrupted")
    ExplainabilityTurn.objects.filter(pk=turn.pk).update(outcome="")
    assert "Interrupted" in rows(member_client(project))[0].text()


@pytest.mark.parametrize(
    ("columns", "query"),
    [
        ({"status": "failed", "answer_status": "failed"}, "status:failed"),
        ({"answer_status": "no-context"}, "status:no-answer"),
        ({"answer_status": "answered", "assistant_preview": "Noted: It rains. [1]"}, "status:noted"),
        ({"answer_status": "answered"}, "status:answered"),
        ({"kind": "command", "answer_status": None}, ""),
    ],
)
def test_upkeep_lets_filters_find_turns_without_an_outcome(
    project: Project, columns: dict[str, object], query: str
) -> None:
    (turn,) = add_turns(new_session(project), 1)
    ExplainabilityTurn.objects.filter(pk=turn.pk).update(outcome="", **columns)
    client = member_client(project)
    assert len(rows(client, q=query)) == (0 if query else 1)
    assert (fill_missing_outcomes(), fill_missing_outcomes()) == (1, 0)
    assert len(rows(client, q=query)) == 1


def test_upkeep_leaves_a_running_turn_without_an_outcome(project: Project) -> None:
    (turn,) = add_turns(new_session(project), 1, "running")
    ExplainabilityTurn.objects.filter(pk=turn.pk).update(outcome="")
    assert fill_missing_outcomes() == 0


def test_what_was_told_is_noted_and_what_was_asked_answered(live_project: Project) -> None:
    client, session = member_client(live_project, "editor"), new_session(live_project)
    for message in ("My dog is called Rex.", "What is my dog called?", "My cat is Tom. What is my cat called?"):
        client.post(reverse("session-ask", args=[session.session_id]), {"content": message})
    html = client.get(reverse("turns")).text
    assert texts_of(html, ".outcome") == ["Answered", "Answered", "Noted"]
    assert asked(rows(client, q="status:noted")) == ["My dog is called Rex."]


def test_what_the_summary_tells_of_is_not_left_out(live_project: Project) -> None:
    client, session = member_client(live_project, "editor"), new_session(live_project)
    for number in range(8):
        message = f"My dog number {number} is called Rex."
        client.post(reverse("session-ask", args=[session.session_id]), {"content": message})
    turn = session.turns.order_by("turn_index").last()
    by_rule = {section.get("rule"): section.get("omitted_count", 0) for section in turn.context_report["sections"]}
    assert by_rule["summarised"] > 0
    assert turn.left_out_count == sum(count for rule, count in by_rule.items() if rule != "summarised")
    assert "left out" not in rows(client)[0].text()


def test_the_list_costs_the_same_for_many_turns(
    project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    client = member_client(project)
    for _ in range(3):
        add_turns(new_session(project), 25)
    rows(client)
    with django_assert_max_num_queries(8):
        assert len(rows(client)) == turn_lists.SHOWN


def test_turns_of_other_projects_are_not_listed(project: Project, turns: list[ExplainabilityTurn]) -> None:
    assert rows(admin_of_another_project()) == []


def test_an_empty_list_says_what_to_do(project: Project) -> None:
    client = member_client(project)
    assert text_at(client.get(reverse("turns")).text, ".empty h2") == "No turn yet"
    assert text_at(client.get(reverse("turns"), {"q": "rex"}).text, ".empty h2") == "No matching turns"
    misspelt = client.get(reverse("turns"), {"q": "status:no-anser"}).text
    assert text_at(misspelt, ".understood strong") == "Not understood: status:no-anser"
