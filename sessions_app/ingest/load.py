"""From a file to units: into a session's memory, its draft or a knowledge base.

Slow work is done outside of transactions, and as far as possible in a process of its own, so that turns continue
meanwhile.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from mrpvm import registry
from mrpvm.contracts import SourceText
from mrpvm.errors import EngineTimeout, InvalidInput, TooLarge
from mrpvm.kernel.backtracking import DEFAULT_SEED_DETECTORS, candidates
from mrpvm.preview import size_words
from mrpvm.sources.documents.document import media_type_of
from mrpvm.sources.documents.reading import READ_IN_PROCESS
from mrpvm.sources.limits import ChunkingLimits, IngestLimits
from mrpvm.sources.normalisers import runs_apart
from mrpvm.sources.process import ReadingProcess
from mrpvm.sources.source import IngestedSource, SourceFile, finish_source, read_source
from mrpvm.values import KnowledgeUnit
from sessions_app import events, shutdown
from sessions_app.actions.knowledge.bases import add_source, free_source_id
from sessions_app.actions.knowledge.drafts import stage_source
from sessions_app.actions.knowledge.source_rows import (
    NewSource,
    check_source_id,
    check_source_name,
    new_context_id,
    shown_unchanged,
)
from sessions_app.actions.sessions.context_loads import ContextLoad, Material, add_context
from sessions_app.actions.sessions.retractions import replace_unit
from sessions_app.actions.sessions.session import Choices, check_choices
from sessions_app.actions.sessions.slots import lock_idle_session, waiting_for_slot
from sessions_app.ingest import process_slots
from sessions_app.ingest.derive import derive_summaries
from sessions_app.ingest.hooks import tell_readers
from sessions_app.ingest.normalise import Normaliser, normalise_chunks
from sessions_app.language_model import is_configured, model_source
from sessions_app.models import KnowledgeBase, KnowledgeSource, Project, Session
from sessions_app.pacing import Pacer
from sessions_app.queries.knowledge.bases import head_of
from sessions_app.queries.sessions.lookups import reread_session
from sessions_app.queries.settings.model_roles import shared_config

"""From this size on a text is read in a process of its own; below, starting one would cost more than reading."""
type OnStage = Callable[[Literal["reading", "storing"], int, int], None]
"""Takes how far an ingest is: chunks that are read, then units that are written, and of how many."""


def unreported(stage: str, done: int, of: int) -> None:
    """Report no progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file as a client sent it; `source_id` names the source to make or to replace.

    `model` is asked where a detector asks one and no role names another.
    """

    data: bytes
    name: str
    declared_type: str | None = None
    source_id: str | None = None
    seed_detector: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedContext:
    """The result of a context load, its source id and the detector that read it."""

    load: ContextLoad
    source_id: str
    seed_detector: str
    quarantined_count: int


def load_context(session: Session, upload: Upload, *, wait_ms: int = 0) -> LoadedContext:
    """Make a file part of the session's memory; the same `source_id` again replaces what it brought in.

    Open pages hear `context.progressed` while it is read. Turns continue meanwhile; at the end a running one is waited
    for.

    Args:
        wait_ms: how long to wait for one that is running at the beginning.

    Raises:
        InvalidInput: no content, a bad source id, an unknown detector.
        Unreadable: the file cannot be read.
        TooLarge: KB_VALIDATION_*, a limit is exceeded; nothing is stored.
        MRPError: a chunk could not be normalised; nothing is stored.
        Conflict, Expired, NotFound: the session is busy or over.
    """
    session = waiting_for_slot(wait_ms, lambda: _idle(session.pk))
    source_id = upload.source_id or new_context_id()
    on_stage = _page_progress(session, upload)
    # A base may have or get a source of an id that a client chose; unit ids are unique in a view anyway.
    id_root = f"session::{upload.source_id}" if upload.source_id else ""
    work = _Ingest(upload, source_id, session.project, session, on_stage, id_root)
    ingested = work.ingested()
    material = Material(
        units=ingested.units,
        name=upload.name,
        source_id=source_id,
        replaces=upload.source_id is not None,
        entries=ingested.entries,
        rejections=ingested.rejections,
    )
    load = add_context(session, material, watch=work.watch_storing, wait_ms=settings.MRPVM_MAX_WAIT_MS)
    tell_readers(
        SourceText(
            source_id=source_id,
            name=upload.name,
            content=ingested.text,
            units=load.added,
            stored_at=timezone.now().isoformat(),
            keeps_artifacts=False,
            session_id=session.session_id,
        )
    )
    return LoadedContext(
        load=load,
        source_id=source_id,
        seed_detector=work.detector_id,
        quarantined_count=len(ingested.rejections),
    )


def correct_unit(session: Session, unit_id: str, text: str, actor: User | None = None) -> Session:
    """Replace a unit that the session sees by what a text states; return the changed session.

    Raises:
        InvalidInput: no text, nothing in it says anything, or the session knows all of it already.
        TooLarge: the text is longer than a message may be.
        NotFound, Conflict, Expired: as for `replace_unit`; nothing is changed.
    """
    limit = settings.MRPVM_MAX_MESSAGE_CHARS
    if len(text) > limit:
        raise TooLarge(f"A correction has {limit} characters at most.", details={"limit": limit})
    if not text.strip():
        raise InvalidInput("Write what the unit should say.")
    session = _idle(session.pk)
    name = f"correction by {actor.get_username()}" if actor else "correction"
    units = stated_units(session, text, name)
    return replace_unit(session, unit_id, units, actor)


def stated_units(session: Session, text: str, name: str, detector: str | None = None) -> Sequence[KnowledgeUnit]:
    """Return what a text states as units of a session; nothing is stored.

    Args:
        detector: the id of the one that reads it; the session's when None.

    Raises:
        InvalidInput: nothing in it says anything.
    """
    upload = Upload(data=text.encode(), name=name, declared_type="text/plain", seed_detector=detector)
    ingested = _Ingest(upload, new_context_id(), session.project, session).ingested()
    if not ingested.units:
        reasons = "; ".join(rejection.message for rejection in ingested.rejections)
        raise InvalidInput(f"No statement was found in the {name}. {reasons}".strip())
    return ingested.units


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSource:
    """The source that a file became; nothing was stored if it was that source already."""

    source: KnowledgeSource
    is_unchanged: bool = False


def load_source(base: KnowledgeBase, upload: Upload, on_stage: OnStage = unreported) -> LoadedSource:
    """Make a file a source of a knowledge base; the same `source_id` again replaces that source.

    A file that gives what that source is already changes nothing: no revision, and no session is behind.

    Raises:
        InvalidInput, Unreadable, TooLarge, MRPError: as for `load_context`; the base stays as it is.
    """
    source_id = upload.source_id or free_source_id(base.head, upload.name)
    work = _Ingest(upload, source_id, base.project, on_stage=on_stage)
    ingested = work.ingested()
    head = head_of(base)  # the base may have changed while the file was read
    new = _new_source(upload, source_id, ingested)
    present = shown_unchanged(head, new) if head else None
    if present is not None:
        return LoadedSource(source=present, is_unchanged=True)
    source = add_source(base, new, replaces=upload.source_id is not None, watch=work.watch_storing)
    _tell_readers(source, ingested)
    return LoadedSource(source=source)


def _new_source(upload: Upload, source_id: str, ingested: IngestedSource) -> NewSource:
    return NewSource(
        name=upload.name,
        source_id=source_id,
        content=ingested.text,
        units=ingested.units,
        entries=ingested.entries,
        chunk_count=ingested.chunk_count,
        rejections=ingested.rejections,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedSource:
    """The result of staging a file in a draft, and the detector that read it; unchanged as for `LoadedSource`."""

    session: Session
    source: KnowledgeSource
    seed_detector: str
    is_unchanged: bool = False


def stage_file(session: Session, upload: Upload, on_stage: OnStage = unreported, *, wait_ms: int = 0) -> StagedSource:
    """Make a file a source of the session's draft; the same `source_id` again replaces that source.

    Args:
        wait_ms: as for `load_context`.

    Raises:
        InvalidInput, Unreadable, TooLarge, MRPError, Conflict, Expired, NotFound: as for `load_context`; the draft
            stays as it is.
    """
    session = waiting_for_slot(wait_ms, lambda: _idle(session.pk))
    source_id = upload.source_id or free_source_id(session.draft, upload.name)
    work = _Ingest(upload, source_id, session.project, session, on_stage)
    ingested = work.ingested()
    new = _new_source(upload, source_id, ingested)
    session = reread_session(session)
    present = shown_unchanged(session.draft, new)
    if present is not None:
        return StagedSource(session=session, source=present, seed_detector=work.detector_id, is_unchanged=True)
    owner, source = stage_source(
        session,
        new,
        replaces=upload.source_id is not None,
        watch=work.watch_storing,
        wait_ms=settings.MRPVM_MAX_WAIT_MS,
    )
    _tell_readers(source, ingested, session)
    return StagedSource(session=owner, source=source, seed_detector=work.detector_id)


@transaction.atomic
def _idle(session_pk: int) -> Session:
    """Return the session before the work; one that is busy or over is refused now, and again after the work."""
    return lock_idle_session(session_pk)


def _tell_readers(source: KnowledgeSource, ingested: IngestedSource, session: Session | None = None) -> None:
    tell_readers(
        SourceText(
            source_id=source.source_id,
            name=source.name,
            content=ingested.text,
            units=tuple(ingested.units),
            stored_at=source.updated_at.isoformat(),
            keeps_artifacts=True,
            session_id=session.session_id if session else None,
        ),
        source.pk,
    )


class _Ingest:
    """One ingest: its file, who normalises it, and how long it may still take."""

    def __init__(
        self,
        upload: Upload,
        source_id: str,
        project: Project,
        session: Session | None = None,
        on_stage: OnStage = unreported,
        id_root: str = "",
    ) -> None:
        """Refuse what can be refused before the work; a session's choices hold where the request makes none."""
        shutdown.refuse_new_turns()
        _check(upload)
        self._deadline = time.monotonic() + settings.MRPVM_INGEST_TIMEOUT_MS / 1000
        self._media_type = media_type_of(upload.data, upload.name, upload.declared_type)
        self._roles = session.model_config if session else shared_config(project)[0]
        self._on_stage = on_stage
        self._pacer, self._unit_count = Pacer(), 0
        check_choices(Choices(seed_detector=upload.seed_detector, model=upload.model))
        self.detector_id = _detector(upload.seed_detector, session.preferred_seed_detector_plugin if session else None)
        self._model = upload.model or (session.preferred_model if session else None)
        self._file = SourceFile(
            source_id=source_id,
            name=upload.name,
            data=upload.data,
            declared_type=upload.declared_type,
            ingested_at=timezone.now().isoformat(),
            id_root=id_root,
            is_redacted=project.redacts_conversations,
            limits=IngestLimits(
                source_bytes=settings.MRPVM_MAX_UPLOAD_BYTES,
                chunks_per_source=settings.MRPVM_MAX_SOURCE_CHUNKS,
                units_per_source=settings.MRPVM_MAX_SOURCE_UNITS,
                chunking=_chunking(),
            ),
        )

    def watch(self) -> bool:
        """Return False as long as the ingest may continue.

        Raises:
            TurnInterrupted: the server stops.
            EngineTimeout: KB_INGEST_TIMEOUT.
        """
        shutdown.interrupt_if_over()
        if time.monotonic() >= self._deadline:
            limit = settings.MRPVM_INGEST_TIMEOUT_MS
            raise EngineTimeout(
                f"Reading the source took longer than {limit} ms.",
                code="KB_INGEST_TIMEOUT",
                details={"limit_ms": limit},
            )
        return False

    def watch_storing(self, written_count: int) -> None:
        """Report progress, yield to running turns, and raise as `watch` does."""
        self._on_stage("storing", written_count, self._unit_count)
        self._pacer.pause()
        self.watch()

    def ingested(self) -> IngestedSource:
        """Return the file as a finished source."""
        ingested = self._ingested()
        self._unit_count = len(ingested.units)
        return ingested

    def _ingested(self) -> IngestedSource:
        """Read and normalise it, in a process of its own where that can be done."""
        detector = registry.installed.seed_detector(self.detector_id)
        is_apart = self._media_type in READ_IN_PROCESS or len(self._file.data) >= settings.MRPVM_READ_APART_BYTES
        if is_apart and runs_apart(detector):
            with process_slots.one(self.watch):
                return self._process().ingest(self._file, self.detector_id)
        if is_apart:
            with process_slots.one(self.watch):
                read = self._process().read(self._file)
        else:
            read = read_source(self._file)
        models = model_source(self._roles, wish=self._model)
        work = Normaliser(detector=detector, models=models, watch=self.watch, progress=self._progress)
        ingested = finish_source(read, normalise_chunks(work, read, self._file.limits), self._file.limits)
        is_by_model = detector.descriptor.uses_llm and models.available
        return derive_summaries(ingested, models, self.watch) if is_by_model else ingested

    def _progress(self, done: int, of: int) -> None:
        self._on_stage("reading", done, of)

    def _process(self) -> ReadingProcess:
        left_ms = int((self._deadline - time.monotonic()) * 1000)
        return ReadingProcess(timeout_ms=max(1, left_ms), progress=self._progress, stopped=self.watch)


