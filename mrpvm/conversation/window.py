"""The prompt history: a contiguous tail of the conversation under two caps [S-29, O-17]."""

from collections.abc import Iterable

from mrpvm.values import HistoryMessage


def history_window(
    newest_first: Iterable[HistoryMessage], max_messages: int, max_chars: int
) -> tuple[HistoryMessage, ...]:
    """Give the newest messages that fit, oldest first.

    The walk stops before it would exceed a cap; the newest message is kept over any cap [O-17].
    """
    kept: list[HistoryMessage] = []
    chars = 0
    for message in newest_first:
        chars += len(message.content)
        if kept and (len(kept) >= max_messages or chars > max_chars):
            break
        kept.append(message)
    return tuple(reversed(kept))
