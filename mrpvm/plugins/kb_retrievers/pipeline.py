"""The retrieval pipeline that all KB plugins share; a plugin adds its policy and its backends."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from copy import replace

from msgspec import Struct

from mrpvm.contracts import CallContext, Retrieval, RetrieveInput, ScoredUnit
from mrpvm.english.questions.requests import request_of
from mrpvm.english.words.text import measure_terms, spelling_terms
from mrpvm.english.words.text import terms as text_terms
from mrpvm.knowledge.guidance import GUIDANCE_LIMIT, guidance_for
from mrpvm.knowledge.indexing import matched_fields
from mrpvm.knowledge.levels import BREADTH
from mrpvm.knowledge.selection import (
    ChosenEntries,
    SelectionPolicy,
    UnitCandidate,
    choose,
    is_sufficient,
    turn_candidates,
)
from mrpvm.values import (
    CHAT_TURN,
    KU_TYPES,
    ContextProfile,
    Evidence,
    EvidenceEntry,
    Intent,
    IntentAssessment,
    KnowledgeUnit,
    LedgerEntry,
    Recall,
)

_RELATED_WEIGHT = 0.5
"""The weight of related terms, such as "weight" for "heavy" and "open" for "close"."""
SPARE_CANDIDATES = 6
"""Extra hits, so that boosts, duplicates and sections can change the results; each costs a ledger row."""
_MEASURE = re.compile(r"\bhow (\w+)", re.IGNORECASE)
MOST_HOLDING_ONE_WORD = 5
"""A question with a single word needs no terms from the conversation if at most this many units have the word."""
STANDS_ALONE = "no term of the conversation was added: one unit holds all words of the question"
MAX_QUERY_TERMS = 32
"""A whole text as a question is searched by its first terms only."""


class BackendFindings(Struct, frozen=True):
    """The candidates that a plugin's backends found for one intent, and their notes."""

    candidates: Sequence[UnitCandidate]
    seen_count: int
    notes: tuple[str, ...] = ()


type FindCandidates = Callable[[ContextProfile, RetrieveInput, CallContext], BackendFindings]
"""Returns the stored candidates of one intent; the units of the running turn are passed for inference."""
NOTHING_RECALLED = Recall()
_SURROUNDINGS_REACH = 6
"""How far before and after what was found an answer of several sentences may look."""
_NEWEST, _LATER_TOLD = 50, 4
"""How many of the newest units are searched for later statements on the same topic, and how many are returned."""


def retrieve_evidence(
    request: RetrieveInput,
    context: CallContext,
    policy: SelectionPolicy,
    find: FindCandidates,
    notes: tuple[str, ...] = (),
) -> Retrieval:
    """Return evidence and guidance for each intent, and the ledger of every unit that was considered.

    Args:
        notes: notes on the whole retrieval; those on each intent follow.
    """
    guidance = _as_guidance(context.knowledge.guidance(GUIDANCE_LIMIT))
    evidence: list[Evidence] = []
    ledger: list[LedgerEntry] = []
    seen_count = 0
    said = list(notes)
    for intent, decomposed, profile in zip(request.intents, request.decomposed, request.profiles, strict=True):
        of_turn = choose(turn_candidates(request.current_turn_units, profile.query_terms), profile, policy)
        recalled = _without_needless(request, profile, context)
        findings = find(profile, recalled, context)
        if recalled is not request:
            said.append(f"intent {intent.group_number}: {STANDS_ALONE}")
        stored = choose(findings.candidates, profile, policy, taken=of_turn.entries)
        stored = _with_surroundings(_with_later_told(stored, context), intent, profile, context)
        seen_count += findings.seen_count + len(request.current_turn_units)
        ledger += (*of_turn.ledger, *stored.ledger)
        entries = (*of_turn.entries, *stored.entries)
        said += [f"intent {intent.group_number}: {note}" for note in (*findings.notes, *_levels(entries))]
        evidence.append(
            Evidence(
                intent=intent,
                decomposed=decomposed,
                profile=profile,
                current_turn_units=of_turn.entries,
                session_units=tuple(entry for entry in stored.entries if entry.store == "session"),
                kb_units=tuple(entry for entry in stored.entries if entry.store != "session"),
                guidance=guidance_for(intent, request.current_turn_units, guidance),
                sufficient=is_sufficient(entries, profile),
            )
        )
    return Retrieval(
        assessments=tuple(assess(item) for item in evidence),
        status="success" if all(item.sufficient for item in evidence) else "insufficient",
        evidence=tuple(evidence),
        ledger=tuple(ledger),
        considered_count=seen_count,
        notes=tuple(said),
    )


