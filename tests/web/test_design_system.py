"""Rules for all pages: contrast in both themes, no inline code, a correct legend."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.template.loader import render_to_string

from sessions_app.web.turns.graph.status import Tone, tone_of

ROOT = Path(__file__).parents[2]
TOKENS = (ROOT / "static/css/tokens.css").read_text()
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
PAIR = re.compile(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)")
COLOURS = {name: (light, dark) for name, light, dark in PAIR.findall(TOKENS)}
SURFACES = ("ground", "surface", "surface-2")
TEXT_CONTRAST, SHAPE_CONTRAST = 4.5, 3.0


def luminance(colour: str) -> float:
    channels = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def text_pairs() -> Iterator[tuple[str, str]]:
    tones = [str(tone) for tone in Tone]
    for surface in SURFACES:
        yield from ((name, surface) for name in ("text", "text-2", "accent", "accent-strong", *tones))
    for tone in tones:
        yield from ((name, f"{tone}-soft") for name in (tone, "text", "text-2"))
    yield from (("text", "surface-3"), ("text-2", "surface-3"), ("text", "accent-soft"))
    yield from (("on-accent", "accent"), ("on-accent", "accent-strong"), ("surface", "text"))


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_can_be_read(theme: int) -> None:
    contrasts = {(front, back): contrast(COLOURS[front][theme], COLOURS[back][theme]) for front, back in text_pairs()}
    assert {pair: found for pair, found in contrasts.items() if found < TEXT_CONTRAST} == {}


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("front", ["line-strong", "focus"])
def test_borders_of_controls_and_focus_can_be_seen(front: str, theme: int) -> None:
    for surface in SURFACES:
        assert contrast(COLOURS[front][theme], COLOURS[surface][theme]) >= SHAPE_CONTRAST


def test_every_tone_has_its_class() -> None:
    for tone in Tone:
        assert f".status-{tone} {{" in TOKENS
        assert {str(tone), f"{tone}-soft"} <= COLOURS.keys()


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT / "templates")))
def test_a_template_names_no_other_tone(template: Path) -> None:
    named = re.findall(r"\bstatus-([a-z]+)(?=[\s\"'{])", template.read_text())
    assert {*named} <= {str(tone) for tone in Tone}


@pytest.mark.rule("GRAPH-17", "PAGE-7")
def test_the_legend_names_each_status_under_its_colour() -> None:
    legend = render_to_string("shell/legend.html")
    rows = dict(re.findall(r'<li\s+class="status-(\w+)"\s+title="([^"]+)"', legend))
    assert rows.keys() == {str(tone) for tone in Tone}
    for tone, statuses in rows.items():
        assert {tone_of(status) for status in statuses.split(", ")} == {Tone(tone)}


INLINE_CODE = re.compile(r"<[^>]+\s(?:style|on\w+|hx-on[:\w-]*)\s*=|javascript:|<style\b|<script\b(?![^>]*src=)[^>]*>")


def inline_code(markup: str) -> list[str]:
    """Return the inline code of a template."""
    return INLINE_CODE.findall(re.sub(r"{#.*?#}|{%.*?%}|{{.*?}}", "", markup))


def test_templates_hold_no_inline_code() -> None:
    assert {str(path): found for path in TEMPLATES if (found := inline_code(path.read_text()))} == {}


@pytest.mark.parametrize(
    "markup",
    [
        '<p style="color: red">', "<p\nonclick=a>", '<p class="a" hx-on:click="b">', '<a href="javascript:a">',
        "<style>", "<script>", '<script type="module">',
    ],
)  # fmt: skip
def test_inline_code_is_found(markup: str) -> None:
    assert len(inline_code(f"<p>{markup}</p>")) == 1


def test_the_entry_imports_every_stylesheet_once() -> None:
    folder = ROOT / "static/css"
    imported = re.findall(r'@import url\("([\w/-]+\.css)"\)', (folder / "app.css").read_text())
    own_pages = {"app.css", "admin.css", "api-docs.css"}
    assert sorted(imported) == sorted({str(path.relative_to(folder)) for path in folder.rglob("*.css")} - own_pages)


@pytest.mark.rule("PAGE-16")
def test_scripts_never_build_code_or_markup_from_text() -> None:
    risky = re.compile(r"\beval\(|new Function|innerHTML\s*=|outerHTML\s*=|document\.write")
    found = [script.name for script in (ROOT / "static/js").rglob("*.js") if risky.search(script.read_text())]
    assert found == []
