"""Differences between two layer chains, for comparing revisions and previewing a save."""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Literal

from sessions_app.models import HiddenUnit, KnowledgeLayer, KnowledgeSource, LayerUnit
from sessions_app.queries.knowledge.bases import newest_sources

LOOKED_AT = 5_000
"""Units of each side that are compared."""
UNITS_NAMED = 50
SOURCES_NAMED = 100


@dataclass(frozen=True, slots=True)
class Shown:
    """A layer, and the keys of the units that its chain hides."""

    layer: KnowledgeLayer
    hidden: Container[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceChange:
    """A source that one side lacks or has with another text; unit counts are None on a side without it."""

    name: str
    kind: Literal["added", "removed", "changed"]
    before_count: int | None
    after_count: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitDifference:
    """Statements that only one side shows; `counted` is their number, a lower bound if `is_cut_short`."""

    units: Sequence[LayerUnit]
    counted: int
    is_cut_short: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """The differences between two chains; `sources_left_out` counts the sources that are not listed."""

    before_count: int
    after_count: int
    sources: Sequence[SourceChange]
    sources_left_out: int
    added: UnitDifference
    removed: UnitDifference

    @property
    def is_empty(self) -> bool:
        """Return whether both show the same."""
        return not (self.sources or self.added.counted or self.removed.counted)


def differences(before: Shown, after: Shown) -> Differences:
    """Return the changes from `before` to `after`; always eight queries."""
    sources = _source_changes(before.layer, after.layer)
    return Differences(
        before_count=before.layer.unit_count,
        after_count=after.layer.unit_count,
        sources=sources[:SOURCES_NAMED],
        sources_left_out=max(0, len(sources) - SOURCES_NAMED),
        added=_only_in(after, before),
        removed=_only_in(before, after),
    )


def _source_changes(before: KnowledgeLayer, after: KnowledgeLayer) -> list[SourceChange]:
    then, now = _sources(before), _sources(after)
    changes = []
    for source_id in sorted(then.keys() | now.keys()):
        old, new = then.get(source_id), now.get(source_id)
        if old and new and (old.pk == new.pk or old.hash == new.hash):
            continue
        changes.append(
            SourceChange(
                name=(new or old).name,  # type: ignore[union-attr]
                kind="changed" if old and new else "added" if new else "removed",
                before_count=old.unit_count if old else None,
                after_count=new.unit_count if new else None,
            )
        )
    return changes


def _sources(layer: KnowledgeLayer) -> dict[str, KnowledgeSource]:
    rows = newest_sources(layer).filter(kind=KnowledgeSource.Kind.LISTED)
    return {row.source_id: row for row in rows.only("source_id", "name", "hash", "unit_count")}


def _only_in(left: Shown, right: Shown) -> UnitDifference:
    """Return the statements that `left` shows and `right` does not, in any layer."""
    own = set(left.layer.chain) - set(right.layer.chain)
    shared = set(left.layer.chain) & set(right.layer.chain)
    changed = HiddenUnit.objects.filter(layer_id__in=set(right.layer.chain) - shared, unit__layer_id__in=shared)
    units = LayerUnit.objects.filter(ku_type="atomic").order_by("pk").defer("text_body")
    candidates = [
        *units.filter(layer_id__in=own)[: LOOKED_AT + 1],
        *units.filter(pk__in=changed.values("unit_id"))[: LOOKED_AT + 1],
    ]
    shown = [unit for unit in candidates if unit.pk not in left.hidden][:LOOKED_AT]
    known = _hashes_shown(right, {unit.hash for unit in shown})
    only_here = [unit for unit in shown if unit.hash not in known]
    return UnitDifference(
        units=only_here[:UNITS_NAMED], counted=len(only_here), is_cut_short=len(candidates) > LOOKED_AT
    )


def _hashes_shown(side: Shown, hashes: set[str]) -> set[str]:
    rows = LayerUnit.objects.filter(layer_id__in=side.layer.chain, hash__in=hashes).values_list("pk", "hash")
    return {digest for pk, digest in rows.iterator() if pk not in side.hidden}
