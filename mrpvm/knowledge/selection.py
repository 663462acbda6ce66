"""The choice of evidence that all KB plugins share: scores fused, doubles and weak hits left out.

Every candidate leaves a row in the context ledger that says in words why it was taken or left.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import replace
from dataclasses import dataclass, field
from typing import Literal

from msgspec import Struct

from mrpvm.english.sentences.voices import tells_change
from mrpvm.english.words.text import terms
from mrpvm.knowledge.diversity import diverse_order
from mrpvm.knowledge.levels import LONG_UNIT_CHARS, gives_way, wanted_breadth
from mrpvm.knowledge.units import content_hash, unit_terms
from mrpvm.values import ContextProfile, EvidenceEntry, KnowledgeUnit, LedgerEntry, Store

BACKEND_WEIGHTS: Mapping[str, float] = {"bm25": 1.0, "turn-overlap": 1.0, "hdc": 0.7, "thinkingdb": 0.85}
AGREEMENT_BONUS = 0.10
ROLE_BOOST = 1.3
SESSION_BOOST = 1.15
IN_USE_BOOST = 1.15
"""What the lexical score of a unit gains whose document earlier turns used."""
_ORIENTATION_ACTS = ("describe", "explain")
FEW_RESULTS = 3
"""Up to so many results, units below the least score are taken beside a likely answer."""
_RERANKED_PER_RESULT = 3
"""Candidates for each result among which a diverse order is sought."""

type SelectionStep = Literal["offered", "selected", "pruned"]


class SelectionPolicy(Struct, frozen=True, kw_only=True):
    """A KB plugin's profile; it may lower an intent's number of results, never raise it.

    Once a unit has reached `min_score`, others need `beside_best` until there are `FEW_RESULTS`, where it is lower.
    `is_diverse` reranks so that the results are not all of a kind; `chooses_level` takes summaries, sections
    or statements as the question asks, instead of statements wherever they were found.
    """

    max_results: int
    min_score: float
    beside_best: float | None = None
    is_diverse: bool = False
    chooses_level: bool = False


class UnitCandidate(Struct, frozen=True, kw_only=True):
    """A unit that matched, with each backend's score in [0, 1] and what matched, in words.

    `proof` are notes that show, line by line, how the unit is linked to the question. `is_in_use`: earlier turns of the
    session used its document, and what its shared words scored counts more; `words` is their part of a score not
    made by words alone; `likeness` the cosine of the question's vector and the unit's own.
    """

    unit: KnowledgeUnit
    store: Store
    scores: Mapping[str, float]
    matched: str = ""
    proof: tuple[str, ...] = ()
    is_in_use: bool = False
    words: Mapping[str, float] = {}
    likeness: float | None = None


class ChosenEntries(Struct, frozen=True):
    """The chosen entries, best first, and what became of every candidate."""

    entries: tuple[EvidenceEntry, ...] = ()
    ledger: tuple[LedgerEntry, ...] = ()


class FusedScore(Struct, frozen=True, kw_only=True):
    """The sum of its named parts, which may exceed 1, and the same in words.

    A factor's part is what it added to the sum before it.
    """

    value: float
    parts: Mapping[str, float]
    notes: tuple[str, ...]


@dataclass(slots=True)
class _Ranking:
    """The candidates of one intent during selection; `notes_of` holds what else decided about each."""

    kept: list[tuple[FusedScore, UnitCandidate]]
    ledger: list[LedgerEntry] = field(default_factory=list)
    notes_of: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def add(self, step: SelectionStep, rank: int, score: FusedScore, candidate: UnitCandidate, why: str) -> None:
        """Add a row: what decided, then why; of what was left out, first why."""
        noted = ", ".join(self.notes_of[candidate.unit.id])
        reason = "; ".join(part for part in ((why, noted) if step == "pruned" else (noted, why)) if part)
        self.ledger.append(
            LedgerEntry(
                unit_id=candidate.unit.id, step=step, store=candidate.store, rank=rank, score=round(score.value, 4),
                reason=reason, parts=score.parts,
            )
        )  # fmt: skip


def turn_candidates(units: Iterable[KnowledgeUnit], query_terms: Sequence[str]) -> list[UnitCandidate]:
    """Return the units of the running turn that share a term with the intent; all of them if it has no terms.

    The score is the share of the intent's terms that the unit holds.
    """
    wanted = set(query_terms)
    candidates = []
    for unit in units:
        if not unit.is_evidence:
            continue
        triple = terms(f"{unit.subject} {unit.object}") if unit.subject else ()
        held = {*unit_terms(unit), *triple}
        shared = [term for term in query_terms if term in held]
        if shared or not wanted:
            score = len(shared) / len(wanted) if wanted else 1.0
            matched = f"told in this turn, shares {', '.join(shared[:6])}" if shared else "told in this turn"
            candidates.append(
                UnitCandidate(unit=unit, store="current-turn", scores={"turn-overlap": score}, matched=matched)
            )
    return candidates


def fused_score(candidate: UnitCandidate, needed_roles: Sequence[str]) -> FusedScore:
    """Return the score of all backends together, with what each of them and each boost adds."""
    matched = {backend: score for backend, score in candidate.scores.items() if score > 0}
    if candidate.is_in_use:
        for backend in matched:
            words = candidate.words.get(backend, matched[backend] if backend == "bm25" else 0.0)
            matched[backend] += (IN_USE_BOOST - 1) * words
    notes = [f"{backend} {value:.2f}{_weighed(backend)}" for backend, value in matched.items()]
    parts = {
        f"{backend}{_weighed(backend)}": BACKEND_WEIGHTS.get(backend, 1.0) * value for backend, value in matched.items()
    }
    score = sum(parts.values())
    if len(matched) > 1:
        bonus = AGREEMENT_BONUS * (len(matched) - 1)
        parts[f"{len(matched)} backends agree"] = bonus
        score += bonus
        notes.append(f"{len(matched)} backends agree +{bonus:.2f}")
    for boost, is_met, factor in (
        (f"role {candidate.unit.role}", candidate.unit.role in needed_roles, ROLE_BOOST),
        ("session", candidate.store == "session", SESSION_BOOST),
    ):
        if is_met:
            parts[f"{boost} x{factor}"] = score * factor - score
            score *= factor
            notes.append(f"{boost} x{factor}")
    return FusedScore(value=score, parts={name: round(value, 4) for name, value in parts.items()}, notes=tuple(notes))


def _weighed(backend: str) -> str:
    weight = BACKEND_WEIGHTS.get(backend, 1.0)
    return "" if weight == 1 else f" x{weight}"


def choose(
    candidates: Sequence[UnitCandidate],
    profile: ContextProfile,
    policy: SelectionPolicy,
    taken: Sequence[EvidenceEntry] = (),
) -> ChosenEntries:
    """Return the evidence of one intent: best first, doubles, weak and surplus candidates left out.

    Args:
        taken: entries chosen before, whose doubles are left out too.
    """
    in_use = {candidate.unit.id: candidate for candidate in candidates if candidate.is_in_use}
    scored = _ranked([replace(candidate, is_in_use=False) for candidate in candidates], profile.needed_roles)
    ranking = _Ranking([])
    ids_by_digest = {_digest(entry.unit): entry.unit.id for entry in taken}
    for rank, (score, candidate) in enumerate(scored, 1):
        least = _least_score(policy, len(ranking.kept))
        notes: tuple[str, ...] = ()
        if least <= score.value < policy.min_score:
            notes = (f"below {policy.min_score:.2f}, but beside better ones",)
        if score.value < least and candidate.store == "session" and tells_change(candidate.unit.text):
            least, notes = 0.0, (*notes, f"below {least:.2f}, but may set right what was said before")
        ranking.notes_of[candidate.unit.id] = notes
        ranking.add("offered", rank, score, candidate, candidate.matched)
        reason = _reason_against(candidate, score.value, ids_by_digest, least)
        if reason:
            ranking.add("pruned", rank, score, candidate, reason)
        else:
            ranking.kept.append((score, candidate))
            ids_by_digest[_digest(candidate.unit)] = candidate.unit.id
    _give_way_to_parts(ranking, profile, policy)
    limit = min(policy.max_results, profile.max_results)
    chosen = _diverse(ranking, limit) if policy.is_diverse else ranking.kept[:limit]
    if in_use:
        chosen = _with_documents_in_use(ranking, chosen, in_use, profile.needed_roles)
    taken_ids = {candidate.unit.id for _, candidate in chosen}
    surplus = [item for item in ranking.kept if item[1].unit.id not in taken_ids]
    for rank, (score, candidate) in enumerate(surplus, len(chosen) + 1):
        ranking.add("pruned", rank, score, candidate, f"over the limit of {limit} results")
    for rank, (score, candidate) in enumerate(chosen, 1):
        ranking.add("selected", rank, score, candidate, candidate.matched)
    entries = tuple(
        EvidenceEntry(
            unit=item.unit,
            score=round(min(1.0, score.value), 4),
            store=item.store,
            notes=(*score.notes, *_clamped(score), *ranking.notes_of[item.unit.id], *item.proof),
            likeness=item.likeness,
        )
        for score, item in chosen
    )
    return ChosenEntries(entries, tuple(ranking.ledger))


def _clamped(score: FusedScore) -> tuple[str, ...]:
    return (f"makes {score.value:.2f}, shown as 1",) if score.value > 1 else ()


def _ranked(candidates: Iterable[UnitCandidate], needed_roles: Sequence[str]) -> list[tuple[FusedScore, UnitCandidate]]:
    scored = [(fused_score(candidate, needed_roles), candidate) for candidate in candidates]
    return sorted(scored, key=lambda item: (-item[0].value, item[1].unit.id))


def _with_documents_in_use(
    ranking: _Ranking,
    chosen: Sequence[tuple[FusedScore, UnitCandidate]],
    in_use: Mapping[str, UnitCandidate],
    needed_roles: Sequence[str],
) -> list[tuple[FusedScore, UnitCandidate]]:
    """Return the chosen entries with units of documents in use ranked higher; no entry is removed for them."""
    lifted = [
        (fused_score(in_use[item.unit.id], needed_roles) if item.unit.id in in_use else score, item)
        for score, item in chosen
    ]
    ordered = sorted(lifted, key=lambda pair: -pair[0].value)
    before = {item.unit.id: rank for rank, (_, item) in enumerate(chosen, 1)}
    for rank, (_, item) in enumerate(ordered, 1):
        if item.unit.id in in_use:
            note = f"document in use x{IN_USE_BOOST} once: rank {before[item.unit.id]} without it, {rank} with it"
            ranking.notes_of[item.unit.id] = (*ranking.notes_of[item.unit.id], note)
    return ordered


def _digest(unit: KnowledgeUnit) -> str:
    return unit.hash or content_hash(unit)


def _least_score(policy: SelectionPolicy, kept_count: int) -> float:
    if policy.beside_best is not None and 0 < kept_count < FEW_RESULTS:
        return policy.beside_best
    return policy.min_score


def _reason_against(candidate: UnitCandidate, score: float, ids_by_digest: Mapping[str, str], least: float) -> str:
    if score < least and candidate.store != "current-turn":
        return f"score {score:.2f} below {least:.2f}"
    twin = ids_by_digest.get(_digest(candidate.unit))
    return f"says the same as {twin}" if twin else ""


def _give_way_to_parts(ranking: _Ranking, profile: ContextProfile, policy: SelectionPolicy) -> None:
    """Leave out a summary, section or over-long unit whose own parts were found and serve better."""
    if not policy.chooses_level and profile.act_boost in _ORIENTATION_ACTS:
        return
    kept_ids = {candidate.unit.id for _, candidate in ranking.kept}
    for rank, (score, candidate) in enumerate(tuple(ranking.kept), 1):
        parts = [child for child in candidate.unit.child_unit_ids if child in kept_ids]
        if parts and _is_replaced(candidate.unit, len(parts), profile, policy):
            ranking.kept.remove((score, candidate))
            ranking.add("pruned", rank, score, candidate, f"its part {parts[0]} says it more exactly")


def _is_replaced(unit: KnowledgeUnit, found_parts: int, profile: ContextProfile, policy: SelectionPolicy) -> bool:
    if not policy.chooses_level:
        return unit.ku_type != "atomic" or len(unit.text) > LONG_UNIT_CHARS
    breadth = wanted_breadth(profile.act_boost, profile.query_terms, set(unit_terms(unit)))
    return gives_way(unit, found_parts, breadth)


def _diverse(ranking: _Ranking, limit: int) -> list[tuple[FusedScore, UnitCandidate]]:
    """Return the results in an order that also weighs what each adds to those before it."""
    pool = ranking.kept[: limit * _RERANKED_PER_RESULT]
    if len(pool) < 2:
        return pool[:limit]
    picks = diverse_order(
        [score.value for score, _ in pool], [frozenset(unit_terms(candidate.unit)) for _, candidate in pool], limit
    )
    for pick in picks:
        unit_id = pool[pick.place][1].unit.id
        if pick.closest is not None:
            note = f"overlap {pick.overlap:.2f} with {pool[pick.closest][1].unit.id}"
            ranking.notes_of[unit_id] = (*ranking.notes_of[unit_id], note)
    return [pool[pick.place] for pick in picks]


def is_sufficient(entries: Sequence[EvidenceEntry], profile: ContextProfile) -> bool:
    """Return whether the evidence of one intent is enough to try an answer.

    Two units suffice, or one of a needed role, or one with every term of the intent: no plugin finds a better one.
    """
    if not entries:
        return False
    if not profile.needed_roles or len(entries) >= 2 or entries[0].unit.role in profile.needed_roles:
        return True
    return bool(profile.query_terms) and set(profile.query_terms) <= set(unit_terms(entries[0].unit))
