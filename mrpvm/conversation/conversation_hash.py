"""The conversation hash: one short text for everything said so far, by which a conversation is recognised.

It begins with who talks (project, key, and the client's own name for its user) and takes up every message in turn, so
equal words of different people never give equal hashes. System messages are no part of it: clients put the time of
day and the like into them.
"""

import hashlib
import json
import unicodedata
from collections.abc import Iterable

from mrpvm.values import HistoryMessage


def empty_hash(project: str, caller: str, user: str | None) -> str:
    """Return the hash before anything was said."""
    return _digest(json.dumps([project, caller, user], ensure_ascii=True))


def extend_hash(so_far: str, messages: Iterable[HistoryMessage]) -> str:
    """Return the hash after these messages too; a system message changes nothing."""
    for message in messages:
        if message.role != "system":
            so_far = _digest(json.dumps([so_far, message.role, same_text(message.content)], ensure_ascii=True))
    return so_far


def same_text(text: str) -> str:
    """Return the form in which two texts are compared: NFC, trimmed."""
    return unicodedata.normalize("NFC", text).strip()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
