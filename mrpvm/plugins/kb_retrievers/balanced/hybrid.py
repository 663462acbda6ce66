"""Hybrid search: the best lexical results, scored again by the similarity of vectors.

Units that share no word with a question can be found too, if the view is small enough to be scored as a whole, and
among the newest units of the session. Their similarity alone must reach the minimum score of the policy.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from mrpvm.contracts import CallContext, RetrieveInput, ScoredUnit
from mrpvm.english.sentences.dialogue import UTTERANCE
from mrpvm.knowledge.embedding.encoder import Encoder, embedded_text
from mrpvm.knowledge.embedding.vectors import Vector, combined, mean_similarity
from mrpvm.knowledge.selection import UnitCandidate
from mrpvm.plugins.kb_retrievers.pipeline import (
    SPARE_CANDIDATES,
    BackendFindings,
    find_lexically,
    lexical_hits,
    matched_by,
)
from mrpvm.values import ContextProfile, KnowledgeUnit, Recall

POOL = 200
"""The most candidate units for one intent."""
CONVERSATION_POOL = 50
"""How many units of a conversation are scored again; the others of the pool only serve as their context."""
WEIGHT, CONVERSATION_WEIGHT = 0.7, 0.5
"""The weight of similarity; words have the rest."""
WHOLE_MATCH = 0.5
"""Share of what a question's words can score from which the best match counts in full. Where the best has only a common
word of the question, as in a handful of short facts, words tell less than likeness does."""
NEIGHBOUR_SHARES = (1.0, 0.5, 0.3, 0.2, 0.1)
"""The shares of an utterance's neighbours in its similarity, by distance."""
_ENCODED_MAX = 4
"""How many units are encoded during a question, the best by words first; others are encoded in the background."""


class _Pool(Struct, frozen=True):
    """The candidate units of one intent, those with shared words first, and their vectors."""

    hits: Sequence[ScoredUnit]
    is_conversation: bool

    @property
    def weight(self) -> float:
        return CONVERSATION_WEIGHT if self.is_conversation else WEIGHT

    @property
    def scored(self) -> Sequence[ScoredUnit]:
        return self.hits[:CONVERSATION_POOL] if self.is_conversation else self.hits


class _Likened(Struct, frozen=True):
    """A hit with its similarity to the question, and the parts of its score from words and from similarity."""

    hit: ScoredUnit
    words: float
    likeness: float
    meaning: float
    cosine: float | None

    @property
    def score(self) -> float:
        return self.words + self.meaning


def find_by_meaning(
    encoder: Encoder, profile: ContextProfile, request: RetrieveInput, context: CallContext
) -> BackendFindings:
    """Return the best units of the pool by words and vectors; only by words, with a note, if no time is left."""
    pool = _pool(profile, request.recall, context)
    near = _neighbours(pool)
    vectors = _vectors(encoder, [*pool.scored, *(hit for findings in near.values() for _, hit in findings)], context)
    if vectors is None:
        findings = find_lexically(profile, request, context)
        return BackendFindings(
            findings.candidates,
            findings.seen_count,
            ("ranked by shared words alone: the turn had no time for vectors",),
        )
    question = _asked(encoder, profile, request.recall)
    best = _full_score(pool)
    in_use = request.recall.documents if request.recall else ()
    ranked = []
    for hit in pool.scored:
        known = [
            (share, vectors[other.unit.id])
            for share, other in ((1.0, hit), *near.get(hit.unit.id, ()))
            if other.unit.id in vectors
        ]
        likeness = mean_similarity(question, known) if known else 0.0
        own = vectors.get(hit.unit.id)
        words = (1 - pool.weight) * hit.score / best if best else 0.0
        cosine = question.similarity(own) if own is not None else None
        ranked.append(_Likened(hit, words, likeness, pool.weight * max(0.0, likeness), cosine))
    ranked.sort(key=lambda item: (-item.score, item.hit.unit.id))
    candidates = [_candidate(item, in_use) for item in ranked[: profile.max_results + SPARE_CANDIDATES]]
    note = f"{len(ranked)} units by shared words x{1 - pool.weight:.1f} and {encoder.name} x{pool.weight:.1f}"
    unknown = sum(hit.unit.id not in vectors for hit in pool.scored)
    waiting = (f"{unknown} units have no vector yet",) if unknown else ()
    return BackendFindings(candidates, len(pool.hits), (note, *waiting))


