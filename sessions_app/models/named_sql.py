"""The SQL statements that are written by hand, each kept because it measurably costs less than the ORM's (ADR 21).

The ORM compiles a statement anew each time, which costs many times what the database needs for it; here its text is
built once for each shape. Columns are named as the models name them (`session_id`), and values go to and from the
driver as those of their fields do. Everything else goes by the ORM.
"""

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache, partial
from itertools import batched, chain
from operator import attrgetter
from typing import Any, Self, cast

import orjson
from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from django.db.backends.utils import CursorWrapper
from django.db.models import DateTimeField, Field, JSONField, Model
from django.db.models.expressions import Col

from mrpvm.conversation.session_memory import MemoryColumns
from mrpvm.llm.roles import ModelTable
from sessions_app.models.damage import damaged
from sessions_app.models.knowledge.bases import KnowledgeBase, KnowledgeLayer, Posting
from sessions_app.models.knowledge.kb_mount import KBMount
from sessions_app.models.redacted import RedactedCharField, RedactedTextField
from sessions_app.models.sessions.context_unit import ContextUnit
from sessions_app.models.sessions.message import Message
from sessions_app.models.sessions.session import Session
from sessions_app.models.sessions.session_memory import SessionMemory
from sessions_app.models.settings.model_roles import ModelRoles
from sessions_app.models.turns.compression import CompressedJSONField, stored_json
from sessions_app.models.turns.explainability_turn import ExplainabilityTurn

_ADAPTED = (DateTimeField, JSONField, CompressedJSONField, RedactedTextField, RedactedCharField)
"""Fields whose values the driver does not take as they are."""
_JSON = json.JSONDecoder()
_ROWS_A_STEP = 200
_FEW_ROWS = 20
"""Up to so many rows PostgreSQL's driver is faster with a parameter for each value than with arrays."""
_MOST_PARAMETERS = 65_535
"""The most parameters of a statement, if the database does not report its limit."""
_remembered = lru_cache(maxsize=128)
_LAYERS, _TURNS = KnowledgeLayer._meta.db_table, ExplainabilityTurn._meta.db_table
_MESSAGES, _MEMORIES = Message._meta.db_table, SessionMemory._meta.db_table
_SESSIONS, _UNITS = Session._meta.db_table, ContextUnit._meta.db_table
type Place = tuple[int, Callable[[Any], Any]]
"""A column's place in a row, and what its values go through."""


class _QuestionMarkCursor(sqlite3.Cursor):
    """Takes statements with Django's placeholders, and finds the parameters once for each statement."""

    def execute(self, sql: str, parameters: Any = (), /) -> Self:
        return super().execute(_with_question_marks(sql), parameters)

    def executemany(self, sql: str, parameters: Any, /) -> Self:
        return super().executemany(_with_question_marks(sql), parameters)


@_remembered
def _with_question_marks(statement: str) -> str:
    return statement.replace("%s", "?")


def open_cursor() -> CursorWrapper:
    """Return a cursor for the statements of this module and the like of it, which hold no `%` but their parameters'.

    SQLite's spends 13 µs on a statement of 20 parameters where Django's spends 29.
    """
    own = connections[DEFAULT_DB_ALIAS]  # `connection` is a proxy that looks the connection up at every access
    if product() != "sqlite" or own.queries_logged:
        return own.cursor()
    own.ensure_connection()
    return own.make_cursor(own.connection.cursor(_QuestionMarkCursor))


@cache
def product() -> str:
    """Return the database's vendor: sqlite or postgresql."""
    return connection.vendor


# Writing rows.


@dataclass(frozen=True, slots=True)
class Write:
    """A statement that writes rows, without its RETURNING, its parameters, and the columns that it returns of each."""

    statement: str
    parameters: Sequence[Any]
    returning: tuple[str, ...] = ()


def write_all(writes: Sequence[Write]) -> list[Sequence[Sequence[Any]]]:
    """Carry out writes of different rows, all of them or none; return what each returns of its rows.

    PostgreSQL carries them out as one statement, which saves a round trip for each and, where no transaction runs,
    those that begin and end one. None of them sees what another has written.
    """
    if product() == "postgresql" and len(writes) > 1:
        return _write_together(writes)
    if not writes:
        return []
    if connection.in_atomic_block or len(writes) == 1:
        return _write_in_turn(writes)
    with transaction.atomic():
        return _write_in_turn(writes)


