"""The knowledge pages."""

import re
from itertools import product

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from mrpvm.errors import NotFound
from mrpvm.sources.source import Rejection
from sessions_app.actions.knowledge.bases import create_base, delete_base, ensure_default_base, remove_source
from sessions_app.actions.knowledge.drafts import stage_source
from sessions_app.actions.knowledge.forks import fork_base, save_session_kb
from sessions_app.actions.knowledge.mounts import mount_base, unmount_base
from sessions_app.actions.knowledge.revisions import restore_revision
from sessions_app.actions.knowledge.source_rows import NewSource
from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.settings.quotas import choose_quotas
from sessions_app.layers import EffectiveView
from sessions_app.layers.upkeep.compaction import compact_base
from sessions_app.models import (
    ExplainabilityTurn,
    KBRevision,
    KnowledgeBase,
    KnowledgeLayer,
    LayerUnit,
    Project,
    Session,
)
from sessions_app.web.knowledge.differences import layer_differences
from tests.actions.knowledge_scene import add_text, tell
from tests.layers.units import make_unit
from tests.payloads import judge
from tests.web.page_scene import (
    admin_of_another_project,
    attributes_of,
    check_html,
    error_code,
    link_of,
    links_of,
    member_client,
    notice,
    parsed,
    text_at,
    texts_of,
    visible_text,
)

NOTHING_FOUND = "[aria-labelledby=units-title] div > p"


@pytest.fixture
def admin(project: Project) -> Client:
    return member_client(project, name="boss")


@pytest.mark.rule("PAGE-11")
def test_a_base_can_be_made(admin: Client, project: Project) -> None:
    html = admin.post(reverse("knowledge"), {"name": " Handbook "}, follow=True).text
    assert text_at(html, "h1") == "Handbook"
    refused = admin.post(reverse("knowledge"), {"name": " "})
    assert refused.status_code == 400
    assert text_at(refused.text, "#name-error") == "A knowledge base needs a name."


def test_bases_stand_below_what_they_were_made_from(admin: Client, project: Project) -> None:
    handbook = create_base(project, "Handbook")
    add_text(handbook, "rules.md", "Text", (make_unit("u1", "A rule."),))
    handbook.refresh_from_db()
    fork = fork_base(handbook, "A winter edition")
    fork_base(fork, "An early winter edition")
    create_session(project, base=handbook)
    page = parsed(admin.get(reverse("knowledge")).text)
    assert [texts_of(page, f".lineage--{depth} .table__title") for depth in range(3)] == [
        ["Default KB", "Handbook"],
        ["A winter edition"],
        ["An early winter edition"],
    ]
    assert texts_of(page, ".table__title") == ["Default KB", "Handbook", "A winter edition", "An early winter edition"]
    (row,) = page.css(f'tr:has(a[href$="{handbook.kb_id}"])')
    assert texts_of(row, '[data-label="Units"]') == ["1"]
    assert texts_of(row, f'a[href="/?kb={handbook.kb_id}"]') == ["1"]


def test_of_many_bases_the_first_are_shown_and_the_others_found(
    admin: Client, project: Project, settings: Settings
) -> None:
    settings.MRPVM_BASES_SHOWN = 3
    bases = [create_base(project, f"Hall {number} <b>") for number in range(3)]
    create_session(project, base=bases[2])
    create_base(Project.objects.create(name="Other", slug="other"), "Hall 7")

    def shown(**asked: str) -> list[str]:
        html = admin.get(reverse("knowledge"), asked).text
        check_html(html)
        assert ("Only the first 3 by name are shown" in visible_text(html)) == (len(asked) == 0)
        return texts_of(html, "a.table__title")

    assert shown() == ["Default KB", "Hall 0 <b>", "Hall 1 <b>"]
    assert shown(q=" hall 2 ") == ["Hall 2 <b>"]
    assert shown(q=bases[1].kb_id) == ["Hall 1 <b>"]
    assert shown(q="hall 7") == shown(q="%") == []
    assert text_at(admin.get(reverse("knowledge"), {"q": "x\0y"}).text, "tbody td").startswith(
        "No knowledge base has that in its name."
    )


