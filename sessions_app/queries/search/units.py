"""Free-text and phrase search over the units of bases and drafts, for pages, by the index of `layers.words`."""

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass

from mrpvm.knowledge.indexing import index_words_of, pieces_of
from sessions_app.layers import EffectiveView, keys_holding
from sessions_app.models import LayerUnit

ASKED_WORDS = 32
_QUOTED = re.compile(r'"([^"]*)"')


@dataclass(frozen=True, slots=True)
class WordQuery:
    """The word sequences to search for; a unit must contain all of them literally.

    `left_out_count` is the number of further words, which are ignored.
    """

    phrases: tuple[tuple[str, ...], ...]
    left_out_count: int = 0

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(word for phrase in self.phrases for word in phrase)


def asked_for(text: str) -> WordQuery:
    """Return the query of a text: each quoted part as a phrase, every other word by itself.

    Words beyond the first `ASKED_WORDS` are ignored and counted.
    """
    phrases: list[tuple[str, ...]] = []
    left, left_out_count = ASKED_WORDS, 0
    for place, part in enumerate(_QUOTED.split(text)):
        for words in [index_words_of(part)] if place % 2 else pieces_of(part):
            taken = tuple(words[:left])
            phrases += [taken] if taken else []
            left -= len(taken)
            left_out_count += len(words) - len(taken)
    return WordQuery(tuple(phrases), left_out_count)


def units_holding(view: EffectiveView, query: WordQuery, limit: int) -> list[LayerUnit]:
    """Return the units of a view that contain all words and phrases of the query, in the order of insertion."""
    keys = _found(view.shown, view.hidden, query, limit)
    rows = LayerUnit.objects.select_related("origin").defer("origin__content").in_bulk(keys)
    return [rows[key] for key in keys]


def _found(layers: Sequence[int], hidden: Container[int], query: WordQuery, limit: int) -> list[int]:
    unit_keys: list[int] = []
    for key in keys_holding(layers, query.phrases):
        if key not in hidden:
            unit_keys.append(key)
        if len(unit_keys) == limit:
            break
    return unit_keys
