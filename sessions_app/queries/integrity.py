"""Searches of the command `doctor` for inconsistent rows."""

from datetime import datetime
from typing import Literal, NamedTuple

from django.db import connection
from django.db.models import Count, Exists, F, IntegerField, Max, Min, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from sessions_app.models import (
    ContextUnit,
    ExplainabilityTurn,
    KBMount,
    KBRevision,
    KnowledgeBase,
    KnowledgeLayer,
    LayerUnit,
    Message,
    PluginStatistics,
    Posting,
    RememberedText,
    Session,
    SessionEvent,
)

type Sequencer = Literal["message_sequence", "turn_sequence", "event_sequence"]
"""A column of a session that counts the rows ever added."""
type Counter = Literal["unit_count", "remembered_count"]
"""A column of a session that counts what it holds."""
type SessionCounter = Sequencer | Counter | Literal["compacted_sequence", "removed_message_count"]


class WrongCounter(NamedTuple):
    """A session whose counter does not match its rows, and the right value."""

    pk: int
    session_id: str
    value: int


class LostPointer(NamedTuple):
    """A dangling foreign key; `is_required` says whether it cannot be null."""

    table: str
    row: int
    column: str
    is_required: bool


def lost_pointers() -> list[LostPointer]:
    """Return the dangling foreign keys; none on PostgreSQL, which checks them on every write."""
    if connection.vendor != "sqlite":
        return []
    with connection.cursor() as cursor:
        violations = cursor.execute("PRAGMA foreign_key_check").fetchall()
        columns: dict[tuple[str, int], tuple[str, bool]] = {}
        for table in {row[0] for row in violations}:
            name = connection.ops.quote_name(table)
            required = {row[1] for row in cursor.execute(f"PRAGMA table_info({name})").fetchall() if row[3]}
            for number, _, _, column, *_ in cursor.execute(f"PRAGMA foreign_key_list({name})").fetchall():
                columns[table, number] = column, column in required
    return [LostPointer(table, row, *columns[table, number]) for table, row, _, number in violations]


def newest_row_at() -> datetime | None:
    """Return when the newest message or event of any session was written."""
    newest = (model.objects.aggregate(newest=Max("created_at"))["newest"] for model in (Message, SessionEvent))
    return max(filter(None, newest), default=None)


def sessions_behind(sequencer: Sequencer) -> list[WrongCounter]:
    """Return the sessions with rows numbered above their counter; the next row would collide with one of them."""
    rows, column = {
        "message_sequence": (Message.objects.all(), "sequence"),
        "turn_sequence": (ExplainabilityTurn.objects.all(), "turn_index"),
        "event_sequence": (SessionEvent.objects.all(), "sequence"),
    }[sequencer]
    own = rows.filter(session=OuterRef("pk")).order_by().values("session")
    highest = Subquery(own.annotate(highest=Max(column)).values("highest"), output_field=IntegerField())
    behind = Session.objects.annotate(value=highest).filter(value__gt=F(sequencer))
    return [WrongCounter(*row) for row in behind.values_list("pk", "session_id", "value")]


def sessions_miscounted(counter: Counter) -> list[WrongCounter]:
    """Return the sessions whose counter differs from the number of their rows."""
    rows = {
        "unit_count": ContextUnit.objects.filter(state=ContextUnit.State.COMMITTED),
        "remembered_count": RememberedText.objects.all(),
    }[counter]
    counted = rows.filter(session=OuterRef("pk")).order_by().values("session").annotate(count=Count("pk"))
    value = Coalesce(Subquery(counted.values("count"), output_field=IntegerField()), 0)
    wrong = Session.objects.annotate(value=value).exclude(**{counter: F("value")})
    return [WrongCounter(*row) for row in wrong.values_list("pk", "session_id", "value")]


def layers_miscounted() -> list[tuple[int, int]]:
    """Return the keys of layers whose count of units is wrong, and the right count."""
    own = LayerUnit.objects.filter(layer=OuterRef("pk")).order_by().values("layer").annotate(count=Count("pk"))
    value = Coalesce(Subquery(own.values("count"), output_field=IntegerField()), 0)
    wrong = KnowledgeLayer.objects.annotate(value=value).exclude(own_unit_count=F("value"))
    return list(wrong.values_list("pk", "value"))


def sessions_with_lost_events() -> list[WrongCounter]:
    """Return the sessions with gaps in the numbers of events above `compacted_sequence`, and the last number."""
    kept_events = SessionEvent.objects.filter(sequence__gt=F("session__compacted_sequence")).order_by()
    spans = kept_events.values("session__pk", "session__session_id").annotate(
        first=Min("sequence"), last=Max("sequence"), count=Count("id")
    )
    gaps = spans.exclude(count=F("last") - F("first") + 1)
    return [WrongCounter(*row) for row in gaps.values_list("session__pk", "session__session_id", "last")]


def sessions_with_lost_messages() -> list[WrongCounter]:
    """Return the sessions that lack messages that nobody removed, with the number of missing ones."""
    own = Message.objects.filter(session=OuterRef("pk")).order_by().values("session").annotate(count=Count("pk"))
    held = Coalesce(Subquery(own.values("count"), output_field=IntegerField()), 0)
    known = Session.objects.filter(deleted_at=None).annotate(value=F("message_sequence") - held)
    lost = known.filter(value__gt=F("removed_message_count"))
    return [WrongCounter(*row) for row in lost.values_list("pk", "session_id", "value")]


def ownerless_layers() -> list[int]:
    """Return the keys of unreferenced layers, without those that are being filled.

    A layer is referenced if a base, a revision, a mount or a session points at it or at a layer above. A removed layer
    belongs to the layer named by `removed_from`.
    """
    owned = Q(pk__in=KnowledgeBase.objects.values("head")) | Q(pk__in=KBRevision.objects.values("layer"))
    owned |= Q(removed_from__isnull=False)
    owned |= Q(pk__in=KBMount.objects.values("layer")) | Q(Exists(KnowledgeLayer.objects.filter(parent=OuterRef("pk"))))
    owned |= Q(Exists(KnowledgeLayer.objects.filter(postings_layer=OuterRef("pk"))))
    for name in ("mounted_layer", "draft", "journal"):
        owned |= Q(pk__in=Session.objects.values(name))
    unowned = KnowledgeLayer.objects.exclude(owned).filter(sealed_at=None).exclude(kind=KnowledgeLayer.Kind.STAGED)
    return list(unowned.values_list("pk", flat=True))


def layers_with_unindexed_units(*, marked: bool) -> list[int]:
    """Return the keys of layers with an evidence unit without postings; `marked` says whether they await a reindex.

    Postings are stored under the key of the layer or of its rewritten index.
    """
    indexed = Posting.objects.filter(unit=OuterRef("pk"))
    lost = LayerUnit.objects.filter(~Exists(indexed), length__gt=0)
    lost = lost.filter(layer__index_version="") if marked else lost.exclude(layer__index_version="")
    return sorted(set(lost.values_list("layer_id", flat=True)))


def impossible_statistics() -> list[int]:
    """Return the keys of plugin statistics that no sequence of attempts leaves."""
    ends = F("success_count") + F("failure_count") + F("refusal_count")
    shares = Q(success__range=(0, 1), sufficiency__range=(0, 1), latency_ms__gte=0, llm_calls__gte=0)
    return list(PluginStatistics.objects.exclude(shares, attempt_count=ends).values_list("pk", flat=True))
