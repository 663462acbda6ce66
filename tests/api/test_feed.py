"""The queue from a turn's thread to the stream: each event once and in order."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from mrpvm.errors import Unavailable
from sessions_app.api.turns.sse import Feed, _frames, frame
from sessions_app.api.turns.stream_threads import StreamThreads
from sessions_app.running_turns import RunningTurns

LAST_WORDS: dict[str, Any] = {"error": {}}


async def read(feed: Feed, may_read: Callable[[], bool] = lambda: True) -> bytes:
    """Return all events of the stream."""
    return b"".join([part async for part in _frames(feed, may_read, lambda ending: [("error", LAST_WORDS)], frame)])


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


@pytest.mark.django_db
def test_a_reader_who_lost_access_gets_nothing_more(settings: Settings) -> None:
    settings.MRPVM_ACCESS_SECONDS = 0.0
    feed = Feed()
    feed.put("progress", {"n": 1})
    assert asyncio.run(read(feed, lambda: False)) == frame("error", LAST_WORDS)
    assert feed.is_dropped


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

    def fail() -> None:
        with turns.place(1) as take:
            take()
            take()
            raise RuntimeError

    for _ in range(3):
        with pytest.raises(RuntimeError):
            fail()
    with turns.place(1) as take, turns.place(1) as take_another:
        take()
        with pytest.raises(Unavailable):
            take_another()
    turns.refuse_if_full(1)


def test_a_stream_over_the_limit_is_refused_until_one_ends() -> None:
    threads, go_on, done = StreamThreads("test", 1), threading.Event(), threading.Event()
    threads.start(go_on.wait)
    with pytest.raises(Unavailable):
        threads.start(done.set)
    go_on.set()
    while not done.is_set():
        with contextlib.suppress(Unavailable):
            threads.start(done.set)
        done.wait(0.01)
