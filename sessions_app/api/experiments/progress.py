"""A running experiment as a stream of server-sent events: each trial when it ends, and finally the whole experiment."""

import json
import time
from collections.abc import Mapping
from typing import Any

from django.db import connections
from django.http import HttpResponseBase
from rest_framework.utils.encoders import JSONEncoder

from mrpvm.wire import JSONObject
from sessions_app import shutdown
from sessions_app.api.experiments.records import experiment_record, listed_experiment, trial_record
from sessions_app.api.shell.errors import access_ended, body_of, error_body
from sessions_app.api.shell.responses import ErrorResponse
from sessions_app.api.shell.views import ApiView
from sessions_app.api.turns.sse import Ending, EventStream, Feed, StreamEvent
from sessions_app.api.turns.stream_threads import StreamThreads
from sessions_app.models import Experiment
from sessions_app.queries.experiments import experiments

FOLLOWED_AT_ONCE = 16
"""Experiments that are followed at a time; one more is refused."""
_LOOK_SECONDS = 0.2

_threads = StreamThreads("followed", FOLLOWED_AT_ONCE)


def experiment_stream(view: ApiView, experiment: Experiment) -> HttpResponseBase:
    """Return the experiment's stream; it continues whether anybody follows it or not.

    Raises:
        Unavailable: SERVER_BUSY, as many are followed as may be.
    """
    feed = Feed()
    _threads.start(lambda: _follow(view, experiment, feed))

    def last_words(ending: Ending) -> list[StreamEvent]:
        is_over = ending is Ending.SHUTDOWN
        return [("error", _stopped(view) if is_over else access_ended(view.request_id, None))]

    return EventStream(feed, view.access.lasts, last_words, {"X-Request-Id": view.request_id})


def _stopped(view: ApiView) -> ErrorResponse:
    message = "The server was stopped. What the experiment has tried is kept."
    return error_body(Ending.SHUTDOWN.value, message, module="kernel", request_id=view.request_id)


def _follow(view: ApiView, experiment: Experiment, feed: Feed) -> None:
    sent: set[int] = set()
    try:
        while not feed.is_dropped:
            if shutdown.remaining_seconds() is not None:
                feed.put("error", _stopped(view))
                return
            now = experiments.experiment(view.project, experiment.experiment_id)
            trials = experiments.trials(now)
            if not now.is_running:
                feed.put("response.completed", _plain(experiment_record(now, trials)))
                return
            new = [trial for trial in trials if trial.status != "waiting" and trial.pk not in sent]
            sent.update(trial.pk for trial in new)
            feed.put("progress", _plain({**listed_experiment(now), "trials": [trial_record(trial) for trial in new]}))
            time.sleep(_LOOK_SECONDS)
    except Exception as error:  # it was removed, say, or the database is away
        feed.put("error", body_of(error, view.request_id, None))
    finally:
        try:
            feed.end()
        finally:
            connections.close_all()  # such a thread is seldom used: it keeps none


def _plain(record: Mapping[str, Any]) -> JSONObject:
    """Return the record with times as in a plain answer."""
    plain: JSONObject = json.loads(json.dumps(record, cls=JSONEncoder))
    return plain
