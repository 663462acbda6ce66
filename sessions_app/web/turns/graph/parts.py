"""Elements that graph and timeline share: status signs, texts, attributes of selectable items, the frame's toggle."""

from collections.abc import Iterable

from django.utils.safestring import SafeString

from mrpvm.preview import counted
from mrpvm.trace.graph import GraphExecution, GraphFrame
from sessions_app.web.turns.graph.markup import element
from sessions_app.web.turns.graph.shapes import Box
from sessions_app.web.turns.graph.status import Tone

NAME_PX, SMALL_PX = 12.5, 11.0
SIGN_PX = 14.0
# One sign for each colour, so that no status is shown by colour alone. Drawn in a field of 14 by 14.
_SIGN_PATHS = {
    Tone.OK: "M3.2 7.4l2.6 2.6 5-5.6",
    Tone.WARN: "M7 3v5M7 10.6v.4",
    Tone.WEAK: "M3 8c1.4-2.4 2.7-2.4 4-1s2.6 1.4 4-1",
    Tone.ERROR: "M4 4l6 6M10 4l-6 6",
    Tone.IDLE: "M3.6 7h6.8",
    Tone.ACTIVE: "M5 3.6v6.8l5.4-3.4z",
}


def sign_symbols(uid: str) -> Iterable[SafeString]:
    """Return the definitions of the six signs; `sign` places them."""
    for tone, path in _SIGN_PATHS.items():
        yield element(
            "symbol",
            {"id": f"{uid}-{tone}", "viewBox": "0 0 14 14"},
            element("circle", {"class": "sign-disc", "cx": 7, "cy": 7, "r": 7}),
            element("path", {"class": "sign-line", "d": path}),
        )


def sign(uid: str, tone: Tone, x: float | str, y: float) -> SafeString:
    """Return a status sign at a place."""
    return element(
        "use", {"class": "sign", "href": f"#{uid}-{tone}", "x": x, "y": y, "width": SIGN_PX, "height": SIGN_PX}
    )


def rectangle(box: Box) -> dict[str, str | float]:
    """Return a box as the attributes of a `rect`."""
    return {"x": box.x, "y": box.y, "width": box.width, "height": box.height}


def text_at(css_class: str, x: float | str, y: float, text: str, *, anchor: str = "", dx: float = 0) -> SafeString:
    """Return a text, or nothing for an empty one."""
    if not text:
        return SafeString("")
    attributes: dict[str, str | float] = {"class": css_class, "x": x, "y": y}
    if dx:
        attributes["dx"] = dx
    if anchor:
        attributes["text-anchor"] = anchor
    # Screen readers need the blank to keep neighbouring texts apart.
    return element("text", attributes, text) + SafeString(" ")


def focusable(css_class: str, tone: Tone, item_id: str, label: str) -> dict[str, str | float]:
    """Return the attributes of an element that can be focused and selected."""
    return {
        "class": f"{css_class} status-{tone}",
        "tabindex": "0",
        "role": "button",
        "data-id": item_id,
        "aria-label": label,
    }


def spoken(*words: str) -> str:
    """Return the text for screen readers, without the empty parts."""
    return ", ".join(word for word in words if word)


def stage_of(execution: GraphExecution) -> str:
    """Return the stage and its phase, and the number of the try if it was not the first."""
    again = f"try {execution.attempt}" if execution.attempt > 1 else ""
    return seen(execution.stage, execution.phase or "", again, between=" · ")


def seen(*texts: str, between: str = " ") -> str:
    """Return the visible text of an item in its order; voice control needs accessible names that begin with it."""
    return between.join(text for text in texts if text)


def run_words(execution: GraphExecution, shown: str, about: str = "") -> str:
    """Return an execution in words: the visible text, then what that cuts short.

    Args:
        shown: the visible text.
        about: the whole text about the execution's output or stage.
    """
    whole = (text for text in (execution.plugin_name, about) if text not in shown)
    return spoken(shown, *whole, execution.plugin_id, execution.status)


def frame_words(frame: GraphFrame, shown: str) -> str:
    """Return a frame in words: the visible text, then what that cuts short or lacks."""
    whole = (text for text in (frame.label, frame.intent, frame.status) if text not in shown)
    return "Frame " + spoken(shown, *whole)


def hidden_words(count: int) -> str:
    """Return how much a collapsed frame hides."""
    return f"{counted(count, 'execution')} inside"


def toggle(frame: GraphFrame, is_shut: bool, x: float, y: float) -> SafeString:
    """Return the button that expands or collapses a frame, centred on a point."""
    arrow = f"M{x - 3:g} {y - 4:g}l4 4-4 4" if is_shut else f"M{x - 4:g} {y - 2:g}l4 4 4-4"
    return element(
        "g",
        {
            "class": "frame-toggle",
            "tabindex": "0",
            "role": "button",
            "data-toggle": frame.id,
            "aria-expanded": "false" if is_shut else "true",
            "aria-label": f"{'Open' if is_shut else 'Collapse'} {frame.label}",
        },
        element("title", {}, "Open this frame" if is_shut else "Collapse this frame"),
        element("rect", {"class": "toggle-box", "x": x - 11, "y": y - 11, "width": 22, "height": 22, "rx": 5}),
        element("path", {"class": "toggle-arrow", "d": arrow}),
    )