def _write_in_turn(writes: Sequence[Write]) -> list[Sequence[Sequence[Any]]]:
    results: list[Sequence[Sequence[Any]]] = []
    with open_cursor() as cursor:
        for write in writes:
            returning = f" RETURNING {', '.join(write.returning)}" if write.returning else ""
            cursor.execute(write.statement + returning, write.parameters)
            results.append(cursor.fetchall() if write.returning else ())
    return results


def _write_together(writes: Sequence[Write]) -> list[Sequence[Sequence[Any]]]:
    from psycopg import RawCursor  # has numbered parameters; the usual cursor is slow with many parameters

    statement = _joined(tuple((write.statement, write.returning) for write in writes))
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    with connection.make_cursor(cast(Any, RawCursor(connection.connection))) as cursor:
        cursor.execute(statement, list(chain.from_iterable(write.parameters for write in writes)))
        (values,) = cursor.fetchall()
    if connection.queries_logged:  # Django's debug cursor does not support numbered parameters
        connection.queries_log.append({"sql": statement, "time": "0"})
    results = iter(values)
    return [next(results) or () if write.returning else () for write in writes]


@_remembered
def _joined(parts: tuple[tuple[str, tuple[str, ...]], ...]) -> str:
    """Return PostgreSQL's statement for several writes; each that returns something gives a JSON array of rows."""
    named, returned = [], []
    for place, (statement, returning) in enumerate(parts):
        named.append(f"w{place} AS ({statement} RETURNING {', '.join(returning) or '1'})")
        if returning:
            returned.append(f"(SELECT json_agg(json_build_array({', '.join(returning)})) FROM w{place})")  # noqa: S608
    before, *after = f"WITH {', '.join(named)} SELECT {', '.join(returned) or '1'}".split("%s")
    return before + "".join(f"${number}{text}" for number, text in enumerate(after, start=1))


def insert_rows(rows: Sequence[Model], *, with_keys: bool = False, along: Sequence[Write] = ()) -> None:
    """Insert new rows of one model, by one statement for some hundred of them; `with_keys` fills in their keys.

    `along` is written with the last of them.
    """
    if not rows:
        return
    *steps, last = insertions(rows, ("id",) if with_keys else ())
    written = [write_all([step])[0] for step in steps]
    written.append(write_all([last, *along])[0])
    for row, (key,) in zip(rows, chain.from_iterable(written), strict=with_keys):
        row.pk, row._state.adding, row._state.db = key, False, DEFAULT_DB_ALIAS


def insert_values(
    model: type[Model], columns: tuple[str, ...], rows: Iterable[tuple[Any, ...]], *, with_keys: bool = False
) -> list[int]:
    """Insert rows from the values of all columns that have no default in SQL; return their keys, in order, if asked."""
    returning = ("id",) if with_keys else ()
    written = [write_all([step])[0] for step in value_insertions(model, columns, rows, returning)]
    return [key for keys in written for (key,) in keys]


def insertions(rows: Sequence[Model], returning: tuple[str, ...] = ()) -> list[Write]:
    """Return the writes that insert new rows of one model: a single one for some hundred of them, none for no rows."""
    if not rows:
        return []
    columns = _written(type(rows[0]))
    return value_insertions(type(rows[0]), columns, map(attrgetter(*columns), rows), returning)


def value_insertions(
    model: type[Model], columns: tuple[str, ...], rows: Iterable[tuple[Any, ...]], returning: tuple[str, ...] = ()
) -> list[Write]:
    """Return the writes that insert rows from the values of all columns that have no default in SQL, as `insertions`.

    A model instance costs many times as much to create as its values.
    """
    into, types, adapters, most = _insertion(model, columns, product())
    adapted = _converted(list(rows), adapters)
    if product() == "postgresql" and len(adapted) > _FEW_ROWS:
        return [Write(f"{into} {_unnested(types)}", _arrays(adapted), returning)]
    # `batched` allocates a whole batch first, which takes longer than writing a few rows.
    batches = [adapted] if 0 < len(adapted) <= most else batched(adapted, most, strict=False)
    return [
        Write(f"{into} {_marks(len(columns), len(batch))}", list(chain.from_iterable(batch)), returning)
        for batch in batches
    ]


