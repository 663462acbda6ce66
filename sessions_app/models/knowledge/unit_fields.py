"""The columns that every stored unit has, and the way to and from the machine's value."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Self

from django.db import models

from mrpvm.values import CHAT_TURN, KnowledgeUnit
from sessions_app.models.damage import StoredJSONField

_COLUMNS = (
    "ku_type", "role", "topic", "title", "claim", "procedure", "condition", "text_body", "subject", "relation",
    "object", "confidence", "source_id", "chunk_id", "hash",
)  # fmt: skip
_LISTS = ("utility_acts", "phase_scopes")
UNIT_COLUMNS = ("provenance", *_LISTS, "unit_id", *_COLUMNS)
"""All columns of a unit, in the order that `unit_of` takes them."""
_FIELDS = ("id", *_COLUMNS)
_NOT_PROVENANCE = {"id", *_COLUMNS, *_LISTS}
_PROVENANCE = tuple(name for name in KnowledgeUnit.__struct_fields__ if name not in _NOT_PROVENANCE)
_read_columns, _read_provenance = attrgetter(*_FIELDS), attrgetter(*_PROVENANCE)
_TUPLES = {"parent_unit_ids", "child_unit_ids", "derived_from_unit_ids"}


class UnitFields(models.Model):
    """A knowledge unit as columns. Fields that no query filters by are in `provenance`, without nulls."""

    unit_id = models.CharField(max_length=400, help_text="Id that answers cite.")
    ku_type = models.CharField(
        max_length=10, default="atomic", help_text="How much it covers: atomic, composite or aggregate."
    )
    role = models.CharField(max_length=12, help_text="What kind of statement it is, such as Definition or Procedure.")
    topic = models.TextField(help_text="What the unit is about.")
    title = models.TextField(null=True, blank=True, help_text="Empty where none was given.")  # noqa: DJ001  null and "" differ in the control language
    claim = models.TextField(null=True, blank=True, help_text="What it states; empty for a procedure.")  # noqa: DJ001
    procedure = models.TextField(null=True, blank=True, help_text="How something is done; empty for a claim.")  # noqa: DJ001
    condition = models.TextField(null=True, blank=True, help_text="When the claim holds; empty: always.")  # noqa: DJ001
    text_body = models.TextField(null=True, blank=True, help_text="Complete text; empty: its claim or procedure.")  # noqa: DJ001
    subject = models.TextField(null=True, blank=True, help_text="Subject of the fact, where the unit states one.")  # noqa: DJ001
    relation = models.CharField(max_length=20, null=True, blank=True, help_text="Relation of subject and object.")  # noqa: DJ001
    object = models.TextField(null=True, blank=True, help_text="Object of the fact.")  # noqa: DJ001
    confidence = models.FloatField(null=True, blank=True, help_text="0 to 1; empty where none was given.")
    source_id = models.CharField(max_length=200, help_text="Id of its source; the turn for what a message stated.")
    chunk_id = models.CharField(max_length=300, help_text="Id of the chunk that the unit was made from.")
    hash = models.CharField(max_length=64, help_text="Units with the same hash say the same.")
    utility_acts = StoredJSONField(default=list, blank=True, help_text="Acts of intents that the unit is useful for.")
    phase_scopes = StoredJSONField(
        default=list, blank=True, help_text="Phases that the unit is for; `kb-plugin` means evidence."
    )
    provenance = StoredJSONField(
        default=dict, blank=True, help_text="Where its text is, and other fields that no query uses."
    )

    class Meta:
        abstract = True

    @classmethod
    def from_value(cls, unit: KnowledgeUnit, **extra: Any) -> Self:
        """Return an unsaved row for `unit`."""
        return cls(**dict(zip(UNIT_COLUMNS, columns_of(unit), strict=True)), **extra)

    def to_value(self) -> KnowledgeUnit:
        """Return the machine's value of this row."""
        return unit_of([getattr(self, name) for name in UNIT_COLUMNS])

    @property
    def text(self) -> str:
        """Return what the unit says: its claim, else its procedure, else its topic."""
        return self.claim or self.procedure or self.topic

    @property
    def source_label(self) -> str:
        """Return what its source is called, else the source's id; of what was told, that an earlier turn told it."""
        is_told = self.provenance.get("source_type") == CHAT_TURN
        return str(self.provenance.get("source_name") or ("an earlier turn" if is_told else self.source_id))


def columns_of(unit: KnowledgeUnit) -> tuple[Any, ...]:
    """Return a unit's columns, in the order of `UNIT_COLUMNS`."""
    provenance = zip(_PROVENANCE, _read_provenance(unit), strict=True)
    stored = {name: value for name, value in provenance if value is not None and value != ()}
    return (stored, list(unit.utility_acts), list(unit.phase_scopes), *_read_columns(unit))


def unit_of(values: Sequence[Any]) -> KnowledgeUnit:
    """Return the machine's value of a stored unit from its columns, in the order of `UNIT_COLUMNS`."""
    provenance, utility_acts, phase_scopes, *rest = values
    fields: dict[str, Any] = dict(zip(_FIELDS, rest, strict=True)) | provenance
    for name in _TUPLES & provenance.keys():
        fields[name] = tuple(fields[name])
    return KnowledgeUnit(utility_acts=tuple(utility_acts), phase_scopes=tuple(phase_scopes), **fields)
