"""The postings of a large sealed layer once more, packed for search."""

from django.db import models
from django.utils import timezone

from sessions_app.models.knowledge.bases import KnowledgeLayer

PACKING_FORMAT = 2


def packing_version(index_version: str) -> str:
    """Return the version of what the code packs of postings that an index of this version holds."""
    return f"{PACKING_FORMAT}/{index_version}"


class PackedLayer(models.Model):
    """The packed postings of one sealed layer.

    The rows of `Posting` stay what they are. These are derived from them, complete once `is_complete`, and stale when
    their `version` is not the `packing_version` of the layer's index: then the rows are read. Units with postings have
    numbers here, counted from 0 in the order of their unit ids, so that equal scores are put in order by number;
    `unit_count` says how many. What was said in a conversation has none: its postings keep the units' keys.
    """

    layer = models.ForeignKey(KnowledgeLayer, on_delete=models.CASCADE, db_index=False, related_name="packings")
    version = models.CharField(max_length=100, help_text="Version of the index and the packing.")
    unit_count = models.PositiveIntegerField(default=0, help_text="Units with a number in the packing.")
    is_complete = models.BooleanField(default=False, help_text="Only a complete packing is read.")
    worked_at = models.DateTimeField(default=timezone.now, help_text="Heartbeat of the process that packs it.")

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["layer", "version"], name="packed_layer_unique")]

    def __str__(self) -> str:
        return f"{self.layer_id} packed"


class PackedPart(models.Model):
    """One piece of a packed layer: the postings of the term `key`, or the keys of the units of one run of numbers.

    A term has one piece for what was said in a conversation and one for all else, as far as it has such postings.
    """

    class Kind(models.TextChoices):
        """What the piece holds."""

        TERM = "term"
        SAID = "said"
        UNITS = "units"

    packed = models.ForeignKey(PackedLayer, on_delete=models.CASCADE, db_index=False, related_name="parts")
    kind = models.CharField(
        max_length=5, choices=Kind, help_text="Postings of a term, of what was said with it, or keys of units."
    )
    key = models.BigIntegerField(help_text="Term, or number of the run of units.")
    content = models.BinaryField(help_text="Packed postings or units.")

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["packed", "kind", "key"], name="packed_part_unique")]

    def __str__(self) -> str:
        return f"{self.kind} {self.key} of {self.packed_id}"
