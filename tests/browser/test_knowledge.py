"""A base's page in the browser: dropped files, their progress, their units, search."""

import re

import pytest
from playwright.sync_api import Page, expect
from pytest_django import Settings

from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.forks import fork_base
from sessions_app.models import KnowledgeBase
from tests.actions.knowledge_scene import add_text, held
from tests.browser.browsing import Browser, aside, ready
from tests.layers.units import make_unit

MANUAL = "# Pumps\n\n" + "\n\n".join(f"Pump {number} stands in hall {number}. It is blue." for number in range(40))
KEEP = """() => {
  const said = [];
  const status = document.querySelector("#upload-status");
  const top = () => document.querySelector(".upload__bar").getBoundingClientRect().top;
  const tops = [top()];
  const keep = (changes) => {
    for (const { addedNodes } of changes) for (const node of addedNodes) said.push(node.textContent);
    tops.push(top());
  };
  new MutationObserver(keep).observe(status, { childList: true });
  addEventListener("beforeunload", () => sessionStorage.setItem("kept", JSON.stringify({ said, tops })));
}"""
DROP = """(files) => {
  const carried = new DataTransfer();
  for (const [name, text] of files) carried.items.add(new File([text], name, { type: "text/plain" }));
  const form = document.querySelector("form[data-upload]");
  const send = (kind) =>
    form.dispatchEvent(new DragEvent(kind, { dataTransfer: carried, bubbles: true, cancelable: true }));
  const wasTaken = !send("dragover");
  const looked = form.classList.contains("is-target");
  send("drop");
  return [wasTaken, looked, form.classList.contains("is-target")];
}"""


@pytest.fixture
def base(browser: Browser) -> KnowledgeBase:
    return aside(create_base, browser.project, "Handbook")


@pytest.fixture
def opened(browser: Browser, base: KnowledgeBase) -> Page:
    return browser.open("knowledge-base", base.kb_id)


def test_dropped_files_tell_how_far_they_are_and_become_sources(
    opened: Page, browser: Browser, settings: Settings
) -> None:
    settings.MRPVM_UNITS_A_TRANSACTION = 10
    settings.MRPVM_PROGRESS_SECONDS = 0
    opened.evaluate(KEEP)
    assert opened.evaluate(DROP, [["pumps.md", MANUAL], ["more.txt", "Valve 1 leaks."]]) == [True, True, False]
    expect(opened.get_by_role("link", name="pumps.md", exact=True)).to_be_visible()
    expect(opened.get_by_role("link", name="more.txt", exact=True)).to_be_visible()
    kept = opened.evaluate("JSON.parse(sessionStorage.getItem('kept'))")
    said = kept["said"]
    assert any("kB sent" in words for words in said)
    assert any(words.startswith("pumps.md: reading part") for words in said)
    assert any(words.startswith("pumps.md: storing unit") for words in said)
    assert any(words.startswith("more.txt: ") for words in said)
    assert len(set(kept["tops"])) == 1  # the hidden bar already took its space
    opened.get_by_role("link", name="pumps.md", exact=True).click()
    opened.locator("details.tree__node").first.click()
    expect(opened.locator(".tree .tree").first).to_be_visible()


def test_files_dropped_during_an_upload_are_not_opened(opened: Page, browser: Browser) -> None:
    taken = """() => {
      const carried = new DataTransfer();
      carried.items.add(new File(["Valve 1 leaks."], "more.txt", { type: "text/plain" }));
      const form = document.querySelector("form[data-upload]");
      form.querySelector("button[type=submit]").disabled = true;
      const given = (kind) => new DragEvent(kind, { dataTransfer: carried, bubbles: true, cancelable: true });
      const kept = ["dragover", "drop"].map((kind) => !form.dispatchEvent(given(kind)));
      return [...kept, form.classList.contains("is-target"), form.classList.contains("is-busy")];
    }"""
    assert opened.evaluate(taken) == [True, True, False, False]


