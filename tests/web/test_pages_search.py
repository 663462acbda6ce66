"""Search over sessions, turns, units and errors of the member's project, with the filter language."""

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.sessions.session import delete_session
from sessions_app.actions.turns.ratings import rate_turn
from sessions_app.models import ExplainabilityTurn, Message, Project, Session
from sessions_app.turns.machine import install_plugins
from sessions_app.web.search.results import SHOWN
from tests.actions.knowledge_scene import add_text
from tests.layers.units import make_unit
from tests.web.page_scene import (
    HOSTILE,
    add_turns,
    attributes_of,
    check_html,
    counted_queries,
    links_of,
    member_client,
    new_session,
    parsed,
    text_at,
    texts_of,
    visible_text,
)


@pytest.fixture
def client(project: Project) -> Client:
    return member_client(project)


@pytest.fixture
def session(project: Project) -> Session:
    """Return a session of four turns: two answered, one failed, one slow at a high deliberation level."""
    session = new_session(project, title="Pets")
    add_turns(session, 2)
    add_turns(session, 1, "failed")
    slow = add_turns(session, 1)[0]
    ExplainabilityTurn.objects.filter(pk=slow.pk).update(
        duration_ms=2_500, deliberation_level=2, kb_plugin="kb-fast", model="Large"
    )
    return session


def ask(client: Client, text: str) -> str:
    response = client.get(reverse("search"), {"q": text})
    assert response.status_code == 200
    check_html(response.text)
    return response.text


def turn_links(html: str) -> list[str]:
    """Return the texts of the links to turns."""
    return [text for text in texts_of(html, "a") if text.startswith("Turn ")]


def found_turns(client: Client, text: str) -> set[int]:
    return {int(text.removeprefix("Turn ")) for text in turn_links(ask(client, text))}


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        ("status:failed", {3}),
        ("status:succeeded", {1, 2, 4}),
        ("-status:failed", {1, 2, 4}),
        ("duration:>2s", {4}),
        ("duration:<=2ms", {1, 2}),
        ("level:>=1", {4}),
        ("level:0", {1, 2, 3}),
        ("plugin:kb-fast", {4}),
        ("-plugin:kb-fast", {1, 2, 3}),
        ("model:large", {4}),
        ("error:validation_rejected", {3}),
        ("rating:down", {2}),
        ("rating:none", {1, 3, 4}),
        ("-rating:down", {1, 3, 4}),
        ("cat", {2}),
        ("-cat", {1, 2, 3, 4} - {2}),
        ("refused", {3}),
        ("in:errors", {3}),
        ("-in:errors", {1, 2, 4}),
        ("-in:units question", {1, 2, 3, 4}),
        ("-in:turns question", set()),
        ("in:turns -in:turns", set()),
        ("question -refused", {1, 2, 4}),
        ('"assistant 2"', {2}),
        ("question status:failed", {3}),
        ("kb:'x'", set()),
        ('kb:"Default KB"', {1, 2, 3, 4}),
        ("before:2020-01-01", set()),
        ("after:today", {1, 2, 3, 4}),
    ],
)  # fmt: skip
def test_turns_are_found_by_words_and_filters(client: Client, session: Session, text: str, turns: set[int]) -> None:
    rate_turn(session.turns.get(turn_index=2), "down", "It was the cat.")
    assert found_turns(client, text) == turns


def test_hits_are_marked_in_the_text_that_holds_them(client: Client, session: Session) -> None:
    html = ask(client, "assistant in:turns")
    assert texts_of(html, "mark").count("assistant") == 3
    failed = ask(client, "refused")
    assert "refused every answer" in visible_text(failed).partition("Error:")[2]
    assert "Refused 3." in visible_text(failed).partition("Error:")[2]
    assert {"refused", "Refused"} <= set(texts_of(failed, "mark"))


def test_sessions_are_found_by_name_and_by_their_turns(client: Client, session: Session, project: Project) -> None:
    other = new_session(project, title="Cars")
    expired = new_session(project, title="Old cars", expired_at=timezone.now())
    base = create_base(project, "Handbook")
    Session.objects.filter(pk=other.pk).update(mounted_kb=base)
    for text, expected in (
        ("in:sessions pet", {session}),
        ("in:sessions car", {other, expired}),
        ("in:sessions -car", {session}),
        ("in:sessions status:failed", {session}),
        ("in:sessions status:expired", {expired}),
        ("in:sessions status:active", {session, other}),
        ("in:sessions duration:>2s", {session}),
        ("in:sessions duration:>3s", set()),
        ("in:sessions kb:handbook", {other}),
        (f"in:sessions session:{other.session_id}", {other}),
    ):
        html = ask(client, text)
        assert {row for row in (session, other, expired) if row.session_id in texts_of(html, ".id")} == expected, text