def _without_needless(request: RetrieveInput, profile: ContextProfile, context: CallContext) -> RetrieveInput:
    """Return the request without terms from the conversation if the message does not need them.

    A question without references needs none if one unit has all its words; a single word suffices only if few units
    have it.
    """
    measure = set(text_terms(" ".join(_MEASURE.findall(profile.query_text))))  # "how long" names nothing
    terms = dict.fromkeys((term for term in profile.query_terms[:MAX_QUERY_TERMS] if term not in measure), 1.0)
    if request.recall is None or request.recall.is_needed or not terms:
        return request
    hits = context.knowledge.search(terms, MOST_HOLDING_ONE_WORD + 1)
    holding = sum(terms.keys() <= hit.term_scores.keys() for hit in hits)
    stands_alone = holding > 0 and (len(terms) > 1 or holding <= MOST_HOLDING_ONE_WORD)
    if not stands_alone:
        return request
    keeps_documents = request.recall.prefers_always and bool(request.recall.documents)
    return replace(request, recall=replace(request.recall, terms={}, texts=()) if keeps_documents else None)


def _with_later_told(chosen: ChosenEntries, context: CallContext) -> ChosenEntries:
    """Return the choice with later messages of the conversation on the topic of the best entry, and the next message.

    These may share no word with the question.
    """
    best = next(iter(chosen.entries), None)
    if best is None or best.store != "session" or best.unit.source_type != CHAT_TURN:
        return chosen
    known = {entry.unit.id for entry in chosen.entries}
    later = [hit for hit in reversed(context.knowledge.newest(_NEWEST)) if _is_later(hit, best.unit)]
    terms = set(text_terms(best.unit.text))
    is_about_same = [True, *(not terms.isdisjoint(text_terms(hit.unit.text)) for hit in later)]
    # A later message on the same topic may only have a pronoun for it.
    about_same = [hit for hit, *near in zip(later, is_about_same, is_about_same[1:], strict=False) if any(near)]
    taken = [hit for hit in about_same[-_LATER_TOLD:] if hit.unit.id not in known]
    return _with_hits(chosen, taken, "was told later than what was found")


def _is_later(hit: ScoredUnit, unit: KnowledgeUnit) -> bool:
    is_told = hit.store == "session" and hit.unit.source_type == CHAT_TURN and hit.unit.is_evidence
    return is_told and (hit.unit.created_at or "") > (unit.created_at or "")


def _with_hits(chosen: ChosenEntries, taken: Sequence[ScoredUnit], note: str) -> ChosenEntries:
    taken_ids = {hit.unit.id for hit in taken}
    return ChosenEntries(
        (*chosen.entries, *(EvidenceEntry(unit=hit.unit, score=0.0, store=hit.store, notes=(note,)) for hit in taken)),
        (
            *(row for row in chosen.ledger if row.unit_id not in taken_ids),
            *(
                LedgerEntry(unit_id=hit.unit.id, step="selected", store=hit.store, rank=rank, score=0.0, reason=note)
                for rank, hit in enumerate(taken, len(chosen.entries) + 1)
            ),
        ),
    )


def _with_surroundings(
    chosen: ChosenEntries, intent: Intent, profile: ContextProfile, context: CallContext
) -> ChosenEntries:
    """Return the choice with neighbouring units of its sources, if an answer of several sentences is asked for.

    A request for a summary without a topic takes the newest units, one about the conversation the session's own units.
    """
    requested = request_of(intent.target)
    if requested is None or not requested.takes_several:
        return chosen
    takes_all = requested.kind == "summary" and not requested.wanted
    sources = {entry.unit.source_id for entry in chosen.entries}
    known = dict.fromkeys(entry.unit.id for entry in chosen.entries)
    terms = dict.fromkeys(profile.query_terms[:MAX_QUERY_TERMS], 1.0)
    if takes_all or requested.is_of_told:
        around = context.knowledge.newest(profile.max_results)
    else:
        around = context.knowledge.beside(tuple(known), _SURROUNDINGS_REACH)
    near = {
        hit.unit.id: hit
        for hit in (*around, *(context.knowledge.search(terms, profile.max_results) if terms and sources else ()))
        if hit.unit.id not in known
        and hit.unit.is_evidence
        and not hit.unit.child_unit_ids
        and (hit.store == "session" if requested.is_of_told else takes_all or hit.unit.source_id in sources)
    }
    taken = list(near.values())[: max(0, profile.max_results - len(known))]
    return _with_hits(chosen, taken, "stands in the same source as what was found")