def test_what_became_of_each_file_is_told(opened: Page, browser: Browser) -> None:
    opened.evaluate(DROP, [["pump.txt", "Pump 1 is blue."], ["empty.txt", ""]])
    expect(opened.get_by_text("“pump.txt” was added: 1 new unit.")).to_be_visible()
    expect(opened.get_by_role("link", name="pump.txt", exact=True)).to_be_visible()
    status = opened.locator("#upload-status")
    expect(status).to_contain_text("empty.txt: ")
    expect(opened.get_by_label("File to add")).to_be_focused()
    browser.complaints.clear()  # the browser logs the 400 itself
    ready(opened).evaluate(DROP, [["copy.txt", "Pump 1 is blue."]])
    expect(status).to_contain_text("copy.txt: This text is here already, as the source “pump.txt”")
    browser.complaints.clear()  # and the 409
    opened.evaluate(DROP, [["again.txt", "Pump 1  is blue."]])
    expect(opened.get_by_text("“again.txt” was added; the base had all of that.")).to_be_visible()
    expect(status).to_be_empty()
    opened.reload()
    expect(ready(opened).get_by_text("was added")).to_have_count(0)


def test_several_files_are_chosen_at_once(opened: Page) -> None:
    texts = {"pump.txt": b"Pump 1 is blue.", "valve.txt": b"Valve 1 leaks."}
    files = [{"name": name, "mimeType": "text/plain", "buffer": text} for name, text in texts.items()]
    opened.get_by_label("File to add").set_input_files(files)
    opened.get_by_role("button", name="Add source").click()
    expect(opened.get_by_text("2 files were added: 2 new units.")).to_be_visible()


def test_a_file_that_gave_no_unit_is_not_called_known(opened: Page) -> None:
    nothing = "gave no unit: nothing in it could be read as a statement."
    opened.evaluate(DROP, [["hello.txt", "Hello!"]])
    expect(opened.get_by_text(f"“hello.txt” was added; it {nothing}")).to_be_visible()
    ready(opened).evaluate(DROP, [["pump.txt", "Pump 1 is blue."], ["question.txt", "What is blue?"]])
    expect(opened.get_by_text(f"2 files were added: 1 new unit; “question.txt” {nothing}")).to_be_visible()


def test_a_dropped_file_of_a_known_name_waits_in_its_place(opened: Page, base: KnowledgeBase) -> None:
    opened.evaluate(DROP, [["pump.txt", "Pump 1 is blue."]])
    expect(opened.get_by_text("“pump.txt” was added: 1 new unit.")).to_be_visible()
    ready(opened).evaluate(DROP, [["pump.txt", "Pump 1 is red."]])
    expect(opened.locator("#upload-status")).to_contain_text("There is a source “pump.txt” already.")
    expect(opened.get_by_label("In place of").locator("option:checked")).to_have_text(re.compile(r"^\s*pump\.txt"))
    opened.get_by_role("button", name="Add source").click()
    expect(opened.get_by_text("“pump.txt” was replaced by the new file.")).to_be_visible()
    assert aside(held, base, "pump") == ["Pump 1 is red."]
    ready(opened).evaluate(DROP, [["pump.txt", "Pump 1 is red."]])
    opened.get_by_role("button", name="Add source").click()
    expect(opened.get_by_text("“pump.txt” is already there, unchanged.")).to_be_visible()
    aside(base.refresh_from_db)
    assert base.revision == 3


def test_a_file_of_a_known_name_is_proposed_for_its_place(opened: Page, base: KnowledgeBase) -> None:
    opened.evaluate(DROP, [["pump.txt", "Pump 1 is blue."]])
    expect(opened.get_by_text("“pump.txt” was added: 1 new unit.")).to_be_visible()
    chosen, place = ready(opened).get_by_label("File to add"), opened.get_by_label("In place of")
    other = {"name": "other.txt", "mimeType": "text/plain", "buffer": b"Pump 2 is green."}
    place.select_option(index=1)
    chosen.set_input_files(other)
    expect(place).not_to_have_value("")  # the reader's choice stays
    place.select_option(index=0)
    chosen.set_input_files({**other, "name": "pump.txt"})
    chosen.set_input_files(other)
    expect(place).to_have_value("")
    newer = {"name": "pump.txt", "mimeType": "text/plain", "buffer": b"Pump 1 is red."}
    chosen.set_input_files(newer)
    expect(place.locator("option:checked")).to_have_text(re.compile(r"^\s*pump\.txt"))
    opened.evaluate(DROP, [["a.txt", "A."], ["b.txt", "B."]])
    expect(opened.locator("#upload-status")).to_have_text("Only one file can take the place of a source.")
    opened.get_by_role("button", name="Add source").click()
    expect(opened.get_by_text("“pump.txt” was replaced by the new file.")).to_be_visible()
    assert aside(held, base, "pump") == ["Pump 1 is red."]