def test_fields_offer_the_first_of_many_bases_and_the_chosen_one(
    admin: Client, project: Project, settings: Settings
) -> None:
    settings.MRPVM_BASES_OFFERED = 2
    bases = [create_base(project, f"Hall {number}") for number in range(4)]
    session = create_session(project, base=bases[3])
    for address, chosen in (
        (reverse("sessions"), bases[2]),
        (reverse("session-composer", args=[session.session_id]), None),
    ):
        html = admin.get(address, {"kb": chosen.kb_id} if chosen else {}).text
        check_html(html)
        offered = [
            str(option.text()).strip()
            for option in parsed(html).css("option[value]")
            if re.fullmatch("kb-[0-9a-f]{32}", str(option.attributes["value"]))
        ]
        assert offered == ["Default KB", "Hall 0", *([chosen.name] if chosen else [])]
        assert f"only the first {len(offered)} are offered here" in texts_of(html, "option[disabled]")
    found = parsed(admin.get(reverse("search-complete"), {"written": 'kb:"hall 3'}).text)
    assert bases[3].kb_id in found.text()
    assert bases[2].kb_id not in str(found.html)


def test_a_base_shows_its_sources_and_who_uses_it(admin: Client, project: Project) -> None:
    handbook = create_base(project, "Handbook")
    session = create_session(project, base=handbook, title="A talk")
    for content in ("One", "Two"):
        add_text(handbook, "rules.md", content, (make_unit(content, f"{content}."),), source_id="rules")
    add_text(handbook, "more.md", "More", ())
    html = admin.get(reverse("knowledge-base", args=[handbook.kb_id])).text
    assert texts_of(html, "a").count("rules.md") == 1  # a source that was replaced counts once
    assert len(parsed(html).css('[data-label="Added"]')) == len(parsed(html).css('[data-label="Updated"]')) == 2
    assert "left out until it is added again" not in visible_text(html)
    assert "more.md" in texts_of(html, "a.table__title")
    assert links_of(html, "[aria-labelledby=mounted-title] a") == [reverse("session", args=[session.session_id])]
    assert text_at(html, "[aria-labelledby=mounted-title] .unit__meta").startswith("sees an earlier revision")
    kept = texts_of(html, "[aria-labelledby=revisions-title] .unit__meta")
    assert kept[-2].startswith("a source changed: rules.md, 1 unit")
    assert kept[-1].startswith("made, 0 units ")


def test_a_source_with_stale_units_says_so(admin: Client, project: Project) -> None:
    base = create_base(project, "Handbook")
    derived = make_unit("n::0", "Pump costs.", source_id="notes", derived_from_unit_ids=("r::0",))
    add_text(base, "rules.md", "One", [make_unit("r::0", "Pump rules.", source_id="rules")], source_id="rules")
    add_text(base, "notes.md", "Notes", [derived], source_id="notes")
    add_text(base, "rules.md", "Two", [make_unit("r::0", "New rules.", source_id="rules")], source_id="rules")
    html = admin.get(address_of(base)).text
    check_html(html)
    assert visible_text(html).count("left out until it is added again") == 1


def test_a_revision_is_restored_on_the_page(admin: Client, project: Project) -> None:
    base = create_base(project, "Handbook")
    for number in range(2):
        add_text(base, f"s{number}", "x", (make_unit(f"u{number}", f"Pump {number}."),))
    address = reverse("knowledge-base", args=[base.kb_id])
    html = admin.get(address).text
    check_html(html)
    assert parsed(html).css('[aria-label="Restore revision 2"]')
    assert not parsed(html).css('[aria-label="Restore revision 3"]')
    restore = reverse("knowledge-restore", args=[base.kb_id])
    late = admin.post(restore, {"revision": 1, "expected": 2}, follow=True).text
    assert notice(late) == "'Handbook' is at revision 3 now; nothing was restored. KB_REVISION_CONFLICT"
    html = admin.post(restore, {"revision": 2, "expected": 3}, follow=True).text
    assert notice(html) == "Revision 2 is back, as revision 4."
    assert admin.post(restore, {}, follow=True).status_code == 200
    html = admin.post(reverse("knowledge-compact", args=[base.kb_id]), follow=True).text
    assert "Its layers are being compacted." in texts_of(html, "[aria-labelledby=about-title] p")


