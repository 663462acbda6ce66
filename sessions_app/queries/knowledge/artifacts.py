"""Layers and units for which a KB plugin has derived nothing yet."""

from collections.abc import Iterator, Sequence

from django.db.models import Exists, OuterRef

from sessions_app.models import KnowledgeLayer, LayerUnit, UnitArtifact


def sealed_layers(most_units: int) -> list[int]:
    """Return the keys of sealed layers that hold some units but no more than `most_units`, the newest first."""
    small = KnowledgeLayer.objects.filter(own_unit_count__range=(1, most_units), sealed_at__isnull=False)
    return list(small.order_by("-pk").values_list("pk", flat=True))


def units_without_artifact(layer: int, plugin_id: str, version: str, batch_size: int) -> Iterator[Sequence[LayerUnit]]:
    """Yield the layer's units of evidence for which the plugin has stored nothing, a query a batch."""
    has = UnitArtifact.objects.filter(unit=OuterRef("pk"), plugin_id=plugin_id, version=version)
    missing = LayerUnit.objects.filter(~Exists(has), layer_id=layer, is_evidence=True).order_by("pk")
    rest = missing
    while units := list(rest[:batch_size]):
        yield units
        rest = missing.filter(pk__gt=units[-1].pk)