def test_an_unreadable_file_says_why_and_can_be_chosen_again(opened: Page, browser: Browser) -> None:
    chosen = opened.get_by_label("File to add")
    chosen.set_input_files({"name": "a.zip", "mimeType": "application/zip", "buffer": b"PK\x03\x04\0\0"})
    opened.get_by_role("button", name="Add source").click()
    expect(opened.locator("#upload-status")).to_contain_text("a.zip: ")
    expect(opened.locator("#upload-status")).to_have_class("small upload__status field__error")
    expect(chosen).to_be_enabled()
    expect(opened.get_by_text("No source yet")).to_be_visible()
    assert len(browser.complaints) == 1  # the browser logs the 415 itself
    browser.complaints.clear()
    chosen.set_input_files({"name": "a.txt", "mimeType": "text/plain", "buffer": b"Pump 1 is blue."})
    opened.get_by_role("button", name="Add source").click()
    expect(opened.get_by_role("link", name="a.txt", exact=True)).to_be_visible()


def test_units_are_found_by_words_and_phrases(opened: Page) -> None:
    opened.evaluate(DROP, [["pumps.md", MANUAL]])
    expect(opened.get_by_role("link", name="pumps.md", exact=True)).to_be_visible()
    asked = opened.get_by_label("Search the units of this base")
    asked.fill('"stands in hall 7"')
    asked.press("Enter")
    hits = opened.locator(".unit-list mark")
    expect(hits.first).to_be_visible()
    asked.fill('"hall in stands"')
    asked.press("Enter")
    expect(opened.get_by_text("No unit holds all of that.")).to_be_visible()
    opened.get_by_role("link", name="Search as a turn does", exact=True).click()
    expect(opened.locator("main")).to_contain_text("BM25")


def test_a_fork_stands_below_and_behind_what_it_was_made_from(browser: Browser, base: KnowledgeBase) -> None:
    deeper = aside(fork_base, aside(fork_base, base, "Winter"), "Deep winter")
    page = browser.open("knowledge")
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 800})
        places = [page.get_by_role("link", name=name, exact=True).bounding_box() for name in ("Handbook", "Winter")]
        places.append(page.get_by_role("link", name=deeper.name, exact=True).bounding_box())
        assert places[0]["x"] + 8 < places[1]["x"]
        assert places[1]["x"] + 8 < places[2]["x"]


LETTER = """(element) => {
  const text = element.firstChild;
  const range = document.createRange();
  return [0, text.length - 1].map((place) => {
    range.setStart(text, place);
    range.setEnd(text, place + 1);
    return range.getBoundingClientRect().x;
  });
}"""


def test_long_names_keep_their_place_and_text_direction(browser: Browser) -> None:
    base = aside(create_base, browser.project, "المضخة زرقاء.")
    aside(add_text, base, "n" * 190 + ".md", "x", [make_unit("u", "المضخة زرقاء اللون.")])
    page = browser.open("knowledge-base", base.kb_id, query="?q=المضخة")
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        first, dot = page.get_by_role("heading", level=1).evaluate(LETTER)
        assert dot < first
    page = browser.open("knowledge-base", base.kb_id, query="?unit=u")
    first, dot = page.get_by_role("article").locator("p").first.evaluate(LETTER)
    assert dot < first


def test_an_open_page_says_that_somebody_changed_the_base(opened: Page, base: KnowledgeBase) -> None:
    aside(add_text, base, "fans", "Fans", [make_unit("f", "The fan hums.")])
    opened.reload()
    search = opened.get_by_role("searchbox")
    search.fill("half a que")
    aside(add_text, base, "pumps", "Pumps", [make_unit("a", "The pump hums.")])
    news = opened.locator("#base-news")
    expect(news).to_contain_text("Revision 3 now: a source changed.", timeout=15_000)
    expect(search).to_have_value("half a que")
    expect(search).to_be_focused()
    news.get_by_role("link", name="Show it").click()
    expect(opened.get_by_role("link", name="pumps", exact=True)).to_be_visible()
    expect(news).not_to_contain_text("Revision")