def insert_at_once(into: str, types: Sequence[str], rows: Sequence[tuple[Any, ...]], after: str = "") -> None:
    """Insert very many rows of few columns in a few steps, during which other threads of the server continue.

    PostgreSQL gets a whole column as one array, which is far less work for its driver than a parameter a value.

    Args:
        into: the statement up to its values; `after` is what follows them.
        types: the columns' types, as PostgreSQL names them.
    """
    if not rows:
        return
    with open_cursor() as cursor:
        if product() == "postgresql":
            cursor.execute(f"{into} {_unnested(types)} {after}", _arrays(rows))
            return
        whole = len(rows) - len(rows) % _ROWS_A_STEP
        for part, row_count in ((rows[:whole], _ROWS_A_STEP), (rows[whole:], len(rows) - whole)):
            if part:
                steps = [list(chain.from_iterable(step)) for step in batched(part, row_count, strict=True)]
                cursor.executemany(f"{into} {_marks(len(types), row_count)} {after}", steps)


def _unnested(types: Sequence[str]) -> str:
    return f"SELECT * FROM unnest({', '.join(f'%s::{name}[]' for name in types)})"  # noqa: S608  (names of types)


def _arrays(rows: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
    return [list(values) for values in zip(*rows, strict=True)]


def _marks(column_count: int, row_count: int) -> str:
    return f"VALUES {', '.join([f'({", ".join(["%s"] * column_count)})'] * row_count)}"


def insert_postings(rows: Sequence[tuple[int, int, int, int, int]]) -> None:
    """Insert postings: layer, term, unit, frequency and length of each."""
    into, types, *_ = _insertion(Posting, POSTING_COLUMNS, product())
    insert_at_once(into, types, rows)


POSTING_COLUMNS = ("layer_id", "term", "unit_id", "frequency", "length")


def add_to_counts(layer: KnowledgeLayer, *, along: Sequence[Write] = (), **increments: int) -> None:
    """Add to counts of a stored layer, whatever they have become since it was read, and take over the sums.

    `along` is written with it.
    """
    changes = ", ".join(f"{name} = {name} + %s" for name in increments)
    statement = f"UPDATE {_LAYERS} SET {changes} WHERE id = %s"  # noqa: S608
    ((totals,), *_) = write_all([Write(statement, [*increments.values(), layer.pk], tuple(increments)), *along])
    for name, total in zip(increments, totals, strict=True):
        setattr(layer, name, total)


# Reading rows by their keys.


def read_related(row: Model, *names: str) -> None:
    """Read the rows that these foreign keys point at by one statement, and attach them as `select_related` does.

    None of the keys may be null. The row itself is not read again. If it was locked before, the related rows are read
    after the lock was acquired.
    """
    statement, read = _related(type(row), names, product())
    with open_cursor() as cursor:
        cursor.execute(statement, [getattr(row, f"{name}_id") for name in names])
        (values,) = cursor.fetchall()
    for name, columns in zip(names, read, strict=True):
        setattr(row, name, columns.row_of(values))


def look_up(
    model: type[Model],
    columns: Sequence[str],
    each: Mapping[str, Iterable[Any]],
    *,
    condition: str = "",
    binary: bool = False,
    **holders: Collection[int],
) -> list[tuple[Any, ...]]:
    """Return these columns of rows that an index finds one by one, in no order.

    With a condition on several columns the database chooses the plan. PostgreSQL expects no rows of a layer that its
    statistics do not cover yet, so it reads all rows of the layer and tests each. This statement hides the layers'
    keys from the planner, so that it uses the index on all columns.

    Args:
        each: the wanted values by column, without duplicates; values of several columns are combined by position.
        condition: a further condition in SQL.
        binary: read values in PostgreSQL's binary format, which halves the size of bytes.
        holders: the wanted keys of layers or packings by column; without keys no row is found.
    """
    wanted = [list(values) for values in each.values()]
    if not wanted[0] or not all(holders.values()):
        return []
    keys = [list(held) for held in holders.values()]
    with open_cursor() as cursor:
        if product() == "postgresql":
            statement, converters = _from_arrays(model, tuple(columns), tuple(each), tuple(holders), condition)
            if binary:
                from psycopg.pq import Format

                cursor.cursor.format = Format.BINARY
            cursor.execute(statement, [_array_literal(values) for values in (*wanted, *keys)])
        else:
            counts = tuple((name, len(held)) for name, held in zip(holders, keys, strict=True))
            statement, converters = _from_values(model, tuple(columns), tuple(each), counts, condition, len(wanted[0]))
            cursor.execute(statement, [*chain.from_iterable(zip(*wanted, strict=True)), *chain.from_iterable(keys)])
        return _converted(cursor.fetchall(), converters)


@_remembered
def _from_arrays(
    model: type[Model], columns: tuple[str, ...], names: tuple[str, ...], holders: tuple[str, ...], condition: str
) -> tuple[str, Sequence[Place]]:
    """Return PostgreSQL's statement; OFFSET keeps the planner from merging the subquery into the outer query."""
    read = _columns(model, columns, product())
    arrays = ", ".join(f"%s::{_field(model, name).db_type(connection)}[]" for name in names)
    held = [f"{_column(model, name)} = ANY ((SELECT %s::bigint[])::bigint[])" for name in holders]
    rows = f"SELECT {read.sql} FROM {_matching(model, names, [condition, *held])} OFFSET 0"  # noqa: S608
    places = f"unnest({arrays}) AS asked({_listed(names)})"
    return f"SELECT found.* FROM {places} CROSS JOIN LATERAL ({rows}) found", read.converters  # noqa: S608


def _array_literal(values: Iterable[Any]) -> str:
    """Return values as a PostgreSQL array literal, in half the time that the driver takes for a list."""
    return f"{{{','.join(str(value) if isinstance(value, int) else _quoted(str(value)) for value in values)}}}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@_remembered
def _from_values(
    model: type[Model], columns: tuple[str, ...], names: tuple[str, ...], holders: tuple[tuple[str, int], ...],
    condition: str, count: int,
) -> tuple[str, Sequence[Place]]:  # fmt: skip
    """Return SQLite's statement; CROSS JOIN makes it read the left table first."""
    read = _columns(model, columns, product())
    row = f"({', '.join(['%s'] * len(names))})"
    clause = f"WITH asked({_listed(names)}) AS (VALUES {', '.join([row] * count)})"
    held = [f"{_column(model, name)} IN ({', '.join(['%s'] * number)})" for name, number in holders]
    statement = f"{clause} SELECT {read.sql} FROM asked CROSS JOIN {_matching(model, names, [condition, *held])}"  # noqa: S608
    return statement, read.converters


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"wanted_{name}" for name in names)


