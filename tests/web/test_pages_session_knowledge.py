"""The mount and draft of a session, by the forms of its page without JavaScript."""

import pytest
from django.test import Client
from django.urls import reverse
from selectolax.lexbor import LexborNode

from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.drafts import stage_source
from sessions_app.actions.knowledge.source_rows import NewSource
from sessions_app.actions.sessions.session import create_session
from sessions_app.models import KnowledgeBase, Project, Session
from sessions_app.queries.knowledge.bases import told_units
from sessions_app.web.sessions import saving
from tests.actions.knowledge_scene import add_text, forget, held
from tests.actions.knowledge_scene import tell as learn
from tests.layers.units import make_unit
from tests.web.page_scene import (
    attributes_of,
    check_html,
    counted_queries,
    error_code,
    links_of,
    member_client,
    notice,
    parsed,
    text_at,
    texts_of,
)


@pytest.fixture
def session(project: Project) -> Session:
    """Return a session with an unsaved draft."""
    session = create_session(project, base=create_base(project, "Handbook"))
    unit = make_unit("rules::a", "The pump hums.")
    stage_source(session, NewSource(name="rules", source_id="rules", content="The pump hums.", units=[unit]))
    return session


def sent(client: Client, session: Session, address: str, **values: object) -> str:
    """Send a form of the page; return the page that follows."""
    response = client.post(reverse(address, args=[session.session_id]), values, follow=True)
    assert response.redirect_chain == [(reverse("session", args=[session.session_id]), 302)]
    html = response.text
    check_html(html)
    session.refresh_from_db()
    return html


def holding(word: str) -> list[str]:
    return [base.name for base in KnowledgeBase.objects.all() if held(base, word)]


@pytest.mark.parametrize(
    ("name", "values", "kept_in", "told"),
    [
        ("session-kb-save", {}, ["Handbook"], "Saved into “Handbook” as revision 2."),
        ("session-kb-fork", {}, ["Handbook fork"], "Created “Handbook fork”. The session sees its revision 1 now."),
        ("session-kb-fork", {"name": " Mine "}, ["Mine"], "Created “Mine”."),
        ("session-kb-mount", {"discard_draft": "yes"}, [], "The draft was discarded."),
    ],
)
def test_a_draft_is_settled(
    project: Project, session: Session, name: str, values: dict[str, str], kept_in: list[str], told: str
) -> None:
    html = sent(member_client(project, "editor"), session, name, **values)
    page = parsed(html)
    assert told in notice(page)
    assert links_of(page, ".notice--said a") == [reverse("knowledge-base", args=[session.mounted_kb.kb_id])]
    assert not session.is_dirty
    assert holding("pump") == kept_in
    assert session.mounted_kb.name == (kept_in or ["Handbook"])[0]


def test_two_members_take_the_same_source_out(project: Project, session: Session) -> None:
    client = member_client(project, "editor")
    told = "The source was removed from the draft.", "The source is no longer in the draft."
    for words in told:
        page = parsed(sent(client, session, "session-kb-unstage", source_id="rules"))
        assert words in notice(page)


def test_the_newest_revision_is_mounted(project: Project) -> None:
    base = create_base(project, "Handbook")
    session, client = create_session(project, base=base), member_client(project, name="ana", role="editor")
    add_text(base, "more", "More", [make_unit("b", "The valve leaks.")])
    html = sent(client, session, "session-kb-mount")
    assert notice(html) == "The session sees revision 2 of “Handbook” now."
    newest = session.mounts.latest("pk")
    assert text_at(html, f"#mounted-{newest.pk} .unit__meta").startswith("mounted on the session's page by ana")
    assert session.draft.unit_count == 1


def test_an_unsaved_draft_is_not_thrown_away_by_a_mount(project: Project, session: Session) -> None:
    html = sent(member_client(project), session, "session-kb-mount")
    assert error_code(html) == "WORKSPACE_DIRTY"
    assert session.is_dirty


def test_a_save_over_anothers_change_keeps_the_draft(project: Project, session: Session) -> None:
    add_text(session.mounted_kb, "more", "More", [make_unit("b", "The valve leaks.")])
    html = sent(member_client(project), session, "session-kb-save")
    assert "has been changed since this session mounted it" in notice(html)
    assert session.is_dirty
    assert holding("pump") == []


