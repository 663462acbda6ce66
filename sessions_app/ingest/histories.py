"""Histories that clients bring along: what a user states in them is learned as if turns had answered the messages."""

import logging
from collections.abc import Mapping, Sequence

from django.conf import settings

from mrpvm import registry
from mrpvm.contracts import DetectInput, SeedDetector
from mrpvm.kernel.admission import unit_of
from mrpvm.kernel.backtracking import DEFAULT_SEED_DETECTORS, candidates
from mrpvm.knowledge.units import promotable
from mrpvm.lang import admit
from mrpvm.llm.absent import AbsentModel
from mrpvm.sources.normalising import chunk_context
from mrpvm.values import HistoryMessage, KnowledgeUnit
from sessions_app.actions.sessions.histories import History
from sessions_app.models import Project

logger = logging.getLogger(__name__)

_MESSAGES_BEFORE = 8
"""How many earlier messages a message may refer to."""


def read_history(project: Project, messages: Sequence[Mapping[str, str]]) -> History:
    """Return messages with the facts that their user states; nothing is stored.

    The newest are read, up to `MRPVM_MAX_HISTORY_CHARS`, by a detector without a model: a model would be called once
    for each message.

    Args:
        messages: `role` and `content` of each, oldest first.
    """
    said = [HistoryMessage(role=item["role"], content=project.kept(item["content"])) for item in messages]
    of_user = [place for place, item in enumerate(said) if item.role == "user"]
    detector = _detector()
    if detector is None:
        return History(messages=messages, unread_count=len(of_user))
    read = _newest(said, of_user)
    stated = ((place, _stated(detector, said[max(0, place - _MESSAGES_BEFORE) : place], said[place])) for place in read)
    return History(
        messages=messages,
        facts={place: units for place, units in stated if units},
        unread_count=len(of_user) - len(read),
    )


def _detector() -> SeedDetector | None:
    usable = [item.id for item in registry.installed.descriptors("sd-plugin") if item.is_quick and not item.uses_llm]
    chosen = candidates(None, None, DEFAULT_SEED_DETECTORS, usable, 1)
    return registry.installed.seed_detector(chosen[0]) if chosen else None


def _newest(said: Sequence[HistoryMessage], places: Sequence[int]) -> list[int]:
    """Return the places of the newest messages within the limit, oldest first, without any that no turn would take."""
    read: list[int] = []
    room = settings.MRPVM_MAX_HISTORY_CHARS
    for place in reversed(places):
        size = len(said[place].content)
        if size > room:
            break
        room -= size
        if size <= settings.MRPVM_MAX_MESSAGE_CHARS:
            read.append(place)
    return read[::-1]


def _stated(
    detector: SeedDetector, before: Sequence[HistoryMessage], message: HistoryMessage
) -> tuple[KnowledgeUnit, ...]:
    """Return what a message states, without guidance for its own answer; nothing if the detector fails."""
    context = chunk_context(
        "history",
        AbsentModel(),
        remaining_ms=settings.MRPVM_PLUGIN_TIMEOUT_MS,
        remaining_llm_calls=0,
        stopped=lambda: False,
    )
    try:
        detection = detector.detect(DetectInput(message=message.content, history=tuple(before)), context)
        if detection.status != "success" or detection.context_document is None:
            return ()
        units = [unit_of(ku) for ku in admit(detection.context_document, "context").kus.values()]
    except Exception:
        logger.exception("%s could not read a message of a history", detector.descriptor.id)
        return ()
    kept, _ = promotable(units, message.content, keep_all_guidance=settings.MRPVM_GUIDANCE_PROMOTION == "all")
    return kept
