"""Reads for running a turn again, with or without changes."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from django.db.models import Count, Sum

from mrpvm.errors import NotFound
from sessions_app.models import ExplainabilityTurn, KnowledgeBase, KnowledgeLayer, LayerUnit, Session
from sessions_app.models.sessions.session import ForkReason

_SUCCEEDED = ExplainabilityTurn.Status.SUCCEEDED


def views_before(turn: ExplainabilityTurn) -> Iterator[Sequence[object]]:
    """Return the views of the earlier turns, newest first, including the sessions that its own continues from."""
    session: Session | None = turn.session
    earlier = ExplainabilityTurn.objects.filter(status=_SUCCEEDED, view__isnull=False)
    of_session = earlier.filter(session=session, turn_index__lt=turn.turn_index)
    while session is not None:
        views = of_session.order_by("-turn_index").values_list("view", flat=True)
        yield from (view or () for view in views.iterator(chunk_size=20))
        session = session.forked_from
        of_session = earlier.filter(session=session)


def remembered_turns(turn: ExplainabilityTurn) -> Iterator[ExplainabilityTurn]:
    """Return the turns whose memory the turn may have seen, the newest first."""
    session: Session | None = turn.session
    succeeded = ExplainabilityTurn.objects.filter(status=_SUCCEEDED, kind=ExplainabilityTurn.Kind.CHAT)
    earlier = succeeded.filter(session=session, turn_index__lt=turn.turn_index)
    while session is not None:
        rows = earlier.order_by("-turn_index").iterator(chunk_size=20)
        yield from (row for row in rows if (row.context_report or {}).get("memory") is not None)
        session = session.forked_from if session.fork_reason == ForkReason.EXPIRED else None
        earlier = succeeded.filter(session=session)


def turns_through(turn: ExplainabilityTurn, limit: int) -> list[ExplainabilityTurn]:
    """Return the first `limit` turns of a session up to one of them, in order."""
    turns = ExplainabilityTurn.objects.filter(session=turn.session, turn_index__lte=turn.turn_index)
    return list(turns.select_related("conditions").order_by("turn_index")[:limit])


def chat_turns_before(turn: ExplainabilityTurn, limit: int) -> Iterable[ExplainabilityTurn]:
    """Return the last `limit` questions that were asked in the session before the turn, the newest first."""
    turns = ExplainabilityTurn.objects.filter(session=turn.session_id, kind=ExplainabilityTurn.Kind.CHAT)
    return turns.filter(turn_index__lt=turn.turn_index).order_by("-turn_index")[:limit]


def session_now(session: Session) -> Session:
    """Return the session with its journal and base, read by one statement so that they are consistent."""
    return Session.objects.select_related("journal", "mounted_kb", "project").get(pk=session.pk)


def mounted_draft(project_pk: int, session_id: str) -> Session:
    """Return a session with its base, draft and journal.

    Raises:
        NotFound: SESSION_NOT_FOUND.
    """
    sessions = Session.objects.filter(project_id=project_pk, deleted_at__isnull=True, session_id=session_id)
    session = sessions.select_related("mounted_kb", "journal", "draft").first()
    if session is None:
        raise NotFound(f"There is no session '{session_id}'.", code="SESSION_NOT_FOUND")
    return session


def base_at(project_pk: int, kb_id: str, revision: int | None) -> tuple[KnowledgeBase, KnowledgeLayer]:
    """Return a base and the layer that its revision, the present one when None, shows.

    Raises:
        NotFound: KB_NOT_FOUND, the project has no such base or revision.
    """
    bases = KnowledgeBase.objects.filter(project_id=project_pk, kb_id=kb_id, deleted_at=None)
    base = bases.select_related("head").first()
    if base is None:
        raise NotFound(f"There is no knowledge base '{kb_id}'.", code="KB_NOT_FOUND")
    if revision is None or revision == base.revision:
        return base, base.head
    earlier = base.revisions.filter(revision=revision).select_related("layer").first()
    if earlier is None:
        raise NotFound(f"'{base.name}' has no revision {revision}.", code="KB_NOT_FOUND")
    return base, earlier.layer


def base_of_id(project_pk: int, kb_id: str) -> KnowledgeBase | None:
    """Return the project's base with this id, even a deleted one, or None."""
    return KnowledgeBase.objects.filter(project_id=project_pk, kb_id=kb_id).first()


def other_bases(project_pk: int, kb_id: str) -> Iterable[KnowledgeBase]:
    """Return the project's bases that hold evidence, except one."""
    others = KnowledgeBase.objects.filter(project_id=project_pk, deleted_at=None).exclude(kb_id=kb_id)
    return others.filter(head__evidence_count__gt=0).select_related("head")


def layer_of(layer_pk: int) -> KnowledgeLayer:
    return KnowledgeLayer.objects.get(pk=layer_pk)


def evidence_totals(layers: Collection[int], through: int) -> tuple[int, int]:
    """Return the number of evidence units of layers up to a unit's key, and of the terms in them."""
    evidence = LayerUnit.objects.filter(layer_id__in=layers, pk__lte=through, is_evidence=True)
    counted = evidence.aggregate(evidence=Count("pk"), terms=Sum("length", default=0))
    return counted["evidence"], counted["terms"]


def units_of(
    layers: Collection[int], unit_ids: Collection[str] = (), source_ids: Collection[str] = ()
) -> list[LayerUnit]:
    """Return the units of layers with these ids, or of these sources."""
    rows = LayerUnit.objects.filter(layer_id__in=layers).order_by()
    return [*rows.filter(unit_id__in=unit_ids), *rows.filter(source_id__in=source_ids)]


def evidence_but(layers: Collection[int], unit_ids: Collection[str]) -> list[LayerUnit]:
    """Return the evidence of layers without these units."""
    rows = LayerUnit.objects.filter(layer_id__in=layers, is_evidence=True).exclude(unit_id__in=unit_ids)
    return list(rows.only("layer_id", "length", "is_evidence").order_by())
