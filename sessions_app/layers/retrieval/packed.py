"""Packed postings of large sealed layers: the same exact BM25 as over rows, at a much lower cost per posting.

The postings of a term in one layer are one value: the distinct pairs of frequency and length, the numbers of the
units, and the pair of each number. The score of a posting depends only on its pair, so it is computed once for each
pair, by the same operations in the same order as `ranking` does it for rows: scores are equal to the last bit,
whatever part of a view is packed.

Utterances are found by their neighbours' words too, so their postings are packed separately and unpacked to rows.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Self

from msgspec import Struct, field

from mrpvm.knowledge.arrays import Array, np
from mrpvm.knowledge.indexing import term_id
from sessions_app.layers.retrieval.chains import Hidden, Packing
from sessions_app.layers.retrieval.ranking import Scale, SearchScores
from sessions_app.layers.retrieval.windows import TermPostings
from sessions_app.models import PackedPart
from sessions_app.models.named_sql import look_up

UNITS_A_PART = 512
_READ_AHEAD = 4
"""Runs of units up to which a layer's keys are read with its postings, whatever is found."""
_MASKS_REMEMBERED = 16
"""Capacity of the cache of hidden units, in packed layers: a byte for each of their units."""
_NUMBER, _KEY = np.dtype("<u4"), np.dtype("<i8")
_SMALL_CODE = np.dtype("<u2")


def packed_postings(numbers: Array, frequencies: Array, lengths: Array) -> bytes:
    """Return the postings of one term as bytes; `numbers` are the units', each once."""
    order = np.argsort(numbers)
    joined = (frequencies.astype(np.uint64) << np.uint64(32)) | lengths.astype(np.uint64)
    pairs, codes = np.unique(joined[order], return_inverse=True)
    head = np.array([len(numbers), len(pairs)], _NUMBER)
    tables = (pairs >> np.uint64(32)).astype(_NUMBER), (pairs & np.uint64(0xFFFFFFFF)).astype(_NUMBER)
    parts = (head, *tables, numbers[order].astype(_NUMBER), codes.astype(_code_type(len(pairs))))
    return b"".join(part.tobytes() for part in parts)


def packed_said(units: Array, frequencies: Array, lengths: Array) -> bytes:
    """Return the postings of one term in what was said as bytes; `units` are keys."""
    return bytes(np.column_stack((units, frequencies, lengths)).astype(_KEY).tobytes())


def said_postings(content: bytes) -> TermPostings:
    """Read what `packed_said` gave."""
    table = np.frombuffer(content, _KEY).reshape(-1, 3)
    return [(unit, frequency, length) for unit, frequency, length in table.tolist()]


def packed_units(keys: Array) -> bytes:
    """Return the keys of the units of one run of numbers as bytes."""
    return bytes(keys.astype(_KEY).tobytes())


class Postings(Struct, frozen=True):
    """One term in one layer: the numbers of its visible units, rising, and the pair of each."""

    numbers: Array
    codes: Array
    frequencies: Array
    lengths: Array

    @classmethod
    def of(cls, content: bytes) -> Self:
        """Read what `packed_postings` gave."""
        count, pairs = (int(number) for number in np.frombuffer(content, _NUMBER, 2))
        words = np.frombuffer(content, _NUMBER, 2 + 2 * pairs + count)
        codes = np.frombuffer(content, _code_type(pairs), count, offset=words.nbytes)
        frequencies, lengths = words[2 : 2 + pairs], words[2 + pairs : 2 + 2 * pairs]
        return cls(words[2 + 2 * pairs :], codes, frequencies.astype(np.float64), lengths.astype(np.float64))

    def without(self, hidden: Array) -> Self:
        """Return the postings without hidden units; `hidden` is true for the number of each hidden unit."""
        seen = ~hidden[self.numbers]
        return type(self)(self.numbers[seen], self.codes[seen], self.frequencies, self.lengths)

    def gains(self, gain: float, scale: Scale) -> Array:
        """Return what each pair adds to a score."""
        frequencies, lengths = self.frequencies * scale.share, self.lengths * scale.share
        gains: Array = gain * frequencies / (frequencies + scale.constant + scale.slope * lengths)
        return gains

    def places(self, numbers: Array) -> Array:
        """Return the place of each of these units here, -1 for those that do not have the term."""
        if not len(self.numbers):
            return np.full(len(numbers), -1)
        places = np.minimum(self.numbers.searchsorted(numbers.astype(_NUMBER)), len(self.numbers) - 1)
        rows_read: Array = np.where(self.numbers[places] == numbers, places, -1)
        return rows_read


