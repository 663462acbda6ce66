"""The overview: its figures and links, and a constant number of queries for any number of turns."""

from collections.abc import Mapping
from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase
from pytest_django import DjangoAssertNumQueries, Settings
from selectolax.lexbor import LexborHTMLParser, LexborNode

from sessions_app.actions.settings.api_keys import create_key
from sessions_app.actions.settings.projects import ensure_default_project
from sessions_app.actions.turns.counting import count_ended_turns
from sessions_app.actions.turns.ratings import rate_turn
from sessions_app.environment import Environment
from sessions_app.models import (
    CountedTurns,
    Experiment,
    ExplainabilityTurn,
    Project,
    Session,
    Suite,
    SuiteRun,
    TestResult,
    Trial,
)
from sessions_app.models.turns.durations import duration_key, percentile_ms
from sessions_app.queries.turns.overview import SPANS, overview
from tests.web.page_scene import HOSTILE, admin_of_another_project, check_html, member_client, new_session

OUTCOMES = ("answered", "no-answer", "failed", "quoted")


def count(seconds: float = 60.0) -> int:
    """Count the turns as the sweeper does."""
    return count_ended_turns(lambda: None, seconds)


def add(session: Session, at: datetime, outcome: str = "answered", **columns: object) -> ExplainabilityTurn:
    """Store an ended turn."""
    session.turn_sequence += 1
    return ExplainabilityTurn.objects.create(
        session=session,
        turn_index=session.turn_sequence,
        status="failed" if outcome == "failed" else "succeeded",
        outcome=outcome,
        created_at=at,
        **{"duration_ms": 100, "user_message": "What is the pump made of?", **columns},
    )


@pytest.fixture
def talked(project: Project) -> Session:
    """Return a session with twelve turns of the last six hours, three of each outcome."""
    session = new_session(project)
    now = timezone.now()
    for number in range(12):
        add(session, now - timedelta(minutes=30 * number), OUTCOMES[number % 4], duration_ms=100 * (number + 1))
    return session


def shown(client: Client, **query: str) -> LexborHTMLParser:
    """Return the page."""
    answer = client.get(reverse("overview"), query)
    assert answer.status_code == 200
    check_html(answer.text)
    return LexborHTMLParser(answer.text)


def tiles(page: LexborHTMLParser) -> Mapping[str, tuple[str, str]]:
    """Return the value and the link of each figure, by name."""
    return {
        first(tile, "dt").text(strip=True): (first(tile, "a").text(strip=True), href(first(tile, "a")))
        for tile in page.css(".tile")
    }


def first(within: LexborNode, selector: str) -> LexborNode:
    """Return the first matching node."""
    found = within.css_first(selector)
    assert found is not None, selector
    return found


def href(link: LexborNode) -> str:
    """Return the target of a link."""
    return link.attributes["href"] or ""


def rows_behind(client: Client, address: str) -> int:
    """Return the number of turns in the list at an address."""
    return len(LexborHTMLParser(client.get(address).text).css("tr[data-row]"))


ADDED = st.tuples(st.integers(0, 40), st.sampled_from(OUTCOMES), st.sampled_from([None, "large", "small"]))


class Counting(TestCase):
    """Properties of the counts for turns at any times, counted in any steps."""

    @given(added=st.lists(ADDED, max_size=12), seconds=st.sampled_from([0.0, 60.0]))
    def test_what_is_counted_in_pieces_is_what_there_is(
        self, added: list[tuple[int, str, str | None]], seconds: float
    ) -> None:
        project = ensure_default_project()
        session = new_session(project)
        now = timezone.now()
        for place, (hours, outcome, model) in enumerate(added):
            add(session, now - timedelta(hours=hours), outcome, model=model)
            if place % 3 == 0:
                count(seconds)
        count(seconds)
        while CountedTurns.objects.get().waiting_hours:
            count(seconds)
        span = SPANS["7d"]
        there = ExplainabilityTurn.objects.filter(created_at__gte=span.begins_at(now))
        whole = overview(project, span).whole
        assert (whole.turn_count, whole.failed_count) == (there.count(), there.filter(outcome="failed").count())
        assert overview(project, span, model="large").whole.turn_count == there.filter(model="large").count()


