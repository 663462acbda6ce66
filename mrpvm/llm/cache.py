"""Answers already given to the same request, if the operator wants them kept."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Any

from mrpvm.llm.dialect import Completion

CACHED_ANSWERS_COUNT = 256
"""Capacity of the LRU cache."""


class ResponseCache:
    """The newest successful answers of this process, by the SHA-256 of model, prompt and sampling."""

    def __init__(self) -> None:
        self._answers: OrderedDict[str, Completion] = OrderedDict()
        self._lock = Lock()

    def get(self, body: Mapping[str, Any]) -> Completion | None:
        """Return the answer to the same request, None when there was none."""
        key = _key(body)
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
            return self._answers.get(key)

    def put(self, body: Mapping[str, Any], completion: Completion) -> None:
        with self._lock:
            self._answers[_key(body)] = completion
            while len(self._answers) > CACHED_ANSWERS_COUNT:
                self._answers.popitem(last=False)


def _key(body: Mapping[str, Any]) -> str:
    counted = {name: value for name, value in body.items() if name not in ("stream", "stream_options")}
    return hashlib.sha256(json.dumps(counted, sort_keys=True).encode()).hexdigest()
