"""Windows of utterances: in a conversation, a unit is also found by the words of its neighbours.

One topic is often spread over several utterances, such as a question and its answer. So when a search finds
utterances, each term's frequency counts for the neighbours too, less with distance. Nothing is indexed twice, and
hidden or removed units are ignored.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from django.conf import settings
from msgspec import Struct, field

from mrpvm.knowledge.utterances import STRETCH, wrapped
from sessions_app.layers.retrieval.chains import Hidden
from sessions_app.models import LayerUnit
from sessions_app.models.named_sql import look_up

SHARES = (10, 5, 3, 2, 1)
"""What an utterance gets of the words said 0, 1, 2, 3 and 4 places away, in tenths: whole numbers add up exactly."""
WHOLE_SHARE = SHARES[0]
_FULL_SHARE = SHARES[0] + 2 * sum(SHARES[1:])
_UNITS_A_QUERY = 10_000
_REACH = len(SHARES) - 1
type TermPostings = list[tuple[int, int, float]]
"""Unit, frequency and length of the visible units that have a term."""


class Windows(Struct, frozen=True):
    """The neighbours of utterances, including these, each with its share.

    `lengths` are those of the windows, in tenths; a full one counts as one utterance, so that utterances and other
    units are held against the same average length.
    """

    neighbours: Mapping[int, Sequence[tuple[int, int]]] = field(default_factory=dict)
    lengths: Mapping[int, float] = field(default_factory=dict)

    def spread(self, postings: TermPostings) -> TermPostings:
        """Return the postings with frequencies shared among neighbours, all frequencies and lengths in tenths."""
        frequencies: defaultdict[int, int] = defaultdict(int)
        lengths: dict[int, float] = {}
        for unit, frequency, length in postings:
            for other, share in self.neighbours.get(unit, ((unit, WHOLE_SHARE),)):
                frequencies[other] += frequency * share
                lengths[other] = self.lengths.get(other, length * WHOLE_SHARE)
        return [(unit, frequencies[unit], lengths[unit]) for unit in sorted(frequencies)]


def windows_around(layers: Sequence[int], hidden: Hidden, units: Sequence[int]) -> Windows:
    """Return the windows of those of these units that were said in a conversation; two queries for few units.

    More where other units are before `MRPVM_SPREAD_UTTERANCES` utterances; `units` are the best first.
    """
    near = {wrapped(stretch + step) for stretch, place in _first_said(units) for step in _steps(place)}
    columns = ("pk", "stretch", "place", "length", "layer_id", "is_evidence")
    rows = look_up(LayerUnit, columns, {"stretch": near}, layer_id=layers)
    # Two bases may hold the same conversation: duplicates are hidden, so that each place has one unit.
    seen = sorted(row for row in rows if row[5] and row[0] not in hidden.of(row[4]))
    at = {(wrapped(stretch - place // STRETCH), place): (pk, length) for pk, stretch, place, length, *_ in seen}
    return _windows(at)


def _first_said(units: Sequence[int]) -> list[tuple[int, int]]:
    """Return stretch and place of the first of these units that were said, at most `MRPVM_SPREAD_UTTERANCES`."""
    said: list[tuple[int, int]] = []
    limit = settings.MRPVM_SPREAD_UTTERANCES
    start, end = 0, limit
    while start < len(units) and len(said) < limit:
        batch = units[start:end]
        rows = look_up(LayerUnit, ("pk", "stretch", "place"), {"pk": batch}, condition="stretch IS NOT NULL")
        place_by_unit = {pk: (stretch, place) for pk, stretch, place in rows}
        said += [place_by_unit[unit] for unit in batch if unit in place_by_unit]
        start, end = end, min(2 * end, end + _UNITS_A_QUERY)
    return said[:limit]


def _windows(at: Mapping[tuple[int, int], tuple[int, int]]) -> Windows:
    neighbours: dict[int, list[tuple[int, int]]] = {}
    sums: dict[int, int] = {}
    for (conversation, place), (unit, _) in at.items():
        around = [
            (neighbour, SHARES[abs(step)])
            for step in range(-_REACH, _REACH + 1)
            if (neighbour := at.get((conversation, place + step))) is not None
        ]
        neighbours[unit] = [(other, share) for (other, _), share in around]
        sums[unit] = sum(length * share for (_, length), share in around)
    return Windows(neighbours, {unit: total * WHOLE_SHARE / _FULL_SHARE for unit, total in sums.items()})


def _steps(place: int) -> tuple[int, ...]:
    """Return which stretches hold a place's neighbours and all of theirs: its own and the nearer one beside it."""
    if place % STRETCH >= STRETCH // 2:
        return 0, 1
    return (0, -1) if place >= STRETCH else (0,)
