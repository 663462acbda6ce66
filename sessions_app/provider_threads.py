"""Which of the provider's responses a session's next request follows: state that is never a row.

It is in the cache that the processes share, lives for an hour, and is dropped when a process starts or somebody
opens the session anew. That costs nothing but the provider's own cache: the conversation itself is sent with every
request.
"""

import logging
import secrets
from collections.abc import Mapping
from functools import cache as once
from typing import Any, NamedTuple

from django.conf import settings
from django.core.cache import cache

from mrpvm.llm.provider_thread import FOLLOWED, ProviderThread, stand_in
from sessions_app.models import ExplainabilityTurn, Session

logger = logging.getLogger(__name__)

LIVES_SECONDS = 3_600
CHAIN_BROKEN = "chain_broken"
"""A warning: the provider did not know the response that a request followed."""
_GENERATION = "provider-thread-generation"


class ThreadPlace(NamedTuple):
    """Where a session is in the provider's thread: the response its last turn followed, and the one it made."""

    followed_id: str | None = None
    next_id: str | None = None


_NO_PLACE = ThreadPlace()


def provider_thread_of(session: Session) -> ProviderThread | None:
    """Return the session's place in the provider's thread; None where there is none.

    There is none while answers are cached: a request that names a response never equals an earlier one.
    """
    return ProviderThread(previous_id=_place(session.pk).next_id) if _follows_threads() else None


def next_followed_id(session: Session) -> str | None:
    """Return the provider's response that the session's next request follows, None where that begins a thread."""
    return _place(session.pk).next_id if _follows_threads() else None


def as_sent(session_pk: int, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the body of the latest turn's request with the id that it named, while that is known."""
    if not body.get(FOLLOWED) or not _follows_threads():
        return body
    known = {stand_in(response_id): response_id for response_id in _place(session_pk) if response_id}
    return {**body, FOLLOWED: known.get(body[FOLLOWED], body[FOLLOWED])}


def keep_provider_thread(turn: ExplainabilityTurn, provider_thread: ProviderThread | None) -> None:
    """Keep the response that the next turn follows; only a turn that was stored moves the thread on."""
    if provider_thread is None:
        return
    try:
        followed_id = provider_thread.lost_id or provider_thread.previous_id
        cache.set(_key(turn.session_id), (cache.get(_GENERATION), followed_id, provider_thread.next_id), LIVES_SECONDS)
    except Exception:
        logger.warning("the provider's thread of turn %s could not be kept", turn.request_id, exc_info=True)


def drop_provider_thread(session: Session) -> None:
    """Start the session's thread anew, as after a reconnection."""
    if not _follows_threads():
        return
    try:
        cache.delete(_key(session.pk))
    except Exception:
        logger.warning("the provider's thread of session %s could not be dropped", session.session_id, exc_info=True)


def _place(session_pk: int) -> ThreadPlace:
    try:
        _begin_with_process()
        cached = cache.get_many((_GENERATION, _key(session_pk)))
    except Exception:
        logger.warning("the provider's thread of session %s could not be read", session_pk, exc_info=True)
        return _NO_PLACE
    generation, *ids = cached.get(_key(session_pk)) or (None,)
    return ThreadPlace(*ids) if generation == cached.get(_GENERATION) else _NO_PLACE


def forget_provider_threads() -> None:
    """Start every session's thread anew, as a new process does."""
    cache.set(_GENERATION, secrets.token_hex(8), None)


@once
def _begin_with_process() -> None:
    forget_provider_threads()


def _follows_threads() -> bool:
    return settings.MRPVM_LLM_API == "responses" and settings.MRPVM_LLM_CHAIN and not settings.MRPVM_LLM_CACHE


def _key(session_pk: int) -> str:
    return f"provider-thread:{session_pk}"
