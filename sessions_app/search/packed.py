"""Packed postings of large sealed layers: the same exact BM25 as over rows, for far less a posting.

A term's postings of one layer lie in one value: the pairs of frequency and length that occur in it, the units' numbers,
and for each number which pair is its. What a posting gives to a score depends on its pair alone, so it is computed once
for each pair, by the operations and in the order in which `sessions_app.search.ranking` computes it for rows: scores
are equal to the last bit, whatever part of a view is packed.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from mrpvm.knowledge.arrays import Array, np
from mrpvm.knowledge.indexing import term_id
from mrpvm.knowledge.text import STEMMER_VERSION
from sessions_app.models import PackedPart
from sessions_app.models.plain_sql import select_rows
from sessions_app.search.chains import Packing
from sessions_app.search.ranking import Ranked, Scale

VERSION = f"1/{STEMMER_VERSION}"[:40]
UNITS_A_PART = 512
_READ_AHEAD = 4
"""A layer of so many runs of units is small enough to read their keys with the postings, whatever is found."""
_NUMBER, _KEY = np.dtype("<u4"), np.dtype("<i8")
_SMALL_CODE = np.dtype("<u2")


def packed_postings(numbers: Array, frequencies: Array, lengths: Array) -> bytes:
    """Give the postings of one term as bytes; `numbers` are the units', each once."""
    order = np.argsort(numbers)
    joined = (frequencies.astype(np.uint64) << np.uint64(32)) | lengths.astype(np.uint64)
    pairs, codes = np.unique(joined[order], return_inverse=True)
    head = np.array([len(numbers), len(pairs)], _NUMBER)
    tables = (pairs >> np.uint64(32)).astype(_NUMBER), (pairs & np.uint64(0xFFFFFFFF)).astype(_NUMBER)
    parts = (head, *tables, numbers[order].astype(_NUMBER), codes.astype(_code_type(len(pairs))))
    return b"".join(part.tobytes() for part in parts)


def packed_units(keys: Array) -> bytes:
    """Give the keys of the units of one run of numbers as bytes."""
    return bytes(keys.astype(_KEY).tobytes())


@dataclass(frozen=True, slots=True)
class Postings:
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
        """Give what is left when units are hidden; `hidden` says of each number whether it is."""
        seen = ~hidden[self.numbers]
        return type(self)(self.numbers[seen], self.codes[seen], self.frequencies, self.lengths)

    def gains(self, gain: float, scale: Scale) -> Array:
        """Give what each pair adds to a score."""
        frequencies, lengths = self.frequencies * scale.share, self.lengths * scale.share
        gains: Array = gain * frequencies / (frequencies + scale.constant + scale.slope * lengths)
        return gains

    def places(self, numbers: Array) -> Array:
        """Give the place of each of these units here, -1 for those that do not have the term."""
        if not len(self.numbers):
            return np.full(len(numbers), -1)
        places = np.minimum(self.numbers.searchsorted(numbers.astype(_NUMBER)), len(self.numbers) - 1)
        found: Array = np.where(self.numbers[places] == numbers, places, -1)
        return found


