"""A text on one line, for lists and logs."""

PREVIEW_CHARS = 220
"""Length of the registry's preview."""


def preview(text: str, limit_chars: int = PREVIEW_CHARS) -> str:
    """Return the answer text on one line, cut on a word boundary."""
    line = " ".join(text.split())
    if len(line) <= limit_chars:
        return line
    head = line[: limit_chars - 1]
    return (head.rsplit(" ", 1)[0] if " " in head else head).rstrip(" ,;:") + "\u2026"