def _asked(encoder: Encoder, profile: ContextProfile, recall: Recall | None) -> Vector:
    """Return the text to search for: the question and, in a follow-up, a part of the conversation before it."""
    shared = ((1.0, profile.query_text), *(recall.texts if recall else ()))
    vectors = [Vector.of(content) for content in encoder.encode([text for _, text in shared])]
    if len(vectors) == 1:
        return vectors[0]
    return combined([(share, vector) for (share, _), vector in zip(shared, vectors, strict=True)])


def _pool(profile: ContextProfile, recall: Recall | None, context: CallContext) -> _Pool:
    hits = list(lexical_hits(profile, recall, context, POOL))
    known = {hit.unit.id for hit in hits}
    if len(hits) < POOL:
        hits += [hit for hit in context.knowledge.newest(POOL) if hit.unit.id not in known][: POOL - len(hits)]
    kinds = Counter(hit.unit.unit_type == UTTERANCE for hit in hits)
    return _Pool(hits, kinds[True] > kinds[False])


def _full_score(pool: _Pool) -> float:
    """Return the lexical score that counts in full: the best one, but outside conversations at least a minimum."""
    best = max((hit.score for hit in pool.hits), default=0.0)
    highest = max((hit.highest_score for hit in pool.hits), default=0.0)
    return best if pool.is_conversation else max(best, WHOLE_MATCH * highest)


def _neighbours(pool: _Pool) -> Mapping[str, Sequence[tuple[float, ScoredUnit]]]:
    """Return for each scored utterance its neighbours in the pool with their shares."""
    if not pool.is_conversation:
        return {}
    at = {_place(hit.unit): hit for hit in pool.hits if hit.unit.unit_type == UTTERANCE}
    steps = [step for distance in range(1, len(NEIGHBOUR_SHARES)) for step in (distance, -distance)]
    return {
        hit.unit.id: [
            (NEIGHBOUR_SHARES[abs(step)], at[place]) for step in steps if (place := _place(hit.unit, step)) in at
        ]
        for hit in pool.scored
        if hit.unit.unit_type == UTTERANCE
    }


def _place(unit: KnowledgeUnit, step: int = 0) -> tuple[str, str, int]:
    return unit.source_id, unit.chunk_id, (unit.unit_index or 0) + step


def _vectors(encoder: Encoder, hits: Sequence[ScoredUnit], context: CallContext) -> dict[str, Vector] | None:
    """Return the units' vectors by id; the first missing ones are encoded. None if there was no time for that."""
    units = {hit.unit.id: hit.unit for hit in hits}
    kept = context.knowledge.artifacts(encoder.version, list(units))
    vectors = {unit_id: Vector.of(content) for unit_id, content in kept.items()}
    missing = [unit for unit_id, unit in units.items() if unit_id not in vectors][:_ENCODED_MAX]
    if missing:
        if context.stopped():
            return None
        made = unit_vectors(encoder, missing)
        context.knowledge.keep_artifacts(encoder.version, made)
        vectors.update((unit_id, Vector.of(content)) for unit_id, content in made.items())
    return vectors


def unit_vectors(encoder: Encoder, units: Sequence[KnowledgeUnit]) -> dict[str, bytes]:
    """Return the packed vectors of units by unit id."""
    encoded = encoder.encode([embedded_text(unit) for unit in units])
    return dict(zip((unit.id for unit in units), encoded, strict=True))


def _candidate(item: _Likened, in_use: Collection[str]) -> UnitCandidate:
    note = f"{matched_by(item.hit)} gives {item.words:.2f}" if item.hit.score else "no shared word"
    return UnitCandidate(
        unit=item.hit.unit,
        store=item.hit.store,
        scores={"hybrid": item.score},
        matched=f"{note}; likeness {item.likeness:.2f} gives {item.meaning:.2f}",
        is_in_use=item.hit.unit.source_id in in_use,
        words={"hybrid": item.words},
        likeness=item.cosine,
    )
