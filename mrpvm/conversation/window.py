"""The window: the newest messages of a conversation within two caps, and a note that names the cap that was reached.

A message costs its characters, those of its role and 12 more. Messages are taken from the newest
backwards until the next would exceed a cap; the newest message is always kept.
"""

from collections.abc import Iterable, Sequence
from copy import replace

from msgspec import Struct

from mrpvm.preview import counted
from mrpvm.values import HistoryMessage

OVERHEAD_CHARS = 12
REPLY_CHARS = 2_000
"""How much of a message that is not the user's stays beside a summary."""
NEWEST_MESSAGES = 2
"""The newest exchange stays beside a summary whatever it costs; its messages are cut to what is left for them."""
FEWEST_CHARS = 100
"""A message is not cut to less than this."""


class Window(Struct, frozen=True, kw_only=True):
    """What is kept, oldest first; `rule` is the cap that left `omitted_count` messages out: messages or characters.

    `cut_count` of the kept messages are shown in part.
    """

    messages: tuple[HistoryMessage, ...] = ()
    omitted_count: int = 0
    rule: str | None = None
    cut_count: int = 0
    note: str = ""


def counted_chars(message: HistoryMessage) -> int:
    """Return what a message counts towards the cap of characters."""
    return len(message.role) + len(message.content) + OVERHEAD_CHARS


def cut_window(newest_first: Iterable[HistoryMessage], total_count: int, max_messages: int, max_chars: int) -> Window:
    """Return the newest messages that fit.

    Args:
        newest_first: at least one more than fit, if there are more.
        total_count: how many messages there are in all.
    """
    kept: list[HistoryMessage] = []
    chars, rule = 0, None
    for message in newest_first:
        chars += counted_chars(message)
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


def beside_summary(
    newest_first: Sequence[HistoryMessage], total_count: int, max_messages: int, max_chars: int
) -> Window:
    """Return the newest messages that fit beside a summary, those that are too long cut with a note.

    Args: as for `cut_window`.
    """
    shown: list[HistoryMessage] = []
    room = max_chars
    for place, message in enumerate(newest_first):
        limit = kept_chars(message, max_chars)
        if place < NEWEST_MESSAGES:
            rest = newest_first[place + 1 : NEWEST_MESSAGES]
            kept_free = sum(min(len(item.content), FEWEST_CHARS) + _overhead(item) for item in rest)
            limit = min(limit, max(FEWEST_CHARS, room - _overhead(message) - kept_free))
        shown.append(_in_part(message, limit))
        room -= counted_chars(shown[-1])
    window = cut_window(shown, total_count, max_messages, max_chars)
    whole = list(newest_first[: len(window.messages)])[::-1]
    cut_count = sum(one is not other for one, other in zip(whole, window.messages, strict=True))
    if not cut_count:
        return window
    note = f"({counted(cut_count, 'message')} shown in part)"
    return replace(window, cut_count=cut_count, note="\n".join(filter(None, (window.note, note))))


def kept_chars(message: HistoryMessage, max_chars: int) -> int:
    """Return how much of a message stays beside a summary where only this message is looked at."""
    room = max(FEWEST_CHARS, max_chars - _overhead(message))
    return room if message.role == "user" else min(room, REPLY_CHARS)


def _overhead(message: HistoryMessage) -> int:
    return len(message.role) + OVERHEAD_CHARS


def _in_part(message: HistoryMessage, limit: int) -> HistoryMessage:
    """Return the message, or its beginning with a note where it is longer than the limit."""
    size = len(message.content)
    if size <= limit:
        return message
    note = f" [... cut: the message has {size:,} characters]"
    return replace(message, content=message.content[: limit - len(note)].rstrip() + note)


def _note(rule: str | None, kept_count: int, max_chars: int) -> str:
    if rule == "messages":
        return f"(older messages omitted; showing last {kept_count} messages)"
    if rule == "characters":
        return f"(older messages omitted; showing recent conversation within {max_chars:,} characters)"
    return ""


def without_current(said: tuple[HistoryMessage, ...], message: str) -> tuple[HistoryMessage, ...]:
    """Return a history without the message that is being answered, if a client put it at its end."""
    is_current = bool(said) and said[-1].role == "user" and said[-1].content.strip() == message.strip()
    return said[:-1] if is_current else said
