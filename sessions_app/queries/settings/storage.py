"""How large the database is, by what it holds, and how fast it grows."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from django.conf import settings
from django.db import connection
from django.db.models import Model, Sum
from django.db.models.functions import Length

from sessions_app import models
from sessions_app.models import StorageKind, StorageSample, TurnEvents
from sessions_app.models.turns.payload_frames import payload_texts, places

GROWTH_DAYS = 30
"""Growth is that of so many days before the newest sample, or of as many as there are."""
_TABLES: Mapping[StorageKind, Sequence[type[Model]]] = {
    StorageKind.CONVERSATIONS: (
        models.Session, models.Message, models.ContextUnit, models.RememberedText, models.SessionMemory,
        models.ConversationPoint, models.FrozenContent, models.KBMount, models.QueuedTurn,
    ),
    StorageKind.KNOWLEDGE: (
        models.KnowledgeBase, models.KnowledgeLayer, models.KnowledgeSource, models.LayerUnit, models.HiddenUnit,
        models.Derivation, models.KBRevision, models.QuarantinedChunk,
    ),
    StorageKind.FULL_TEXT: (models.Posting, models.PackedLayer, models.PackedPart),
    StorageKind.VECTORS: (models.UnitArtifact, models.SourceArtifact),
    StorageKind.TRACES: (
        models.ExplainabilityTurn, models.TurnConditions, models.UnitEvent, models.ImportedSpan, TurnEvents,
    ),
    StorageKind.EVENTS: (models.SessionEvent,),
    StorageKind.AUDIT: (models.AuditEntry,),
}  # fmt: skip
_KIND_OF_TABLE = {model._meta.db_table: kind for kind, kind_models in _TABLES.items() for model in kind_models}
_WORDS_TABLE = "sessions_app_unitwords"
"""The pages' own index; on SQLite FTS5 has tables of its own whose names begin with this."""
_ROWS_WEIGHED = 1_000
_BATCHES_READ = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The bytes that one kind of rows takes, with its indexes."""

    kind: StorageKind
    byte_count: int
    is_estimate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Growing:
    """A size on the newest day; `growth_a_day` is None while there is one day only."""

    kind: StorageKind
    byte_count: int
    is_estimate: bool
    percent: float
    growth_a_day: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageFigures:
    """What was measured on a day of UTC, the largest first; `days` is how far the growth looks back, 0 for nowhere."""

    day: date
    days: int
    kinds: Sequence[Growing]
    total: Growing


def storage() -> StorageFigures | None:
    """Return the newest sample with its growth, None before the first; two queries."""
    newest = StorageSample.objects.order_by("-day").values_list("day", flat=True).first()
    if newest is None:
        return None
    by_day: dict[date, dict[str, StorageSample]] = {}
    for row in StorageSample.objects.filter(day__gte=newest - timedelta(days=GROWTH_DAYS)):
        by_day.setdefault(row.day, {})[row.kind] = row
    earliest = min(by_day)
    days, before, now = (newest - earliest).days, by_day[earliest], by_day[newest]
    total = sum(row.byte_count for row in now.values())

    def growth(size: int, earlier: int) -> float | None:
        return (size - earlier) / days if days else None

    kinds = [
        Growing(
            kind=StorageKind(kind),
            byte_count=row.byte_count,
            is_estimate=row.is_estimate,
            percent=100 * row.byte_count / max(total, 1),
            growth_a_day=growth(row.byte_count, before[kind].byte_count if kind in before else 0),
        )
        for kind, row in now.items()
    ]
    whole = Growing(
        kind=StorageKind.OTHER,
        byte_count=total,
        is_estimate=False,
        percent=100,
        growth_a_day=growth(total, sum(row.byte_count for row in before.values())),
    )
    return StorageFigures(day=newest, days=days, kinds=sorted(kinds, key=lambda item: -item.byte_count), total=whole)


def sizes() -> list[Size]:
    """Measure the database; empty kinds are left out.

    Reads every page of an SQLite file up to 8 GB; of a larger one, and where SQLite was built without `dbstat`, the
    sizes of tables are estimates that add up to the file.
    """
    if connection.vendor == "sqlite":
        tables, free, is_estimate = _sqlite_tables()
    else:
        tables, free, is_estimate = _postgresql_tables(), 0, False
    byte_counts = Counter[StorageKind]()
    for table, byte_count in tables.items():
        is_words = table.startswith(_WORDS_TABLE)
        byte_counts[StorageKind.FULL_TEXT if is_words else _KIND_OF_TABLE.get(table, StorageKind.OTHER)] += byte_count
    byte_counts[StorageKind.FREE] = free
    payloads, exchanges = _payload_shares()
    of_batches = tables.get(TurnEvents._meta.db_table, 0)
    byte_counts[StorageKind.EXCHANGES] = round(of_batches * payloads * exchanges)
    byte_counts[StorageKind.PAYLOADS] = round(of_batches * payloads) - byte_counts[StorageKind.EXCHANGES]
    byte_counts[StorageKind.TRACES] -= byte_counts[StorageKind.PAYLOADS] + byte_counts[StorageKind.EXCHANGES]
    shared = {StorageKind.PAYLOADS, StorageKind.EXCHANGES, StorageKind.TRACES}
    return [
        Size(kind=kind, byte_count=count, is_estimate=kind != StorageKind.FREE and (is_estimate or kind in shared))
        for kind, count in byte_counts.items()
        if count > 0
    ]


def _postgresql_tables() -> dict[str, int]:
    """Return the bytes of each table with its indexes and what is stored beside it, and the rest of the database."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, pg_total_relation_size(oid) FROM pg_class"
            " WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace"
        )
        tables: dict[str, int] = dict(cursor.fetchall())
        cursor.execute("SELECT pg_database_size(current_database())")
        whole = cursor.fetchone()[0]
    return {**tables, "": max(0, whole - sum(tables.values()))}