def _matching(model: type[Model], names: tuple[str, ...], held: Sequence[str]) -> str:
    equal = [f"{_column(model, name)} = wanted_{name}" for name in names]
    return f"{model._meta.db_table} WHERE {' AND '.join(filter(None, (*held, *equal)))}"


# Sessions.


def select_default_base(project_pk: int) -> tuple[KnowledgeBase, ModelTable | None] | None:
    """Return the project's default base with its head, and the project's table of model roles, if it has one."""
    statement, base_columns, head_columns, roles_columns = _default_base(product())
    with open_cursor() as cursor:
        cursor.execute(statement, [project_pk])
        values = cursor.fetchone()
    if values is None:
        return None
    base = base_columns.row_of(values)
    base.head = head_columns.row_of(values)
    (config,) = roles_columns.values_of(values)
    return base, config


@_remembered
def _default_base(
    vendor: str,
) -> tuple[str, "Columns[KnowledgeBase]", "Columns[KnowledgeLayer]", "Columns[ModelRoles]"]:
    base = _columns(KnowledgeBase, None, vendor, "base")
    head = _columns(KnowledgeLayer, None, vendor, "head", base.end)
    roles = _columns(ModelRoles, ("config",), vendor, "roles", head.end)
    is_default = {"sqlite": "base.is_default = 1", "postgresql": "base.is_default"}[vendor]
    statement = f"""
        SELECT {base.sql}, {head.sql}, {roles.sql} FROM {KnowledgeBase._meta.db_table} base
        JOIN {_LAYERS} head ON head.id = base.head_id
        LEFT JOIN {ModelRoles._meta.db_table} roles ON roles.project_id = base.project_id
        WHERE base.project_id = %s AND {is_default}
    """  # noqa: S608
    return statement, base, head, roles


