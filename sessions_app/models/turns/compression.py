"""Bytes and JSON as a database stores them compressed: Zstandard with a dictionary of what turns have in common.

A turn's record is a few kilobytes of JSON with the same keys and phrases in every turn; a dictionary reduces its size
to a third. A frame names its dictionary, so old frames stay readable when a file with a new one is added.
`python -m bench.dictionary` trains a dictionary; the one with the highest number is used for writing.
"""

import json
import threading
from functools import cache
from pathlib import Path
from typing import Any

import zstandard
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from mrpvm.llm.redaction import redacted_json
from mrpvm.wire import json_bytes
from sessions_app.models.damage import damaged
from sessions_app.models.fields import PlainInMigrations

_DIRECTORY = Path(__file__).parent / "dictionaries"
_LEVEL = 3
_JSON = json.JSONDecoder()
_own = threading.local()
"""Compressors of this thread: one must not be used by two at once."""


def compress(data: bytes) -> bytes:
    if not hasattr(_own, "compressor"):
        _own.compressor = zstandard.ZstdCompressor(level=_LEVEL, dict_data=_dictionaries()[max(_dictionaries())])
    frame: bytes = _own.compressor.compress(data)
    return frame


def decompress(frame: bytes | memoryview) -> bytes:
    """Return what a frame holds."""
    number = zstandard.get_frame_parameters(frame).dict_id
    decompressors = _own.__dict__.setdefault("decompressors", {})
    if number not in decompressors:
        decompressors[number] = zstandard.ZstdDecompressor(dict_data=_dictionaries()[number] if number else None)
    data: bytes = decompressors[number].decompress(frame)
    return data


@cache
def _dictionaries() -> dict[int, zstandard.ZstdCompressionDict]:
    """Return the dictionaries by their numbers, which are also the names of their files."""
    by_id = {}
    for path in sorted(_DIRECTORY.glob("*.zdict")):
        dictionary = zstandard.ZstdCompressionDict(path.read_bytes())
        by_id[dictionary.dict_id()] = dictionary
    by_id[max(by_id)].precompute_compress(level=_LEVEL)
    return by_id


def stored_json(value: Any) -> bytes | None:
    """Return what a column holds of a JSON value: it is compressed, and secrets are redacted."""
    return None if value is None else compress(redacted_json(json_bytes(value)))


class CompressedJSONField(PlainInMigrations, models.BinaryField):
    """A JSON value that is stored compressed, without secrets. It cannot be searched by its content."""

    # What the types of Django's fields tell of the values that are set and read.
    _pyi_private_set_type: Any
    _pyi_private_get_type: Any

    def from_db_value(self, value: bytes | memoryview | None, expression: Any, connection: BaseDatabaseWrapper) -> Any:
        """Return the value that a column holds."""
        try:
            return None if value is None else _JSON.decode(decompress(value).decode("utf-8", "surrogatepass"))
        except (ValueError, KeyError, zstandard.ZstdError) as error:
            raise damaged(self) from error

    def get_db_prep_value(self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False) -> Any:
        """Return the value as Django's cursor takes it."""
        return super().get_db_prep_value(stored_json(value), connection, prepared)

    def to_python(self, value: Any) -> Any:
        """Return the value itself: it is JSON already."""
        return value

    def value_to_string(self, obj: models.Model) -> Any:
        """Return the value itself for serialisers, as Django's JSON column does: `to_python` takes it back."""
        return self.value_from_object(obj)
