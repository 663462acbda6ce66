"""Text as it can be stored and sent on: no half of a surrogate pair, which JSON may hold, and no NUL."""

import codecs
from typing import Any

_REPLACEMENT = "\ufffd"


class StorableText:
    """Replaces what cannot be stored in a text that comes whole or in pieces, and counts it.

    The two halves of a pair may come in two pieces.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-16-le")("replace")
        self.replaced_count = 0

    def take(self, piece: str, *, is_last: bool = False) -> str:
        """Return the next piece; half a pair at its end is kept for the one after it, unless this is the last."""
        read = self._decoder.decode(piece.encode("utf-16-le", "surrogatepass"), is_last)
        self.replaced_count += read.count(_REPLACEMENT) - piece.count(_REPLACEMENT) + read.count("\0")
        return read.replace("\0", _REPLACEMENT)


def storable(text: str) -> str:
    """Return a whole text with what cannot be stored replaced."""
    return StorableText().take(text, is_last=True)


def is_storable(value: Any) -> bool:
    """Return whether each text of a JSON value, keys included, can be stored."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            try:
                if b"\0" in item.encode():
                    return False
            except UnicodeEncodeError:
                return False
        elif isinstance(item, dict):
            waiting.extend(item)
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
    return True