def select_counted_session(project_pk: int, session_id: str, save_reasons: Sequence[str]) -> Session | None:
    """Return a session that was not deleted with its base, draft and journal, and with what is shown of it beside its
    columns.

    That is `pending_unit_count`, `turn_count`, `latest_turn_status` and `saved_at`: when it last mounted something for
    one of these reasons.
    """
    statement, session_columns, base_columns, draft_columns, journal_columns, mount_columns = _counted_session(
        len(save_reasons), product()
    )
    with open_cursor() as cursor:
        cursor.execute(statement, [*save_reasons, project_pk, session_id])
        values = cursor.fetchone()
    if values is None:
        return None
    session: Any = session_columns.row_of(values)
    session.mounted_kb, session.draft = base_columns.row_of(values), draft_columns.row_of(values)
    session.journal = journal_columns.row_of(values)
    (session.saved_at,) = mount_columns.values_of(values)
    session.pending_unit_count, session.turn_count, session.latest_turn_status = values[mount_columns.end :]
    return cast(Session, session)


@_remembered
def _counted_session(
    reason_count: int, vendor: str
) -> tuple[
    str,
    "Columns[Session]",
    "Columns[KnowledgeBase]",
    "Columns[KnowledgeLayer]",
    "Columns[KnowledgeLayer]",
    "Columns[KBMount]",
]:
    session = _columns(Session, None, vendor, "session")
    base = _columns(KnowledgeBase, None, vendor, "base", session.end)
    draft = _columns(KnowledgeLayer, None, vendor, "draft", base.end)
    journal = _columns(KnowledgeLayer, None, vendor, "journal", draft.end)
    mount = _columns(KBMount, ("mounted_at",), vendor, "mount", journal.end)
    statement = f"""
        SELECT {session.sql}, {base.sql}, {draft.sql}, {journal.sql},
            (SELECT {mount.sql} FROM {KBMount._meta.db_table} mount WHERE mount.session_id = session.id
             AND mount.reason IN ({", ".join(["%s"] * reason_count)}) ORDER BY mount.id DESC LIMIT 1),
            (SELECT COUNT(*) FROM {_UNITS} unit WHERE unit.session_id = session.id AND unit.state = 'pending'),
            (SELECT COUNT(*) FROM {_TURNS} turn WHERE turn.session_id = session.id AND turn.trial_number = 0),
            (SELECT status FROM {_TURNS} turn WHERE turn.session_id = session.id AND turn.trial_number = 0
             ORDER BY turn_index DESC LIMIT 1)
        FROM {_SESSIONS} session JOIN {KnowledgeBase._meta.db_table} base ON base.id = session.mounted_kb_id
        JOIN {_LAYERS} draft ON draft.id = session.draft_id JOIN {_LAYERS} journal ON journal.id = session.journal_id
        WHERE session.project_id = %s AND session.session_id = %s AND session.deleted_at IS NULL
    """  # noqa: S608
    return statement, session, base, draft, journal, mount


# Turns for pages.


def select_turn(project_pk: int, session_id: str, request_id: str) -> ExplainabilityTurn | None:
    """Return a turn, or the trace of a trial, with its session, which was not deleted."""
    statement, turn_columns, session_columns = _turn(product())
    with open_cursor() as cursor:
        cursor.execute(statement, [request_id, session_id, project_pk])
        values = cursor.fetchone()
    if values is None:
        return None
    turn = turn_columns.row_of(values)
    turn.session = session_columns.row_of(values)
    return turn


@_remembered
def _turn(vendor: str) -> tuple[str, "Columns[ExplainabilityTurn]", "Columns[Session]"]:
    turn = _columns(ExplainabilityTurn, None, vendor, "turn")
    session = _columns(Session, None, vendor, "session", turn.end)
    statement = f"""
        SELECT {turn.sql}, {session.sql} FROM {_TURNS} turn JOIN {_SESSIONS} session ON session.id = turn.session_id
        WHERE turn.request_id = %s AND session.session_id = %s AND session.project_id = %s
            AND session.deleted_at IS NULL
    """  # noqa: S608
    return statement, turn, session