def test_units_and_imported_messages_are_found(client: Client, session: Session, project: Project) -> None:
    Message.objects.create(session=session, sequence=900, role="tool", content="An imported fact 2.")
    html = ask(client, "fact 2")
    assert {"Fact", "2"} <= set(texts_of(html, "mark"))
    assert {"Imported messages", "Units"} <= set(texts_of(html, "#results h2"))
    assert "Units" not in texts_of(ask(client, "status:failed"), "#results h2")
    without = ask(client, "fact 2 -in:units")
    assert "Imported messages" in texts_of(without, "#results h2")
    assert "Units" not in texts_of(without, "#results h2")
    assert ask(client, "in:units plugin:kb-fast").count("from turn 4") == 1


def test_other_projects_and_deleted_sessions_are_not_found(client: Client, session: Session) -> None:
    stranger = member_client(Project.objects.create(name="Other", slug="other"))
    for text in ("fact", "question", "pets", "status:failed", "in:units fact", "-nothing"):
        assert texts_of(ask(stranger, text), "#results h2") == ["No results"], text
        assert "No results" not in texts_of(ask(client, text), "#results h2"), text
    delete_session(session)
    for text in ("fact", "question", "pets", "status:failed", "in:units fact"):
        assert texts_of(ask(client, text), "#results h2") == ["No results"], text


def test_what_was_not_understood_is_explained_with_a_proposal(client: Client, session: Session) -> None:
    html = ask(client, "question status:faild")
    assert text_at(html, "[role=status] strong") == "Not understood: status:faild"
    assert "?q=status%3Afailed" in links_of(html)
    assert found_turns(client, "question status:faild") == {1, 2, 3, 4}


def test_a_turn_shows_the_text_that_holds_the_most_words(client: Client, session: Session) -> None:
    turn = session.turns.get(turn_index=1)
    ExplainabilityTurn.objects.filter(pk=turn.pk).update(user_message="How do I reset the heater?")
    Message.objects.filter(turn=turn, role="assistant").update(content="To reset it, hold the power button.")
    for text, shown in (
        ("hold the power button", "Assistant: To reset it, hold the power button."),
        ("reset the", "Question: How do I reset the heater?"),
    ):
        assert texts_of(ask(client, text), "[aria-labelledby=found-turns] .unit__text") == [shown]


def test_a_long_list_says_that_it_was_cut_and_leads_to_all(client: Client, session: Session) -> None:
    add_turns(session, SHOWN)
    html = ask(client, "question")
    assert text_at(html, "[aria-labelledby=found-turns] .card__head .small").startswith(f"the newest {SHOWN},")
    assert parsed(html).css('a[href*="question%20in:turns"]')
    assert len(found_turns(client, "question in:turns")) == SHOWN + 4


def test_an_empty_search_teaches_the_language(client: Client) -> None:
    html = ask(client, "")
    assert texts_of(html, "#results h2") == ["Query language"]
    assert "duration:>2s" in texts_of(html, "#results dt")


def test_what_was_written_is_text(client: Client, session: Session) -> None:
    session.turns.filter(turn_index=1).update(user_message=f"Question {HOSTILE}")
    session.title = HOSTILE
    session.save()
    for text in (HOSTILE, f'"{HOSTILE}', "alert", f"status:{HOSTILE}", f"<b>:{HOSTILE}"):
        assert "<script>alert" not in ask(client, text)


def test_the_queries_do_not_grow_with_what_is_found(client: Client, session: Session) -> None:
    counts = []
    for _ in range(2):
        with counted_queries() as queries:
            ask(client, "question fact -nothing rating:none")
        counts.append(len(queries))
        add_turns(session, 6)
        add_turns(session, 1, "failed")
    assert counts[0] == counts[1] <= 15


@pytest.mark.parametrize(
    ("written", "first"),
    [
        ("st", "status:"),
        ("-ra", "-rating:"),
        ("status:f", "status:failed "),
        ("kb:hand", 'kb:"Hand book" '),
        ('kb:"hand', 'kb:"Hand book" '),
        ("plugin:fast", "plugin:gs-llm-fast "),
        ("error:valid", "error:VALIDATION_REJECTED "),
        ("nothing:", None),
        ("zzz", None),
    ],
)
def test_what_is_being_written_is_completed(client: Client, project: Project, written: str, first: str | None) -> None:
    install_plugins()
    create_base(project, "Hand book")
    html = client.get(reverse("search-complete"), {"written": written}).text
    check_html(html)
    offered = [text.replace('"', "'") for text in attributes_of(html, "[data-insert]", "data-insert")]
    assert [text.replace("'", '"') for text in offered][:1] == ([] if first is None else [first])


