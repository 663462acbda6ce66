"""The rows of sources: validation, storage, and the earlier rows with the same id in a chain."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from copy import replace
from dataclasses import dataclass, field
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from mrpvm.errors import Conflict, InvalidInput, TooLarge
from mrpvm.knowledge.indexing import IndexEntry
from mrpvm.preview import size_words
from mrpvm.sources.source import Rejection
from mrpvm.values import KnowledgeUnit
from sessions_app.actions.knowledge.quarantine import keep_rejections
from sessions_app.identifiers import new_id
from sessions_app.models import KnowledgeLayer, KnowledgeSource
from sessions_app.queries.knowledge.bases import stale_source_keys

SOURCE_NAME_CHARS = 200
_SOURCE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
_NEXT = timedelta(microseconds=1)
_CONTEXT_ID = re.compile(r"ctx-[0-9a-f]{32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSource:
    """A source as it is to be stored; `rejections` are its chunks whose control text was refused.

    `entries` are index entries of its units that were computed before, by unit id.
    """

    name: str
    source_id: str
    content: str = ""
    units: Sequence[KnowledgeUnit] = ()
    entries: Mapping[str, IndexEntry] = field(default_factory=dict)
    chunk_count: int = 0
    kind: str = KnowledgeSource.Kind.LISTED
    rejections: Sequence[Rejection] = ()

    @property
    def hash(self) -> str:
        """Return the SHA-256 of the text, in hexadecimal digits."""
        return hashlib.sha256(self.content.encode("utf-8", "surrogatepass")).hexdigest()


def check_source(source: NewSource) -> None:
    """Raise an error if the source is not valid.

    Raises:
        InvalidInput: as for `check_source_name`, INVALID_SOURCE_ID.
        TooLarge: KB_VALIDATION_*, a limit is exceeded.
    """
    check_source_name(source.name)
    check_source_id(source.source_id)
    if _CONTEXT_ID.fullmatch(source.source_id):
        raise InvalidInput(
            f"'{source.source_id}' is what a session's memory calls something that was loaded into it, and the ids of "
            "its units begin with it. Give the source another id.",
            code="INVALID_SOURCE_ID",
        )
    size = len(source.content.encode("utf-8", "surrogatepass"))
    for what, value, setting, code in (
        ("bytes", size, "MRPVM_MAX_UPLOAD_BYTES", "KB_VALIDATION_TOO_LARGE"),
        ("chunks", source.chunk_count, "MRPVM_MAX_SOURCE_CHUNKS", "KB_INGEST_TOO_MANY_CHUNKS"),
        ("units", len(source.units), "MRPVM_MAX_SOURCE_UNITS", "KB_VALIDATION_MAX_UNITS_PER_SOURCE"),
    ):
        check_limit("The source", what, value, setting, code)


def check_source_name(name: str) -> None:
    """Raise an error if the name is not valid.

    Raises:
        InvalidInput: the name is empty, or longer than 200 characters.
    """
    if not name.strip():
        raise InvalidInput("A source needs a name.")
    if len(name) > SOURCE_NAME_CHARS:
        raise InvalidInput(f"A source's name has at most {SOURCE_NAME_CHARS} characters; give it another `name`.")


def new_context_id() -> str:
    """Return an id for a context load; ids of sources of bases and drafts cannot have this form."""
    return new_id("ctx")


def check_source_id(source_id: str) -> None:
    """Raise an error if the id is not valid. It comes from the client and could be a path.

    Raises:
        InvalidInput: INVALID_SOURCE_ID.
    """
    if not _SOURCE_ID.fullmatch(source_id):
        raise InvalidInput(
            "A source id has 1 to 128 letters, digits, dots, hyphens and underscores and begins with a letter or "
            "digit.",
            code="INVALID_SOURCE_ID",
        )


def check_limit(subject: str, what: str, value: int, setting: str, code: str) -> None:
    """Raise an error if a value is above the limit of a setting.

    Raises:
        TooLarge: with this code, the limit, the setting's name and the value.
    """
    limit = getattr(settings, setting)
    if value > limit:
        has, most = (size_words(value), size_words(limit)) if what == "bytes" else (f"{value} {what}", limit)
        raise TooLarge(
            f"{subject} has {has}; at most {most} are taken ({setting}).",
            code=code,
            details={"limit": limit, "setting": setting, what: value},
        )


def insert_source(layer: KnowledgeLayer, source: NewSource, earlier: Sequence[KnowledgeSource] = ()) -> KnowledgeSource:
    """Insert a row for the source into a layer, with its rejected chunks, and return the row.

    Its time is later than that of the row it replaces, even if the clocks of two servers differ; `added_at` is kept.

    Args:
        earlier: the result of `earlier_sources` for it.
    """
    now = max([timezone.now(), *(row.updated_at + _NEXT for row in earlier[-1:])])
    row = KnowledgeSource.objects.create(
        layer=layer,
        source_id=source.source_id,
        name=source.name.strip(),
        kind=source.kind,
        content=source.content,
        hash=source.hash,
        chunk_count=source.chunk_count,
        unit_count=len(source.units),
        added_at=earlier[-1].added_at if is_listed(earlier) else now,
        updated_at=now,
    )
    keep_rejections(source.rejections, source=row)
    return row


def is_listed(earlier: Sequence[KnowledgeSource]) -> bool:
    """Return whether the chain shows a source of this id, which its newest row decides."""
    return bool(earlier) and earlier[-1].kind == KnowledgeSource.Kind.LISTED


def shown_unchanged(layer: KnowledgeLayer, source: NewSource) -> KnowledgeSource | None:
    """Return the source that the layer's chain shows if it equals this one exactly, so that nothing has to be stored.

    A source read by other rules has other units. A source with units left out is stored only in part.
    """
    row = KnowledgeSource.objects.filter(layer_id__in=layer.chain, source_id=source.source_id).latest_last().last()
    if row is None or row.kind != KnowledgeSource.Kind.LISTED or row.pk in stale_source_keys(layer):
        return None
    counted = (row.name, row.hash, row.chunk_count, row.unit_count, row.quarantined.count())
    if counted != (source.name.strip(), source.hash, source.chunk_count, len(source.units), len(source.rejections)):
        return None
    stored = {unit.unit_id: _lasting(unit.to_value()) for unit in row.units.all()}
    return row if stored == {unit.id: _lasting(unit) for unit in source.units} else None


def _lasting(unit: KnowledgeUnit) -> KnowledgeUnit:
    """Return the unit without the times at which it was read."""
    return replace(unit, ingested_at=None, created_at=None)


def refuse_taken(
    layer: KnowledgeLayer, source: NewSource | KnowledgeSource, earlier: Sequence[KnowledgeSource], *, replaces: bool
) -> None:
    """Raise an error if the text is already stored, or if the source to replace was changed meanwhile.

    Args:
        layer: the top of the chain that shows the sources.
        source: the source to store, or its row if that is staged.
        earlier: the result of `earlier_sources` for it.
        replaces: whether the client chose the id, so that the source may replace an earlier version.

    Raises:
        Conflict: somebody else's source has the id by now; SOURCE_EXISTS, the layer shows a source with this text.
    """
    equal = None if replaces else _shown_text(layer, source.hash)
    if equal is not None:
        raise Conflict(
            f"This text is here already, as the source “{equal.name}” ({equal.source_id}).",
            code="SOURCE_EXISTS",
            details={"source_id": equal.source_id},
        )
    is_newer = isinstance(source, KnowledgeSource) and any(row.updated_at >= source.updated_at for row in earlier)
    if is_newer or (is_listed(earlier) and not replaces):
        raise Conflict(f"Another source got the id '{source.source_id}' meanwhile. Send this one again.")


def _shown_text(layer: KnowledgeLayer, digest: str) -> KnowledgeSource | None:
    """Return a source with this text that the layer's chain shows, or None."""
    rows = KnowledgeSource.objects.filter(layer_id__in=layer.chain).latest_of_each()
    return rows.filter(hash=digest, kind=KnowledgeSource.Kind.LISTED).only("source_id", "name").first()
