"""The window: a contiguous tail of the conversation under two caps, and the note that names the one that bit.

A message costs its characters, those of its role and 12 more [H10]. The walk goes from the newest message back and
stops before it would exceed a cap; the newest message is kept over any cap [O-17, S-29].
"""

from collections.abc import Iterable
from dataclasses import dataclass

from mrpvm.values import HistoryMessage

OVERHEAD_CHARS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What is kept, oldest first; `rule` is the cap that left `omitted_count` messages out: messages or characters."""

    messages: tuple[HistoryMessage, ...] = ()
    omitted_count: int = 0
    rule: str | None = None
    note: str = ""


def cost_of(message: HistoryMessage) -> int:
    """Return what a message counts towards the cap of characters [H10]."""
    return len(message.role) + len(message.content) + OVERHEAD_CHARS


def cut_window(newest_first: Iterable[HistoryMessage], total_count: int, max_messages: int, max_chars: int) -> Window:
    """Return the newest messages that fit [H4, H10, H13].

    Args:
        newest_first: at least one more than fit, if there are more.
        total_count: how many messages there are in all.
    """
    kept: list[HistoryMessage] = []
    chars, rule = 0, None
    for message in newest_first:
        chars += cost_of(message)
        if kept and len(kept) >= max_messages:
            rule = "messages"
        elif kept and chars > max_chars:
            rule = "characters"
        if rule:
            break
        kept.append(message)
    omitted_count = max(1, total_count - len(kept)) if rule else 0
    return Window(
        messages=tuple(reversed(kept)),
        omitted_count=omitted_count,
        rule=rule,
        note=_note(rule, len(kept), max_chars),
    )


def _note(rule: str | None, kept_count: int, max_chars: int) -> str:
    if rule == "messages":
        return f"(older messages omitted; showing last {kept_count} messages)"
    if rule == "characters":
        return f"(older messages omitted; showing recent conversation within {max_chars:,} characters)"
    return ""


def without_current(said: tuple[HistoryMessage, ...], message: str) -> tuple[HistoryMessage, ...]:
    """Return a history without the message that is being answered, if a client put it at its end [H5, X3]."""
    is_current = bool(said) and said[-1].role == "user" and said[-1].content.strip() == message.strip()
    return said[:-1] if is_current else said
