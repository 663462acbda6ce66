"""Search for planted secrets in everything that is stored."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ahocorasick_rs import BytesAhoCorasick
from django.apps import apps
from django.db.models import BinaryField, Model, TextField
from django.db.models.functions import Cast

from sessions_app.models import TurnEvents
from sessions_app.models.turns.compression import CompressedJSONField, decompress
from sessions_app.models.turns.payload_frames import payload_texts, places
from tests.planted import Planted

_UNIT = {"topic", "title", "claim", "procedure", "condition", "text_body", "subject", "object", "provenance"}
CONVERSATION = {
    # The conversation, and the data needed to answer it.
    "Message": {"content", "payload"},
    # Kept for a day, so that a repeated request gets the same answer.
    "KeptAnswer": {"body"},
    "ContextUnit": {
        "topic",
        "title",
        "claim",
        "procedure",
        "condition",
        "text_body",
        "subject",
        "object",
        "provenance",
    },
    "LayerUnit": _UNIT,
    "KnowledgeSource": {"content", "name"},
    "RememberedText": {"content", "namespace"},
    "SessionMemory": {"record"},
    "Session": {"system_prompt", "summary", "metadata"},
    # The data to be forgotten, until it is removed.
    "Forgetting": {"work"},
}


def stored_texts(skipped: Mapping[str, set[str]]) -> Iterator[tuple[str, bytes]]:
    """Yield every stored value with its `Model.column`, as decompressed bytes."""
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if field.name not in skipped.get(model.__name__, ()):
                yield from ((f"{model.__name__}.{field.name}", text) for text in _values(model, field))


def _values(model: type[Model], field: Any) -> Iterator[bytes]:
    rows = model._default_manager.filter(**{f"{field.name}__isnull": False}).order_by("pk")
    if model is TurnEvents and field.name == "payloads":
        for row in rows.only("payloads", "payload_index"):
            yield from payload_texts(row.payloads, list(places(row.payload_index))).values()
        return
    kind = BinaryField() if isinstance(field, BinaryField) else TextField()
    for raw in rows.annotate(stored_as=Cast(field.name, kind)).values_list("stored_as", flat=True):
        data = bytes(raw) if isinstance(field, BinaryField) else raw.encode("utf-8", "surrogatepass")
        yield decompress(data) if isinstance(field, CompressedJSONField) else data


def finder(planted: list[Planted]) -> BytesAhoCorasick:
    """Return a search for every secret, and for its longest word without the ending, as in stemmed words."""
    return BytesAhoCorasick([part for item in planted for part in _parts(item.secret)])


def _parts(secret: str) -> tuple[bytes, bytes]:
    return secret.lower().encode(), max(re.findall(r"[A-Za-z0-9]+", secret), key=len).lower()[:-2].encode()


def assert_nowhere(secrets: BytesAhoCorasick, where: str, text: bytes) -> None:
    """Fail with the context of any secret that is found, complete or as a stemmed word."""
    lower = text.lower()
    found = [lower[max(0, start - 60) : end + 20] for _, start, end in secrets.find_matches_as_indexes(lower)]
    assert not found, f"{where} holds {found}"
