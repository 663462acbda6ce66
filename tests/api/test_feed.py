"""The bridge from a turn's thread to the stream: nothing lost, nothing doubled, in order."""

import asyncio
import threading
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sessions_app.api.running_turns import RunningTurns
from sessions_app.api.sse import Feed, _frames, frame

LAST_WORDS: dict[str, Any] = {"error": {}}


async def read(feed: Feed) -> bytes:
    """Give all that the stream sends."""
    return b"".join([part async for part in _frames(feed, lambda: [("error", LAST_WORDS)], frame)])


@given(before=st.integers(0, 5), after=st.integers(0, 30))
def test_what_goes_in_comes_out_in_order(before: int, after: int) -> None:
    feed = Feed()
    for number in range(before):
        feed.put("progress", {"n": number})

    def fill() -> None:
        for number in range(before, before + after):
            feed.put("progress", {"n": number})
        feed.end()

    writer = threading.Thread(target=fill)
    writer.start()
    sent = asyncio.run(read(feed))
    writer.join()
    assert sent == b"".join(frame("progress", {"n": number}) for number in range(before + after))


def test_the_first_event_can_be_looked_at_and_still_comes() -> None:
    feed = Feed()
    feed.put("progress", {"n": 1})
    assert feed.first() == ("progress", {"n": 1})
    feed.end()
    assert asyncio.run(read(feed)) == frame("progress", {"n": 1})


def test_an_empty_feed_has_no_first() -> None:
    feed = Feed()
    threading.Thread(target=feed.end).start()
    assert feed.first() is None
    assert not feed.take()


def test_what_comes_after_the_reader_left_is_dropped() -> None:
    feed = Feed()
    feed.drop()
    feed.put("progress", {})
    assert feed.take() == []


def test_a_writer_outlives_its_loop() -> None:
    feed = Feed()
    loop = asyncio.new_event_loop()
    feed.attach(loop, asyncio.Event())
    loop.close()
    feed.put("progress", {})
    feed.end()


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"]))
    )
)
def test_a_frame_is_two_lines_and_a_blank_one(data: dict[str, str]) -> None:
    sent = frame("progress", data).decode()
    assert sent.endswith("\n\n")
    assert sent.count("\n") == 3
    assert "\r" not in sent


def test_a_place_is_given_back_whatever_happens(settings: Any) -> None:
    settings.MRPVM_MAX_RUNNING_TURNS = 1
    turns = RunningTurns()
    done = threading.Event()
    for _ in range(3):
        try:
            with turns.place():
                raise RuntimeError
        except RuntimeError:
            pass
    for _ in range(3):
        done.clear()
        while True:
            try:
                turns.start(lambda: done.set)
                break
            except Exception:
                threading.Event().wait(0.01)
        assert done.wait(5)
