"""The machine's knowledge port over the database: exact BM25 over what a chain of layers shows."""

import heapq
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import replace
from functools import cached_property
from itertools import batched
from typing import Any, NamedTuple, Protocol, Self

from msgspec import Struct, field

from mrpvm.contracts import ScoredUnit
from mrpvm.knowledge.indexing import speaker_term, term_id
from mrpvm.knowledge.port import places_beside
from mrpvm.values import KnowledgeUnit, Store
from sessions_app.database import outages_told
from sessions_app.layers.retrieval.chains import NOTHING_YET, Hidden, Marks, Packing, resolve_chain
from sessions_app.layers.retrieval.ranking import PackedScores, Scale, SearchScores
from sessions_app.layers.retrieval.windows import TermPostings, windows_around
from sessions_app.models import (
    KnowledgeLayer,
    KnowledgeSource,
    LayerUnit,
    Posting,
    Session,
    SourceArtifact,
    UnitArtifact,
)
from sessions_app.models.knowledge.unit_fields import UNIT_COLUMNS, unit_of
from sessions_app.models.named_sql import look_up

_IDS_A_QUERY = 10_000
_LEVEL_READ_ALONG = 16
_SMALL_VIEW = 32
_GIVEN = ("pk", "layer_id", "origin_id", *UNIT_COLUMNS)
type _FoundPosting = tuple[tuple[int, int, int], bool]
"""A unit's key, its frequency of a term and its length; and whether it may be an utterance."""


class _StoredUnit(NamedTuple):
    unit: KnowledgeUnit
    store: Store


class EffectiveView(Struct, frozen=True):
    """What a chain of layers shows, resolved once: the chain, its counts and the units in it that are hidden.

    Frozen, so that any number of threads may search it; whoever changes a layer resolves a new one. `shown` are the
    layers that show units of their own: in the others there is nothing to find. `conversations` are those that hold
    utterances, `packings` say which are packed, `drafts` are the layers of a session's draft, the highest first.
    `own_sources` are the rows of sources that represent what the session itself saved. `moved` and
    `is_outdated` are those of the resolved chain; an outdated layer is found by the words that are still cut alike.
    `guiding` are the layers with guidance, `marks` the highest keys when it was resolved.
    """

    chain: tuple[int, ...]
    evidence_count: int
    term_count: int
    hidden: Hidden
    shown: tuple[int, ...]
    conversations: frozenset[int] = frozenset()
    packings: tuple[Packing, ...] = ()
    drafts: tuple[int, ...] = ()
    own_sources: frozenset[int] = frozenset()
    moved: Mapping[int, int] = field(default_factory=dict)
    is_outdated: bool = False
    guiding: tuple[int, ...] = ()
    marks: Marks = NOTHING_YET

    @property
    def session_layers(self) -> tuple[int, ...]:
        """Return what is above the draft: what the conversation and context loads brought in."""
        return self.chain[: self.chain.index(self.drafts[0])] if self.drafts else ()

    @classmethod
    def of_layer(cls, layer: KnowledgeLayer) -> Self:
        """Return the view from one layer down; one query."""
        resolved = resolve_chain(layer.chain)
        return cls(
            chain=tuple(layer.chain),
            evidence_count=layer.evidence_count,
            term_count=layer.term_count,
            hidden=resolved.hidden,
            shown=resolved.shown,
            conversations=resolved.conversations,
            packings=resolved.packings,
            moved=resolved.moved,
            is_outdated=resolved.is_outdated,
            guiding=resolved.guiding,
            marks=resolved.marks,
        )

    @classmethod
    def of_session(cls, session: Session) -> "EffectiveView":
        """Return the session's view: its own layers over the mounted chain; its journal's query, and one.

        One more where not all that it knows is in its journal.
        """
        chain = session.journal.chain
        drafts = chain[chain.index(session.draft_id) : chain.index(session.mounted_layer_id)]
        saved: frozenset[int] = frozenset()
        if session.journal.own_unit_count != session.unit_count:
            rows = KnowledgeSource.objects.filter(
                layer_id__in=chain, source_id=session.journal_source_id, kind=KnowledgeSource.Kind.JOURNAL
            )
            saved = frozenset(rows.order_by().values_list("pk", flat=True))
        return replace(cls.of_layer(session.journal), drafts=tuple(drafts), own_sources=saved)

    def store_of(self, layer_id: int, source: int | None) -> Store:
        """Return the store of a unit by its layer and source row; saved units of the session remain its own."""
        if layer_id in self.session_layers or source in self.own_sources:
            return "session"
        return "draft" if layer_id in self.drafts else "kb"


