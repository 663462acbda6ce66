"""Ids that people write into files: persona and agent ids, compared in lower case."""

import re

from mrpvm.assistants.front_matter import MalformedText

_ID = re.compile(r"[a-z0-9_][a-z0-9_-]{0,63}")


def clean_id(text: str) -> str:
    """Return the id as it is looked up: trimmed, lower case."""
    return text.strip().lower()


def checked_id(text: str) -> str:
    """Return a file's id; nothing that could name a path passes.

    Raises:
        MalformedText: it is no id.
    """
    cleaned = clean_id(text)
    if not _ID.fullmatch(cleaned):
        raise MalformedText(
            f"Invalid id: {text[:80]!r}; lower-case letters, digits, hyphens and underscores are allowed"
        )
    return cleaned
