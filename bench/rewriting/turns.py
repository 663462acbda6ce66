"""Read conversations in which people rewrote each follow-up so that it stands alone.

A file has `conversations`: `id`, `dataset`, `turns` as `[role, text]` with the roles t (title), u and a, and `manual`,
which gives the rewritten user turn by index.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mrpvm.values import HistoryMessage

_ROLES = {"t": "user", "u": "user", "a": "assistant"}


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A message, the messages before it, and a person's rewrite of it."""

    dataset: str
    conversation: str
    message: str
    history: tuple[HistoryMessage, ...]
    manual: str


def follow_ups(directory: Path) -> Iterator[FollowUp]:
    """Return all follow-ups of the directory's `rewrite*.json` files, in their order."""
    for path in sorted(directory.glob("rewrite*.json")):
        for item in json.loads(path.read_text())["conversations"]:
            for place, manual in sorted((int(place), text) for place, text in item["manual"].items()):
                history = tuple(HistoryMessage(role=_ROLES[role], content=text) for role, text in item["turns"][:place])
                yield FollowUp(item["dataset"], item["id"], item["turns"][place][1], history, manual)
