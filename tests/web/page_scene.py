"""Helpers for tests of the pages: members, rows, turns of scripted plugins, and a strict parser of HTML."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import replace
from functools import cache
from html.parser import HTMLParser
from itertools import count
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from selectolax.lexbor import LexborHTMLParser, LexborNode

from mrpvm import registry
from mrpvm.errors import MRPError
from sessions_app.actions.sessions.session import Choices, create_session
from sessions_app.commands.messages import answer_message
from sessions_app.models import (
    ContextUnit,
    ExplainabilityTurn,
    Membership,
    Message,
    Project,
    Session,
    TurnEvents,
    UnitEvent,
)
from sessions_app.turns.call import TurnCall
from tests.kernel.scripted import ACCEPT, Scripted, detection, plan, plugin, retrieval, run, solution
from tests.layers.units import make_unit

type Page = str | LexborHTMLParser | LexborNode

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7|add:7 }}"
POLLING = '[hx-trigger^="every"]'
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


def member_client(project: Project, role: str = "admin", name: str = "") -> Client:
    """Return a client that is logged in as a member with the role."""
    user = User.objects.create_user(name or f"{role}-{User.objects.count()}")
    Membership.objects.create(project=project, user=user, role=role)
    client = Client()
    client.force_login(user)
    return client


def admin_of_another_project() -> Client:
    """Return a client that is logged in as an admin of another project only."""
    other, _ = Project.objects.get_or_create(name="Other", slug="other")
    return member_client(other, name=f"stranger-{User.objects.count()}")


def add_turns(session: Session, how_many: int, status: str = "succeeded") -> list[ExplainabilityTurn]:
    """Store ended turns with messages, units, a ledger and a graph, without running them."""
    failed = status not in ("succeeded", "running")
    numbers = range(session.turn_sequence + 1, session.turn_sequence + how_many + 1)
    turns = ExplainabilityTurn.objects.bulk_create(_new_turn(session, number, status, failed) for number in numbers)
    session.turn_sequence += how_many
    if not failed:
        _add_what_is_kept(session, turns)
    UnitEvent.objects.bulk_create(
        UnitEvent(
            session=session, turn=turn, unit_id=_unit_id(turn), step=step, text=f"Fact {turn.turn_index}.", rank=1,
            score=0.5,
        )
        for turn in turns
        for step in ("staged", "offered", "selected", "cited")
    )  # fmt: skip
    events = list(recorded_turn())
    TurnEvents.objects.bulk_create(TurnEvents(turn=turn, first_sequence=0, events=events) for turn in turns)
    session.save()
    return turns


def _new_turn(session: Session, number: int, status: str, failed: bool) -> ExplainabilityTurn:
    turn = ExplainabilityTurn(
        session=session,
        turn_index=number,
        status=status,
        answer_status="failed" if failed else "answered",
        outcome={"succeeded": "answered", "running": "", "cancelled": "stopped"}.get(status, status),
        user_message=f"Question {number}?",
        assistant_preview="" if failed else f"Answer {number}.",
        duration_ms=number,
        finished_at=timezone.now(),
        error={"code": "VALIDATION_REJECTED", "message": f"Refused {number}.", "details": {}} if failed else None,
    )
    turn.unit_changes = {"discarded" if failed else "added": [_unit_id(turn)]}
    return turn


def _unit_id(turn: ExplainabilityTurn) -> str:
    return f"unit-{turn.session_id}-{turn.turn_index}"


def _add_what_is_kept(session: Session, turns: Sequence[ExplainabilityTurn]) -> None:
    """Store the messages and units of turns that succeeded or run."""
    places = count(session.message_sequence + 1)
    Message.objects.bulk_create(
        Message(session=session, turn=turn, sequence=next(places), role=role, content=f"{role} {turn.turn_index}")
        for turn in turns
        for role in ("user", "assistant")
    )
    session.message_sequence += 2 * len(turns)
    units = []
    for turn in turns:
        value = make_unit(_unit_id(turn), f"Fact {turn.turn_index}.", source_id="session", chunk_id="session::turn")
        units.append(ContextUnit.from_value(value, session=session, turn=turn, state="committed"))
    ContextUnit.objects.bulk_create(units)
    session.unit_count += len(turns)


@cache
def recorded_turn() -> tuple[list[object], ...]:
    """Return the stored events of a small turn."""
    ran = run(
        plugin("sd-plugin", "sd-a", detection("why")),
        plugin("kb-plugin", "kb-a", retrieval("Rex is a dog.")),
        plugin("gs-plugin", "gs-a", solution("Because.")),
    )
    return tuple(record for record in ran.records if record[0] != "units.judged")


class Install:
    """Replaces the registered plugins."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def __call__(self, *given: Scripted, hostile: bool = False) -> None:
        told = HOSTILE if hostile else "Rex is a dog."
        plugins = {item.descriptor.type: item for item in (
            plugin("mrp-plan-plugin", "planner-default", plan()),
            plugin("sd-plugin", "sd-a", detection("why", claims=[told])),
            plugin("kb-plugin", "kb-a", retrieval(told)),
            plugin("gs-plugin", "gs-a", solution(told)),
            plugin("val-plugin", "val-a", ACCEPT),
            *given,
        )}  # fmt: skip
        for item in plugins.values():
            if hostile:
                item.descriptor = replace(item.descriptor, name=HOSTILE, description=HOSTILE, tags=(HOSTILE,))
        chosen = {(item.descriptor.type, item.descriptor.id): item for item in plugins.values()}
        self._monkeypatch.setattr(registry.installed, "_plugins", chosen)


