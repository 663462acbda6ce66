"""How results are written: short lines of text, long ones in pages that say how to continue."""

from datetime import datetime

from django.conf import settings

from mrpvm.errors import InvalidInput

LINE_CHARS = 200


def line(text: str, limit: int = LINE_CHARS) -> str:
    """Return a text on one line; a longer one says how many characters are missing."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[:limit]}... ({len(flat) - limit} more characters)"


def moment(at: datetime | None) -> str:
    """Return a time to the second in UTC."""
    return at.strftime("%Y-%m-%d %H:%M:%SZ") if at else "never"


def milliseconds(duration: int | None) -> str:
    """Return a duration, or that there is none yet."""
    return "running" if duration is None else f"{duration} ms"


def page(text: str, offset: int, again: str = "call again") -> str:
    """Return the part of a text from a character on, and how to get the next one.

    Args:
        again: what to call for it, where the same call would do the work once more.

    Raises:
        InvalidInput: the offset is after the end of the text.
    """
    if not 0 <= offset <= len(text):
        raise InvalidInput(f"offset is {offset}: the text has {len(text)} characters.")
    end = offset + settings.MRPVM_MCP_PAGE_CHARS
    if len(text) <= end:
        return text[offset:]
    return f"{text[offset:end]}\n[{len(text) - end} of {len(text)} characters follow: {again} with offset={end}]"


def list_page(lines: list[str], cursor: str | None, empty: str) -> str:
    """Return the lines of a list's page, and how to get the next one."""
    if not lines:
        return empty
    return "\n".join([*lines, *([f"[more: call again with cursor={cursor}]"] if cursor else [])])
