"""All tables that hold texts, as the models declare them: their text columns and the owners of their rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.apps import apps
from django.contrib.auth.models import Permission, User
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session as Login
from django.db.models import BinaryField, CharField, ForeignKey, JSONField, Model, TextField

from sessions_app.models import (
    ApiKey,
    DatabaseVersion,
    KBMount,
    KBRevision,
    KnowledgeBase,
    KnowledgeLayer,
    LoginLink,
    Membership,
    Project,
    Session,
)

_ROWS_A_QUERY = 100
_TEXT_FIELDS = (CharField, TextField, JSONField, BinaryField)
_WITHOUT_TEXTS = (ContentType, DatabaseVersion, Login, LoginLink, Permission)
"""Tables without text of conversations: signed, hashed, or written by the server about itself."""
ACCOUNTS = (ApiKey, Membership, Project, User)
"""Tables of accounts. Texts found in them are reported and not removed."""
_DEEPEST = 4

type StoredRow = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table with its text columns; `owners` and `layers` are look-ups that lead to a project or to a layer."""

    model: type[Model]
    columns: Mapping[str, int | None]
    owners: Sequence[str]
    layers: Sequence[str]

    @property
    def name(self) -> str:
        """Return the name of the table's rows, in the plural."""
        return str(self.model._meta.verbose_name_plural)

    @property
    def is_of_accounts(self) -> bool:
        """Return whether its rows are managed elsewhere."""
        return issubclass(self.model, ACCOUNTS)

    def batches(self, reach: "ProjectRows") -> Iterator[list[StoredRow]]:
        """Return the project's rows in batches, as values by column; rows without an owner are in every project."""
        names = [field.attname for field in self.model._meta.concrete_fields]
        rows = self.model._base_manager.order_by("pk")
        batch = list(rows.values(*names, *self._look_ups)[:_ROWS_A_QUERY])
        while batch:
            yield [row for row in batch if reach.holds([row[name] for name in self.owners], self._layers_of(row))]
            if len(batch) < _ROWS_A_QUERY:
                return
            batch = list(rows.filter(pk__gt=batch[-1][self._key]).values(*names, *self._look_ups)[:_ROWS_A_QUERY])

    @property
    def _key(self) -> str:
        return str(self.model._meta.pk.attname)

    @property
    def _look_ups(self) -> list[str]:
        return [name for name in (*self.owners, *self.layers) if "__" in name]

    def _layers_of(self, row: StoredRow) -> list[int | None]:
        return [row[name] for name in self.layers]

    def key_of(self, row: StoredRow) -> Any:
        """Return a row's primary key."""
        return row[self._key]


@cache
def text_tables() -> Sequence[TextTable]:
    """Return the tables of all installed applications."""
    tables = []
    for model in apps.get_models(include_auto_created=True):
        columns = {
            field.attname: getattr(field, "max_length", None)
            for field in model._meta.concrete_fields
            if isinstance(field, _TEXT_FIELDS) and not field.choices and not field.primary_key
        }
        if columns and model not in _WITHOUT_TEXTS:
            tables.append(TextTable(model, columns, _paths(model, Project), _paths(model, KnowledgeLayer)))
    return tuple(tables)


def table_of(model: type[Model]) -> TextTable:
    """Return the table of one model."""
    return next(table for table in text_tables() if table.model is model)


def _paths(model: type[Model], target: type[Model]) -> tuple[str, ...]:
    """Return for each foreign key the shortest lookup through it that yields the key of a row of the target."""
    if model is target:
        return (str(model._meta.pk.attname),)
    paths = (_path(field, target, 1) for field in _foreign_keys(model))
    return tuple(path for path in paths if path)


def _path(field: "ForeignKey[Any, Any]", target: type[Model], depth: int) -> str:
    if field.related_model is target:
        return str(field.attname)
    if depth == _DEEPEST or field.related_model in (User, field.model):
        return ""
    further = (_path(each, target, depth + 1) for each in _foreign_keys(field.related_model))
    shortest = min((path for path in further if path), key=len, default="")
    return f"{field.name}__{shortest}" if shortest else ""


def _foreign_keys(model: type[Model]) -> "list[ForeignKey[Any, Any]]":
    return [field for field in model._meta.concrete_fields if isinstance(field, ForeignKey)]


class ProjectRows:
    """The rows of a project. Layers name no project: they belong to the projects whose bases and sessions see them."""

    def __init__(self, project: Project) -> None:
        self.project_pk = project.pk
        self._foreign_layers = _layers(exclude=project.pk)
        if self._foreign_layers:
            self._foreign_layers -= _layers(only=project.pk)

    def holds(self, owners: Sequence[int | None], layers: Sequence[int | None]) -> bool:
        """Return whether a row with these owners or layers is the project's or has no owner."""
        known = {owner for owner in owners if owner is not None}
        if known:
            return self.project_pk in known
        seen_in = {layer for layer in layers if layer is not None}
        return not seen_in or not seen_in <= self._foreign_layers


def _layers(*, only: int | None = None, exclude: int | None = None) -> set[int]:
    """Return the layers that one project, or all others, see or have seen."""

    def of(model: type[Model], project: str, *columns: str) -> set[int]:
        rows = model._base_manager.all()
        rows = rows.filter(**{project: only}) if only is not None else rows.exclude(**{project: exclude})
        return {layer for row in rows.values_list(*columns) for layer in row if layer is not None}

    roots = {
        *of(KnowledgeBase, "project", "head_id"),
        *of(KBRevision, "knowledge_base__project", "layer_id"),
        *of(KBMount, "session__project", "layer_id"),
        *of(Session, "project", "mounted_layer_id", "draft_id", "journal_id"),
    }
    if not roots:
        return set()
    rows = list(KnowledgeLayer.objects.values_list("pk", "ancestry", "removed_from_id", "postings_layer_id"))
    seen = {layer for pk, ancestry, _, _ in rows if pk in roots for layer in (pk, *ancestry)}
    removed = {pk for pk, above, origin, _ in rows if origin in seen or not seen.isdisjoint(above[:1])}
    postings = {postings for pk, _, _, postings in rows if postings and pk in seen}
    return seen | removed | postings
