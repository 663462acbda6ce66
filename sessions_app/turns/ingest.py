"""From a text to units: into a session's memory or into a knowledge base [IN-1, S-33, KB-3]."""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from mrpvm import registry
from mrpvm.contracts import CallContext
from mrpvm.errors import InvalidInput
from mrpvm.kernel.backtracking import DEFAULT_SEED_DETECTORS, candidates
from mrpvm.knowledge.chunking import chunk_source
from mrpvm.knowledge.ingest import build_unit_tree, check_source_size, describe_source
from mrpvm.knowledge.limits import IngestLimits
from mrpvm.llm.absent import AbsentModel
from mrpvm.values import KnowledgeUnit, SessionState
from sessions_app.actions.context_units import ContextLoad, add_context
from sessions_app.actions.knowledge import add_source, free_source_id
from sessions_app.actions.sessions import Choices, check_choices
from sessions_app.actions.slots import lock_idle_session
from sessions_app.models import KnowledgeBase, KnowledgeSource, Session
from sessions_app.queries.model_roles import shared_config
from sessions_app.search.knowledge import EffectiveView, SessionKnowledge
from sessions_app.turns import shutdown
from sessions_app.turns.language_model import is_configured, model_source
from sessions_app.turns.normalisation import ChunkWork, normalise_chunks

_SOURCE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedContext:
    """What a context load came to, under which source id and by whose rules."""

    load: ContextLoad
    source_id: str
    seed_detector: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Units:
    """A source's finished units and how many chunks they came from."""

    units: tuple[KnowledgeUnit, ...]
    chunk_count: int


def load_context(
    session: Session, content: str, *, name: str, source_id: str | None = None, seed_detector: str | None = None
) -> LoadedContext:
    """Make a text part of the session's memory; the same `source_id` again replaces what it brought in.

    Raises:
        InvalidInput: no content, a bad source id, an unknown detector.
        TooLarge: a limit of [IN-4]; nothing is stored.
        MRPError: a chunk could not be normalised; nothing is stored [IN-11].
        Conflict, Expired, NotFound: the session is busy or over.
    """
    detector = _checked(content, source_id, seed_detector, session.preferred_seed_detector_plugin)
    shutdown.refuse_new_turns()
    with transaction.atomic():  # a session that is busy or over is refused before the work, and once more after it
        lock_idle_session(session.pk)
    source_id = source_id or f"ctx-{secrets.token_hex(16)}"
    state = SessionState(
        session_id=session.session_id,
        mounted_kb_id=session.mounted_kb.kb_id,
        mounted_kb_name=session.mounted_kb.name,
        message_count=session.message_sequence,
        session_context_unit_count=session.unit_count,
        deliberation_level=session.preferred_deliberation_level,
    )
    found = _units_of(content, name, source_id, detector, state, SessionKnowledge.of(session), session.model_config)
    load = add_context(session, found.units, name, source_id)
    return LoadedContext(load=load, source_id=source_id, seed_detector=detector)


def load_source(
    base: KnowledgeBase, name: str, content: str, *, source_id: str | None = None, seed_detector: str | None = None
) -> KnowledgeSource:
    """Make a text a source of a knowledge base; the same `source_id` again replaces that source [API-12].

    Raises:
        InvalidInput, TooLarge, MRPError: as for `load_context`; the base stays as it is.
    """
    detector = _checked(content, source_id, seed_detector, None)
    shutdown.refuse_new_turns()
    state = SessionState(
        session_id="",
        mounted_kb_id=base.kb_id,
        mounted_kb_name=base.name,
        message_count=0,
        session_context_unit_count=0,
        deliberation_level=0,
    )
    source_id = source_id or free_source_id(base.head, name)
    knowledge = SessionKnowledge(EffectiveView.of_layer(base.head))
    found = _units_of(content, name, source_id, detector, state, knowledge, shared_config(base.project)[0])
    return add_source(base, name, content, found.units, source_id=source_id, chunk_count=found.chunk_count)


def _checked(content: str, source_id: str | None, pin: str | None, preference: str | None) -> str:
    """Refuse what needs no work to be refused; gives the detector to use: the named one, else the first there is."""
    if not content.strip():
        raise InvalidInput("There is no content.")
    if source_id is not None and not _SOURCE_ID.fullmatch(source_id):
        raise InvalidInput(
            "A source id has 1 to 128 letters, digits, dots, hyphens and underscores and begins with a letter or "
            "digit.",
            code="INVALID_SOURCE_ID",
        )
    check_choices(Choices(seed_detector=pin))
    usable = [
        item.id
        for item in registry.installed.descriptors("sd-plugin")
        if is_configured() or not item.uses_llm or item.id == pin
    ]
    return candidates(pin, preference, DEFAULT_SEED_DETECTORS, usable, 1)[0]


def _units_of(
    content: str,
    name: str,
    source_id: str,
    detector: str,
    state: SessionState,
    knowledge: SessionKnowledge,
    roles: Mapping[str, Any],
) -> _Units:
    """Give the source's unit tree [IN-1]."""
    limits = IngestLimits(
        source_bytes=settings.MRPVM_MAX_UPLOAD_BYTES,
        chunks_per_source=settings.MRPVM_MAX_SOURCE_CHUNKS,
        units_per_source=settings.MRPVM_MAX_SOURCE_UNITS,
    )
    check_source_size(content, limits)
    source = describe_source(source_id, name, content, ingested_at=timezone.now().isoformat())
    chunks = chunk_source(content, is_markdown=source.source_type == "markdown", max_chunks=limits.chunks_per_source)
    context = CallContext(
        request_id=f"ingest-{source_id}",
        session=state,
        frame_id="",
        frame_depth=0,
        remaining_ms=settings.MRPVM_PLUGIN_TIMEOUT_MS,
        remaining_llm_calls=settings.MRPVM_MAX_LLM_CALLS,
        knowledge=knowledge,
        model=AbsentModel(),
        stopped=lambda: False,
    )
    work = ChunkWork(
        detector=registry.installed.seed_detector(detector),
        context=context,
        models=model_source(roles),
        source_id=source_id,
        source_name=name,
    )
    units = normalise_chunks(work, chunks)
    return _Units(units=build_unit_tree(source, chunks, units, limits), chunk_count=len(chunks))
