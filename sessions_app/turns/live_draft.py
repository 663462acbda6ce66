"""What a model is writing for a running turn, for tabs that did not send its message.

It is in the cache that the processes share, not in a row, and is dropped when the turn ends.
"""

import logging
import time

from django.core.cache import cache
from msgspec import Struct

from mrpvm.llm.redaction import without_secrets
from mrpvm.trace.events import AnswerDelta
from sessions_app.events import announce_draft
from sessions_app.models import ExplainabilityTurn

SHOW_SECONDS = 0.3
"""Least time between two updates that others see."""
KEPT_SECONDS = 600
SHOWN_CHARS = 20_000

logger = logging.getLogger(__name__)


class Draft(Struct, frozen=True, kw_only=True):
    """What was written so far; of a longer text its end, after `left_out_chars`. `is_draft`: not approved yet."""

    plugin_id: str
    text: str
    left_out_chars: int
    is_draft: bool


class LiveDraft:
    """Collects what the latest call of one turn writes, and shows it to others now and then."""

    def __init__(self, turn: ExplainabilityTurn) -> None:
        self._turn = turn
        self._execution_id = ""
        self._text = ""
        self._shown_at = 0.0

    def add(self, piece: AnswerDelta) -> None:
        """Take a piece."""
        if piece.execution_id != self._execution_id:
            self._execution_id, self._text = piece.execution_id, ""
        self._text += piece.delta
        if time.monotonic() - self._shown_at < SHOW_SECONDS:
            return
        self._shown_at = time.monotonic()
        text = without_secrets(self._text)
        draft = Draft(
            plugin_id=piece.plugin_id,
            text=text[-SHOWN_CHARS:],
            left_out_chars=max(0, len(text) - SHOWN_CHARS),
            is_draft=piece.is_draft,
        )
        try:
            cache.set(_key(self._turn.request_id), draft, KEPT_SECONDS)
        except Exception:
            logger.warning("the draft of turn %s could not be shown", self._turn.request_id, exc_info=True)
        else:
            announce_draft(self._turn.session_id, self._turn.request_id)

    def drop(self) -> None:
        """Forget what was shown: the turn has ended."""
        if not self._shown_at:
            return
        try:
            cache.delete(_key(self._turn.request_id))
        except Exception:
            logger.warning("the draft of turn %s could not be dropped", self._turn.request_id, exc_info=True)


def draft_of(turn: ExplainabilityTurn) -> Draft | None:
    """Return what is being written for a turn; None if nothing is, or the cache does not answer."""
    if not turn.is_running:
        return None
    try:
        draft: Draft | None = cache.get(_key(turn.request_id))
    except Exception:
        logger.warning("the draft of turn %s could not be read", turn.request_id, exc_info=True)
        return None
    return draft


def _key(request_id: str) -> str:
    return f"draft:{request_id}"