SAVING_LINK = 'a[href="?saving=1#unsaved-draft"]'
KNOWLEDGE = "[aria-labelledby=state-knowledge] dd"
TOLD = [f"My badge number is {number}." for number in range(7)]


def asks(client: Client, session: Session) -> str:
    """Return the question of the dialog."""
    response = client.get(reverse("session-kb-saving", args=[session.session_id]))
    assert response.status_code == 200
    html = response.text
    check_html(html)
    return html


def form_of(html: str, name: str, session: Session) -> LexborNode | None:
    """Return the form with this target."""
    return parsed(html).css_first(f'form[action="{reverse(name, args=[session.session_id])}"]')


def test_the_dialog_names_the_base_and_what_would_go_there(project: Project, session: Session) -> None:
    learn(session, *TOLD)
    html = asks(member_client(project), session)
    save, fork = form_of(html, "session-kb-save", session), form_of(html, "session-kb-fork", session)
    assert save is not None
    assert fork is not None
    assert "Handbook, now at revision 1." in " ".join(save.text().split())
    assert "Sources changed in this session alone: 1" in texts_of(html, "#saving h3")
    assert texts_of(html, '[aria-label="Changed sources"] li') == ["rules 1 unit"]
    assert [any(text.startswith(claim) for text in texts_of(html, "ins")) for claim in TOLD] == [True] * 7
    for form, default in ((save, ""), (fork, "yes")):
        assert attributes_of(form, "[name=unit]", "value") == [f"session::{claim}" for claim in TOLD]
        assert texts_of(form, "[name=unit] + span") == list(TOLD)
        assert attributes_of(form, "[name=include_conversation_units][checked]", "value") == [default]
    assert fork.css('[value="Handbook fork"]')


@pytest.mark.parametrize("name", ["session-kb-save", "session-kb-fork"])
@pytest.mark.parametrize("is_ticked", [True, False])
def test_what_was_told_is_kept_private_unless_it_is_ticked(
    project: Project, session: Session, name: str, is_ticked: bool
) -> None:
    learn(session, *TOLD)
    html = sent(member_client(project), session, name, **({"include_conversation_units": "yes"} if is_ticked else {}))
    assert ("with the facts told in the conversation" in notice(html)) == is_ticked
    assert len(held(session.mounted_kb, "badge")) == (7 if is_ticked else 0)
    assert held(session.mounted_kb, "pump") == ["The pump hums."]
    assert ("7 statements, in this session alone" in texts_of(html, KNOWLEDGE)) == (not is_ticked)


@pytest.mark.parametrize("name", ["session-kb-save", "session-kb-fork"])
def test_facts_told_are_chosen_one_by_one(project: Project, session: Session, name: str) -> None:
    learn(session, *TOLD)
    ids = {unit.claim: unit.unit_id for unit in told_units(session)}
    client = member_client(project)
    html = sent(client, session, name, include_conversation_units="chosen", unit=[ids[TOLD[2]], ids[TOLD[4]]])
    assert "with 2 of the facts told in the conversation" in notice(html)
    assert held(session.mounted_kb, "badge") == [TOLD[2], TOLD[4]]
    assert "5 statements, in this session alone" in texts_of(html, KNOWLEDGE)


def test_a_choice_of_no_fact_saves_nothing(project: Project, session: Session) -> None:
    learn(session, *TOLD)
    html = sent(member_client(project), session, "session-kb-save", include_conversation_units="chosen")
    assert "choose the facts that are to go along" in notice(html)
    assert session.is_dirty


def test_more_facts_than_are_listed_are_counted(project: Project, session: Session) -> None:
    learn(session, *(f"My badge number is {number}." for number in range(saving.CHOICES + 3)))
    listed = texts_of(asks(member_client(project), session), '[aria-label="Facts to choose from"] li:last-child')
    assert listed == ["3 later ones are not listed: they go along with all, or stay."] * 2