# Writes and reads of a running turn.


def advance_session(
    session_pk: int, first_message: str, active_at: datetime, expires_at: datetime | None
) -> tuple[Session, bool] | None:
    """Lock a session that has neither expired nor been deleted, and count one more turn and one more event of it.

    Return the updated session, and whether an earlier turn left pending units; None if there is no such session.
    """
    statement, read = _advance(product())
    ops = connection.ops
    now = ops.adapt_datetimefield_value(active_at)
    parameters = [now, ops.adapt_datetimefield_value(expires_at), first_message, session_pk, now]
    with open_cursor() as cursor:
        cursor.execute(statement, parameters)
        values = cursor.fetchone()
    return None if values is None else (read.row_of(values), bool(values[-1]))


@_remembered
def _advance(vendor: str) -> tuple[str, "Columns[Session]"]:
    read = _columns(Session, None, vendor)
    statement = f"""
        UPDATE {_SESSIONS} SET turn_sequence = turn_sequence + 1, event_sequence = event_sequence + 1,
            last_activity_at = %s, expires_at = %s,
            first_message = CASE WHEN first_message = '' THEN %s ELSE first_message END
        WHERE id = %s AND deleted_at IS NULL AND expired_at IS NULL AND (expires_at IS NULL OR expires_at >= %s)
        RETURNING {read.sql},
            EXISTS (SELECT 1 FROM {_UNITS} unit WHERE unit.session_id = {_SESSIONS}.id AND unit.state = 'pending')
    """  # noqa: S608
    return statement, read


def store_committed(turn: ExplainabilityTurn, columns: tuple[str, ...], event_count: int) -> bool:
    """Lock a session that has neither been swept as expired nor deleted, store these columns and count its new events.

    Return False if there is no such session, or if the turn no longer runs or was stopped. The session's event number
    is updated.
    """
    session = turn.session
    statement, adapters = _store(columns, product())
    values = _converted([attrgetter(*columns)(session)], adapters)[0]
    with open_cursor() as cursor:
        cursor.execute(statement, [*values, event_count, session.pk, turn.pk])
        row = cursor.fetchone()
    if row is not None:
        (session.event_sequence,) = row
    return row is not None


@_remembered
def _store(columns: tuple[str, ...], vendor: str) -> tuple[str, Sequence[Place]]:
    settings = ", ".join(f"{name} = %s" for name in columns)
    statement = f"""
        UPDATE {_SESSIONS} SET {settings}, event_sequence = event_sequence + %s
        WHERE id = %s AND deleted_at IS NULL AND expired_at IS NULL
            AND EXISTS (SELECT 1 FROM {_TURNS} turn
                        WHERE turn.id = %s AND turn.status = 'running' AND turn.cancel_requested_at IS NULL)
        RETURNING event_sequence
    """  # noqa: S608
    return statement, _adapters(Session, columns)


def turn_end(turn: ExplainabilityTurn, columns: tuple[str, ...]) -> Write:
    """Return the write of these columns of a turn that still runs and that nobody has stopped; it returns the key."""
    values = attrgetter(*columns)(turn)
    condition = "id = %s AND status = 'running' AND cancel_requested_at IS NULL"
    return _update_of(ExplainabilityTurn, columns, values, condition, turn.pk)


def memory_change(session: Session, changes: Mapping[str, Any]) -> Write:
    """Return the write of these columns of what a session remembers; it returns the key, if it remembers anything."""
    condition = "project_id = %s AND owner = %s"
    held = (session.project_id, session.session_id)
    return _update_of(SessionMemory, tuple(changes), tuple(changes.values()), condition, *held)


def pending_commitment(turn_pk: int, committed_at: datetime) -> Write:
    """Return the write that makes the pending units of a turn committed ones."""
    values = ("committed", committed_at)
    return _update_of(ContextUnit, ("state", "committed_at"), values, "turn_id = %s AND state = 'pending'", turn_pk)


def _update_of(
    model: type[Model], columns: tuple[str, ...], values: tuple[Any, ...], condition: str, *held: Any
) -> Write:
    """Return the write of columns of the rows that meet a condition, with its values `held`; it returns their keys."""
    statement, adapters = _update(model, columns, condition, product())
    return Write(statement, [*_converted([values], adapters)[0], *held], ("id",))