def test_the_palette_lists_bases_sessions_and_turns(client: Client, session: Session, project: Project) -> None:
    named = [create_base(project, f"Pumps {number}") for number in range(6)]
    html = client.get(reverse("search-palette"), {"q": " pumps "}).text
    check_html(html)
    offered = links_of(html, "[role=option]")
    assert len(offered) == 5
    assert reverse("knowledge-base", args=[named[0].kb_id]) in offered
    assert not parsed(client.get(reverse("search-palette")).text).css('[href*="/knowledge/"]')
    html = client.get(reverse("search-palette"), {"q": "question"}).text
    check_html(html)
    assert len(parsed(html).css("[role=option]")) == 4
    assert reverse("session", args=[session.session_id]) in links_of(
        parsed(client.get(reverse("search-palette"), {"q": "pets"}).text)
    )


def test_the_registry_of_a_session_is_filtered_and_stays_so(client: Client, session: Session) -> None:
    state = reverse("session-state", args=[session.session_id])
    html = client.get(state, {"find": "status:failed"}).text
    assert turn_links(html) == ["Turn 3"]
    assert parsed(html).css(f'[hx-get="{state}?panel=turns&find=status%3Afailed"]')
    page = client.get(reverse("session", args=[session.session_id]), {"find": "duration:>2s"}).text
    assert turn_links(page) == ["Turn 4"]
    assert len(parsed(page).css(".exchange")) == 4
    assert text_at(client.get(state, {"find": "status:running"}).text, "#panel-turns p").startswith(
        "No matching turns."
    )
    add_turns(session, 30)
    html = client.get(state, {"find": "-status:failed"}).text
    (more,) = attributes_of(html, '[hx-get*="turns_before="]', "hx-get")
    shown = turn_links(html) + turn_links(client.get(more).text)
    assert [int(text.removeprefix("Turn ")) for text in shown] == [number for number in range(34, 0, -1) if number != 3]


def test_the_time_of_a_turn_is_its_own(client: Client, session: Session) -> None:
    session.turns.filter(turn_index=1).update(created_at=timezone.now() - timedelta(days=40))
    day = (timezone.now() - timedelta(days=20)).date().isoformat()
    assert found_turns(client, f"before:{day}") == {1}
    assert found_turns(client, f"after:{day}") == {2, 3, 4}


def test_a_session_that_is_overdue_is_expired_and_not_active(client: Client, session: Session) -> None:
    """This holds before the sweep marks it too."""
    Session.objects.update(expires_at=timezone.now() - timedelta(minutes=1))
    assert found_turns(client, "status:expired") == {1, 2, 3, 4}
    assert found_turns(client, "status:active") == set()
    Session.objects.update(expires_at=None)
    assert found_turns(client, "status:active") == {1, 2, 3, 4}


@pytest.mark.parametrize(("text", "place"), [("", ".card__body p"), ("sauna", "#found-in-bases")])
def test_who_finds_nothing_is_led_to_the_knowledge(client: Client, text: str, place: str) -> None:
    html = ask(client, text)
    assert "What a knowledge base holds is searched on its own page." in text_at(html, place)
    assert reverse("knowledge") in links_of(html, f"{place} a")


@pytest.mark.parametrize(("text", "words"), [("pump hums", "pump hums"), ('"pump hums" -dog', '"pump hums"')])
def test_words_are_looked_for_in_what_bases_hold(client: Client, project: Project, text: str, words: str) -> None:
    base = create_base(project, "Handbook")
    create_base(project, "Empty")
    add_text(base, "rules.md", "The pump hums.", [make_unit("a", "The pump hums.")])
    _, held = links_of(ask(client, text), "#found-in-bases a")
    asked = parse_qs(urlsplit(held).query)
    assert (urlsplit(held).path, asked) == (reverse("knowledge-base", args=[base.kb_id]), {"q": [words]})
    assert "The pump hums." in texts_of(client.get(held).text, "[aria-labelledby=units-title] li a")
    assert not parsed(ask(client, "status:failed")).css("#found-in-bases")


def test_bases_are_found_by_their_names(client: Client, project: Project) -> None:
    base = create_base(project, "Ferry handbook")
    address = reverse("knowledge-base", args=[base.kb_id])
    assert address in links_of(ask(client, "ferry book"))
    assert address not in links_of(ask(client, "ferry -handbook"))
    assert address not in links_of(ask(client, "ferry status:failed"))


def test_a_search_that_finds_nothing_says_what_helps(client: Client, session: Session) -> None:
    assert "Write only the beginning of a word" in text_at(ask(client, "nosuchword"), "#results .empty p")
    said = text_at(ask(client, "nosuchword status:failed"), "#results .empty p")
    assert "Take one away, or write only the beginning" in said