def _chunking() -> ChunkingLimits:
    """Return how sources are cut."""
    return ChunkingLimits(
        whole_max_chars=settings.MRPVM_CHUNK_WHOLE_CHARS,
        target_max_chars=settings.MRPVM_CHUNK_TARGET_CHARS,
        min_chars=settings.MRPVM_CHUNK_MIN_CHARS,
        overlap_sentences=settings.MRPVM_CHUNK_OVERLAP_SENTENCES,
        window_chars=settings.MRPVM_CHUNK_WINDOW_CHARS,
        window_overlap_chars=settings.MRPVM_CHUNK_WINDOW_OVERLAP_CHARS,
    )


def _check(upload: Upload) -> None:
    """Refuse before a file is read what would be refused afterwards."""
    check_source_name(upload.name)
    if upload.source_id is not None:
        check_source_id(upload.source_id)
    if len(upload.data) > settings.MRPVM_MAX_UPLOAD_BYTES:
        raise TooLarge(
            f"The file has {size_words(len(upload.data))}; {size_words(settings.MRPVM_MAX_UPLOAD_BYTES)} are allowed"
            " (MRPVM_MAX_UPLOAD_BYTES).",
            code="KB_VALIDATION_TOO_LARGE",
            details={
                "limit": settings.MRPVM_MAX_UPLOAD_BYTES,
                "setting": "MRPVM_MAX_UPLOAD_BYTES",
                "size": len(upload.data),
            },
        )
    if not upload.data.strip():
        raise InvalidInput("There is no content.")


def _detector(pin: str | None, preference: str | None) -> str:
    """Return the detector to use: the named one, else the first there is."""
    usable = [
        item.id
        for item in registry.installed.descriptors("sd-plugin")
        if is_configured() or not item.uses_llm or item.id == pin
    ]
    return candidates(pin, preference, DEFAULT_SEED_DETECTORS, usable, 1)[0]


def _page_progress(session: Session, upload: Upload) -> OnStage:
    """Return a callback that reports a long source's progress to the session's open pages, a few times a second."""
    last = time.monotonic()

    def tell(stage: str, done: int, of: int) -> None:
        nonlocal last
        if stage == "reading" and time.monotonic() - last >= settings.MRPVM_LOADING_EVENT_SECONDS:
            last = time.monotonic()
            events.announce_loading(session.pk, upload.name, done, of)

    return tell
