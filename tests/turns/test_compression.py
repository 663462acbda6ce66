"""Compressed data of turns is read back unchanged; single payloads can be read."""

from collections.abc import Callable

import pytest
import zstandard
from django.core import serializers
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.models import TurnConditions
from sessions_app.models.turns import compression, payload_frames
from sessions_app.models.turns.compression import compress, decompress
from sessions_app.models.turns.payload_frames import Payload, framed, payload_texts, places

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(VALUES)
def test_a_value_comes_back_as_it_was(value: object) -> None:
    field = compression.CompressedJSONField()
    frame = compress(compression.json_bytes(value))
    assert field.from_db_value(memoryview(frame), None, None) == value


def test_half_a_surrogate_pair_is_kept() -> None:
    field = compression.CompressedJSONField()
    assert field.from_db_value(compress(compression.json_bytes(["\ud83d", "\x00"])), None, None) == ["\ud83d", "\x00"]


@pytest.mark.parametrize("value", [{"a": [1, None, "b"]}, ["a"], "text", 3, None])
def test_a_fixture_of_django_keeps_a_value(value: object) -> None:
    written = serializers.serialize("json", [TurnConditions(digest="a", content=value)])
    (read,) = serializers.deserialize("json", written)
    assert read.object.content == value


@given(st.lists(st.tuples(st.binary(max_size=300), st.integers(0, 50)), max_size=12))
def test_every_payload_is_found_by_its_place(stored: list[tuple[bytes, int]]) -> None:
    payloads = [Payload(f"exec-{number}", text, len(text) + cut) for number, (text, cut) in enumerate(stored)]
    index, column = framed(payloads)
    found = {place.ref: place for place in places(index)}
    assert payload_texts(column, found.values()) == {item.ref: item.text for item in payloads}
    assert [found[item.ref].cut_bytes for item in payloads] == [cut for _, cut in stored]


def test_one_payload_is_read_without_the_other_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    index, column = framed(Payload(f"exec-{number}", bytes([number]) * 40_000, 40_000) for number in range(20))
    read: list[int] = []

    def counted(plain: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
        return lambda frame: read.append(len(data := plain(frame))) or data

    monkeypatch.setattr(payload_frames, "decompress", counted(decompress))
    wanted = next(place for place in places(index) if place.ref == "exec-13")
    assert payload_texts(column, [wanted]) == {"exec-13": bytes([13]) * 40_000}
    assert read == [80_000]


def test_what_any_dictionary_wrote_can_be_read() -> None:
    dictionaries = compression._dictionaries()
    for number, dictionary in dictionaries.items():
        assert (compression._DIRECTORY / f"{number}.zdict").is_file()
        assert decompress(zstandard.ZstdCompressor(dict_data=dictionary).compress(b"as before")) == b"as before"
    assert decompress(zstandard.ZstdCompressor().compress(b"without one")) == b"without one"