def test_a_source_is_removed_on_the_page(admin: Client, project: Project) -> None:
    base = create_base(project, "Handbook")
    for name in ("rules.md", "prices.csv"):
        add_text(base, name, name, [make_unit(name, f"Pump {name}.", source_id=name)], source_id=name)
    html = admin.get(address_of(base)).text
    check_html(html)
    form = f'form[action="{reverse("knowledge-remove", args=[base.kb_id])}"]'
    assert attributes_of(html, f"{form} [name=source_id]", "value") == ["prices.csv", "rules.md"]
    remove = reverse("knowledge-remove", args=[base.kb_id])
    html = admin.post(remove, {"source_id": "rules.md"}, follow=True).text
    assert notice(html) == "Removed “rules.md”. Restoring revision 3 brings it back."
    assert texts_of(html, "[aria-labelledby=sources-title] .table__title") == ["prices.csv"]
    assert texts_of(html, "[aria-labelledby=revisions-title] .unit__meta a") == [
        "a source removed: rules.md",
        "a source changed: prices.csv",
        "a source changed: rules.md",
    ]
    html = admin.post(remove, {"source_id": "rules.md"}, follow=True).text
    assert notice(html) == "The base has no source 'rules.md'. SOURCE_NOT_FOUND"


def test_an_empty_base_begins_with_its_sources(admin: Client, project: Project) -> None:
    base = create_base(project, "Handbook")
    seen = [texts_of(admin.get(address_of(base)).text, ".split > .stack h2")]
    add_text(base, "rules.md", "Text", [make_unit("a", "The pump hums.")])
    seen.append(texts_of(admin.get(address_of(base)).text, ".split > .stack h2"))
    assert seen == [["Sources", "Lineage"], ["Units", "Sources", "Lineage"]]


def statements(head: KnowledgeLayer) -> set[str]:
    """Return the visible units of a layer's chain, read one by one."""
    hidden = EffectiveView.of_layer(head).hidden
    return {row.text for row in LayerUnit.objects.filter(layer_id__in=head.chain) if row.pk not in hidden}


def test_differences_of_any_two_revisions_are_what_they_show(project: Project) -> None:
    base = create_base(project, "Handbook")
    for source_id, texts in (
        ("a", ("Pump hums.", "Fan spins.")), ("b", ("Fan spins.", "Lamp glows.")), ("a", ("Pump leaks.",)),
        ("c", ("Pump hums.",)), ("b", ()), ("a", ("Pump hums.", "Lamp glows.")),
    ):  # fmt: skip
        units = [make_unit(f"{source_id}::{place}", text, source_id=source_id) for place, text in enumerate(texts)]
        add_text(base, source_id, " ".join(texts), units, source_id=source_id)
        base.refresh_from_db()
    restore_revision(base, 3)
    base.refresh_from_db()
    assert compact_base(base)
    kept = list(base.revisions.select_related("layer").order_by("revision"))
    assert len({len(row.layer.chain) for row in kept}) > 2
    for before, after in product(kept, kept):
        told = layer_differences(before.layer, after.layer)
        assert {unit.text for unit in told.added.units} == statements(after.layer) - statements(before.layer)
        assert {unit.text for unit in told.removed.units} == statements(before.layer) - statements(after.layer)
        assert (told.before_count, told.after_count) == (before.layer.unit_count, after.layer.unit_count)


def test_restoring_is_previewed_and_revisions_are_compared(admin: Client, project: Project) -> None:
    base = create_base(project, "Handbook")
    add_text(base, "rules.md", "One", [make_unit("r::0", "Pump rules.", source_id="rules")], source_id="rules")
    add_text(base, "rules.md", "Two", [make_unit("r::0", "New rules.", source_id="rules")], source_id="rules")
    compare = reverse("knowledge-compare", args=[base.kb_id])
    newest = admin.get(compare).text
    check_html(newest)
    assert text_at(newest, "h1") == "Revisions 2 and 3"
    assert texts_of(newest, "ins") == ["New rules."]
    assert texts_of(newest, "del") == ["Pump rules."]
    assert texts_of(newest, 'td:has(+ [data-label="Difference"]), [data-label="Difference"]') == [
        "rules.md",
        "changed",
    ]
    assert "1 before, 1 after" in texts_of(newest, "[aria-labelledby=differences-title] dd")
    assert not parsed(newest).css('form[action$="/restore"]')
    preview = admin.get(compare, {"before": 3, "after": 2}).text
    assert text_at(preview, "#differences-title") == "What restoring it would change"
    assert texts_of(preview, "ins") == ["Pump rules."]
    form = f'form[action="{reverse("knowledge-restore", args=[base.kb_id])}"]'
    assert attributes_of(preview, f"{form} input:not([name=csrfmiddlewaretoken])", "value") == ["2", "3"]
    assert admin.get(compare, {"after": 9}).status_code == 404
    reader = member_client(project, name="reader", role="viewer")
    assert not parsed(reader.get(compare, {"before": 3, "after": 2}).text).css('form[action$="/restore"]')


