"""Reads of the page of one knowledge base: its family, its units, and their uses."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import batched, islice

from django.conf import settings
from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Subquery, Sum, Window
from django.db.models.functions import Coalesce, RowNumber

from mrpvm.english.words.text import unique_terms
from mrpvm.errors import NotFound
from mrpvm.values import KnowledgeUnit
from sessions_app.models import (
    ExplainabilityTurn,
    KBMount,
    KBRevision,
    KnowledgeBase,
    KnowledgeSource,
    LayerUnit,
    Project,
    Session,
    UnitEvent,
)
from sessions_app.models.knowledge.bases import MAX_NAME_CHARS
from sessions_app.queries.knowledge.bases import draft_sources, knowledge_bases, newest_sources, sources
from sessions_app.queries.turns.registry import judged_units

TURNS_LOOKED_AT = 2_000
_TURNS_AT_ONCE = 100
_USED = (UnitEvent.Step.SELECTED, UnitEvent.Step.CITED)


@dataclass(frozen=True, slots=True)
class BaseFamily:
    """A base with its ancestors, the oldest first, its forks, and the revisions of each, the oldest first.

    Other bases that its shown revisions were saved from are listed before it. Each base has at most `revision_limit` of
    its newest revisions; `beginnings` has the first revision of each by the base's key, if it is stored. `fork_count`
    counts all forks; `bases` has only the newest. `goes_on_above` says that the oldest ancestor has a parent too.
    """

    bases: Sequence[KnowledgeBase]
    revisions: Sequence[KBRevision]
    beginnings: Mapping[int, KBRevision]
    revision_limit: int
    fork_count: int
    goes_on_above: bool


def base_family(base: KnowledgeBase, *, generations: int, forks: int, revisions: int) -> BaseFamily:
    """Return the base's family, cut to `generations` above it, `forks` below it and the newest `revisions` of each.

    One query for each generation, and three; four if it has forks.
    """
    above: list[KnowledgeBase] = []
    parent = base.parent
    while parent is not None and len(above) < generations:
        above.insert(0, parent)
        parent = KnowledgeBase.objects.filter(pk=parent.parent_id).first() if parent.parent_id else None
    made = forks_of(base)
    newest_made = list(made.order_by("-created_at", "-pk")[:forks])
    shown = [*above, base, *reversed(newest_made)]
    saved_from = base.revisions.order_by("-revision").values("origin_base")[:revisions]
    others = KnowledgeBase.objects.filter(pk__in=saved_from).exclude(pk__in=[known.pk for known in shown])
    shown[len(above) : len(above)] = others.order_by("created_at", "pk")
    newest = KBRevision.objects.filter(knowledge_base__in=shown).annotate(
        place=Window(RowNumber(), partition_by=F("knowledge_base"), order_by=F("revision").desc())
    )
    kept = list(newest.filter(Q(place__lte=revisions) | Q(revision=1)).order_by("created_at", "pk"))
    return BaseFamily(
        bases=shown,
        revisions=[row for row in kept if row.place <= revisions],
        beginnings={row.knowledge_base_id: row for row in kept if row.revision == 1},
        revision_limit=revisions,
        fork_count=made.count() if newest_made else 0,
        goes_on_above=parent is not None,
    )


def forks_of(base: KnowledgeBase) -> QuerySet[KnowledgeBase]:
    """Return the bases made from this one."""
    return knowledge_bases(base.project).filter(parent=base)


def newest_fork(base: KnowledgeBase) -> KnowledgeBase | None:
    """Return the newest fork of the base, or None."""
    return forks_of(base).order_by("-pk").first()


def saved_conversations(base: KnowledgeBase) -> Mapping[str, int]:
    """Return how many `sessions` saved units into the base, and how many `units` they saved."""
    journals = newest_sources(base.head).filter(kind=KnowledgeSource.Kind.JOURNAL)
    totals = journals.aggregate(sessions=Count("pk"), units=Sum("unit_count"))
    return {name: value or 0 for name, value in totals.items()}


def listed_bases(project: Project, words: str, limit: int) -> list[KnowledgeBase]:
    """Return the first of the project's bases with `words` in their name or as their id, each with `session_count`: how
    many living sessions have it mounted."""
    if len(words) > MAX_NAME_CHARS:  # no name is so long, and SQLite refuses patterns of more than 50,000 bytes
        return []
    living = Session.objects.filter(mounted_kb=OuterRef("pk"), deleted_at=None).order_by().values("mounted_kb")
    counted = Coalesce(Subquery(living.annotate(number=Count("pk")).values("number")), 0)
    fitting = Q(name__icontains=words) | Q(kb_id=words)
    return list(knowledge_bases(project).filter(fitting).annotate(session_count=counted)[:limit])


def mounting_sessions(base: KnowledgeBase, limit: int) -> list[Session]:
    """Return the sessions that have the base mounted, each with the `mounted_revision`, latest activity first."""
    current = KBMount.objects.filter(session=OuterRef("pk"), until=None).values("revision")[:1]
    rows = Session.objects.filter(mounted_kb=base, deleted_at__isnull=True).annotate(mounted_revision=Subquery(current))
    return list(rows.order_by("-last_activity_at", "-id")[:limit])


def asked_terms(text: str) -> dict[str, float]:
    """Return what a search for these words looks for."""
    return dict.fromkeys(unique_terms(text), 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitPart:
    """A child of a unit. A twin is a duplicate that the base shows in place of the child."""

    row: LayerUnit
    is_twin: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseUnit:
    """A unit of a base, where it came from, and the units above and below it in its source's tree.

    `gone_count`: how many of the requested children the base does not show.
    """

    value: KnowledgeUnit
    source: KnowledgeSource | None
    parents: Sequence[LayerUnit]
    children: Sequence[UnitPart]
    gone_count: int


def unit_of_base(base: KnowledgeBase, unit_id: str, hidden: Container[int], limit: int, after: int = 0) -> BaseUnit:
    """Return a unit that the base shows, with at most `limit` of its children, from the one at place `after` on.

    Three queries, and one more if the base shows a duplicate in place of a child.

    Raises:
        NotFound: UNIT_NOT_FOUND.
    """
    chain = base.head.chain
    seen = LayerUnit.objects.filter(layer_id__in=chain)
    rows = seen.filter(unit_id=unit_id).select_related("origin").defer("origin__content")
    row = next((row for row in rows.order_by("-layer_id") if row.pk not in hidden), None)
    if row is None:
        raise NotFound(f"The base has no unit '{unit_id}'.", code="UNIT_NOT_FOUND")
    value = row.to_value()
    parts = value.child_unit_ids[after : after + limit]
    wanted = [*value.parent_unit_ids, *parts]
    copies = list(seen.filter(unit_id__in=wanted))
    near = {other.unit_id: other for other in copies if other.pk not in hidden}
    lost = [other for other in copies if other.unit_id not in near and other.origin_id == row.origin_id]
    twins = _twins(seen, lost, hidden)
    children = [
        UnitPart(row=near.get(name) or twins[name], is_twin=name not in near)
        for name in parts
        if name in near or name in twins
    ]
    return BaseUnit(
        value=value,
        source=row.origin,
        parents=[near[name] for name in value.parent_unit_ids if name in near],
        children=children,
        gone_count=len(parts) - len(children),
    )


def _twins(seen: QuerySet[LayerUnit], lost: Sequence[LayerUnit], hidden: Container[int]) -> dict[str, LayerUnit]:
    """Return the duplicates that are shown in place of lost units, with their sources, by the lost units' ids."""
    if not lost:
        return {}
    same = seen.filter(hash__in={unit.hash for unit in lost}).select_related("origin").defer("origin__content")
    shown = {unit.hash: unit for unit in same if unit.pk not in hidden}
    return {unit.unit_id: shown[unit.hash] for unit in lost if unit.hash in shown}