class Segment(Struct, frozen=True):
    """The postings of one search in one packed layer; those of a name are of what its speaker said."""

    packed: int
    unit_count: int
    terms: Mapping[str, Postings]
    names: Mapping[str, Postings]

    def best(self, ranked: SearchScores, limit: int) -> "Best":
        """Return the best units; of equal ones at the cut, those with the lowest numbers."""
        scores = np.zeros(self.unit_count)
        gains: dict[str, Array] = {}
        for term, gain in ranked.gains.items():
            if hits := self.terms.get(term):
                gains[term] = hits.gains(gain, ranked.scale)
                np.add.at(scores, hits.numbers.astype(np.intp), gains[term].take(hits.codes))
        for name in ranked.speakers:
            if hits := self.names.get(name):
                said = hits.numbers[scores[hits.numbers] > 0]
                scores[said] += ranked.speaker_gain
        numbers = _cut(np.flatnonzero(scores >= self._bar(ranked, scores, limit)), scores, limit)
        return Best(self.packed, numbers.tolist(), scores[numbers].tolist(), self._parts(ranked, gains, numbers))

    def _bar(self, ranked: SearchScores, scores: Array, limit: int) -> float:
        """Return a lower bound of the best scores: the scores of the best units of one term, without their other terms.

        Of the rarest term that enough units have, because its scores are few and among the highest.
        """
        numbers = [self.terms[term].numbers for term in ranked.gains if term in self.terms]
        enough = [units for units in numbers if len(units) >= limit]
        return _highest(scores[min(enough, key=len)], limit) if enough else float(np.finfo(float).tiny)

    def _parts(self, ranked: SearchScores, gains: Mapping[str, Array], numbers: Array) -> list[dict[str, float]]:
        parts: list[dict[str, float]] = [{} for _ in numbers]
        for term, gain in gains.items():
            postings = self.terms[term]
            places = postings.places(numbers)
            shares = gain[postings.codes[places]] if len(postings.numbers) else places
            for part, place, share in zip(parts, places.tolist(), shares.tolist(), strict=True):
                if place >= 0:
                    part[term] = share
        for name in ranked.speakers:
            if named := self.names.get(name):
                for part, place in zip(parts, named.places(numbers).tolist(), strict=True):
                    if place >= 0:
                        part[f"said by {name}"] = ranked.speaker_gain
        return parts


class Best(Struct, frozen=True):
    """The best units of one packed layer by number: the score of each, and what each term and name gave to it."""

    packed: int
    numbers: Sequence[int]
    scores: Sequence[float]
    parts: Sequence[Mapping[str, float]]


