"""Knowledge bases as chains of layers: fork, save and mount move a pointer and never copy.

A layer is immutable once sealed and sees everything its ancestors hold, minus what it or a layer between hides.
Its counts, but for those named `own_` and `removed_`, are those of the whole visible chain, so that exact BM25 needs
no counting; `sessions_app.layers` keeps them true.
"""

from typing import Self

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from sessions_app.identifiers import new_kb_id
from sessions_app.models.damage import StoredJSONField
from sessions_app.models.fields import IdField
from sessions_app.models.knowledge.unit_fields import UnitFields
from sessions_app.models.redacted import RedactedCharField
from sessions_app.models.settings.project import Project

MAX_NAME_CHARS = 200
_FORK_SUFFIX = " fork"


class KnowledgeLayer(models.Model):
    """A set of units and hidings on top of a parent; unsealed while it is a session's own.

    A session's stack is its draft, a context layer for each large load, and its journal on top. Each large source
    staged in a draft becomes a further draft layer. Nothing points at a staged layer, which is being filled or was left
    by an interrupted process.

    `ancestry` makes a chain of any length readable by one query. A `postings_layer` holds nothing but the rewritten
    postings of a sealed layer, so a search finds the old ones or the new ones, never both.

    A removed layer holds units removed from an unsealed one, or was dropped by a session. Only views of earlier turns
    show it. It is deleted with the layer `removed_from`; its `ancestry` names the layer that its units came from.
    """

    class Kind(models.TextChoices):
        """What the layer is for."""

        BASE = "base"
        DRAFT = "draft"
        JOURNAL = "journal"
        CONTEXT = "context"
        STAGED = "staged"
        INDEX = "index"
        REMOVED = "removed"

    parent = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="children",
        help_text="The layer below; empty at the bottom.",
    )
    kind = models.CharField(
        max_length=8,
        choices=Kind,
        default=Kind.BASE,
        help_text="Part of a base or of a session; staged and removed layers are in no present view.",
    )
    ancestry = StoredJSONField(default=list, blank=True, help_text="Ids of the layers below, the nearest first.")
    index_version = models.CharField(
        max_length=80,
        help_text="Version of the indexing rules of the layer's own units: the oldest where several were at work.",
    )
    postings_layer = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="Layer under whose key rewritten postings are stored; empty: this one.",
    )
    removed_from = models.ForeignKey(
        "self",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        db_index=False,
        related_name="removals",
        help_text="For a removed layer: the layer it goes with.",
    )
    unit_count = models.PositiveIntegerField(default=0, help_text="Units seen from here.")
    evidence_count = models.PositiveIntegerField(default=0, help_text="Units of evidence seen from here.")
    term_count = models.PositiveBigIntegerField(
        default=0, help_text="Sum of the lengths of the evidence units seen from here."
    )
    source_count = models.PositiveIntegerField(default=0, help_text="Sources seen from here.")
    own_unit_count = models.PositiveIntegerField(default=0, help_text="Units stored in this layer.")
    own_source_count = models.PositiveIntegerField(default=0, help_text="Sources stored in this layer.")
    removed_unit_count = models.PositiveIntegerField(
        default=0, help_text="Units of layers below that this layer removes."
    )
    sealed_at = models.DateTimeField(null=True, blank=True, help_text="Empty while the layer can change.")
    erased_at = models.DateTimeField(
        null=True, blank=True, help_text="When an act of forgetting last deleted units of the layer; empty: never."
    )
    created_at = models.DateTimeField(default=timezone.now)
    worked_at = models.DateTimeField(
        default=timezone.now,
        null=True,
        blank=True,
        help_text="Staged layers only: when it was last written to; empty while it is being removed.",
    )

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(
                fields=["removed_from"], condition=models.Q(removed_from__isnull=False), name="layer_removed_from"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} layer {self.pk}"

    @property
    def is_empty(self) -> bool:
        """Return whether the layer changes nothing of what its parent shows."""
        return self.own_unit_count == 0 and self.own_source_count == 0 and self.removed_unit_count == 0

    @property
    def chain(self) -> list[int]:
        """Return the ids of the layers that are seen from here, the highest first."""
        return [self.pk, *self.ancestry]

    @property
    def depth(self) -> int:
        """Return the number of ancestors."""
        return len(self.ancestry)