@dataclass(frozen=True, slots=True)
class Segment:
    """The postings of one search in one packed layer; a name's are those of what somebody so called said."""

    packed: int
    unit_count: int
    terms: Mapping[str, Postings]
    names: Mapping[str, Postings]

    def best(self, ranked: Ranked, limit: int) -> "Best":
        """Give the best units; of equal ones at the cut, those with the lowest numbers."""
        scores = np.zeros(self.unit_count)
        gains: dict[str, Array] = {}
        for term, gain in ranked.gains.items():
            if found := self.terms.get(term):
                gains[term] = found.gains(gain, ranked.scale)
                np.add.at(scores, found.numbers.astype(np.intp), gains[term].take(found.codes))
        for name in ranked.speakers:
            if found := self.names.get(name):
                said = found.numbers[scores[found.numbers] > 0]
                scores[said] += ranked.speaker_gain
        numbers = _cut(np.flatnonzero(scores >= self._bar(ranked, scores, limit)), scores, limit)
        return Best(self.packed, numbers.tolist(), scores[numbers].tolist(), self._parts(ranked, gains, numbers))

    def _bar(self, ranked: Ranked, scores: Array, limit: int) -> float:
        """Give a score that the best reach for certain: what the best do that have one term, whatever else they have.

        Of the rarest term that enough units have, because its scores are few and among the highest.
        """
        numbers = [self.terms[term].numbers for term in ranked.gains if term in self.terms]
        enough = [found for found in numbers if len(found) >= limit]
        return _highest(scores[min(enough, key=len)], limit) if enough else float(np.finfo(float).tiny)

    def _parts(self, ranked: Ranked, gains: Mapping[str, Array], numbers: Array) -> list[dict[str, float]]:
        parts: list[dict[str, float]] = [{} for _ in numbers]
        for term, gain in gains.items():
            postings = self.terms[term]
            places = postings.places(numbers)
            shares = gain[postings.codes[places]] if len(postings.numbers) else places
            for part, place, share in zip(parts, places.tolist(), shares.tolist(), strict=True):
                if place >= 0:
                    part[term] = share
        for name in ranked.speakers:
            if found := self.names.get(name):
                for part, place in zip(parts, found.places(numbers).tolist(), strict=True):
                    if place >= 0:
                        part[f"said by {name}"] = ranked.speaker_gain
        return parts