@pytest.mark.parametrize("span", list(SPANS))
def test_every_figure_leads_to_the_turns_behind_it(talked: Session, project: Project, span: str) -> None:
    rate_turn(talked.turns.filter(status="succeeded")[0], "down")
    assert count() == 12
    client = member_client(project)
    page = shown(client, span=span)
    found = tiles(page)
    for name, expected in {"Turns": 12, "Unanswered": 6, "Failed": 3, "Rated down": 1}.items():
        value, address = found[name]
        assert (int(value), rows_behind(client, address)) == (expected, expected), name
    for row in page.css("#overview-table tbody tr"):
        counts, times = (row.css(f"td:nth-child({places}) a") for places in ("-n+5", "n+6"))
        assert all(rows_behind(client, href(link)) == int(link.text()) for link in counts)
        assert {rows_behind(client, href(link)) for link in times} == {int(counts[0].text())}
    assert sum(int(first(row, "a").text()) for row in page.css("#overview-table tbody tr")) == 12


def test_another_base_model_or_agent_is_left_out(talked: Session, project: Project) -> None:
    add(talked, timezone.now(), model="large")
    count()
    client = member_client(project)
    figures = {
        name: tiles(shown(client, **{name: value}))["Turns"][0]
        for name, value in {"model": "large", "kb_id": "nowhere", "agent": "default"}.items()
    }
    assert figures == {"model": "1", "kb_id": "0", "agent": "13"}
    address = tiles(shown(client, model="large"))["Turns"][1]
    assert rows_behind(client, address) == 1


def test_another_key_or_user_is_left_out(project: Project) -> None:
    _, api_key = create_key(project, "Help desk")
    sent = {"messages": [{"role": "user", "content": "The pump is red."}]}
    Client().post("/api/chat/completions", sent, "application/json", headers={"Authorization": f"Bearer {api_key}"})
    asked_by = ExplainabilityTurn.objects.get().asked_by
    add(new_session(project), timezone.now(), asked_by='anna "the fox"')
    count()
    client = member_client(project)
    page = shown(client)
    choices = [option.text(strip=True) for option in page.css("#overview-asker option")[1:]]
    assert choices == sorted(['anna "the fox"', asked_by])
    value, address = tiles(shown(client, asked_by=asked_by))["Turns"]
    assert (value, rows_behind(client, address)) == ("1", 1)


def test_a_model_leads_to_the_turns_that_it_took_part_in(project: Project) -> None:
    session = new_session(project)
    for model in ("largé", "small", "larg"):
        add(session, timezone.now(), model_usage=[["other", 1, 1], [model, 10, 5]], token_count=17)
    count()
    client = member_client(project)
    behind = {
        first(row, "a").text(strip=True): {rows_behind(client, href(link)) for link in row.css("a")}
        for row in shown(client).css("#models tbody tr")
    }
    assert behind == {"other": {3}, "largé": {1}, "small": {1}, "larg": {1}}


def test_the_last_run_of_each_suite_is_told(project: Project) -> None:
    never, suite = (Suite.objects.create(project=project, name=name) for name in ("Never run", "Pumps"))
    session = new_session(project)
    for outcome in ("failed", "passed"):
        experiment = Experiment.objects.create(project=project, session=session, kind="suite", status="finished")
        run = SuiteRun.objects.create(suite=suite, experiment=experiment)
        trial = Trial.objects.create(experiment=experiment, position=1)
        TestResult.objects.create(run=run, trial=trial, position=1, name="One", outcome=outcome)
    client = member_client(project)
    rows = shown(client).css("[aria-labelledby=suites-title] tbody tr")
    assert [[link.text(strip=True) for link in row.css("a")] for row in rows] == [["Pumps", "1 passed"]]
    assert never.name not in rows[0].text()
    assert all(client.get(href(link)).status_code == 200 for link in rows[0].css("a"))


def test_imported_turns_are_counted_apart(talked: Session, project: Project) -> None:
    count()
    client = member_client(project)
    assert "Imported" not in tiles(shown(client))
    add(talked, timezone.now(), kind="imported")
    count()
    found = tiles(shown(client))
    value, address = found["Imported"]
    assert (found["Turns"][0], value, rows_behind(client, address)) == ("13", "1", 1)