@_remembered
def _update(model: type[Model], columns: tuple[str, ...], condition: str, vendor: str) -> tuple[str, Sequence[Place]]:
    settings = ", ".join(f"{_column(model, name)} = %s" for name in columns)
    return f"UPDATE {model._meta.db_table} SET {settings} WHERE {condition}", _adapters(model, columns)  # noqa: S608


type SaidColumns = tuple[int, str, str, dict[str, Any] | None]
"""A message's sequence number, role, text, and payload if it is a tool's."""
_MEMORY_COLUMNS = ("record", "turn_count", "created_at", "last_accessed_at")


def select_conversation(
    session: Session, limit: int, *, with_memory: bool
) -> tuple[Sequence[SaidColumns], MemoryColumns | None]:
    """Return the newest `limit` messages, the newest first, and what the session remembers."""
    in_memory, in_message = _conversation_converters(product())
    owner = session.session_id if with_memory else None
    with open_cursor() as cursor:
        cursor.execute(_CONVERSATION, [session.project_id, owner, session.pk, limit])
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    said: Any = _converted([(number, role, text, json) for json, number, _, _, role, text in rows if role], in_message)
    memories: Any = _converted([row[:4] for row in rows if not row[4]], in_memory)
    return said, memories[0] if memories else None


_CONVERSATION = f"""
    SELECT CAST(record AS text), turn_count, created_at, last_accessed_at, '', '' FROM {_MEMORIES}
    WHERE project_id = %s AND owner = %s
    UNION ALL SELECT CAST(payload AS text), sequence, NULL, NULL, role, content FROM (
        SELECT payload, sequence, role, content FROM {_MESSAGES} WHERE session_id = %s
        ORDER BY sequence DESC LIMIT %s) said
"""  # noqa: S608


@_remembered
def _conversation_converters(vendor: str) -> tuple[Sequence[Place], Sequence[Place]]:
    """Return the converters of a memory's columns and of a message's."""
    return (
        _columns(SessionMemory, _MEMORY_COLUMNS, vendor).converters,
        _columns(Message, ("sequence", "role", "content", "payload"), vendor).converters,
    )


# How columns are named, and what their values go through.


@dataclass(frozen=True, slots=True)
class Columns[Row: Model]:
    """Columns of a model in a statement, `sql`, whose values are in its rows from the place `start` on."""

    model: type[Row]
    names: Sequence[str]
    sql: str
    converters: Sequence[Place]
    start: int = 0

    @property
    def end(self) -> int:
        """Return the place after them."""
        return self.start + len(self.names)

    def values_of(self, row: Sequence[Any]) -> tuple[Any, ...]:
        """Return their values of a row of the statement, as the model's fields know them."""
        return _converted([tuple(row[self.start : self.end])], self.converters)[0]

    def row_of(self, row: Sequence[Any]) -> Row:
        """Return the model's row that they are all columns of."""
        return self.model.from_db(DEFAULT_DB_ALIAS, self.names, self.values_of(row))


@_remembered
def _columns[Row: Model](
    model: type[Row], names: tuple[str, ...] | None, vendor: str, alias: str = "", start: int = 0
) -> Columns[Row]:
    """Return columns of a model, all of them for None."""
    names = names or tuple(field.attname for field in model._meta.concrete_fields)
    prefix = f"{alias}." if alias else ""
    converters = [(place, read) for place, name in enumerate(names) for read in _converters(_field(model, name))]
    return Columns(model, names, ", ".join(prefix + _column(model, name) for name in names), converters, start)


@_remembered
def _insertion(
    model: type[Model], columns: tuple[str, ...], vendor: str
) -> tuple[str, list[str], Sequence[Place], int]:
    """Return the statement up to its values, the columns' types, what values go through, and the most rows at once."""
    into = f"INSERT INTO {model._meta.db_table} ({', '.join(_column(model, name) for name in columns)})"
    types = [str(_field(model, name).db_type(connection)) for name in columns]
    most = (connection.features.max_query_params or _MOST_PARAMETERS) // len(columns)
    return into, types, _adapters(model, columns), most


