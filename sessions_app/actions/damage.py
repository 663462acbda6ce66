"""Repair of damaged values: each is kept in a `DamagedValue`, and its column gets a value that can be used."""

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any, cast

from django.apps import apps
from django.db import connection, transaction
from django.db.models import BinaryField, Field
from django.db.models.functions import Cast

from sessions_app.actions.sessions.frozen_content import Content, store
from sessions_app.models import DamagedValue, FrozenContent, KnowledgeLayer, Project, Session, TurnEvents
from sessions_app.models.damage import StoredJSONField, damaged_columns
from sessions_app.models.turns.compression import CompressedJSONField, decompress
from sessions_app.queries.sessions.skill_files import current_agents, current_personas, current_skills

_ROWS_A_QUERY = 500
_SESSION_COLUMNS = {
    FrozenContent.Kind.SKILLS: "skills_id",
    FrozenContent.Kind.PERSONAS: "personas_id",
    FrozenContent.Kind.AGENTS: "agents_id",
}

logger = logging.getLogger(__name__)


def mend_noted_columns(pause: Callable[[], None] = lambda: None) -> int:
    """Mend the columns in which this process has met a damaged value; return how many values were replaced.

    Args:
        pause: called between two queries; lets running turns go first.
    """
    mended = 0
    for label, name in damaged_columns.columns():
        field = cast("Field[Any, Any]", apps.get_model(label)._meta.get_field(name))
        # Forget the column first: a damaged value met from now on notes it again.
        damaged_columns.forget(label, name)
        mended += sum(mend_value(field, pk) for pk in damaged_rows(field, pause))
    return mended


def checked_columns() -> Sequence["Field[Any, Any]"]:
    """Return the columns whose values can be damaged; PostgreSQL itself admits only JSON into its own type."""
    kinds = (CompressedJSONField,) if connection.vendor == "postgresql" else (CompressedJSONField, StoredJSONField)
    models = apps.get_app_config("sessions_app").get_models()
    return [field for model in models for field in model._meta.concrete_fields if isinstance(field, kinds)]


def damaged_rows(field: "Field[Any, Any]", pause: Callable[[], None] = lambda: None) -> Iterator[Any]:
    """Yield the keys of the rows whose value cannot be read; reads the whole column, some hundred rows a query."""
    rows = _raw_values(field).order_by("pk")
    last: Any = None
    while batch := list((rows if last is None else rows.filter(pk__gt=last))[:_ROWS_A_QUERY]):
        yield from (pk for pk, raw in batch if not _is_readable(field, raw))
        last = batch[-1][0]
        pause()


@transaction.atomic
def mend_value(field: "Field[Any, Any]", pk: Any) -> bool:
    """Set a damaged value aside and replace it; return False if the row is gone or its value can be read.

    Most values become the field's default. A turn's events make sense only in order, so the damaged batch and all later
    ones are set aside. A layer's ancestry is computed from its parents. A session with damaged skills, personas or
    agents gets the present ones of the files.

    Effects: a `DamagedValue` for each value, a line in the log.
    """
    raw = _raw_values(field).filter(pk=pk).values_list("raw", flat=True).first()
    if raw is None or _is_readable(field, raw):
        return False
    _set_aside(field, pk, raw)
    if field.model is TurnEvents and field.name == "events":
        _end_events(field, pk)
    elif field.model is KnowledgeLayer:
        KnowledgeLayer.objects.filter(pk=pk).update(ancestry=_ancestry(pk))
    elif field.model is FrozenContent:
        _freeze_again(pk)
    else:
        empty = field.get_default() if field.has_default() else None
        # The default manager of turns hides trials; the one of the audit log refuses updates.
        field.model._base_manager.filter(pk=pk).update(**{field.name: empty})
    return True


def _raw_values(field: "Field[Any, Any]") -> Any:
    rows = field.model._base_manager.filter(**{f"{field.name}__isnull": False})
    return rows.annotate(raw=Cast(field.name, BinaryField())).values_list("pk", "raw")


def _is_readable(field: "Field[Any, Any]", raw: bytes | memoryview) -> bool:
    try:
        json.loads(decompress(raw) if isinstance(field, CompressedJSONField) else bytes(raw))
    except UnicodeDecodeError:
        # A lone surrogate, which compressed values may hold.
        return isinstance(field, CompressedJSONField)
    except Exception:
        return False
    return True


def _set_aside(field: "Field[Any, Any]", pk: Any, raw: bytes | memoryview) -> None:
    table, column = field.model._meta.db_table, str(field.column)
    DamagedValue.objects.create(table=table, column=column, row_key=str(pk), raw=bytes(raw))
    logger.error("a damaged value was set aside and replaced: %s.%s of %s", table, column, pk)


def _end_events(field: "Field[Any, Any]", pk: int) -> None:
    batch = TurnEvents.objects.only("turn_id", "first_sequence").get(pk=pk)
    later = TurnEvents.objects.filter(turn_id=batch.turn_id, first_sequence__gt=batch.first_sequence)
    for later_pk, raw in _raw_values(field).filter(pk__in=later.values("pk")):
        _set_aside(field, later_pk, raw)
    later.update(events=[])
    TurnEvents.objects.filter(pk=pk).update(events=[])


def _ancestry(pk: int) -> list[int]:
    """Return the keys of a layer's ancestors, the parent first."""
    ancestry: list[int] = []
    above = pk
    while parent := KnowledgeLayer.objects.filter(pk=above).values_list("parent_id", flat=True).first():
        ancestry.append(parent)
        above = parent
    return ancestry


def _freeze_again(key: str) -> None:
    damaged = FrozenContent.objects.defer("content").get(pk=key)
    kind = FrozenContent.Kind(damaged.kind)
    read: dict[FrozenContent.Kind, Callable[[Project], Content]] = {
        FrozenContent.Kind.SKILLS: current_skills,
        FrozenContent.Kind.PERSONAS: current_personas,
        FrozenContent.Kind.AGENTS: current_agents,
    }
    content = read[kind](damaged.project)
    column = _SESSION_COLUMNS[kind]
    # The key is a hash of the content: if the files have not changed, this restores the damaged content.
    FrozenContent.objects.filter(pk=key).update(content=asdict(content))
    (stored,) = store(damaged.project_id, [(kind, content)])
    if stored != key:
        Session.objects.filter(**{column: key}).update(**{column: stored})
        FrozenContent.objects.filter(pk=key).delete()
