"""Reads a normaliser's reply for one chunk: units, a rejection, or the failure of the whole ingest."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from mrpvm.contracts import CallContext, ChunkInput, Normalisation, PluginError, ScoredUnit
from mrpvm.errors import MODEL_ERROR_CODES, MRPError, TurnFailed
from mrpvm.field_types import misfit
from mrpvm.kernel.admission import hash_warnings, unit_of
from mrpvm.lang import ControlLanguageError, admit
from mrpvm.llm.port import LanguageModel
from mrpvm.llm.redaction import without_secrets
from mrpvm.sources.source import ChunkUnits, ReadSource, Rejection
from mrpvm.sources.units import chunk_id_of
from mrpvm.values import SessionState

logger = logging.getLogger(__name__)

_REFUSED = ControlLanguageError.default_code


class NoKnowledge:
    """The knowledge port of normalisers: what a chunk says does not depend on what else is known."""

    def search(self, terms: Mapping[str, float], limit: int) -> Sequence[ScoredUnit]:
        return ()

    def guidance(self, limit: int) -> Sequence[ScoredUnit]:
        return ()

    def newest(self, limit: int) -> Sequence[ScoredUnit]:
        return ()

    def beside(self, unit_ids: Sequence[str], reach: int) -> Sequence[ScoredUnit]:
        return ()

    def artifacts(self, version: str, unit_ids: Sequence[str]) -> Mapping[str, bytes]:
        return {}

    def keep_artifacts(self, version: str, contents: Mapping[str, bytes]) -> None:
        """Keep nothing."""

    def source_artifacts(self, source_id: str) -> Mapping[str, bytes]:
        return {}


def chunk_context(
    source_id: str, model: LanguageModel, *, remaining_ms: int, remaining_llm_calls: int, stopped: Callable[[], bool]
) -> CallContext:
    """Return the context of a normaliser's call: of no session and no frame, so that equal text gives equal units."""
    nowhere = SessionState(
        session_id="",
        mounted_kb_id="",
        mounted_kb_name="",
        message_count=0,
        session_context_unit_count=0,
        deliberation_level=0,
    )
    return CallContext(
        request_id=f"ingest-{source_id}",
        session=nowhere,
        frame_id="",
        frame_depth=0,
        remaining_ms=remaining_ms,
        remaining_llm_calls=remaining_llm_calls,
        knowledge=NoKnowledge(),
        model=model,
        stopped=stopped,
    )


def chunk_input(read: ReadSource, place: int) -> ChunkInput:
    """Return what the normaliser gets for the chunk at `place`."""
    return ChunkInput(
        text=read.chunks[place].text,
        source_id=read.info.source_id,
        source_name=read.info.name,
        chunk_id=chunk_id_of(read.info.root, place),
        section_title=read.chunks[place].section_title,
    )


def admitted_units(read: ReadSource, place: int, plugin_id: str, reply: Normalisation) -> ChunkUnits:
    """Return the units of a reply; control text that admission refuses is a rejection and stops nothing.

    A hash that the reply claims and that is wrong goes into the log.

    Raises:
        TurnFailed: the normaliser could not read the chunk.
    """
    if (complaint := misfit(reply, Normalisation)) is not None:
        raise failure(read, place, plugin_id, "PLUGIN_CONTRACT_VIOLATION", complaint.removesuffix("."))
    if reply.status != "success":
        cause = reply.error or PluginError(code=reply.status, message="it gave no reason")
        if cause.code == _REFUSED:  # the plugin had its own text refused, and could not write a better one
            return _rejected(read, place, "", cause.message, cause.details.get("diagnostics", ()))
        raise failure(read, place, plugin_id, cause.code, cause.message)
    if reply.context_document is None:
        return ChunkUnits()
    try:
        document = admit(reply.context_document, "context")
    except ControlLanguageError as refused:
        return _rejected(read, place, reply.context_document, refused.message, refused.diagnostics)
    for warning in hash_warnings(document):
        logger.warning("%s on part %s of %s: %s", plugin_id, place + 1, read.info.source_id, warning)
    return ChunkUnits(units=tuple(unit_of(ku) for ku in document.kus.values()))


def _rejected(
    read: ReadSource, place: int, control_text: str, message: str, diagnostics: Iterable[object]
) -> ChunkUnits:
    rejection = Rejection(
        chunk_index=place,
        text=read.chunks[place].text,
        control_text=control_text,
        message=message,
        diagnostics=tuple(str(item) for item in diagnostics),
    )
    return ChunkUnits(rejection=rejection)


def raised(read: ReadSource, place: int, plugin_id: str, error: BaseException) -> TurnFailed:
    """Return the failure of a normaliser that raised."""
    if isinstance(error, MRPError):
        return failure(read, place, plugin_id, error.code, without_secrets(error.message))
    return failure(read, place, plugin_id, "PLUGIN_EXCEPTION", type(error).__name__)


def failure(read: ReadSource, place: int, plugin_id: str, code: str, message: str, **more: Any) -> TurnFailed:
    """Return the end of an ingest: which part could not be read, by whom and why."""
    return TurnFailed(
        f"{plugin_id} could not read part {place + 1} of {len(read.chunks)}: {message}.",
        code=code if code in MODEL_ERROR_CODES else "NORMALIZER_VALIDATION_FAILED",
        details={"plugin_id": plugin_id, "chunk_index": place, "plugin_code": code, **more},
    )


def check_results(read: ReadSource, plugin_id: str, results: Sequence[ChunkUnits]) -> None:
    """Refuse a source whose chunks were all rejected: it would be stored without a unit and reported as a success.

    Raises:
        TurnFailed: NORMALIZER_VALIDATION_FAILED with the diagnostics of the first rejection.
    """
    rejections = [result.rejection for result in results if result.rejection is not None]
    if rejections and not any(result.units for result in results):
        first = rejections[0]
        details: Mapping[str, Any] = {"diagnostics": list(first.diagnostics)}
        raise failure(read, first.chunk_index, plugin_id, _REFUSED, first.message, **details)