class PackedSearch(Struct, frozen=True):
    """What the packed layers of a view hold of one search's terms."""

    segments: Sequence[Segment] = ()
    said: Mapping[int, TermPostings] = field(default_factory=dict)
    """The visible postings of what was said in a conversation, by the numbers of their terms."""
    units: dict[tuple[int, int], Array] = field(default_factory=dict)
    """Keys of units by packing and run, as far as they were read."""
    chosen: dict[int, Mapping[str, float]] = field(default_factory=dict)
    """What gave the units that `best` gave their scores, by key."""

    def frequency(self, term: str) -> int:
        """Return how many visible units have the term."""
        return sum(len(segment.terms[term].numbers) for segment in self.segments if term in segment.terms)

    def is_name(self, name: str) -> bool:
        """Return whether a speaker of this name said something."""
        return any(len(segment.names[name].numbers) for segment in self.segments if name in segment.names)

    def best(self, ranked: SearchScores, limit: int) -> dict[int, float]:
        """Return the scores of the best units by key: of each layer as many as `limit`; one query at most."""
        best_by_segment = [segment.best(ranked, limit) for segment in self.segments]
        self._read_keys([(best.packed, number // UNITS_A_PART) for best in best_by_segment for number in best.numbers])
        scores: dict[int, float] = {}
        for best in best_by_segment:
            for number, score, parts in zip(best.numbers, best.scores, best.parts, strict=True):
                key = int(self.units[best.packed, number // UNITS_A_PART][number % UNITS_A_PART])
                scores[key], self.chosen[key] = score, parts
        return scores

    def parts(self, units: Collection[int]) -> dict[int, Mapping[str, float]]:
        """Return what each term gave to those of the units that `best` gave."""
        return {unit: self.chosen[unit] for unit in units if unit in self.chosen}

    def _read_keys(self, runs: Iterable[tuple[int, int]]) -> None:
        missing = set(runs) - self.units.keys()
        if missing:
            self.units.update(_units_of({packed for packed, _ in missing}, {run for _, run in missing}))


class PackedView(Struct, frozen=True):
    """The packed layers of a view, resolved once, with what of them is hidden."""

    layers: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    """Units of a packed layer and the layer's id, by the key of its packing."""
    hidden: Mapping[int, Array] = field(default_factory=dict)
    """Of each number of a packing, by its key, whether it is hidden; nothing where none is."""
    unseen: Hidden = field(default_factory=Hidden)

    @classmethod
    def of(cls, packings: Iterable[Packing], hidden: Hidden) -> Self:
        """Return what of a chain is packed.

        One query for each packed layer of which something is hidden, none where the same was the last time.
        """
        read = list(packings)
        layers = {packing.pk: (packing.unit_count, packing.layer) for packing in read}
        touched = {packing: keys for packing in read if (keys := hidden.of(packing.layer))}
        return cls(layers, {packing.pk: _hidden_numbers(packing, keys) for packing, keys in touched.items()}, hidden)

    @property
    def layer_ids(self) -> frozenset[int]:
        """Return the layers that need not be read row by row."""
        return frozenset(layer for _, layer in self.layers.values())

    def search(self, terms: Iterable[str], names: Mapping[str, str]) -> PackedSearch:
        """Return the postings of terms, and by name those of speakers; one query.

        Args:
            names: each name's term; empty where the view holds no utterances.
        """
        if not self.layers:
            return PackedSearch()
        wanted = {term_id(term): term for term in terms}
        called = {term_id(term): name for name, term in names.items()}
        postings_by_layer: dict[int, tuple[dict[str, Postings], dict[str, Postings]]] = {
            key: ({}, {}) for key in self.layers
        }
        said: defaultdict[int, TermPostings] = defaultdict(list)
        units: dict[tuple[int, int], Array] = {}
        for packed, kind, key, content in self._parts([*{**wanted, **called}], was_said=bool(names)):
            if kind == PackedPart.Kind.UNITS:
                units[packed, key] = np.frombuffer(bytes(content), _KEY)
            elif kind == PackedPart.Kind.SAID:
                hidden = self.unseen.of(self.layers[packed][1])
                said[key] += [row for row in said_postings(bytes(content)) if row[0] not in hidden]
            elif key in wanted:
                postings_by_layer[packed][0][wanted[key]] = self._visible(packed, content)
            else:
                postings_by_layer[packed][1][called[key]] = self._visible(packed, content)
        return PackedSearch(
            [Segment(key, self.layers[key][0], *postings_by_layer[key]) for key in self.layers], said, units
        )

    def _visible(self, packed: int, content: bytes) -> Postings:
        postings = Postings.of(bytes(content))
        return postings.without(self.hidden[packed]) if packed in self.hidden else postings

    def _parts(self, keys: Sequence[int], *, was_said: bool) -> list[tuple[int, str, int, bytes]]:
        """Return the parts of these terms, and all keys of units where they are few."""
        few = [_runs(count) for count, _ in self.layers.values() if count <= _READ_AHEAD * UNITS_A_PART]
        runs = range(max(few, default=0))
        kind = PackedPart.Kind
        of_terms = [kind.TERM, kind.SAID] if was_said else [kind.TERM]
        keys_read = [
            *((each.value, key) for each in of_terms for key in keys),
            *((kind.UNITS.value, run) for run in runs),
        ]
        kinds, places = zip(*keys_read, strict=True)
        columns = ("packed_id", "kind", "key", "content")
        return look_up(PackedPart, columns, {"kind": kinds, "key": places}, binary=True, packed_id=self.layers)


def _cut(candidates: Array, scores: Array, limit: int) -> Array:
    if len(candidates) <= limit:
        return candidates
    kept_scores = scores[candidates]
    cut = _highest(kept_scores, limit)
    above = candidates[kept_scores > cut]
    return np.concatenate((above, candidates[kept_scores == cut][: limit - len(above)]))


def _highest(values: Array, place: int) -> float:
    """Return the value that is at this place, counted from 1, when the highest come first."""
    return float(np.partition(values, len(values) - place)[len(values) - place])


def _units_of(packed: Collection[int], runs: Collection[int]) -> dict[tuple[int, int], Array]:
    """Return runs of units' keys by packing and number."""
    columns = ("packed_id", "key", "content")
    each = {"kind": [PackedPart.Kind.UNITS.value] * len(runs), "key": runs}
    rows = look_up(PackedPart, columns, each, binary=True, packed_id=packed)
    return {(key, run): np.frombuffer(bytes(content), _KEY) for key, run, content in rows}


@lru_cache(maxsize=_MASKS_REMEMBERED)
def _hidden_numbers(packing: Packing, hidden: frozenset[int]) -> Array:
    """Return of each number of a packing whether its unit is hidden."""
    runs = _units_of([packing.pk], range(_runs(packing.unit_count)))
    units = [runs[packing.pk, number] for number in range(len(runs))]
    numbers: Array = np.isin(np.concatenate([np.array([], _KEY), *units]), np.fromiter(hidden, np.int64, len(hidden)))
    return numbers


def _runs(unit_count: int) -> int:
    return -(-unit_count // UNITS_A_PART)


def _code_type(pairs: int) -> "np.dtype[np.generic]":
    return _SMALL_CODE if pairs <= np.iinfo(_SMALL_CODE).max + 1 else _NUMBER
