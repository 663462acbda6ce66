"""Free-text and phrase search over the units of bases and drafts, for pages: FTS5 on SQLite, tsvector on PostgreSQL.

Both databases get the same words, cut here and not by them, so that both find the same units. The index is a table of
its own, `sessions_app_unitwords`, that Django's models know nothing of:

- SQLite: an FTS5 table with the columns `layer` and `words`; its `rowid` is the unit's key.
- PostgreSQL: `unit_id` and a tsvector `words` with a GIN index; `@` and a number is the layer's word.

A migration makes it, with triggers that remove a row with its unit, whoever deletes that. **A migration that has SQLite
write the table of units anew drops the trigger there and must make it again**; a test sees to that. A session's journal
and context layers are left out, as they are on the path of a turn; a save adds what it seals.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from django.db import connection

from mrpvm.knowledge.text import UNSPACED
from sessions_app.models import LayerUnit
from sessions_app.search.knowledge import EffectiveView

ASKED_WORDS = 32
WORD_CHARS = 64
"""Longer words are cut, in the index and in what is asked: one line of five million letters is one word."""
WORDS_A_UNIT = 10_000
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(f"({UNSPACED.pattern})")
_QUOTED = re.compile(r'"([^"]*)"')
_ROWS_A_QUERY = 200
_SEARCHED = ("topic", "title", "claim", "procedure", "condition", "text_body")


@dataclass(frozen=True, slots=True)
class Asked:
    """What is looked for: word sequences, all of which must stand in a unit, and each as it is."""

    phrases: tuple[tuple[str, ...], ...]

    @property
    def words(self) -> tuple[str, ...]:
        """Give all words."""
        return tuple(word for phrase in self.phrases for word in phrase)


def asked_for(text: str) -> Asked:
    """Give what a text asks for: what stands between quotation marks as a phrase, every other word by itself.

    Words beyond the first `ASKED_WORDS` are left out.
    """
    phrases: list[tuple[str, ...]] = []
    left = ASKED_WORDS
    for place, part in enumerate(_QUOTED.split(text)):
        for words in [words_of(part)] if place % 2 else _pieces(part):
            phrases += [tuple(words[:left])] if words[:left] else []
            left -= len(words[:left])
    return Asked(tuple(phrases))


def words_of(text: str) -> list[str]:
    """Give the words of a text as they are compared: without case and without the forms of one letter.

    Where a script puts no space between words, each sign is one; what is asked for in it is a phrase of signs.
    """
    return [word for words in _pieces(text) for word in words]


def _pieces(text: str) -> list[list[str]]:
    """Give the parts of each word: one, but for the signs of scripts that put no space between words."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return [
        [word[:WORD_CHARS]] if word.isascii() else [piece[:WORD_CHARS] for piece in _signs(word)]
        for word in _WORD.findall(folded)
    ]


def _signs(word: str) -> list[str]:
    return [
        piece for part in _UNSPACED.split(word) for piece in (part if UNSPACED.fullmatch(part) else [part]) if piece
    ]


def note_words(rows: Sequence[LayerUnit]) -> None:
    """Add stored units to the index; what is there already stays."""
    with connection.cursor() as cursor:
        cursor.executemany(_INSERT[connection.vendor], [_indexed(row) for row in rows])


def units_holding(view: EffectiveView, asked: Asked, limit: int) -> list[LayerUnit]:
    """Give the units of a view that hold all the words and phrases asked for, in the order they came in."""
    keys = _found(view.chain, view.hidden, asked, limit)
    rows = LayerUnit.objects.select_related("origin").defer("origin__content").in_bulk(keys)
    return [rows[key] for key in keys]


def _found(chain: Sequence[int], hidden: Collection[int], asked: Asked, limit: int) -> list[int]:
    found: list[int] = []
    for key in _matching(chain, asked):
        if key not in hidden:
            found.append(key)
        if len(found) == limit:
            break
    return found


def _matching(chain: Sequence[int], asked: Asked) -> Iterator[int]:
    if not asked.phrases:
        return
    wanted, after = _QUERY[connection.vendor](chain, asked), 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(_SELECT[connection.vendor], [wanted, after, _ROWS_A_QUERY])
            keys = [key for (key,) in cursor.fetchall()]
        yield from keys
        if len(keys) < _ROWS_A_QUERY:
            return
        after = keys[-1]


_INSERT = {
    "sqlite": "INSERT OR REPLACE INTO sessions_app_unitwords (rowid, layer, words) VALUES (%s, %s, %s)",
    "postgresql": "INSERT INTO sessions_app_unitwords (unit_id, words) VALUES (%s, %s::tsvector) "
    "ON CONFLICT DO NOTHING",
}
_SELECT = {
    "sqlite": "SELECT rowid FROM sessions_app_unitwords WHERE sessions_app_unitwords MATCH %s AND rowid > %s "
    "ORDER BY rowid LIMIT %s",
    "postgresql": "SELECT unit_id FROM sessions_app_unitwords WHERE words @@ %s::tsquery AND unit_id > %s "
    "ORDER BY unit_id LIMIT %s",
}


def _indexed(row: LayerUnit) -> tuple[int | str, ...]:
    words = [word for name in _SEARCHED for word in (*words_of(getattr(row, name) or ""), "")][:WORDS_A_UNIT]
    if connection.vendor == "sqlite":
        return row.pk, f"l{row.layer_id}", " ".join(word or _BREAK for word in words)
    places: dict[str, list[int]] = {}
    for place, word in enumerate(words, start=1):
        if word:
            places.setdefault(word, []).append(place)
    vector = " ".join(f"'{word}':{','.join(map(str, at))}" for word, at in places.items())
    return row.pk, f"'@{row.layer_id}' {vector}"


_BREAK = "0" * (WORD_CHARS + 1)
"""Stands between two fields, so that no phrase reaches from one into the next; nobody can ask for it."""


def _of_sqlite(chain: Sequence[int], asked: Asked) -> str:
    layers = " OR ".join(f'"l{layer}"' for layer in chain)
    phrases = " AND ".join(f'"{" ".join(phrase)}"' for phrase in asked.phrases)
    return f"layer : ({layers}) AND words : ({phrases})"


def _of_postgresql(chain: Sequence[int], asked: Asked) -> str:
    layers = " | ".join(f"'@{layer}'" for layer in chain)
    phrases = " & ".join(f"({' <-> '.join(f"'{word}'" for word in phrase)})" for phrase in asked.phrases)
    return f"({layers}) & {phrases}"


_QUERY = {"sqlite": _of_sqlite, "postgresql": _of_postgresql}