def _sqlite_tables() -> tuple[dict[str, int], int, bool]:
    """Return the bytes of each table with its indexes, those of free pages, and whether the tables are estimates."""
    with connection.cursor() as cursor:
        page_bytes, page_count, free_count = (
            cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_size", "page_count", "freelist_count")
        )
        options = {name for (name,) in cursor.execute("PRAGMA compile_options").fetchall()}
        names = "SELECT name, tbl_name FROM sqlite_schema WHERE rootpage > 0"
        table_of = {"sqlite_schema": "sqlite_schema", **dict(cursor.execute(names).fetchall())}
        if "ENABLE_DBSTAT_VTAB" in options and page_count <= settings.MRPVM_MAX_PAGES_MEASURED:
            parts = cursor.execute("SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE").fetchall()
            tables = Counter[str]()
            for name, byte_count in parts:
                tables[table_of.get(name, "")] += byte_count
            return dict(tables), free_count * page_bytes, False
    weights = dict(_weights(sorted(set(table_of.values()) - {"sqlite_schema"})))
    used, whole = (page_count - free_count) * page_bytes, sum(weights.values()) or 1
    return {table: round(used * weight / whole) for table, weight in weights.items()}, free_count * page_bytes, True


def _weights(tables: Sequence[str]) -> Iterator[tuple[str, float]]:
    """Yield what the values of each table's rows take, by its highest key and the newest rows."""
    quote = connection.ops.quote_name
    with connection.cursor() as cursor:
        without_keys = {row[1] for row in cursor.execute("PRAGMA table_list").fetchall() if row[4]}
        for table in tables:
            columns = [row[1] for row in cursor.execute(f"PRAGMA table_info({quote(table)})").fetchall()]
            bytes_of_row = " + ".join(f"COALESCE(LENGTH(CAST({quote(name)} AS BLOB)), 0)" for name in columns)
            # FTS5's own keys are no numbers of rows.
            is_counted = table in without_keys or table.startswith(_WORDS_TABLE)
            count, order = ("COUNT(*)", "") if is_counted else ("MAX(ROWID)", "ORDER BY ROWID DESC")
            newest = f"SELECT * FROM {quote(table)} {order} LIMIT {_ROWS_WEIGHED}"  # noqa: S608
            statement = f"SELECT (SELECT {count} FROM {quote(table)}), AVG({bytes_of_row}) FROM ({newest})"  # noqa: S608
            row_count, row_bytes = cursor.execute(statement).fetchone()
            yield table, (row_count or 0) * (row_bytes or 0)


def _payload_shares() -> tuple[float, float]:
    """Return what part of the batches' bytes payloads are, and what part of the newest payloads models exchanged."""
    whole = TurnEvents.objects.order_by().aggregate(
        payloads=Sum(Length("payloads")), events=Sum(Length("events")), judged=Sum(Length("judged"))
    )
    payloads, rest = whole["payloads"] or 0, (whole["events"] or 0) + (whole["judged"] or 0)
    text_count = exchanged_count = 0
    for batch in TurnEvents.objects.order_by("-pk").only("payload_index", "payloads")[:_BATCHES_READ]:
        if batch.payloads:
            for text in payload_texts(batch.payloads, places(batch.payload_index)).values():
                text_count += len(text)
                exchanged_count += _exchanged_chars(text)
    return payloads / max(payloads + rest, 1), exchanged_count / max(text_count, 1)


def _exchanged_chars(text: bytes) -> int:
    """Return how long what a payload holds of requests to models is; 0 for a payload that was cut."""
    if b'"requests"' not in text:
        return 0
    try:
        exchanges = json.loads(text)
    except ValueError:
        return 0
    return len(json.dumps((exchanges.get("meta") or {}).get("requests") or "")) - 2