def test_who_may_only_read_restores_nothing(project: Project) -> None:
    base = create_base(project, "Handbook")
    add_text(base, "s", "x", (make_unit("u", "Pump."),))
    reader = member_client(project, name="reader", role="viewer")
    html = reader.get(reverse("knowledge-base", args=[base.kb_id])).text
    assert "Restore revision" not in visible_text(html)
    assert "Add source" not in visible_text(html)
    assert "Remove from this base" not in visible_text(html)
    for name in ("knowledge-restore", "knowledge-compact", "knowledge-upload", "knowledge-remove"):
        assert reader.post(reverse(name, args=[base.kb_id]), {"revision": 1, "expected": 2}).status_code == 403
        assert admin_of_another_project().post(reverse(name, args=[base.kb_id])).status_code == 404


def test_searched_units_show_their_place_in_the_tree(admin: Client, project: Project) -> None:
    base = create_base(project, "Handbook")
    units = (
        make_unit("top", "About pumps.", child_unit_ids=("a", "b"), ku_type="composite"),
        make_unit("a", "The <b>pump</b> hums.", parent_unit_ids=("top",)),
        make_unit("b", "The valve leaks.", parent_unit_ids=("top",)),
    )
    add_text(base, "rules.md", "Text", units)
    address = reverse("knowledge-base", args=[base.kb_id])
    html = admin.get(address, {"q": "Which valve leaks?", "by": "rank"}).text
    check_html(html)
    assert text_at(html, "[aria-labelledby=units-title] .unit__meta").startswith("BM25")
    assert parsed(html).css('a[href*="unit=b"]')
    assert not parsed(html).css('a[href*="unit=a"]')
    assert texts_of(admin.get(address, {"q": "rotor", "by": "rank"}).text, NOTHING_FOUND) == [
        "No unit shares a word with that."
    ]
    html = admin.get(address, {"q": '"valve leaks" the'}).text
    check_html(html)
    assert {"valve", "leaks"} <= set(texts_of(html, "mark"))
    assert not parsed(html).css('a[href*="unit=a"]')
    assert text_at(admin.get(address, {"q": '"leaks valve"'}).text, NOTHING_FOUND).startswith(
        "No unit holds all of that."
    )
    html = admin.get(address, {"unit": "a"}).text
    check_html(html)
    shown = parsed(html).css_first('[aria-label="Unit a"]')
    assert texts_of(shown, "p")[0] == "The <b>pump</b> hums."
    assert "?unit=top" in links_of(shown)
    assert texts_of(shown, "p")[-1] == (
        "None in the sessions that mounted this base; the latest 200 are searched, in their newest 2000 turns."
    )
    assert f"{address}?unit=b" in links_of(admin.get(address, {"unit": "top"}).text)
    for words in ('""', "%_", "?!"):
        assert text_at(admin.get(address, {"q": words}).text, NOTHING_FOUND) == "There is no word in that to look for."
    assert admin.get(address, {"unit": "nope"}).status_code == 404


def test_a_search_says_how_much_of_a_long_question_it_looks_for(admin: Client, project: Project) -> None:
    base = create_base(project, "Handbook")
    add_text(base, "rules.md", "Text", (make_unit("a", "The pump hums."),))
    address = reverse("knowledge-base", args=[base.kb_id])
    words, further = "pump " * 32, "pump " * 32 + "x" * 1_000
    for asked, by, said in (
        (words, "", ""),
        (f"{words} rotor", "", "only its first 32 words are looked for"),
        (further, "", "only its first 32 words are looked for"),
        (further, "rank", "only its first 1,000 characters are looked for"),
        (words, "rank", ""),
    ):
        html = admin.get(address, {"q": asked, "by": by}).text
        check_html(html)
        assert parsed(html).css('a[href*="unit=a"]')
        assert texts_of(html, NOTHING_FOUND) == ([f"That is long: {said}."] if said else [])


