"""Splits the model's reply into two sections of control text, which are admitted or refused as a whole."""

import re

from msgspec import Struct

from mrpvm.lang import ControlLanguageError, admit

_HEADING = re.compile(r"^[ \t]*---[ \t]*(intents|context)[ \t]*---[ \t]*$", re.MULTILINE | re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*```\w*[ \t]*$\n?", re.MULTILINE)
NO_SECTION = "The reply has no section `--- {name} ---`."


class Refused(Exception):
    """The reply cannot be used; `diagnostics` are the reasons for the model and the trace, one text each."""

    def __init__(self, diagnostics: list[str]) -> None:
        super().__init__("\n\n".join(diagnostics))
        self.diagnostics = diagnostics


class Sections(Struct, frozen=True, kw_only=True):
    """Two valid documents; an empty one is None."""

    intents: str | None
    context: str | None


def read_sections(reply: str, *, wants_intents: bool) -> Sections:
    """Return the documents of a reply.

    Args:
        wants_intents: False for a source, which only gives units.

    Raises:
        Refused: a section is missing or its document is refused; it has the diagnostics of both sections.
    """
    parts = _HEADING.split(reply.replace("\r\n", "\n"))
    sections = {parts[place].lower(): _text(parts[place + 1]) for place in range(1, len(parts), 2)}
    wanted = ("intents", "context") if wants_intents else ("context",)
    diagnostics = [NO_SECTION.format(name=name) for name in wanted if name not in sections]
    intents, context = sections.get("intents", ""), sections.get("context", "")
    if wants_intents and not intents and "intents" in sections:
        diagnostics.append("The section `--- intents ---` is empty: there is at least one intent.")
    diagnostics += _complaints(intents, "intent") if wants_intents else []
    diagnostics += _complaints(context, "context")
    if diagnostics:
        raise Refused(diagnostics)
    return Sections(intents=intents or None, context=context or None)


def _text(section: str) -> str:
    """Return a section without the code fences that models often add."""
    return _FENCE.sub("", section).strip("\r\n\t ")


def _complaints(document: str, kind: str) -> list[str]:
    if not document:
        return []
    try:
        admit(document, kind)
    except ControlLanguageError as error:
        return [f"In the {kind} section, {error.report}"]
    return []
