"""`python -m bench.dictionary`: train the dictionary that compresses what turns store, and write it as a new file.

It is trained on the conversations in `data/retrieval`, not on the messages that `bench.growth` measures.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import zstandard

from bench.growth import hold_talk, in_new_database

_BYTES = 32 * 1024
_SAMPLE_BYTES = 4_000
_SESSIONS, _TURNS_A_SESSION = 10, 24
_DIRECTORY = Path(__file__).parent.parent / "sessions_app" / "models" / "turns" / "dictionaries"


def conversations() -> Iterator[list[str]]:
    """Return the messages of sessions, drawn from the texts and questions of the collections."""
    said: list[str] = []
    for path in sorted((Path(__file__).parent / "data" / "retrieval").glob("*.json")):
        said += _texts(json.loads(path.read_text()))
    chance = random.Random(0)
    for _ in range(_SESSIONS):
        yield chance.sample(said, _TURNS_A_SESSION)


def _texts(value: Any) -> Iterator[str]:
    """Return each text in a document that is a sentence."""
    if isinstance(value, str):
        if value.endswith((".", "?")):
            yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def samples() -> Iterator[bytes]:
    """Yield what the turns in the database store, cut into samples."""
    from mrpvm.wire import json_bytes
    from sessions_app.models import ExplainabilityTurn, TurnEvents
    from sessions_app.models.turns.payload_frames import payload_texts, places

    for batch in TurnEvents.objects.all():
        texts = payload_texts(batch.payloads, places(batch.payload_index)).values()
        for text in (json_bytes(batch.events), b"".join(texts)):
            yield from (text[start : start + _SAMPLE_BYTES] for start in range(0, len(text), _SAMPLE_BYTES))
    for turn in ExplainabilityTurn.objects.all():
        yield from (json_bytes(value) for value in (turn.response_document, turn.context_report) if value)


def main() -> None:
    """Train and write."""
    number = max((int(path.stem) for path in _DIRECTORY.glob("*.zdict")), default=0) + 1
    with in_new_database():
        hold_talk(conversations())
        dictionary = zstandard.train_dictionary(_BYTES, list(samples()), dict_id=number)
    path = _DIRECTORY / f"{number}.zdict"
    path.write_bytes(dictionary.as_bytes())
    print(f"{path.name}: {len(dictionary.as_bytes()):,} bytes")


if __name__ == "__main__":
    main()