def test_a_unit_names_the_turns_that_used_it(admin: Client, project: Project) -> None:
    base = create_base(project, "Handbook")
    add_text(base, "rules.md", "Text", (make_unit("a", "The pump hums."),))
    session = create_session(project, base=base, title="A talk")
    turn = ExplainabilityTurn.objects.create(session=session, turn_index=7, user_message="x", status="succeeded")
    for step in ("offered", "cited"):
        judge(turn, ("a", step))
    html = admin.get(reverse("knowledge-base", args=[base.kb_id]), {"unit": "a"}).text
    assert texts_of(html, '[aria-label="Unit a"] li a') == ["Turn 7 of A talk"]
    assert links_of(html, '[aria-label="Unit a"] li a') == [reverse("turn", args=[session.session_id, turn.request_id])]


def test_a_session_that_mounts_often_hides_no_other(admin: Client, project: Project, settings: Settings) -> None:
    settings.MRPVM_SESSIONS_LOOKED_AT = 2
    base = create_base(project, "Handbook")
    add_text(base, "rules.md", "Text", (make_unit("a", "The pump hums."),))
    first, busy = (create_session(project, base=base, title=title) for title in ("A talk", "Another talk"))
    turn = ExplainabilityTurn.objects.create(session=first, turn_index=7, user_message="x", status="succeeded")
    judge(turn, ("a", "cited"))
    for _ in range(2):
        mount_base(busy, base, reason="test")
    assert used_in(admin.get(address_of(base), {"unit": "a"}).text) == ["Turn 7 of A talk"]
    create_session(project, base=base)
    assert used_in(admin.get(address_of(base), {"unit": "a"}).text) == []


def test_a_turn_counts_for_the_base_that_was_mounted_then(admin: Client, project: Project) -> None:
    """Units of two bases have the same ids if their sources have the same name."""
    winter, summer = create_base(project, "Winter"), create_base(project, "Summer")
    for base in (winter, summer):
        add_text(base, "rules.md", "Text", (make_unit("a", f"The {base.name} pump hums."),))
    session = create_session(project, base=winter, title="A talk")
    mount_base(session, summer, reason="test")
    turn = ExplainabilityTurn.objects.create(session=session, turn_index=7, user_message="x", status="succeeded")
    judge(turn, ("a", "cited"))
    mount_base(session, winter, reason="test")
    html = {base.name: admin.get(address_of(base), {"unit": "a"}).text for base in (winter, summer)}
    assert used_in(html["Summer"]) == ["Turn 7 of A talk"]
    assert used_in(html["Winter"]) == []


def address_of(base: KnowledgeBase) -> str:
    return reverse("knowledge-base", args=[base.kb_id])


def used_in(html: str) -> list[str]:
    """Return the turns that a unit's page names."""
    return texts_of(html, '[aria-label="Unit a"] li a')


def test_everything_that_is_cut_says_so(admin: Client, project: Project, settings: Settings) -> None:
    settings.MRPVM_BASE_SESSIONS_SHOWN = settings.MRPVM_USES_SHOWN = settings.MRPVM_FORKS_NAMED = 2
    settings.MRPVM_FORKS_SHOWN = settings.MRPVM_DOTS_SHOWN = settings.MRPVM_GENERATIONS_SHOWN = 2
    oldest = create_base(project, "Oldest")
    base = fork_base(fork_base(fork_base(oldest, "Second"), "Third"), "Handbook")
    for number in range(3):
        add_text(base, f"s{number}", "x", (make_unit(f"u{number}", f"Pump {number}."),))
        base.refresh_from_db()
    for number in range(3):
        fork_base(base, f"Fork {number}")
        create_session(project, base=base)
    session = Session.objects.latest("pk")
    for number in range(3):
        turn = ExplainabilityTurn.objects.create(session=session, turn_index=number, status="succeeded")
        judge(turn, ("u1", "cited"))
    html = admin.get(address_of(base), {"unit": "u1"}).text
    check_html(html)
    assert (
        text_at(html, "[aria-labelledby=mounted-title] p") == "Only the 2 that were active last are shown. All of them"
    )
    assert "All of them" in texts_of(html, f'a[href="/?kb={base.kb_id}"]')
    assert "Only the newest 2 are shown." in texts_of(html, "[aria-label='Unit u1'] p")
    assert "1 more" in texts_of(html, f'a[href="{reverse("knowledge")}"]')
    assert text_at(html, "section[aria-labelledby=lineage-title] .card__foot") == (
        "Only the newest 2 of 3 forks are shown. Second was made from another base, which is not shown. "
        "Of each base the newest 2 revisions are shown."
    )
    KBRevision.objects.filter(knowledge_base=oldest).delete()  # created before revisions were stored
    whole = admin.get(address_of(oldest)).text
    for word in ("Only the", "not shown", "newest 2 revisions"):
        assert word not in visible_text(whole)
    assert not [text for text in texts_of(whole, "a") if text.endswith(" more")]


