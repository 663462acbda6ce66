"""Accessibility problems of a page, found by axe."""

from functools import cache
from pathlib import Path

from tests.browser.browsing import Browser

RULES = "rules: {'target-size': {enabled: true}}"
"""What the checker leaves out by itself: how large what is pressed must be."""
SERIOUS = {"serious", "critical"}


@cache
def axe() -> str:
    """Return axe's source; its licence and version are in the same directory."""
    return (Path(__file__).parent / "vendor/axe-core/axe.min.js").read_text()


def problems(browser: Browser) -> list[str]:
    """Return the accessibility problems of the page as it is shown now."""
    browser.is_measured = True
    browser.page.evaluate(axe())
    # Contrast is measured after colour transitions, as after a change of the theme.
    browser.page.evaluate("document.getAnimations().forEach(it => it instanceof CSSTransition && it.finish())")
    found = browser.page.evaluate(f"axe.run({{{RULES}, resultTypes: ['violations']}})")["violations"]
    return [
        f"{item['id']}: {node['html'][:150]}" for item in found if item["impact"] in SERIOUS for node in item["nodes"]
    ]


def unspoken_labels(browser: Browser, place: str) -> list[str]:
    """Return the elements of `place` whose accessible name lacks their visible text, which speech input needs."""
    browser.is_measured = True
    browser.page.evaluate(axe())
    run = "place => axe.run(place, {runOnly: ['label-content-name-mismatch'], resultTypes: ['violations']})"
    return [node["html"][:150] for item in browser.page.evaluate(run, place)["violations"] for node in item["nodes"]]
