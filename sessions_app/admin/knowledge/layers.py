"""What bases are made of: layers, their sources and units, and what they hide."""

from django.contrib import admin
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from mrpvm.knowledge import indexing
from mrpvm.values import ROLES
from sessions_app.admin.shell.cells import list_links, row_link, shortened, shown_text
from sessions_app.admin.shell.filters import known_values
from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.admin.shell.unit_fields import UNIT_FIELDS
from sessions_app.models import (
    Derivation,
    HiddenUnit,
    KnowledgeBase,
    KnowledgeLayer,
    KnowledgeSource,
    LayerUnit,
    PackedLayer,
    PackedPart,
    Posting,
    SourceArtifact,
    UnitArtifact,
)

_UNIT_LARGE = ("procedure", "text_body", "provenance")
_SHOWN_HIDINGS = 20


@admin.register(KnowledgeLayer)
class KnowledgeLayerAdmin(ReadOnlyAdmin):
    """Layers: sealed ones of bases, unsealed ones of sessions."""

    list_display = (
        "__str__", "parent_link", "depth", "unit_count", "own_unit_count", "removed_unit_count", "source_count",
        "index", "sealed_at", "created_at",
    )  # fmt: skip
    list_filter = ("kind", ("sealed_at", admin.EmptyFieldListFilter), "index_version")
    list_select_related = ("parent",)
    deferred = ("parent__ancestry",)
    search_fields = ("=id",)
    ordering = ("-id",)
    fields = (
        "kind", "parent", "depth", "ancestry", "lists", "unit_count", "evidence_count", "term_count", "source_count",
        "own_unit_count", "own_source_count", "removed_unit_count", "index_version", "postings_layer", "index",
        "sealed_at", "erased_at", "created_at", "worked_at",
    )  # fmt: skip

    @admin.display(description="parent")
    def parent_link(self, layer: KnowledgeLayer) -> SafeString:
        return row_link(layer.parent)

    @admin.display(description="index")
    def index(self, layer: KnowledgeLayer) -> str:
        """Return whether the index of the layer's units is current, else what to do."""
        if not layer.own_unit_count:
            return "–"
        return "up to date" if layer.index_version == indexing.INDEX_VERSION else "old: run the command reindex"

    @admin.display(description="belonging to it")
    def lists(self, layer: KnowledgeLayer) -> SafeString:
        """Return the ways to its rows, to the layers above it and to the bases that point at it."""
        belonging = tuple((model, "layer") for model in (LayerUnit, KnowledgeSource, HiddenUnit))
        return list_links((*belonging, (KnowledgeLayer, "parent"), (KnowledgeBase, "head")), layer)


@admin.register(KnowledgeSource)
class KnowledgeSourceAdmin(ReadOnlyAdmin):
    """Texts that units were made from."""

    list_display = ("name", "source_id", "kind", "layer_link", "chunk_count", "unit_count", "added_at", "updated_at")
    list_filter = (known_values("kind", KnowledgeSource.Kind.values),)
    list_select_related = ("layer",)
    deferred = ("content", "layer__ancestry")
    search_fields = ("name", "=source_id")
    ordering = ("-id",)
    fields = (
        "layer", "source_id", "name", "kind", "hash", "chunk_count", "unit_count", "units", "added_at", "updated_at",
        "text",
    )  # fmt: skip

    @admin.display(description="layer")
    def layer_link(self, source: KnowledgeSource) -> SafeString:
        return row_link(source.layer)

    @admin.display(description="belonging to it")
    def units(self, source: KnowledgeSource) -> SafeString:
        """Return the way to its units."""
        return list_links([(LayerUnit, "origin")], source)

    @admin.display(description="content")
    def text(self, source: KnowledgeSource) -> SafeString:
        return shown_text(source.content)


@admin.register(LayerUnit)
class LayerUnitAdmin(ReadOnlyAdmin):
    list_display = ("unit_id", "says", "role", "is_evidence", "is_guidance", "length", "layer_link")
    list_filter = (known_values("role", ROLES), "is_evidence", "is_guidance")
    list_select_related = ("layer",)
    deferred = ("text_body", "provenance", "layer__ancestry")
    search_fields = ("=unit_id", "=hash", "topic", "claim")
    ordering = ("-id",)
    fieldsets = (
        (None, {"fields": ("unit_id", ("layer", "origin"), ("is_evidence", "is_guidance"))}),
        ("Unit", {"fields": UNIT_FIELDS}),
        ("Index", {"fields": ("length", "posting_list", "hidings")}),
        ("Origin", {"fields": (("source_id", "chunk_id"), "hash", "provenance")}),
    )  # fmt: skip

    @admin.display(description="text")
    def says(self, unit: LayerUnit) -> str:
        """Return what the unit says."""
        return shortened(unit.text)

    @admin.display(description="layer")
    def layer_link(self, unit: LayerUnit) -> SafeString:
        return row_link(unit.layer)

    @admin.display(description="postings")
    def posting_list(self, unit: LayerUnit) -> SafeString:
        """Return the way to its postings."""
        return list_links([(Posting, "unit")], unit)

    @admin.display(description="changed in")
    def hidings(self, unit: LayerUnit) -> SafeString | str:
        """Return the layers that hide or reveal it, the latest first."""
        rows = list(unit.hidden_in.order_by("-layer_id")[: _SHOWN_HIDINGS + 1])
        links = format_html_join(", ", "{}", ((row_link(row),) for row in rows[:_SHOWN_HIDINGS]))
        return links + (" and more" if len(rows) > _SHOWN_HIDINGS else "") or "–"