def test_what_was_told_alone_can_be_saved_and_forked(project: Project) -> None:
    session, client = create_session(project, base=create_base(project, "Handbook")), member_client(project)
    page = client.get(reverse("session", args=[session.session_id])).text
    assert not parsed(page).css(SAVING_LINK)
    learn(session, *TOLD)
    page = client.get(reverse("session", args=[session.session_id])).text
    check_html(page)
    assert "Save or fork" in texts_of(page, "a")
    html = asks(client, session)
    assert form_of(html, "session-kb-save", session).css('[value="yes"][required]')
    assert not form_of(html, "session-kb-mount", session)
    assert notice(sent(client, session, "session-kb-save")).startswith("Nothing was saved: no source is staged")
    assert session.mounted_kb.revision == 1
    html = sent(client, session, "session-kb-save", include_conversation_units="yes")
    assert notice(html) == "Saved into “Handbook” as revision 2, with the facts told in the conversation."
    assert len(held(session.mounted_kb, "badge")) == 7
    assert not parsed(html).css(SAVING_LINK)


def test_what_a_base_has_and_the_session_forgot_is_counted(project: Project) -> None:
    session, client = create_session(project, base=create_base(project, "Handbook")), member_client(project)
    learn(session, *TOLD)
    sent(client, session, "session-kb-save", include_conversation_units="yes")
    forget(session, TOLD[0])
    html = asks(client, session)
    assert "With all facts told, 1 unit of the base that is hidden from this session would be removed." in texts_of(
        html, "#saving p"
    )
    sent(client, session, "session-kb-save", include_conversation_units="yes")
    assert len(held(session.mounted_kb, "badge")) == 6


def test_a_base_that_has_gone_on_is_not_offered_a_save(project: Project, session: Session) -> None:
    client = member_client(project)
    add_text(session.mounted_kb, "more", "More", [make_unit("b", "The valve leaks.")])
    html = asks(client, session)
    said = "is at revision 2, and this session sees revision 1: a save into it would be refused"
    assert said in text_at(html, "#saving .notice")
    assert not form_of(html, "session-kb-save", session)
    assert form_of(html, "session-kb-mount", session).css('[name="discard_draft"]')
    assert form_of(html, "session-kb-fork", session)
    assert "Fork or discard" in texts_of(client.get(reverse("session", args=[session.session_id])).text, "a")
    sent(client, session, "session-kb-mount", discard_draft="yes")
    learn(session, *TOLD)
    add_text(session.mounted_kb, "other", "Other", [make_unit("c", "The lift stands.")])
    html = asks(client, session)
    assert not form_of(html, "session-kb-mount", session).css("[name=discard_draft]")
    assert "Mount the newest" in form_of(html, "session-kb-mount", session).text()
    sent(client, session, "session-kb-mount")
    assert form_of(asks(client, session), "session-kb-save", session)


def test_a_form_sent_by_htmx_is_answered_by_its_message_alone(project: Project, session: Session) -> None:
    client, address = member_client(project), reverse("session-kb-fork", args=[session.session_id])
    refused = client.post(address, {"name": " "}, headers={"hx-request": "true"})
    assert refused.status_code == 422
    assert texts_of(refused.text, ".status-error code") == ["KB_VALIDATION_MISSING_NAME"]
    done = parsed(client.post(address, {"name": "Mine"}, headers={"hx-request": "true"}).text)
    made = KnowledgeBase.objects.get(name="Mine")
    assert [link.attributes["href"] for link in done.css("a")] == [reverse("knowledge-base", args=[made.kb_id])]
    [said] = texts_of(done, ".toast__text")
    assert said.startswith("Created “Mine”.")
    assert not parsed(client.get(reverse("session", args=[session.session_id])).text).css(".toast__text")


def test_a_viewer_is_asked_nothing(project: Project, session: Session) -> None:
    client = member_client(project, "viewer")
    assert client.get(reverse("session-kb-saving", args=[session.session_id])).status_code == 403
    assert not parsed(client.get(reverse("session", args=[session.session_id])).text).css(SAVING_LINK)


def test_the_dialog_costs_the_same_however_much_was_told(project: Project, session: Session) -> None:
    client, counts = member_client(project), []
    asks(client, session)
    for count in (2, 7):
        learn(session, *TOLD[:count])
        with counted_queries() as queries:
            asks(client, session)
        counts.append(len(queries))
    assert counts[0] == counts[1]
