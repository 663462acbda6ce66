"""Texts and sizes as people read them, for lists, messages and logs."""

PREVIEW_CHARS = 220
"""Length of the registry's preview."""


def preview(text: str, limit_chars: int = PREVIEW_CHARS) -> str:
    """Return the answer text on one line, cut on a word boundary."""
    line = " ".join(text.split())
    if len(line) <= limit_chars:
        return line
    head = line[: limit_chars - 1]
    return (head.rsplit(" ", 1)[0] if " " in head else head).rstrip(" ,;:") + "\u2026"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun: `1 unit`, `2 units`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def size_words(byte_count: int) -> str:
    """Return a size in the unit that a person reads."""
    size = float(byte_count)
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1024 or unit == "GB":
            break
        size /= 1024
    return counted(byte_count, "byte") if unit == "bytes" else f"{size:.1f} {unit}"
