"""Answers in JSON."""

from collections.abc import Mapping
from typing import Any

import orjson
from rest_framework.renderers import JSONRenderer

_OPTIONS = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS


class FastJSONRenderer(JSONRenderer):
    """Renders as the framework does, by an encoder in C."""

    ensure_ascii = True  # half a surrogate pair, which traces may hold, has no UTF-8

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        if data is None:
            return b""
        try:
            return orjson.dumps(data, default=self.encoder_class().default, option=_OPTIONS)
        except TypeError:  # half a surrogate pair, a key that is no text, a number of more than 64 bits
            return bytes(super().render(data, accepted_media_type, renderer_context))