def test_others_projects_see_none_of_it(talked: Session) -> None:
    count()
    assert tiles(shown(admin_of_another_project()))["Turns"][0] == "0"


def test_a_running_turn_is_counted_once_it_has_ended(talked: Session, project: Project) -> None:
    running = add(talked, timezone.now(), "", duration_ms=None)
    ExplainabilityTurn.objects.filter(pk=running.pk).update(status="running")
    other = add(new_session(project), timezone.now())
    count()
    ExplainabilityTurn.objects.filter(pk=running.pk).update(status="failed", outcome="failed", duration_ms=5)
    count()
    assert overview(project, SPANS["24h"]).whole.failed_count == 4
    assert CountedTurns.objects.get().newest_turn == other.pk


def test_a_rating_is_counted_and_taken_back(talked: Session, project: Project) -> None:
    count()
    turn = talked.turns.filter(status="succeeded")[0]
    seen = []
    for value in ("up", ""):
        rate_turn(turn, value)
        count()
        seen.append(overview(project, SPANS["24h"]).whole.up_count)
    assert seen == [1, 0]


def test_costs_are_told_for_models_with_a_price(talked: Session, project: Project, settings: Settings) -> None:
    settings.MRPVM_MODEL_PRICES = {"large": (2.0, 10.0)}
    used = [["large", 500_000, 100_000], ["small", 10, 5]]
    add(talked, timezone.now(), model_usage=used, token_count=600_015)
    count()
    page = shown(member_client(project))
    assert tiles(page)["Cost"][0] == "2.00"
    rows = [[cell.text(strip=True) for cell in row.css("td")] for row in page.css("#models tbody tr")]
    assert rows == [["large", "500000", "100000", "2.00"], ["small", "10", "5", "no price"]]


@pytest.mark.parametrize("text", ["large", "large=1", "large=a/b", "=1/2", "large=-1/2", "large=inf/2", "large=nan/1"])
def test_a_price_that_is_none_is_refused(text: str) -> None:
    environment = Environment({"PRICES": text})
    assert environment.model_prices("PRICES") == {}
    assert len(environment.problems) == 1


def test_questions_asked_in_vain_are_grouped_and_escaped(project: Project) -> None:
    session = new_session(project)
    in_vain = {"Who owns the gate?": "no-answer", "who owns the gate": "quoted", f"Why {HOSTILE}": "no-answer"}
    for text, outcome in in_vain.items():
        add(session, timezone.now(), outcome, user_message=text)
    count()
    client = member_client(project)
    page = shown(client)
    rows = page.css("[aria-labelledby=unanswered-title] tbody tr")
    assert [row.css("td")[1].text(strip=True) for row in rows] == ["2", "1"]
    assert rows_behind(client, href(first(rows[0], "a"))) == 2
    assert not page.css("main img")


def test_an_empty_overview_says_so(project: Project) -> None:
    page = shown(member_client(project))
    assert "No turns in this period" in page.text()
    empty = first(page.body, "[aria-labelledby=unanswered-title] p")
    assert " ".join(empty.text().split()) == "Nothing was asked in this period."
    assert not page.css("[data-charts]")


def test_the_page_costs_the_same_for_more_turns(
    talked: Session, project: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client = member_client(project)
    count()
    with django_assert_num_queries(QUERIES):
        client.get(reverse("overview"))
    for number in range(30):
        add(talked, timezone.now() - timedelta(hours=number), "no-answer")
    count()
    with django_assert_num_queries(QUERIES):
        client.get(reverse("overview"))


QUERIES = 11


@given(durations=st.lists(st.integers(1, 600_000), min_size=1, max_size=50), share=st.sampled_from([0.5, 0.95, 1.0]))
def test_a_percentile_is_near_the_true_one(durations: list[int], share: float) -> None:
    counts: dict[int, int] = {}
    for duration in durations:
        counts[duration_key(duration)] = counts.get(duration_key(duration), 0) + 1
    place = max(0, -(-len(durations) * share // 1) - 1)
    true = sorted(durations)[int(place)]
    assert percentile_ms(counts, share) == pytest.approx(true, rel=0.05, abs=1)
