"""Knowledge bases, their sources, and the chunks in quarantine."""

from collections.abc import Mapping

from django.conf import settings
from django.db.models import Case, OuterRef, Prefetch, Q, QuerySet, Subquery, Sum, Value, When

from mrpvm.errors import InvalidInput, NotFound
from sessions_app.models import (
    Derivation,
    HiddenUnit,
    KBRevision,
    KnowledgeBase,
    KnowledgeLayer,
    KnowledgeSource,
    LayerUnit,
    Project,
    QuarantinedChunk,
    Session,
)

_COUNTED = Prefetch("quarantined", QuarantinedChunk.objects.only("origin"))


def knowledge_bases(project: Project) -> QuerySet[KnowledgeBase]:
    """Return the project's bases with head and parent, the default one first, then by name; no deleted ones."""
    return (
        KnowledgeBase.objects.filter(project=project, deleted_at=None)
        .select_related("head", "parent")
        .order_by("-is_default", "name", "id")
    )


def all_bases() -> QuerySet[KnowledgeBase]:
    """Return the bases of all projects, deleted ones too, for the server's operator."""
    return KnowledgeBase.objects.all()


def deleted_bases(project: Project) -> QuerySet[KnowledgeBase]:
    """Return the bases that can be restored, the one deleted last first."""
    return KnowledgeBase.objects.filter(project=project, deleted_at__isnull=False).order_by("-deleted_at")


def offered_bases(project: Project, chosen: str = "") -> tuple[list[KnowledgeBase], bool]:
    """Return the first bases, for a field to choose one, and whether there are more; `chosen` is an id to be among
    them.

    One query; two when the chosen one is none of the first.
    """
    bases = knowledge_bases(project)
    limit = settings.MRPVM_BASES_OFFERED
    first = list(bases[: limit + 1])
    offered, goes_on = first[:limit], len(first) > limit
    if chosen and goes_on and not any(base.kb_id == chosen for base in offered):
        offered += bases.filter(kb_id=chosen)
    return offered, goes_on


def knowledge_base(project: Project, kb_id: str) -> KnowledgeBase:
    """Return one base of the project; `default` is an alias for its default one.

    Raises:
        NotFound: KB_NOT_FOUND.
    """
    bases = knowledge_bases(project)
    base = (bases.filter(is_default=True) if kb_id == "default" else bases.filter(kb_id=kb_id)).first()
    if base is None:
        raise NotFound(f"There is no knowledge base '{kb_id}'.", code="KB_NOT_FOUND")
    return base


def base_by_name(project: Project, name: str) -> KnowledgeBase:
    """Return the one base of the project with this name.

    Raises:
        NotFound: KB_NOT_FOUND.
        InvalidInput: several have it.
    """
    named = list(knowledge_bases(project).filter(name=name)[:2])
    if not named:
        raise NotFound(f"There is no knowledge base with the name '{name}'.", code="KB_NOT_FOUND")
    if len(named) > 1:
        raise InvalidInput(f"Several knowledge bases have the name '{name}': name one by its id.")
    return named[0]


def revisions(base: KnowledgeBase) -> QuerySet[KBRevision]:
    """Return the base's revisions, newest first, each with its author and layer."""
    rows = base.revisions.select_related("layer", "created_by").defer("layer__ancestry")
    return rows.order_by("-revision")


def named_revisions(base: KnowledgeBase) -> QuerySet[KBRevision]:
    """Return the base's revisions, each with `source_name`: the source that it added, replaced or removed, if one."""
    its_source = KnowledgeSource.objects.filter(layer=OuterRef("layer")).values("name")[:1]
    is_of_one = When(reason__startswith="source-", layer__own_source_count=1, then=Subquery(its_source))
    return revisions(base).annotate(source_name=Case(is_of_one, default=Value("")))


def revision_of(base: KnowledgeBase, number: int) -> KBRevision:
    """Return one revision with its layer.

    Raises:
        NotFound: KB_REVISION_NOT_FOUND.
    """
    revision = base.revisions.select_related("layer").filter(revision=number).first()
    if revision is None:
        raise NotFound(f"'{base.name}' has no revision {number}.", code="KB_REVISION_NOT_FOUND")
    return revision


def head_of(base: KnowledgeBase) -> KnowledgeLayer | None:
    """Return the present head of the base, which may have changed since the base was read."""
    return KnowledgeLayer.objects.filter(headed_bases=base).first()


