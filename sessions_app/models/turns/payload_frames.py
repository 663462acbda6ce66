"""The payloads behind the nodes of a graph, many in one column, each readable without most of the others.

Payloads resemble each other, so they are compressed together, in frames small enough to be read for a single payload.
"""

from collections.abc import Iterable

from msgspec import Struct

from sessions_app.models.turns.compression import compress, decompress

_FRAME_BYTES = 64 * 1024
"""A frame is ended once it holds this many bytes."""

type PayloadIndex = list[tuple[int, list[tuple[str, int, int]]]]
"""For each frame its length, and `(ref, size, kept bytes)` of each of its payloads."""


class Payload(Struct, frozen=True):
    """A payload's JSON; `size` is its length in bytes before a limit cut it."""

    ref: str
    text: bytes
    size: int


class PayloadPlace(Struct, frozen=True):
    """Where a payload is in the column: its frame's bytes, and its own in what the frame holds."""

    ref: str
    size: int
    frame: slice
    text: slice

    @property
    def cut_bytes(self) -> int:
        """Return how many bytes a limit cut off."""
        return self.size - (self.text.stop - self.text.start)


def framed(payloads: Iterable[Payload]) -> tuple[PayloadIndex, bytes]:
    """Return the index of the payloads, and the column that holds them."""
    index: PayloadIndex = []
    frames: list[bytes] = []
    open_frame: list[Payload] = []

    def end_frame() -> None:
        if open_frame:
            frames.append(compress(b"".join(item.text for item in open_frame)))
            index.append((len(frames[-1]), [(item.ref, item.size, len(item.text)) for item in open_frame]))
            open_frame.clear()

    for payload in payloads:
        open_frame.append(payload)
        if sum(len(item.text) for item in open_frame) >= _FRAME_BYTES:
            end_frame()
    end_frame()
    return index, b"".join(frames)


def places(index: PayloadIndex) -> list[PayloadPlace]:
    """Return where each payload of a column is, by the column's index."""
    listed: list[PayloadPlace] = []
    frame_start = 0
    for frame_bytes, entries in index:
        frame = slice(frame_start, frame_start + frame_bytes)
        frame_start, start = frame.stop, 0
        for ref, size, kept in entries:
            listed.append(PayloadPlace(ref, size, frame, slice(start, start + kept)))
            start += kept
    return listed


def payload_texts(column: bytes | memoryview, wanted: Iterable[PayloadPlace]) -> dict[str, bytes]:
    """Return these payloads by their refs; each frame that holds some of them is decompressed once."""
    view, frames = memoryview(column), dict[int, bytes]()
    texts = {}
    for place in wanted:
        if place.frame.start not in frames:
            frames[place.frame.start] = decompress(view[place.frame])
        texts[place.ref] = frames[place.frame.start][place.text]
    return texts
