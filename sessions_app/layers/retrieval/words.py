"""Free-text and phrase search over the units of bases and drafts, for pages: FTS5 on SQLite, tsvector on PostgreSQL.

Both databases get the same words, cut here and not by them, so that both find the same units. The index is a table of
its own, `sessions_app_unitwords`, that Django's models know nothing of:

- SQLite: an FTS5 table with the columns `layer` and `words`; its `rowid` is the unit's key.
- PostgreSQL: `unit_id` and a tsvector `words` with a GIN index; `@` and a number is the layer's word.

A migration makes it, with triggers that remove a row with its unit, whoever deletes that. **A migration that has SQLite
write the table of units anew drops the trigger there and must make it again**; a test sees to that. A session's journal
is left out, as it is on the path of a turn; a save adds what it seals.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db import connection

from mrpvm.knowledge.indexing import WORD_CHARS, pieces_of, searched_words, words_of
from sessions_app.layers.retrieval.port import EffectiveView
from sessions_app.models import LayerUnit
from sessions_app.models.named_sql import insert_at_once

ASKED_WORDS = 32
_QUOTED = re.compile(r'"([^"]*)"')
_ROWS_A_QUERY = 200


@dataclass(frozen=True, slots=True)
class WordQuery:
    """What is looked for: word sequences, all of which must be in a unit, and each as it is.

    `left_out_count` words were asked for in addition and are not looked for.
    """

    phrases: tuple[tuple[str, ...], ...]
    left_out_count: int = 0

    @property
    def words(self) -> tuple[str, ...]:
        """Return all words."""
        return tuple(word for phrase in self.phrases for word in phrase)


def asked_for(text: str) -> WordQuery:
    """Return what a text asks for: what is between quotation marks as a phrase, every other word by itself.

    Words beyond the first `ASKED_WORDS` are left out and counted.
    """
    phrases: list[tuple[str, ...]] = []
    left, left_out_count = ASKED_WORDS, 0
    for place, part in enumerate(_QUOTED.split(text)):
        for words in [words_of(part)] if place % 2 else pieces_of(part):
            taken = tuple(words[:left])
            phrases += [taken] if taken else []
            left -= len(taken)
            left_out_count += len(words) - len(taken)
    return WordQuery(tuple(phrases), left_out_count)


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


def units_holding(view: EffectiveView, query: WordQuery, limit: int) -> list[LayerUnit]:
    """Return the units of a view that hold all the words and phrases asked for, in the order they came in."""
    keys = _found(view.shown, view.hidden, query, limit)
    rows = LayerUnit.objects.select_related("origin").defer("origin__content").in_bulk(keys)
    return [rows[key] for key in keys]


def _found(layers: Sequence[int], hidden: Container[int], query: WordQuery, limit: int) -> list[int]:
    unit_keys: list[int] = []
    for key in _matching(layers, query):
        if key not in hidden:
            unit_keys.append(key)
        if len(unit_keys) == limit:
            break
    return unit_keys


def _matching(layers: Sequence[int], query: WordQuery) -> Iterator[int]:
    if not query.phrases or not layers:
        return
    wanted, after = _QUERY[connection.vendor](layers, query), 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(_SELECT[connection.vendor], [wanted, after, _ROWS_A_QUERY])
            keys = [key for (key,) in cursor.fetchall()]
        yield from keys
        if len(keys) < _ROWS_A_QUERY:
            return
        after = keys[-1]


_SELECT = {
    "sqlite": "SELECT rowid FROM sessions_app_unitwords WHERE sessions_app_unitwords MATCH %s AND rowid > %s "
    "ORDER BY rowid LIMIT %s",
    "postgresql": "SELECT unit_id FROM sessions_app_unitwords WHERE words @@ %s::tsquery AND unit_id > %s "
    "ORDER BY unit_id LIMIT %s",
}


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
"""Stands between two fields, so that no phrase reaches from one into the next; nobody can ask for it."""


def _of_sqlite(chain: Sequence[int], query: WordQuery) -> str:
    layers = " OR ".join(f'"l{layer}"' for layer in chain)
    phrases = " AND ".join(f'"{" ".join(phrase)}"' for phrase in query.phrases)
    return f"layer : ({layers}) AND words : ({phrases})"


def _of_postgresql(chain: Sequence[int], query: WordQuery) -> str:
    layers = " | ".join(f"'@{layer}'" for layer in chain)
    phrases = " & ".join(f"({' <-> '.join(f"'{word}'" for word in phrase)})" for phrase in query.phrases)
    return f"({layers}) & {phrases}"


_QUERY = {"sqlite": _of_sqlite, "postgresql": _of_postgresql}
