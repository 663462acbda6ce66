"""A source on its way as a stream of server-sent events: its progress, and at the end the result."""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.db import connections
from django.http import HttpResponseBase
from rest_framework.response import Response
from rest_framework.utils.encoders import JSONEncoder

from sessions_app.api.shell.errors import access_ended, body_of, error_body
from sessions_app.api.shell.views import ApiView
from sessions_app.api.turns.sse import Ending, EventStream, Feed, StreamEvent
from sessions_app.api.turns.stream_threads import StreamThreads
from sessions_app.ingest.load import OnStage

SOURCES_AT_ONCE = 8
"""Streamed sources that are worked on at a time, each held in memory; one more is refused."""

_threads = StreamThreads("source", SOURCES_AT_ONCE)


def source_answer(
    view: ApiView, work: Callable[[OnStage], Mapping[str, Any]], *, status: int, streams: bool
) -> HttpResponseBase:
    """Return what `work` gives: whole, or after the stages that it describes.

    The work continues when the client of a stream has gone.

    Raises:
        Unavailable: SERVER_BUSY, as many are streamed as may be.
        Exception: whatever refused the source before anything was told of it.
    """
    if not streams:
        return Response(work(lambda stage, done, of: None), status=status)
    feed, refused = Feed(), list[Exception]()
    _threads.start(lambda: _run(view, work, feed, refused))
    if feed.first() is None:
        raise refused[0]

    def last_words(ending: Ending) -> list[StreamEvent]:
        if ending is Ending.ACCESS:
            return [("error", access_ended(view.request_id, view.session_id))]
        message = "The server was stopped while this source was read; nothing of it was stored."
        error = error_body(
            "TURN_INTERRUPTED", message, module="kernel", request_id=view.request_id, session_id=view.session_id
        )
        return [("error", error)]

    return EventStream(feed, view.access.lasts, last_words, {"X-Request-Id": view.request_id})


def _run(view: ApiView, work: Callable[[OnStage], Mapping[str, Any]], feed: Feed, refused: list[Exception]) -> None:
    try:
        made = work(_telling(feed))
        feed.put("response.completed", json.loads(json.dumps(made, cls=JSONEncoder)))  # times as in a plain answer
    except Exception as error:
        if feed.has_begun:
            feed.put("error", body_of(error, view.request_id, view.session_id))
        else:
            refused.append(error)
    finally:
        try:
            feed.end()
        finally:
            connections.close_all()  # such a thread is seldom used: it keeps none


def _telling(feed: Feed) -> OnStage:
    """Return what puts stages into the feed: the first of each, then some a second."""
    last: tuple[str, float] = ("", 0.0)

    def tell(stage: str, done: int, of: int) -> None:
        nonlocal last
        now = time.monotonic()
        if stage != last[0] or now - last[1] >= settings.MRPVM_PROGRESS_SECONDS:
            last = (stage, now)
            feed.put("progress", {"type": "source", "stage": stage, "done": done, "of": of})

    return tell
