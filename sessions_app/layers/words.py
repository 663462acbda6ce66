"""The index of words that pages search the units of bases and drafts by: FTS5 on SQLite, tsvector on PostgreSQL.

Both databases get the same words, cut here and not by them, so that both find the same units. The index is a table of
its own, `sessions_app_unitwords`, that Django's models know nothing of:

- SQLite: an FTS5 table with the columns `layer` and `words`; its `rowid` is the unit's key.
- PostgreSQL: `unit_id` and a tsvector `words` with a GIN index; `@` and a number is the layer's word.

The first migration creates it, with triggers that remove a row with its unit, whoever deletes that. **A migration that
has SQLite write the table of units anew drops the trigger there and must create it again**; a test sees to that. A
session's journal is left out, as it is on the path of a turn; a save adds what it seals. All statements about it are
here.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from django.db import connection

from mrpvm.knowledge.indexing import WORD_CHARS, searched_words
from sessions_app.models import LayerUnit
from sessions_app.models.named_sql import insert_at_once


def note_words(rows: Sequence[LayerUnit]) -> None:
    """Add stored units to the index; what is there already stays."""
    insert_words((row.pk, row.layer_id, searched_words(row)) for row in rows)


def insert_words(entries: Iterable[tuple[int, int, str]]) -> None:
    """Add stored units to the index by their keys, their layers' keys and their `searched_words`."""
    indexed, into, types, after = _INSERT[connection.vendor]
    insert_at_once(into, types, [indexed(*entry) for entry in entries], after)


def rewrite_words(entries: Iterable[tuple[int, int, str]]) -> None:
    """Replace the words of units that are in the index, given as to `insert_words`; others are not added."""
    indexed = _INSERT[connection.vendor][0]
    rows = [indexed(*entry) for entry in entries]
    with connection.cursor() as cursor:
        cursor.executemany(_UPDATE[connection.vendor], [(words, unit) for unit, *_, words in rows])


def keys_holding(layers: Sequence[int], phrases: Sequence[Sequence[str]]) -> Iterator[int]:
    """Return the keys of the layers' units that contain all of the phrases, in order; none without a phrase."""
    if not phrases or not layers:
        return
    wanted, after = _QUERY[connection.vendor](layers, phrases), 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(_SELECT[connection.vendor], [wanted, after, _ROWS_A_QUERY])
            keys = [key for (key,) in cursor.fetchall()]
        yield from keys
        if len(keys) < _ROWS_A_QUERY:
            return
        after = keys[-1]


def count_unused_words() -> int:
    """Return how many rows of the index belong to no unit."""
    key = "rowid" if connection.vendor == "sqlite" else "unit_id"
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT COUNT(*) FROM sessions_app_unitwords WHERE {key} NOT IN "  # noqa: S608
            f"(SELECT id FROM {LayerUnit._meta.db_table})"
        )
        return int(cursor.fetchone()[0])


def merge_word_index() -> None:
    """Have SQLite merge its index, which removes what is left of deleted words."""
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO sessions_app_unitwords (sessions_app_unitwords) VALUES ('optimize')")


def _indexed_by_sqlite(unit: int, layer: int, words: str) -> tuple[int, str, str]:
    return unit, f"l{layer}", " ".join(word or _BREAK for word in words.split(" "))


def _indexed_by_postgresql(unit: int, layer: int, words: str) -> tuple[int, str]:
    places = (f"'{word}':{place}" for place, word in enumerate(words.split(" "), start=1) if word)
    return unit, f"'@{layer}' {' '.join(places)}"


_INSERT: Mapping[str, tuple[Callable[[int, int, str], tuple[int | str, ...]], str, Sequence[str], str]] = {
    "sqlite": (
        _indexed_by_sqlite,
        "INSERT OR REPLACE INTO sessions_app_unitwords (rowid, layer, words)",
        ("bigint", "text", "text"),
        "",
    ),
    "postgresql": (
        _indexed_by_postgresql,
        "INSERT INTO sessions_app_unitwords (unit_id, words)",
        ("bigint", "tsvector"),
        "ON CONFLICT DO NOTHING",
    ),
}
_UPDATE = {
    "sqlite": "UPDATE sessions_app_unitwords SET words = %s WHERE rowid = %s",
    "postgresql": "UPDATE sessions_app_unitwords SET words = %s::tsvector WHERE unit_id = %s",
}
_BREAK = "0" * (WORD_CHARS + 1)
"""Separates two fields, so that no phrase spans both; no query can contain it."""
_ROWS_A_QUERY = 200
_SELECT = {
    "sqlite": "SELECT rowid FROM sessions_app_unitwords WHERE sessions_app_unitwords MATCH %s AND rowid > %s "
    "ORDER BY rowid LIMIT %s",
    "postgresql": "SELECT unit_id FROM sessions_app_unitwords WHERE words @@ %s::tsquery AND unit_id > %s "
    "ORDER BY unit_id LIMIT %s",
}


def _query_of_sqlite(chain: Sequence[int], phrases: Sequence[Sequence[str]]) -> str:
    layers = " OR ".join(f'"l{layer}"' for layer in chain)
    held = " AND ".join(f'"{" ".join(phrase)}"' for phrase in phrases)
    return f"layer : ({layers}) AND words : ({held})"


def _query_of_postgresql(chain: Sequence[int], phrases: Sequence[Sequence[str]]) -> str:
    layers = " | ".join(f"'@{layer}'" for layer in chain)
    held = " & ".join(f"({' <-> '.join(f"'{word}'" for word in phrase)})" for phrase in phrases)
    return f"({layers}) & {held}"


_QUERY = {"sqlite": _query_of_sqlite, "postgresql": _query_of_postgresql}