@_remembered
def _related(model: type[Model], names: tuple[str, ...], vendor: str) -> tuple[str, Sequence[Columns[Model]]]:
    read: list[Columns[Model]] = []
    for place, name in enumerate(names):
        related = cast("type[Model]", model._meta.get_field(name).related_model)
        read.append(_columns(related, None, vendor, f"r{place}", read[-1].end if read else 0))
    tables = ", ".join(f"{columns.model._meta.db_table} r{place}" for place, columns in enumerate(read))
    tests = " AND ".join(f"r{place}.{_column(columns.model, 'pk')} = %s" for place, columns in enumerate(read))
    return f"SELECT {', '.join(columns.sql for columns in read)} FROM {tables} WHERE {tests}", read  # noqa: S608


@_remembered
def _written(model: type[Model]) -> tuple[str, ...]:
    return tuple(field.attname for field in model._meta.concrete_fields if not field.primary_key)


def _field(model: type[Model], name: str) -> "Field[Any, Any]":
    return cast("Field[Any, Any]", model._meta.pk if name == "pk" else model._meta.get_field(name))


def _column(model: type[Model], name: str) -> str:
    return connection.ops.quote_name(str(_field(model, name).column))


def _adapters(model: type[Model], columns: Sequence[str]) -> list[Place]:
    """Return what makes values of fields those that the database's driver takes."""
    fields = [_field(model, name) for name in columns]
    adapted = ((place, _adapter(field)) for place, field in enumerate(fields) if isinstance(field, _ADAPTED))
    return [(place, adapt) for place, adapt in adapted if adapt is not None]


def _adapter(field: "Field[Any, Any]") -> Callable[[Any], Any] | None:
    if isinstance(field, DateTimeField):
        return _sqlite_moment if product() == "sqlite" else None
    if isinstance(field, JSONField) and field.encoder is None:
        return partial(_json_parameter, field)
    return stored_json if isinstance(field, CompressedJSONField) else field.get_prep_value


def _sqlite_moment(moment: datetime | None) -> str | None:
    """Return a moment as Django writes it for SQLite, in a fifth of its time."""
    return None if moment is None else str(moment.astimezone(UTC).replace(tzinfo=None))


def _moment_of_sqlite(read: datetime | str | None) -> datetime | None:
    """Return a moment of a row as Django does, without a look into the settings; the driver parses that of a column."""
    if read is None:
        return None
    return (datetime.fromisoformat(read) if isinstance(read, str) else read).replace(tzinfo=UTC)


def _json_parameter(field: JSONField, value: Any) -> Any:
    prepared = field.get_prep_value(value)
    if prepared is None:
        return None
    if product() == "sqlite":
        return _json_text(prepared)
    from psycopg.types.json import Jsonb

    return Jsonb(prepared, _json_text)


def _json_text(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # half a surrogate pair, a key that is no text, a number of more than 64 bits
        return json.dumps(value)


def _converters(field: "Field[Any, Any]") -> list[Callable[[Any], Any]]:
    """Return what makes the driver's value one of the field's."""
    if isinstance(field, JSONField) and field.decoder is None:
        return [partial(_parsed, field)]
    if isinstance(field, DateTimeField) and product() == "sqlite":
        return [_moment_of_sqlite]
    column = Col("", field)
    converters = [*connection.ops.get_db_converters(column), *column.get_db_converters(connection)]
    return [partial(_converted_by, convert, column) for convert in converters]


def _parsed(field: JSONField, value: str | None) -> Any:
    # The stored JSON is one value without surrounding spaces, so a raw decode is enough.
    try:
        return None if value is None else _JSON.raw_decode(value)[0]
    except ValueError as error:
        raise damaged(field) from error


def _converted_by(convert: Callable[..., Any], column: Col, value: Any) -> Any:
    return convert(value, column, connection)


def _converted(rows: Sequence[tuple[Any, ...]], converters: Sequence[Place]) -> list[tuple[Any, ...]]:
    """Return rows with the values at some places changed."""
    if not converters:
        return list(rows)
    converted = [list(row) for row in rows]
    for values in converted:
        for place, convert in converters:
            values[place] = convert(values[place])
    return [tuple(values) for values in converted]