def test_all_sources_of_a_base_can_be_reached(admin: Client, project: Project, settings: Settings) -> None:
    settings.MRPVM_SOURCES_SHOWN = 2
    base = create_base(project, "Handbook")
    for number in range(3):
        add_text(base, f"s{number}", f"x{number}", (make_unit(f"u{number}", f"Pump {number}."),))
    html = admin.get(address_of(base)).text
    assert (
        "s0" in texts_of(html, "a"),
        "s1" in texts_of(html, "a"),
        "s2" in texts_of(html, "a"),
    ) == (False, True, True)
    assert text_at(html, "[aria-labelledby=sources-title] .card__foot") == "2 of 3 are shown. Older ones"
    html = admin.get(address_of(base) + str(link_of(html, "Older ones"))).text
    check_html(html)
    assert (
        "s0" in texts_of(html, "a"),
        "s1" in texts_of(html, "a"),
        "Older ones" in visible_text(html),
    ) == (True, False, False)
    assert "The newest" in texts_of(html, 'a[href="?"]')
    assert text_at(admin.get(address_of(base), {"older": "0"}).text, ".empty h3") == "No older source"


def test_saved_conversations_and_quarantine_are_no_sources(admin: Client, project: Project) -> None:
    base = create_base(project, "Handbook")
    rejected = Rejection(chunk_index=0, text="x", control_text="@", message="No.", diagnostics=())
    add_text(base, "rules.md", "Text", (make_unit("a", "The pump hums."),), rejections=[rejected])
    base.refresh_from_db()
    session = create_session(project, base=base)
    for number in range(2):
        tell(session, f"Valve {number} leaks.")
        save_session_kb(session)
    html = admin.get(address_of(base)).text
    assert "src-journal-" not in html
    assert text_at(html, "[aria-labelledby=sources-title] .card__foot") == (
        "Beside these, 1 session saved what it had learned: 2 units."
    )
    assert text_at(html, "td .table__sub") == "1 part could not become units and waits in quarantine"


def test_a_compacted_base_is_no_newer_for_its_sessions(admin: Client, project: Project) -> None:
    base = create_base(project, "Handbook")
    for number in range(3):
        add_text(base, f"s{number}", "x", (make_unit(f"u{number}", f"Pump {number}."),))
    base.refresh_from_db()
    create_session(project, base=base)
    assert compact_base(base)
    html = admin.get(reverse("knowledge-base", args=[base.kb_id])).text
    assert text_at(html, "[aria-labelledby=mounted-title] .unit__meta").startswith("sees the newest revision")


def test_an_open_page_hears_of_changes_by_others(admin: Client, project: Project) -> None:
    base = create_base(project, "Handbook")
    opened = admin.get(address_of(base)).text
    (again,) = attributes_of(opened, "#base-news", "hx-get")
    assert text_at(opened, "#base-news") == ""
    assert admin.get(again).status_code == 204
    add_text(base, "pumps", "Pumps", [make_unit("a", "The pump hums.")])
    html = admin.get(again).text
    check_html(html)
    assert text_at(html, "#base-news span") == "Revision 2 now: a source changed."
    base.refresh_from_db()
    session = create_session(project, base=base)
    stage_source(session, NewSource(name="valves", source_id="v", content="x", units=[make_unit("v", "It leaks.")]))
    save_session_kb(session, actor=User.objects.get(username="boss"))
    fork_base(base, "<b>Winter</b>")
    html = admin.get(again).text
    assert texts_of(html, "#base-news span") == [
        "Revision 3 now: saved from a session, boss.",
        "Forked as “<b>Winter</b>”.",
    ]
    (fresh,) = attributes_of(admin.get(address_of(base)).text, "#base-news", "hx-get")
    assert admin.get(fresh).status_code == 204
    assert admin_of_another_project().get(again).status_code == 404