def shows_unit(base: KnowledgeBase, unit_id: str, hidden: Container[int]) -> bool:
    """Return whether the base shows such a unit now."""
    rows = LayerUnit.objects.filter(layer_id__in=base.head.chain, unit_id=unit_id)
    return any(pk not in hidden for pk in rows.values_list("pk", flat=True))


def source_of_base(base: KnowledgeBase, source_id: str) -> KnowledgeSource:
    """Return a source that the base shows, without its text.

    Raises:
        NotFound: SOURCE_NOT_FOUND.
    """
    row = sources(base).filter(source_id=source_id).first()
    if row is None:
        raise NotFound(f"The base has no source '{source_id}'.", code="SOURCE_NOT_FOUND")
    return row


def roots_of(source: KnowledgeSource, hidden: Container[int], limit: int) -> list[LayerUnit]:
    """Return the highest units of a source's tree, at most `limit`; one query for each level that it lacks, and one."""
    for kind in ("aggregate", "composite", "atomic"):
        rows = source.units.filter(ku_type=kind).order_by("pk").iterator()
        seen = list(islice((row for row in rows if row.pk not in hidden), limit))
        if seen:
            return seen
    return []


def root_of_staged(session: Session, source_id: str) -> str:
    """Return the id of the first of the highest units that a source of the session's draft has.

    Raises:
        NotFound: SOURCE_NOT_FOUND, the draft has no such source, or only removes it.
    """
    source = draft_sources(session).filter(source_id=source_id).first()
    roots = roots_of(source, (), 1) if source is not None else []
    if not roots:
        raise NotFound(f"The draft has no source '{source_id}'.", code="SOURCE_NOT_FOUND")
    return roots[0].unit_id


def uses_of(base: KnowledgeBase, unit_id: str, limit: int) -> list[UnitEvent]:
    """Return the steps in which turns chose or cited the unit while the base was mounted, newest first.

    Each step has its turn and session. Only the newest turns of the sessions that mounted the base last are searched,
    because a unit may have been used in any number of turns. The same id in another base is another unit.
    """
    mounted = KBMount.objects.filter(knowledge_base=base, session__deleted_at__isnull=True).order_by()
    sessions = mounted.values("session_id").annotate(newest=Max("pk")).order_by("-newest")
    looked_at = list(sessions.values_list("session_id", flat=True)[: settings.MRPVM_SESSIONS_LOOKED_AT])
    at_that_time = KBMount.objects.filter(
        Q(until=None) | Q(until__gte=OuterRef("created_at")),
        knowledge_base=base,
        session=OuterRef("session"),
        mounted_at__lte=OuterRef("created_at"),
    )
    turns = ExplainabilityTurn.objects.filter(Exists(at_that_time), session_id__in=looked_at).order_by("-pk")
    newest = turns.select_related("session").defer("response_document", "context_report")[:TURNS_LOOKED_AT]
    uses: list[UnitEvent] = []
    for some in batched(newest, _TURNS_AT_ONCE, strict=False):
        steps = [step for step in judged_units(some[::-1], unit_id) if step.step in _USED]
        uses += steps[::-1]
        if len(uses) >= limit:
            break
    return uses[:limit]