@dataclass(frozen=True, slots=True)
class Best:
    """The best units of one packed layer by number: the score of each, and what each term and name gave to it."""

    packed: int
    numbers: Sequence[int]
    scores: Sequence[float]
    parts: Sequence[Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class PackedSearch:
    """What the packed layers of a view hold of one search's terms."""

    segments: Sequence[Segment] = ()
    units: dict[tuple[int, int], Array] = field(default_factory=dict)
    """Keys of units by packing and run, as far as they were read."""
    chosen: dict[int, Mapping[str, float]] = field(default_factory=dict)
    """What gave the units that `best` gave their scores, by key."""

    def frequency(self, term: str) -> int:
        """Give how many visible units have the term."""
        return sum(len(segment.terms[term].numbers) for segment in self.segments if term in segment.terms)

    def is_name(self, name: str) -> bool:
        """Tell whether somebody of this name said something."""
        return any(len(segment.names[name].numbers) for segment in self.segments if name in segment.names)

    def best(self, ranked: Ranked, limit: int) -> dict[int, float]:
        """Give the scores of the best units by key: of each layer as many as `limit`; one query at most."""
        found = [segment.best(ranked, limit) for segment in self.segments]
        self._read_keys([(best.packed, number // UNITS_A_PART) for best in found for number in best.numbers])
        scores: dict[int, float] = {}
        for best in found:
            for number, score, parts in zip(best.numbers, best.scores, best.parts, strict=True):
                key = int(self.units[best.packed, number // UNITS_A_PART][number % UNITS_A_PART])
                scores[key], self.chosen[key] = score, parts
        return scores

    def parts(self, units: Collection[int]) -> dict[int, Mapping[str, float]]:
        """Give what each term gave to those of the units that `best` gave."""
        return {unit: self.chosen[unit] for unit in units if unit in self.chosen}

    def _read_keys(self, runs: Iterable[tuple[int, int]]) -> None:
        missing = set(runs) - self.units.keys()
        if missing:
            self.units.update(_units_of({packed for packed, _ in missing}, {run for _, run in missing}))


@dataclass(frozen=True, slots=True)
class PackedView:
    """The packed layers of a view, resolved once, with what of them is hidden."""

    layers: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    """Units of a packed layer and the layer's id, by the key of its packing."""
    hidden: Mapping[int, Array] = field(default_factory=dict)

    @classmethod
    def of(cls, packings: Iterable[Packing], hidden: frozenset[int]) -> Self:
        """Give what of a chain is packed as the code reads it; one query, where units of packed layers are hidden."""
        read = [packing for packing in packings if packing.version == VERSION]
        touched = [
            packing.pk for packing in read if any(packing.first_unit <= unit <= packing.last_unit for unit in hidden)
        ]  # fmt: skip
        layers = {packing.pk: (packing.unit_count, packing.layer) for packing in read}
        return cls(layers, _hidden_numbers(touched, hidden) if touched else {})

    @property
    def layer_ids(self) -> frozenset[int]:
        """Give the layers that need not be read row by row."""
        return frozenset(layer for _, layer in self.layers.values())

    @property
    def evidence_count(self) -> int:
        """Give how many evidence units of these layers are visible."""
        hidden = sum(int(found.sum()) for found in self.hidden.values())
        return sum(count for count, _ in self.layers.values()) - hidden

    def search(self, terms: Iterable[str], names: Mapping[str, str]) -> PackedSearch:
        """Give the postings of terms, and of who said something by name; `names` gives each name's term. One query."""
        if not self.layers:
            return PackedSearch()
        wanted = {term_id(term): term for term in terms}
        called = {term_id(term): name for name, term in names.items()}
        found: dict[int, tuple[dict[str, Postings], dict[str, Postings]]] = {key: ({}, {}) for key in self.layers}
        units: dict[tuple[int, int], Array] = {}
        for packed, kind, key, content in self._parts([*wanted, *called]):
            if kind == PackedPart.Kind.UNITS:
                units[packed, key] = np.frombuffer(bytes(content), _KEY)
                continue
            postings = Postings.of(bytes(content))
            if packed in self.hidden:
                postings = postings.without(self.hidden[packed])
            if key in wanted:
                found[packed][0][wanted[key]] = postings
            else:
                found[packed][1][called[key]] = postings
        return PackedSearch([Segment(key, self.layers[key][0], *found[key]) for key in self.layers], units)

    def _parts(self, keys: Sequence[int]) -> list[tuple[int, str, int, bytes]]:
        """Give the parts of these terms, and all keys of units where they are few."""
        few = [-(-count // UNITS_A_PART) for count, _ in self.layers.values() if count <= _READ_AHEAD * UNITS_A_PART]
        kinds = [PackedPart.Kind.TERM.value, *([PackedPart.Kind.UNITS.value] if few else [])]
        asked = {*keys, *range(max(few, default=0))}
        columns = ("packed_id", "kind", "key", "content")
        rows = select_rows(PackedPart, columns, binary=True, packed_id=self.layers, kind=kinds, key=asked)
        wanted = set(keys)
        return [row for row in rows if row[1] != PackedPart.Kind.TERM or row[2] in wanted]


def _cut(candidates: Array, scores: Array, limit: int) -> Array:
    if len(candidates) <= limit:
        return candidates
    found = scores[candidates]
    cut = _highest(found, limit)
    above = candidates[found > cut]
    return np.concatenate((above, candidates[found == cut][: limit - len(above)]))


def _highest(values: Array, place: int) -> float:
    """Give the value that is at this place, counted from 1, when the highest come first."""
    return float(np.partition(values, len(values) - place)[len(values) - place])


def _units_of(packed: Collection[int], runs: Collection[int] | None = None) -> dict[tuple[int, int], Array]:
    """Give runs of units' keys by packing and number, all of them unless some are named."""
    where: dict[str, Any] = {"packed_id": list(packed), "kind": PackedPart.Kind.UNITS}
    if runs is not None:
        where["key"] = list(runs)
    rows = select_rows(PackedPart, ("packed_id", "key", "content"), binary=True, **where)
    return {(key, run): np.frombuffer(bytes(content), _KEY) for key, run, content in rows}


def _hidden_numbers(packed: Collection[int], hidden: frozenset[int]) -> dict[int, Array]:
    """Give, for each packing, which of its numbers are hidden."""
    keys = np.fromiter(hidden, np.int64, len(hidden))
    runs = _units_of(packed)
    whole = {key: np.concatenate([runs[found] for found in sorted(runs) if found[0] == key]) for key in packed}
    return {key: np.isin(units, keys) for key, units in whole.items()}


def _code_type(pairs: int) -> "np.dtype[np.generic]":
    return _SMALL_CODE if pairs <= np.iinfo(_SMALL_CODE).max + 1 else _NUMBER
