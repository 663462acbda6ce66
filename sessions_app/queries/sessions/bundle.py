"""The rows of a bundle: all that is needed to read a session's turns and run them again on another server."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from django.db.models import Exists, Model, OuterRef, Q, QuerySet

from sessions_app.models import (
    ContextUnit,
    Derivation,
    ExplainabilityTurn,
    FrozenContent,
    HiddenUnit,
    KBMount,
    KBRevision,
    KnowledgeBase,
    KnowledgeLayer,
    KnowledgeSource,
    LayerUnit,
    Message,
    Project,
    RememberedText,
    Session,
    SourceArtifact,
    TurnConditions,
    TurnEvents,
    TurnRating,
    UnitArtifact,
    UnitEvent,
)

type Rows = Mapping[type[Model], QuerySet]

MOST_FORKS = 50
"""The most earlier sessions that are included; turns that need an older one cannot be run again."""


def fork_line_of(session: Session) -> list[Session]:
    """Return the sessions that the session continues from, oldest first, and the session itself."""
    line = [session]
    while line[0].forked_from is not None and len(line) < MOST_FORKS:
        line.insert(0, line[0].forked_from)
    return line


def stored_views(sessions: Collection[Session]) -> Iterator[list[Any]]:
    """Yield the stored view of each ended turn of the sessions."""
    views = _ended_turns(sessions).filter(view__isnull=False).order_by().values_list("view", flat=True)
    return (view for view in views.iterator(chunk_size=100) if view)


def layers_shown(seen: Collection[int], sessions: Collection[Session]) -> set[int]:
    """Return the layers visible from these and from the sessions' present stacks, including removed layers."""
    present = {pk for item in sessions for pk in (item.journal_id, item.draft_id, item.mounted_layer_id)}
    journals = [item.journal_id for item in sessions]
    starts = {*seen, *present}
    removed = KnowledgeLayer.objects.filter(kind=KnowledgeLayer.Kind.REMOVED, removed_from__in={*starts, *journals})
    starts |= set(removed.values_list("pk", flat=True))
    shown = set[int]()
    for pk, ancestry in KnowledgeLayer.objects.filter(pk__in=starts).values_list("pk", "ancestry"):
        shown |= {pk, *ancestry}
    return set(KnowledgeLayer.objects.filter(pk__in=shown).values_list("pk", flat=True))


def bundle_rows(sessions: Sequence[Session], layers: Collection[int]) -> Rows:
    """Return the rows of these sessions and layers by model, oldest first; referenced models come first.

    Running turns and their staged units are left out, and mounts of layers that are left out.
    """
    turns = _ended_turns(sessions)
    of_sessions, of_turns, of_layers = Q(session__in=sessions), Q(turn__in=turns), Q(layer__in=layers)
    units = LayerUnit.objects.filter(of_layers)
    sources = KnowledgeSource.objects.filter(of_layers)
    mounts = KBMount.objects.filter(of_sessions, of_layers)
    mounted = mounts.values_list("knowledge_base", flat=True)
    bases = {*mounted, *(item.mounted_kb_id for item in sessions)}
    frozen = {key for item in sessions for key in (item.skills_id, item.personas_id, item.agents_id)}
    rows_by_model: dict[type[Model], QuerySet] = {
        FrozenContent: FrozenContent.objects.filter(pk__in=frozen),
        KnowledgeLayer: KnowledgeLayer.objects.filter(pk__in=layers),
        KnowledgeSource: sources,
        LayerUnit: units,
        HiddenUnit: HiddenUnit.objects.filter(of_layers, unit__layer__in=layers),
        Derivation: Derivation.objects.filter(of_layers, unit__layer__in=layers),
        UnitArtifact: UnitArtifact.objects.filter(unit__layer__in=layers),
        SourceArtifact: SourceArtifact.objects.filter(source__layer__in=layers),
        KnowledgeBase: KnowledgeBase.objects.filter(pk__in=bases),
        Session: Session.objects.filter(pk__in=[item.pk for item in sessions]),
        TurnConditions: TurnConditions.objects.filter(Exists(turns.filter(conditions=OuterRef("pk")))),
        ExplainabilityTurn: turns,
        TurnEvents: TurnEvents.objects.filter(of_turns),
        Message: Message.objects.filter(of_sessions),
        ContextUnit: ContextUnit.objects.filter(of_sessions, state=ContextUnit.State.COMMITTED),
        UnitEvent: UnitEvent.objects.filter(of_sessions).exclude(turn__in=_running_turns(sessions)),
        RememberedText: RememberedText.objects.filter(of_sessions),
        KBMount: mounts,
        TurnRating: TurnRating.objects.filter(of_turns),
    }
    return {model: rows.order_by("pk") for model, rows in rows_by_model.items()}


def imported_bases(keys: Collection[int]) -> set[int]:
    """Return which of these bases came with a bundle."""
    brought = KBRevision.objects.filter(knowledge_base__in=keys, reason="bundle")
    return set(brought.values_list("knowledge_base", flat=True))


def _ended_turns(sessions: Collection[Session]) -> QuerySet[ExplainabilityTurn]:
    return ExplainabilityTurn.objects.filter(session__in=sessions).exclude(status=ExplainabilityTurn.Status.RUNNING)


def _running_turns(sessions: Collection[Session]) -> QuerySet[ExplainabilityTurn]:
    return ExplainabilityTurn.objects.filter(session__in=sessions, status=ExplainabilityTurn.Status.RUNNING)


def taken_ids(project: Project, ids: Mapping[type[Model], Collection[str]]) -> set[str]:
    """Return which of these ids of sessions, turns, bases and remembered texts are taken in the project."""
    sessions = Session.objects.filter(project=project, session_id__in=ids.get(Session, ()))
    turns = ExplainabilityTurn.objects.filter(request_id__in=ids.get(ExplainabilityTurn, ()))
    bases = KnowledgeBase.objects.filter(kb_id__in=ids.get(KnowledgeBase, ()))
    texts = RememberedText.objects.filter(record_id__in=ids.get(RememberedText, ()))
    return {
        *sessions.values_list("session_id", flat=True),
        *turns.values_list("request_id", flat=True),
        *bases.values_list("kb_id", flat=True),
        *texts.values_list("record_id", flat=True),
    }
