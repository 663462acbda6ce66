"""Where in a conversation something was said, so that a search finds the neighbours of an utterance by two numbers."""

from hashlib import blake2b

from msgspec import Struct

from mrpvm.english.sentences.dialogue import UTTERANCE
from mrpvm.values import KnowledgeUnit

STRETCH = 16
"""Places a stretch: neighbours and their neighbours are in two of them."""
_HALF, _WHOLE = 1 << 63, 1 << 64


class ConversationPlace(Struct, frozen=True):
    """Where in a conversation something was said; stretches that follow each other have numbers that do."""

    stretch: int
    number: int


def place_of(unit: KnowledgeUnit) -> ConversationPlace | None:
    """Return an utterance's place in its conversation, which is a chunk of its source; None for other units."""
    if unit.unit_type != UTTERANCE or unit.unit_index is None:
        return None
    name = f"{unit.source_id}\n{unit.chunk_id}".encode("utf-8", "surrogatepass")
    first = int.from_bytes(blake2b(name, digest_size=8).digest(), "big", signed=True)
    return ConversationPlace(wrapped(first + unit.unit_index // STRETCH), unit.unit_index)


def wrapped(number: int) -> int:
    """Return the number as one that fits into 64 bits with a sign."""
    return (number + _HALF) % _WHOLE - _HALF