class KnowledgeBase(models.Model):
    """A named base: a pointer at its head layer.

    Layers of a deleted base stay for the turns that saw them.
    """

    kb_id = IdField(unique=True, default=new_kb_id)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="knowledge_bases")
    name = RedactedCharField(max_length=MAX_NAME_CHARS)
    is_default = models.BooleanField(default=False, help_text="New sessions mount it.")
    parent = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="forks",
        help_text="The base this one was forked from.",
    )
    head = models.ForeignKey(
        KnowledgeLayer, on_delete=models.PROTECT, related_name="headed_bases", help_text="The layer that a mount sees."
    )
    revision = models.PositiveIntegerField(default=1, help_text="Number of the newest revision.")
    source_count = models.PositiveIntegerField(default=0, help_text="Sources that the head shows.")
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)
    compaction_asked_at = models.DateTimeField(
        null=True, blank=True, help_text="Set while a compaction of the layers is wanted."
    )
    deleted_at = models.DateTimeField(
        null=True, blank=True, help_text="Set when deleted: it cannot be mounted, and can be restored."
    )

    class Meta:
        ordering = ["-is_default", "name", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["project"], condition=models.Q(is_default=True), name="knowledge_base_one_default"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def fork_name(self) -> str:
        """Return the default name of a fork of the base."""
        return f"{self.name[: MAX_NAME_CHARS - len(_FORK_SUFFIX)]}{_FORK_SUFFIX}"


class SourceRows(models.QuerySet["KnowledgeSource"]):
    """Rows of sources. In a chain only the latest row of each `source_id` counts, in whatever layer it is."""

    def latest_last(self) -> Self:
        """Order the rows by time, oldest first; a copy has the time of its original."""
        return self.order_by("updated_at", "pk")

    def latest_of_each(self) -> Self:
        """Return only the latest row of each source id."""
        later = Q(updated_at__gt=OuterRef("updated_at")) | Q(updated_at=OuterRef("updated_at"), pk__gt=OuterRef("pk"))
        return self.exclude(Exists(self.filter(later, source_id=OuterRef("source_id"))))


class KnowledgeSource(models.Model):
    """A text that units were made from.

    A layer above may hold another row of the same source, which replaces it. A JOURNAL represents what a session knew
    when it was saved: it has no text, and `unit_count` counts what was saved.
    """

    class Kind(models.TextChoices):
        """What the source is."""

        LISTED = "source"  # a base lists and counts it
        JOURNAL = "conversation-journal"  # what a session saved of its conversation; not listed
        REMOVED = "removed"  # there is no source of this id any more

    layer = models.ForeignKey(KnowledgeLayer, on_delete=models.CASCADE, db_index=False, related_name="sources")
    source_id = models.CharField(
        max_length=128, help_text="The same in every layer that holds a version of the source."
    )
    name = models.CharField(max_length=300, help_text="Name of the file or text.")
    kind = models.CharField(
        max_length=24,
        default=Kind.LISTED,
        help_text="source: listed; conversation-journal: what a session saved; removed: no source of this id any more.",
    )
    content = models.TextField(help_text="Text of the source; empty for a journal.")
    hash = models.CharField(max_length=64, help_text="SHA-256 of the content.")
    chunk_count = models.PositiveIntegerField(default=0, help_text="Pieces that its text was cut into.")
    unit_count = models.PositiveIntegerField(default=0, help_text="Units made from it; for a journal, units saved.")
    text_byte_count = models.PositiveBigIntegerField(default=0, help_text="Bytes of text in its units.")
    added_at = models.DateTimeField(default=timezone.now, help_text="When the source first came in.")
    updated_at = models.DateTimeField(
        default=timezone.now, help_text="When this version came in; the latest in a chain counts."
    )

    objects = SourceRows.as_manager()

    class Meta:
        ordering = ["layer_id", "id"]
        constraints = [models.UniqueConstraint(fields=["layer", "source_id"], name="source_id_unique_in_layer")]

    def __str__(self) -> str:
        return self.name


class LayerUnit(UnitFields):
    """A unit of a layer. `sessions_app.layers.retrieval.windows` uses `stretch` and `place`."""

    layer = models.ForeignKey(KnowledgeLayer, on_delete=models.CASCADE, db_index=False, related_name="units")
    origin = models.ForeignKey(
        KnowledgeSource,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="units",
        help_text="Source the unit was made from.",
    )
    length = models.PositiveIntegerField(
        default=0, help_text="Sum of its postings' frequencies; 0 unless it is evidence."
    )
    is_evidence = models.BooleanField(default=True, help_text="Whether searches find it.")
    is_guidance = models.BooleanField(default=False, help_text="Whether it guides plugins.")
    stretch = models.BigIntegerField(
        null=True,
        blank=True,
        help_text="Run of neighbouring utterances it is part of; empty unless it was said in a conversation.",
    )
    place = models.PositiveIntegerField(
        null=True, blank=True, help_text="Place in its conversation, counted from 0; empty unless it was said in one."
    )

    class Meta:
        ordering = ["layer_id", "id"]
        constraints = [models.UniqueConstraint(fields=["layer", "unit_id"], name="unit_id_unique_in_layer")]
        indexes = [
            models.Index(fields=["layer", "hash"], name="layer_unit_by_hash"),
            models.Index(fields=["layer"], condition=models.Q(is_guidance=True), name="layer_unit_guidance"),
            models.Index(
                fields=["layer", "stretch"], condition=models.Q(stretch__isnull=False), name="layer_unit_by_stretch"
            ),
        ]

    def __str__(self) -> str:
        return self.unit_id


class HiddenUnit(models.Model):
    """What a layer, and all above it, changes in the visibility of a unit.

    The topmost row of a chain decides about a unit; above one of those in `GONE` there is none.
    """

    class Change(models.TextChoices):
        """What happens to the unit."""

        REMOVED = "removed", "Removed: its source is gone"
        DUPLICATE = "duplicate", "Duplicate: a unit with the same hash is shown in its place"
        REVEALED = "revealed", "Revealed: the unit that was shown in its place is gone"
        STALE = "stale", "Stale: what it was derived from is gone"  # until its source is stored again

    GONE = (Change.REMOVED, Change.STALE)

    layer = models.ForeignKey(
        KnowledgeLayer,
        on_delete=models.CASCADE,
        db_index=False,
        related_name="hidden_units",
        help_text="The layer that makes the change, for itself and all layers above.",
    )
    unit = models.ForeignKey(LayerUnit, on_delete=models.CASCADE, related_name="hidden_in")
    change = models.CharField(
        max_length=9,
        choices=Change,
        default=Change.REMOVED,
        help_text="What the layer does to a unit of a layer below.",
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["layer", "unit"], name="hidden_unit_unique")]

    def __str__(self) -> str:
        return f"layer {self.layer_id}: unit {self.unit_id} {self.change}"


class Posting(models.Model):
    """How often a term is in a unit; evidence units only.

    Terms are hashed: concurrent writers would contend for a dictionary. `length` is copied here so that a search reads
    this table alone. Rows are derived data, written and removed with
    their unit by `sessions_app.layers`, so the database does not check each of them against its unit.
    """

    layer = models.ForeignKey(
        KnowledgeLayer, on_delete=models.CASCADE, related_name="postings", db_index=False, db_constraint=False
    )
    term = models.BigIntegerField(help_text="64-bit hash of the stemmed term.")
    unit = models.ForeignKey(LayerUnit, on_delete=models.CASCADE, related_name="postings", db_constraint=False)
    frequency = models.PositiveIntegerField(help_text="In tenths, because fields weigh differently.")
    length = models.PositiveIntegerField(help_text="Length of the unit, copied here for the search.")

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["layer", "term", "unit"], name="posting_unique")]

    def __str__(self) -> str:
        return f"{self.term} in {self.unit_id}"