def sources(base: KnowledgeBase) -> QuerySet[KnowledgeSource]:
    """Return the base's sources without their texts; one that was replaced or removed is not among them."""
    return _sources_of(base.head)


def _sources_of(layer: KnowledgeLayer) -> QuerySet[KnowledgeSource]:
    return newest_sources(layer).filter(kind=KnowledgeSource.Kind.LISTED).defer("content").prefetch_related(_COUNTED)


def newest_sources(layer: KnowledgeLayer) -> QuerySet[KnowledgeSource]:
    """Return the newest row of each source id in the layer's chain: the one that counts."""
    return KnowledgeSource.objects.filter(layer_id__in=layer.chain).latest_of_each()


def stale_source_keys(layer: KnowledgeLayer) -> frozenset[int]:
    """Return the keys of sources with units that the layer's chain shows no more because their origins are gone.

    One query.
    """
    derived = Derivation.objects.filter(layer_id__in=layer.chain).values("unit")
    stale = HiddenUnit.objects.filter(layer_id__in=layer.chain, change=HiddenUnit.Change.STALE, unit__in=derived)
    return frozenset(stale.values_list("unit__origin", flat=True).distinct())


def text_byte_count(layer: KnowledgeLayer) -> int:
    """Return how many bytes of text the units of a layer's chain have, of sources and of saved journals.

    Only the newest row of a source counts; the rows of a session's journal add up.
    """
    journal = KnowledgeSource.Kind.JOURNAL
    rows = KnowledgeSource.objects.filter(layer_id__in=layer.chain)
    counted = Q(kind=journal) | Q(pk__in=rows.latest_of_each().values("pk"))
    byte_count = rows.filter(counted).aggregate(total=Sum("text_byte_count"))
    return int(byte_count["total"] or 0)


def workspace_sources(session: Session) -> QuerySet[KnowledgeSource]:
    """Return the sources that the session's draft shows: those of the mounted base with the unsaved changes."""
    return _sources_of(session.draft)


def draft_sources(session: Session) -> QuerySet[KnowledgeSource]:
    """Return the sources that the draft adds, replaces or removes, without texts, in order; see their `kind`."""
    rows = newest_sources(session.draft).filter(layer_id__in=_unsaved_layers(session))
    return rows.defer("content").prefetch_related(_COUNTED).order_by("id")


def unsaved(session: Session) -> Mapping[str, int]:
    """Return how many sources the draft adds or removes, how many units it adds, and how many it removes."""
    sums = {name: Sum(name) for name in ("own_source_count", "own_unit_count", "removed_unit_count")}
    return KnowledgeLayer.objects.filter(pk__in=_unsaved_layers(session)).aggregate(**sums)


def _unsaved_layers(session: Session) -> list[int]:
    return session.draft.chain[: session.draft.chain.index(session.mounted_layer_id)]


def told_units(session: Session) -> QuerySet[LayerUnit]:
    """Return the session's own units that no base has yet, oldest first; a save includes them."""
    return LayerUnit.objects.filter(layer_id__in=own_layer_keys(session)).order_by("pk")


def told_counts(session: Session) -> tuple[int, int]:
    """Return how many units `told_units` has, and how many units of the base a save would remove.

    The latter are those that the session forgot. One query if the session has large loads, else none.
    """
    journal, (_, *below) = session.journal, own_layer_keys(session)
    counts = [(journal.own_unit_count, journal.removed_unit_count)]
    if below:
        counts += KnowledgeLayer.objects.filter(pk__in=below).values_list("own_unit_count", "removed_unit_count")
    return sum(own for own, _ in counts), sum(removed for _, removed in counts)


def own_layer_keys(session: Session) -> list[int]:
    """Return the keys of the layers above the draft, the journal first."""
    return session.journal.chain[: session.journal.chain.index(session.draft_id)]


def quarantined_of_base(base: KnowledgeBase) -> QuerySet[QuarantinedChunk]:
    """Return the parts of the base's sources that did not become units."""
    return QuarantinedChunk.objects.filter(origin__in=sources(base).values("pk"))


def quarantined_of_session(session: Session) -> QuerySet[QuarantinedChunk]:
    """Return the parts of the session's context loads that did not become units."""
    return session.quarantined.all()