def assess(evidence: Evidence) -> IntentAssessment:
    """Return how sufficient the evidence of one intent is."""
    units, strategy_count = [entry.unit for entry in evidence.entries], len(evidence.guidance.strategy)
    needed = evidence.profile.needed_roles
    return IntentAssessment(
        intent_ref=evidence.intent.group_number,
        purpose=(
            "task-evidence" if not strategy_count else "strategy-guidance" if strategy_count >= len(units) else "mixed"
        ),
        evidence_count=len(units),
        strategy_count=strategy_count,
        needed_roles=needed,
        covered_roles=tuple(role for role in needed if any(unit.role == role for unit in units)),
        unique_source_count=len({unit.source_id for unit in units}),
        ku_levels_used=tuple(level for level in KU_TYPES if any(unit.ku_type == level for unit in units)),
        sufficient=evidence.sufficient,
    )


def lexical_hits(
    profile: ContextProfile, recall: Recall | None, context: CallContext, limit: int | None = None
) -> Sequence[ScoredUnit]:
    """Return the units that share a term or a related term with the intent, best first.

    A question with "how heavy" also finds units with "weight". A term counts as often as the question contains it.
    Without `limit` a few more units than the intent asks for are returned.
    """
    said = Counter(text_terms(profile.query_text))
    terms = {term: float(max(1, said[term])) for term in profile.query_terms[:MAX_QUERY_TERMS]}
    if terms:
        related = measure_terms(profile.query_text)
        terms = dict.fromkeys(related, _RELATED_WEIGHT) | dict.fromkeys(spelling_terms(profile.query_text), 1.0) | terms
    if recall is not None:
        terms = {**recall.terms, **terms}
    limit = limit or profile.max_results + SPARE_CANDIDATES
    hits = context.knowledge.search(terms, limit) if terms else ()
    return [hit for hit in hits if hit.unit.is_evidence and hit.score > 0]


def lexical_candidates(hits: Sequence[ScoredUnit], recall: Recall | None) -> list[UnitCandidate]:
    """Return the hits with their BM25 score relative to the best; hits in preferred documents are boosted later."""
    best = max((hit.score for hit in hits), default=0.0)
    in_use = (recall or NOTHING_RECALLED).documents
    return [
        UnitCandidate(
            unit=hit.unit, store=hit.store, scores={"bm25": hit.score / best}, matched=matched_by(hit),
            is_in_use=hit.unit.source_id in in_use,
        )
        for hit in hits
    ]  # fmt: skip


def find_lexically(profile: ContextProfile, request: RetrieveInput, context: CallContext) -> BackendFindings:
    """Return the results of one search for the intent's terms."""
    hits = lexical_hits(profile, request.recall, context)
    return BackendFindings(lexical_candidates(hits, request.recall), len(hits))


def matched_by(hit: ScoredUnit) -> str:
    """Return in words the BM25 score and its terms, each with the fields that contain it."""
    shares = sorted((-score, term) for term, score in hit.term_scores.items() if score > 0)
    fields = matched_fields(hit.unit, hit.term_scores.keys())
    listed = ", ".join(f"{term} {-score:.2f}{_where(term, fields[term])}" for score, term in shares)
    return f"BM25 {hit.score:.2f}" + (f" ({listed})" if listed else "")


def _where(term: str, fields: Sequence[str]) -> str:
    if fields:
        return f" in {' and '.join(fields)}"
    return "" if " " in term else " around it"  # a speaker has a space; else a neighbour's word


def _levels(entries: Sequence[EvidenceEntry]) -> tuple[str, ...]:
    """Return the levels of the chosen units in words, broadest first."""
    counts = Counter(entry.unit.ku_type for entry in entries)
    ordered = sorted(counts, key=lambda level: (-BREADTH.get(level, 0), level))
    return (f"levels used: {', '.join(f'{level} {counts[level]}' for level in ordered)}",) if ordered else ()


def _as_guidance(hits: Sequence[ScoredUnit]) -> tuple[EvidenceEntry, ...]:
    return tuple(
        EvidenceEntry(unit=hit.unit, score=0.0, store=hit.store, notes=("lasting guidance",))
        for hit in hits
        if hit.unit.is_guidance
    )