class PackedFound(PackedScores, Protocol):
    """The postings of a search's terms in packed layers."""

    @property
    def said(self) -> Mapping[int, TermPostings]:
        """The postings in what was said, by the numbers of the terms."""

    def is_name(self, name: str) -> bool:
        """Return whether a speaker of this name said something."""


class PackedLayers(Protocol):
    """The packed layers of a view: `PackedView`, whose module imports numpy."""

    @property
    def layer_ids(self) -> Collection[int]:
        """Return the layers that need not be read row by row."""

    def search(self, terms: Iterable[str], names: Mapping[str, str]) -> PackedFound:
        """Return the postings of terms, and by name those of speakers."""


class Keep(Protocol):
    """Callback that stores a plugin's artifacts by the keys of their units."""

    def __call__(self, plugin_id: str, version: str, contents: Mapping[int, bytes]) -> None:
        """Store the artifacts, or skip them."""


class SessionKnowledge:
    """`mrpvm.knowledge.port.TurnKnowledge` over one resolved view; safe to use from several threads at once.

    The view never changes, so what was found or read once is not asked of the database again: the KB plugins of a turn
    put the same questions, or others about the same words.
    """

    def __init__(self, view: EffectiveView, keep: Keep | None = None) -> None:
        self.view = view
        self.given: dict[str, int] = {}
        """Keys of the units that were given, by unit id."""
        self._keep = keep
        self._found: dict[tuple[object, ...], tuple[ScoredUnit, ...]] = {}
        self._read_postings: dict[int, Sequence[_FoundPosting]] = {}
        self._read_units: dict[int, _StoredUnit] = {}

    @classmethod
    def of(cls, session: Session, keep: Keep | None = None) -> Self:
        """Return the port for what the session sees now; `keep` stores what plugins derive from units."""
        return cls(EffectiveView.of_session(session), keep)

    def for_plugin(self, plugin_id: str) -> "PluginKnowledge":
        """Return the port as one plugin gets it, with its own artifacts."""
        return PluginKnowledge(self, plugin_id, self._keep)

    def search(self, terms: Mapping[str, float], limit: int) -> Sequence[ScoredUnit]:
        """Return the best evidence units for weighted stemmed terms, best first, ties by unit id; two queries.

        Further queries: one where many units have the score at the cut, two for utterances, up to three for packed
        layers. No query for a repeated search.
        """
        wanted = {term: weight for term, weight in terms.items() if weight > 0}
        if limit < 1 or not wanted or not self.view.term_count:
            return []
        key = (limit, *sorted(wanted.items()))
        if key not in self._found:
            self._found[key] = tuple(self._search(wanted, limit))
        return list(self._found[key])

    def _search(self, wanted: Mapping[str, float], limit: int) -> list[ScoredUnit]:
        ranked = self._ranked(wanted)
        scores = ranked.best_scores(limit)
        best = _best(scores, limit)
        return self._scored(best, scores, ranked.parts(best), ranked.highest_score, limit)

    def _ranked(self, wanted: Mapping[str, float]) -> SearchScores:
        view = self.view
        plain = Scale.of(view.evidence_count, view.term_count)
        names = {term: speaker_term(term) for term in wanted} if self.view.conversations else {}
        packed = self._packed.search(wanted, names) if self._packed else None
        read, uttered = self._postings([*wanted, *names.values()], packed.said if packed else {})
        if not names:
            return SearchScores.of(read, wanted, plain, packed=packed)
        speakers = {
            term: frozenset(unit for unit, _, _ in read[name])
            for term, name in names.items()
            if read[name] or (packed and packed.is_name(term))
        }
        # A speaker's name ranks by who speaks; as a word it would rank those who address the speaker.
        ranked_terms = {term: weight for term, weight in wanted.items() if term not in speakers} or wanted
        postings = {term: read[term] for term in ranked_terms}
        alone = SearchScores.of(postings, ranked_terms, plain, packed=packed).scores()
        windows = windows_around(
            view.shown, view.hidden, sorted(uttered & alone.keys(), key=lambda unit: (-alone[unit], unit))
        )
        spread = {term: windows.spread(rows) for term, rows in postings.items()}
        return SearchScores.of(
            spread, ranked_terms, Scale.of_windows(view.evidence_count, view.term_count), speakers, packed
        )

    @cached_property
    def _unpacked(self) -> Sequence[int]:
        """The layers of the view that are read row by row: none where all there is to find is packed."""
        packed = self._packed.layer_ids if self._packed else ()
        return [layer for layer in self.view.shown if layer not in packed]

    @cached_property
    def _packed(self) -> PackedLayers | None:
        """Return the packed part of the view; None if there is none, so that numpy is not imported."""
        if not self.view.packings:
            return None
        from sessions_app.layers.retrieval.packed import PackedView

        return PackedView.of(self.view.packings, self.view.hidden)

    def guidance(self, limit: int) -> Sequence[ScoredUnit]:
        """Return the newest visible units that instruct a phase, with score 0; one query, none without any."""
        key = ("guidance", limit)
        if key not in self._found:
            self._found[key] = tuple(self._newest_guidance(limit))
        return list(self._found[key])

    def _newest_guidance(self, limit: int) -> list[ScoredUnit]:
        units = self._read_last(limit, self.view.guiding, is_guidance=True)
        return self._scored(sorted(units, reverse=True)[: max(limit, 0)], {}, {})

    def newest(self, limit: int) -> Sequence[ScoredUnit]:
        """Return the evidence units that came last, newest first: of the whole view where it has at most `limit`.

        Of a larger view only the session's own units are read, so that the cost does not grow with the base. One
        query, one more for saved units, none when repeated.
        """
        key = ("newest", limit)
        if key not in self._found:
            self._found[key] = tuple(self._newest(limit))
        return list(self._found[key])

    def _newest(self, limit: int) -> list[ScoredUnit]:
        view = self.view
        if view.evidence_count <= limit:
            units = self._small_view or self._read_last(limit, view.shown, is_evidence=True)
        else:
            units = self._read_last(
                limit, [layer for layer in view.shown if layer in view.session_layers], is_evidence=True
            )
            if view.own_sources:
                units |= self._read_last(limit, view.shown, is_evidence=True, origin_id__in=view.own_sources)
        return self._scored(sorted(units, reverse=True)[: max(limit, 0)], {}, {})

    def beside(self, unit_ids: Sequence[str], reach: int) -> Sequence[ScoredUnit]:
        """Return the evidence units around given ones: units of a source are stored in its order. One query."""
        near = places_beside([self.given[unit_id] for unit_id in unit_ids if unit_id in self.given], reach)
        if not near:
            return []
        visible = self._small_view or self._read_visible(near)
        return self._scored([pk for pk in near if pk in visible], {}, {})

    def _read_visible(self, pks: Sequence[int]) -> set[int]:
        """Read the evidence units of the view among these keys, which may be those of any layer's units."""
        rows = look_up(LayerUnit, _GIVEN, {"pk": pks}, condition="is_evidence")
        shown = set(self.view.shown)
        return self._remember_visible(row for row in rows if row[1] in shown)

    @cached_property
    def _small_view(self) -> set[int]:
        """Return the keys of the units of a small view, read at once as most are asked for; none of a larger one."""
        view = self.view
        if view.evidence_count > _SMALL_VIEW:
            return set()
        return self._remember_visible(look_up(LayerUnit, _GIVEN, {"layer_id": view.shown}, condition="is_evidence"))

    def _read_last(self, limit: int, layers: Sequence[int], **where: Any) -> set[int]:
        """Read at least the newest `limit` visible units of these layers that meet a condition; return their keys."""
        if not layers:
            return set()
        limit, hidden = max(limit, 0), self.view.hidden
        rows = LayerUnit.objects.filter(layer_id__in=layers, **where).order_by("-pk").values_list(*_GIVEN)
        return self._remember_visible(rows[: limit + hidden.count(layers)])

    def _remember_visible(self, rows: Iterable[tuple[Any, ...]]) -> set[int]:
        """Keep the units of those rows that the view does not hide, and return their keys."""
        visible = [row for row in rows if row[0] not in self.view.hidden.of(row[1])]
        self._remember_units(row for row in visible if row[0] not in self._read_units)
        return {pk for pk, *_ in visible}

    def _remember_units(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for pk, layer, origin, *columns in rows:
            self._read_units[pk] = _StoredUnit(unit_of(columns), self.view.store_of(layer, origin))

    def _postings(
        self, terms: Iterable[str], said: Mapping[int, TermPostings]
    ) -> tuple[dict[str, TermPostings], set[int]]:
        """Return the visible postings to be looked at one by one, and which of their units may be utterances.

        Args:
            said: what packed layers have of them, by the numbers of the terms.
        """
        ids = {term: term_id(term) for term in terms}
        self._read([number for number in dict.fromkeys(ids.values()) if number not in self._read_postings])
        by_id: dict[int, TermPostings] = {}
        uttered: set[int] = set()
        for number in ids.values():
            read = self._read_postings[number]
            by_id[number] = [posting for posting, _ in read]
            uttered.update(posting[0] for posting, is_said in read if is_said)
        for number, postings in said.items():
            by_id[number] += postings
            uttered.update(unit for unit, _, _ in postings)
        return {term: by_id[number] for term, number in ids.items()}, uttered

    def _read(self, terms: Sequence[int]) -> None:
        """Read the visible postings of terms by their numbers, of the layers that are read row by row."""
        view = self.view
        layers = {view.moved.get(layer, layer): layer for layer in self._unpacked}
        hidden = {key: view.hidden.of(layer) for key, layer in layers.items()}
        conversations = {key for key, layer in layers.items() if layer in view.conversations}
        columns = ("layer_id", "term", "unit_id", "frequency", "length")
        postings_by_term: dict[int, list[_FoundPosting]] = {term: [] for term in terms}
        for key, term, unit, frequency, length in look_up(Posting, columns, {"term": terms}, layer_id=layers):
            if unit not in hidden[key]:
                postings_by_term[term].append(((unit, frequency, length), key in conversations))
        self._read_postings.update(postings_by_term)

    def _scored(
        self,
        pks: Sequence[int],
        scores: Mapping[int, float],
        parts: Mapping[int, Mapping[str, float]],
        highest_score: float = 0.0,
        limit: int | None = None,
    ) -> list[ScoredUnit]:
        if not pks:
            return []
        read = self._read_units
        missing = [pk for pk in pks if pk not in self._small_view and pk not in read]
        self._remember_units(look_up(LayerUnit, _GIVEN, {"pk": missing}))
        if limit is not None and len(pks) > limit:
            pks = heapq.nsmallest(limit, pks, key=lambda pk: (-scores[pk], read[pk].unit.id))
        scored = [
            ScoredUnit(
                unit=read[pk].unit,
                score=scores.get(pk, 0.0),
                store=read[pk].store,
                term_scores=parts.get(pk, {}),
                highest_score=highest_score,
            )
            for pk in pks
        ]
        self.given.update((hit.unit.id, pk) for hit, pk in zip(scored, pks, strict=True))
        return sorted(scored, key=lambda hit: (-hit.score, hit.unit.id)) if scores else scored


def _best(scores: Mapping[int, float], limit: int) -> list[int]:
    """Return the units with the highest scores; of equal ones at the cut, those with the lowest unit ids.

    A few surplus ones are returned too: reading them costs less than reading all ids first.
    """
    if len(scores) <= limit:
        return list(scores)
    cut = heapq.nlargest(limit, scores.values())[-1]
    above = [unit for unit, score in scores.items() if score > cut]
    level = [unit for unit, score in scores.items() if score == cut]
    missing = limit - len(above)
    if len(level) <= missing + _LEVEL_READ_ALONG:
        return above + level
    first: list[tuple[str, int]] = []
    for batch in batched(level, _IDS_A_QUERY, strict=False):
        rows = LayerUnit.objects.filter(pk__in=batch).order_by().values_list("unit_id", "pk")
        first = heapq.nsmallest(missing, [*first, *rows])
    return above + [unit for _, unit in first]


class PluginKnowledge(Struct, frozen=True):
    """`mrpvm.contracts.KnowledgePort` over a session's view, for one plugin; `keep` is None where nothing is kept.

    If the database fails, every method raises StorageUnavailable, which does not count as a failure of the plugin.
    """

    view: SessionKnowledge
    plugin_id: str
    keep: Keep | None = None

    @outages_told()
    def search(self, terms: Mapping[str, float], limit: int) -> Sequence[ScoredUnit]:
        """Return what the view finds."""
        return self.view.search(terms, limit)

    @outages_told()
    def guidance(self, limit: int) -> Sequence[ScoredUnit]:
        """Return the guidance of the view."""
        return self.view.guidance(limit)

    @outages_told()
    def newest(self, limit: int) -> Sequence[ScoredUnit]:
        """Return the newest units of the view."""
        return self.view.newest(limit)

    @outages_told()
    def beside(self, unit_ids: Sequence[str], reach: int) -> Sequence[ScoredUnit]:
        """Return the units around units of the view."""
        return self.view.beside(unit_ids, reach)

    @outages_told()
    def artifacts(self, version: str, unit_ids: Sequence[str]) -> Mapping[str, bytes]:
        """Return the plugin's artifacts of this version, one query; of units that the view has given alone."""
        known = self.view.given
        ids = {known[unit_id]: unit_id for unit_id in unit_ids if unit_id in known}
        rows = UnitArtifact.objects.filter(unit_id__in=ids, plugin_id=self.plugin_id, version=version)
        return {ids[unit]: bytes(content) for unit, content in rows.values_list("unit_id", "content")}

    @outages_told()
    def keep_artifacts(self, version: str, contents: Mapping[str, bytes]) -> None:
        """Store the artifacts of units that the view has returned."""
        known = self.view.given
        if self.keep is not None:
            self.keep(
                self.plugin_id,
                version,
                {known[unit_id]: content for unit_id, content in contents.items() if unit_id in known},
            )

    @outages_told()
    def source_artifacts(self, source_id: str) -> Mapping[str, bytes]:
        """Return what the plugin derived from the newest source of this id in the view; two queries."""
        sources = KnowledgeSource.objects.filter(layer_id__in=self.view.view.chain, source_id=source_id)
        newest = sources.latest_last().values_list("pk", flat=True).last()
        rows = SourceArtifact.objects.filter(source_id=newest, plugin_id=self.plugin_id)
        return {name: bytes(content) for name, content in rows.values_list("name", "content")}