def new_session(project: Project, **changes: object) -> Session:
    """Return a session with some of its columns set."""
    session = create_session(project)
    for name, value in changes.items():
        setattr(session, name, value)
    session.save()
    return session


@contextmanager
def counted_queries() -> Iterator[list[str]]:
    """Collect the queries of the block."""
    found: list[str] = []
    with CaptureQueriesContext(connection) as captured:
        yield found
    found.extend(query["sql"] for query in captured.captured_queries)


class Reader(HTMLParser):
    """Parses a page's tags as a browser does; records everything that could run or is badly nested."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.dangers: list[str] = []
        self.ids: list[str] = []
        self.open_tags: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        names = dict(attributes)
        if tag in ("img", "iframe", "object", "embed", "style") or (tag == "script" and not names.get("src")):
            self.dangers.append(tag)
        self.dangers += [name for name in names if name.startswith("on") or name == "style"]
        for name in ("href", "src", "action"):
            if (names.get(name) or "").strip().lower().startswith(("javascript:", "data:")):
                self.dangers.append(f"{name}={names[name]}")
        if names.get("id"):
            self.ids.append(str(names["id"]))
        if tag not in VOID:
            self.open_tags.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open_tags.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if not self.open_tags or self.open_tags.pop() != tag:
            self.dangers.append(f"</{tag}> closes something else")


def check_html(html: str) -> None:
    """Assert that a page cannot run text of users, repeats no id, and is well nested."""
    reader = Reader(html)
    assert reader.dangers == []
    assert reader.open_tags == []
    repeated = {name for name in reader.ids if reader.ids.count(name) > 1}
    assert repeated == set()


def input_fields(html: str) -> dict[str, str]:
    """Return the named text and hidden inputs of a page, as its form sends them."""
    inputs = parsed(html).css('main input[name]:not([type="checkbox"]):not([type="radio"])')
    return {str(item.attributes["name"]): item.attributes.get("value") or "" for item in inputs}


def parsed(html: str) -> LexborHTMLParser:
    """Return a page or fragment as a tree."""
    return LexborHTMLParser(html)


def elements(page: Page, selector: str) -> list[LexborNode]:
    """Return the matching elements."""
    return (parsed(page) if isinstance(page, str) else page).css(selector)


def texts_of(page: Page, selector: str) -> list[str]:
    """Return the text of each matching element, with single spaces."""
    return [" ".join(node.text().split()) for node in elements(page, selector)]


def text_at(page: Page, selector: str) -> str:
    """Return the text of the only matching element, with single spaces."""
    (text,) = texts_of(page, selector)
    return text


def facts_of(page: Page, selector: str = "dl") -> dict[str, str]:
    """Return the terms of the matching description lists with what is said of each."""
    return {
        term: text
        for facts in elements(page, selector)
        for term, text in zip(texts_of(facts, "dt"), texts_of(facts, "dd"), strict=True)
    }


def notice(page: Page) -> str:
    """Return the message about the action that led to the page."""
    return text_at(page, ".notice--said .toast__text")


def error_code(page: Page) -> str:
    """Return the code of the error that the page tells."""
    return text_at(page, ".notice--said.status-error code")


def visible_text(html: str) -> str:
    """Return the visible text of a page or fragment, with single spaces."""
    return " ".join(parsed(html).text().split())


def links_of(page: Page, selector: str = "a[href]") -> list[str]:
    """Return the targets of the matching links."""
    return attributes_of(page, selector, "href")


def link_of(page: Page, text: str) -> str | None:
    """Return the target of the first link with the text."""
    links = (link for link in elements(page, "a[href]") if " ".join(link.text().split()) == text)
    return next((link.attributes["href"] for link in links), None)


def attributes_of(page: Page, selector: str, name: str) -> list[str]:
    """Return an attribute of each matching element."""
    return [str(node.attributes[name]) for node in elements(page, selector)]


def session_html(client: Client, session: Session, name: str = "session", **query: object) -> str:
    """Return a page or fragment of a session, checked by `check_html`."""
    response = client.get(reverse(name, args=[session.session_id]), query)
    assert response.status_code == 200
    html = response.text
    check_html(html)
    return html


def talk(session: Session, message: str, **choices: Any) -> ExplainabilityTurn:
    with suppress(MRPError):
        answer_message(session, TurnCall(message=message, choices=Choices(**choices)))
    return session.turns.order_by("-turn_index")[0]
