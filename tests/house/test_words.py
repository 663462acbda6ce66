"""Words that the pages must not use."""

import re
from collections.abc import Iterator
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from tests.house.pages import ROOT, relative

REPLACED = {
    "Begun": "Started",
    "Came of it": "Outcome",
    "Changed": "Updated",
    "chat-turn": "Turn",
    "Ended": "Finished",
    "How it came about": "Explain",
    "Leans on it": "Follow-up likelihood",
    "Look again": "Refresh",
    "Made": "Created",
    "Made by": "Created by",
    "Tell or ask something": "Message",
    "Told": "Notified, or Facts told",
    "Told by": "Notify by",
    "Tokens taken": "Input tokens",
    "Typical time": "Average time",
    "What becomes of it": "Action",
    "Why there": "Reason",
}
"""A whole label, and what pages say instead."""
REPLACED_ANYWHERE = {
    "all the same": "anyway",
    "came of it": "outcome, or results",
    "begun": "started",
    "blacked out": "redacted",
    "thrown away": "discarded",
    "to and fro": "more than once",
    "a line)": "per line)",
}
"""Part of a sentence, and what pages say instead."""
_OF_COMPARISONS = {"templates/turns/compare.html", "templates/experiments/suites/run.html"}
"""Pages on which "Changed" is no time: it marks what differs."""
_SPOKEN = ("aria-label", "title", "placeholder", "alt", "data-label")


def _texts(path: Path) -> Iterator[str]:
    """Yield each piece of text that a template shows or a screen reader reads, without values."""
    source = re.sub(r"\{#.*?#\}", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for tag in re.findall(r"\{%.*?%\}", source, re.DOTALL):
        yield from re.findall(r'"([^"]+)"', tag) if " with " in tag or "include" in tag else ()
    page = LexborHTMLParser(re.sub(r"\{%.*?%\}|\{\{.*?\}\}", "\N{ZERO WIDTH SPACE}", source, flags=re.DOTALL))
    for node in page.css("script, style"):
        node.decompose()
    for node in page.css("*"):
        yield from (text for name in _SPOKEN if (text := node.attributes.get(name)))
        yield " ".join(node.text(deep=False).split())
        yield " ".join(node.text(deep=True).split())


def _replaced_words(path: Path) -> dict[str, str]:
    """Return the replaced words that a template uses, with what pages say instead."""
    labels = REPLACED
    if relative(path) in _OF_COMPARISONS:
        labels = {word: new for word, new in REPLACED.items() if word != "Changed"}
    texts = {text.strip("\N{ZERO WIDTH SPACE} .:") for text in _texts(path)}
    again = {word: new for word, new in labels.items() if word in texts}
    return again | {word: new for word, new in REPLACED_ANYWHERE.items() if any(word in text for text in texts)}


def test_pages_use_no_replaced_words() -> None:
    templates = list((ROOT / "templates").rglob("*.html"))
    assert len(templates) > 100
    assert {relative(path): again for path in templates if (again := _replaced_words(path))} == {}


def test_replaced_words_are_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        '<table><tr><th>Told</th></tr></table><p title="Made by">Runs keep what\n  came of it.</p>'
        '{% include "shell/ui.html" with text="It is thrown away." %}',
        encoding="utf-8",
    )
    texts = {text.strip("\N{ZERO WIDTH SPACE} .:") for text in _texts(page)}
    assert {"Told", "Made by"} <= texts
    assert any("came of it" in text for text in texts)
    assert any("thrown away" in text for text in texts)