@admin.register(HiddenUnit)
class HiddenUnitAdmin(ReadOnlyAdmin):
    """What layers hide of the layers below them."""

    list_display = ("id", "layer_link", "unit_link", "change")
    list_filter = ("change",)
    list_select_related = ("layer", "unit")
    deferred = ("layer__ancestry", *(f"unit__{name}" for name in _UNIT_LARGE))
    search_fields = ("=unit__unit_id", "=layer__id")
    ordering = ("-id",)
    fields = ("layer", "unit", "change")

    @admin.display(description="layer")
    def layer_link(self, hidden: HiddenUnit) -> SafeString:
        """Return the layer that hides."""
        return row_link(hidden.layer)

    @admin.display(description="unit")
    def unit_link(self, hidden: HiddenUnit) -> SafeString:
        """Return the unit that is hidden."""
        return row_link(hidden.unit)


@admin.register(Derivation)
class DerivationAdmin(ReadOnlyAdmin):
    """Which units were derived from which others."""

    list_display = ("id", "layer_link", "unit_link", "origin_unit_id")
    list_select_related = ("layer", "unit")
    deferred = ("layer__ancestry", *(f"unit__{name}" for name in _UNIT_LARGE))
    search_fields = ("=unit__unit_id", "=origin_unit_id")
    ordering = ("-id",)
    fields = ("layer", "unit", "origin_unit_id")

    @admin.display(description="layer")
    def layer_link(self, row: Derivation) -> SafeString:
        """Return the layer that holds the derived unit."""
        return row_link(row.layer)

    @admin.display(description="unit")
    def unit_link(self, row: Derivation) -> SafeString:
        return row_link(row.unit)


@admin.register(UnitArtifact)
class UnitArtifactAdmin(ReadOnlyAdmin):
    """What KB plugins derived from units: bytes that only the plugin understands."""

    list_display = ("id", "plugin_id", "version", "unit_link")
    list_select_related = ("unit",)
    deferred = ("content", *(f"unit__{name}" for name in _UNIT_LARGE))
    search_fields = ("=plugin_id", "=unit__unit_id")
    ordering = ("-id",)
    fields = ("plugin_id", "version", "unit", "size")

    @admin.display(description="unit")
    def unit_link(self, artifact: UnitArtifact) -> SafeString:
        return row_link(artifact.unit)

    @admin.display(description="size")
    def size(self, artifact: UnitArtifact) -> str:
        """Return how large it is."""
        return f"{len(artifact.content):,} bytes"


@admin.register(SourceArtifact)
class SourceArtifactAdmin(ReadOnlyAdmin):
    """What KB plugins derived from sources: bytes that only the plugin understands."""

    list_display = ("id", "plugin_id", "name", "source_link")
    list_select_related = ("source",)
    deferred = ("content", "source__content")
    search_fields = ("=plugin_id", "=name", "=source__source_id")
    ordering = ("-id",)
    fields = ("plugin_id", "name", "source", "size")

    @admin.display(description="source")
    def source_link(self, artifact: SourceArtifact) -> SafeString:
        return row_link(artifact.source)

    @admin.display(description="size")
    def size(self, artifact: SourceArtifact) -> str:
        """Return how large it is."""
        return f"{len(artifact.content):,} bytes"


@admin.register(Posting)
class PostingAdmin(ReadOnlyAdmin):
    """How often a term is in a unit; a term is the number that its stem hashes to."""

    list_display = ("id", "term", "frequency", "length", "unit_link", "layer_link")
    list_filter = (known_values("layer__kind", KnowledgeLayer.Kind.values),)
    list_select_related = ("unit", "layer")
    deferred = ("unit__text_body", "unit__provenance", "layer__ancestry")
    search_fields = ("=term", "=unit__unit_id")
    ordering = ("-id",)
    fields = ("term", ("frequency", "length"), "unit", "layer")

    @admin.display(description="unit")
    def unit_link(self, posting: Posting) -> SafeString:
        return row_link(posting.unit)

    @admin.display(description="layer")
    def layer_link(self, posting: Posting) -> SafeString:
        return row_link(posting.layer)


@admin.register(PackedLayer)
class PackedLayerAdmin(ReadOnlyAdmin):
    """Large layers whose postings were packed for search."""

    list_display = ("__str__", "layer_link", "unit_count", "version", "is_complete", "worked_at")
    list_filter = ("is_complete", "version")
    list_select_related = ("layer",)
    deferred = ("layer__ancestry",)
    search_fields = ("=layer__id",)
    ordering = ("-id",)
    fields = ("layer", "unit_count", "version", "is_complete", "worked_at", "part_list")

    @admin.display(description="layer")
    def layer_link(self, packed: PackedLayer) -> SafeString:
        return row_link(packed.layer)

    @admin.display(description="parts")
    def part_list(self, packed: PackedLayer) -> SafeString:
        """Return the way to its parts."""
        return list_links([(PackedPart, "packed")], packed)


@admin.register(PackedPart)
class PackedPartAdmin(ReadOnlyAdmin):
    """The postings of one term in a packed layer, or the keys of some of its units."""

    list_display = ("id", "kind", "key", "packed_link")
    list_filter = (known_values("kind", PackedPart.Kind.values),)
    list_select_related = ("packed",)
    deferred = ("content",)
    search_fields = ("=key", "=packed__layer__id")
    ordering = ("-id",)
    fields = ("kind", "key", "packed", "size")

    @admin.display(description="packed layer")
    def packed_link(self, part: PackedPart) -> SafeString:
        """Return what it is a part of."""
        return row_link(part.packed)

    @admin.display(description="size")
    def size(self, part: PackedPart) -> str:
        """Return how large it is."""
        return f"{len(part.content):,} bytes"