def test_a_base_is_renamed_forked_and_unmounted_from_its_page(project: Project) -> None:
    base = create_base(project, "Handbook")
    session = create_session(project, base=base)
    client, address = member_client(project), reverse("knowledge-base", args=[base.kb_id])
    assert client.post(f"{address}/rename", {"name": "Manual"}).status_code == 302
    assert text_at(client.get(address).text, "h1") == "Manual"
    assert error_code(client.post(f"{address}/rename", {"name": " "}, follow=True).text) == "KB_VALIDATION_MISSING_NAME"
    forked = client.post(f"{address}/fork", {"name": "Copy"}, follow=True).text
    assert text_at(forked, "h1") == "Copy"
    unmount = reverse("session-kb-unmount", args=[session.session_id])
    assert parsed(client.get(address).text).css(f'[action="{unmount}"]')
    told = client.post(unmount, {"next": address}, follow=True)
    assert told.redirect_chain[0][0] == address
    session.refresh_from_db()
    assert session.mounted_kb.is_default
    viewer = member_client(project, "viewer")
    assert {viewer.post(url).status_code for url in (f"{address}/rename", f"{address}/fork", unmount)} == {403}


def test_another_base_is_mounted_from_the_session(project: Project) -> None:
    base = create_base(project, "Handbook")
    session = create_session(project)
    client = member_client(project)
    form = client.get(reverse("session-kb-mounting", args=[session.session_id])).text
    assert text_at(form, f'option[value="{base.kb_id}"]') == "Handbook"
    assert session.mounted_kb.name not in visible_text(form)


def test_a_base_is_deleted_and_restored(project: Project) -> None:
    client, base = member_client(project, "editor"), create_base(project, "Handbook")
    session = create_session(project, base=base)
    address = reverse("knowledge-base", args=[base.kb_id])
    told = client.post(reverse("knowledge-delete", args=[base.kb_id]), follow=True).text
    assert texts_of(told, "#delete-base p")[0].startswith("1 session has it mounted.")
    assert texts_of(told, "#delete-base li") == [session.label]
    unmount_base(session, reason="unmount-page")
    told = client.post(reverse("knowledge-delete", args=[base.kb_id]), follow=True).text
    assert client.get(address).status_code == 404
    assert "Deleted bases" in texts_of(told, "summary")
    with pytest.raises(NotFound):
        mount_base(session, base, reason="mount-page")
    client.post(reverse("knowledge-undelete", args=[base.kb_id]))
    assert client.get(address).status_code == 200


def test_the_default_base_stays(project: Project) -> None:
    base = ensure_default_base(project)
    client = member_client(project, "editor")
    refused = client.post(reverse("knowledge-delete", args=[base.kb_id]), follow=True).text
    assert notice(refused).startswith("The default base cannot be deleted")
    assert not parsed(client.get(reverse("knowledge-base", args=[base.kb_id])).text).css('[id="delete-base"]')


def test_a_full_project_says_why_nothing_comes_back(project: Project) -> None:
    client, base = member_client(project), create_base(project, "Handbook")
    add_text(base, "a", "Pumps.", [make_unit(f"u{number}", f"Pump {number}.") for number in range(2)], source_id="a")
    remove_source(base, "a")
    base.refresh_from_db()
    assert compact_base(base)
    choose_quotas(project, {"units": 1})
    restored = client.post(reverse("knowledge-restore", args=[base.kb_id]), {"revision": 2, "expected": 3}, follow=True)
    assert "QUOTA_FULL" in notice(restored.text)
    choose_quotas(project, {"units": None})
    restore_revision(base, 2)
    delete_base(base)
    choose_quotas(project, {"units": 1})
    undeleted = client.post(reverse("knowledge-undelete", args=[base.kb_id]), follow=True)
    assert "QUOTA_FULL" in notice(undeleted.text)
