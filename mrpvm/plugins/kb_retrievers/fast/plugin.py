"""The retriever: BM25 over journal, draft and mounted base, beside the units of the running turn [BP-17 to BP-31]."""

from collections.abc import Sequence
from typing import Literal

from mrpvm.contracts import (
    CallContext,
    Descriptor,
    LifecycleEvent,
    PlannerHints,
    Retrieval,
    RetrieveInput,
    ScoredUnit,
)
from mrpvm.knowledge.guidance import GUIDANCE_LIMIT, guidance_for
from mrpvm.knowledge.selection import Candidate, Choice, SelectionPolicy, choose, is_sufficient, turn_candidates
from mrpvm.values import ContextProfile, Evidence, EvidenceEntry, KnowledgeUnit, LedgerEntry

POLICY = SelectionPolicy(max_results=8, min_score=0.30)
"""More results than the reference's three: a solver that must notice rival facts has to see them [O-10]."""
CANDIDATE_LIMIT = 50
MAX_QUERY_TERMS = 32
"""A whole text as a question is searched by its first terms only."""

ABOUT = """\
@k1 ku atomic "plugin::kb-fast::unit-000"
@a1 set $k1 sourceId "plugin::kb-fast"
@a2 set $k1 chunkId "plugin::kb-fast"
@a3 set $k1 role Description
@a4 set $k1 topic "kb-fast"
@a5 set $k1 claim "kb-fast finds units by the words they share with a question, ranked by BM25."
@a6 set $k1 utilityNote "Good for names, terms and facts told in the same words; blind to paraphrase."
@a7 set $k1 phaseScopes [kb-plugin mrp-plan-plugin]
"""
"""What planners may know of this plugin, as a control document [PL-3]."""


class FastKBRetriever:
    """Finds evidence by shared words, at the cost of one search an intent."""

    descriptor = Descriptor(
        id="kb-fast",
        type="kb-plugin",
        name="Fast KB Retrieval",
        version="1.0.0",
        description="Finds evidence by shared words (BM25) in the session and its mounted knowledge base. Cheapest.",
        cost_class="cheap",
        tags=("lexical", "deterministic"),
        planner_hints=PlannerHints(
            expected_latency_ms=50,
            expected_llm_calls=0,
            relative_cost=0.08,
            supported_acts=("define", "identify", "describe", "explain"),
            topic_tags=("technical", "procedural"),
            preferred_depth="shallow",
            fallback_role="cheap-probe",
            evidence_style=("lexical",),
            confidence_when_matched=0.70,
        ),
        provides=("evidence", "guidance"),
    )
    about = ABOUT

    def retrieve(self, request: RetrieveInput, context: CallContext) -> Retrieval:
        """Give evidence for each intent, its guidance, and the ledger of every unit that was looked at."""
        stored_guidance = _as_guidance(context.knowledge.guidance(GUIDANCE_LIMIT))
        evidence: list[Evidence] = []
        ledger: list[LedgerEntry] = []
        considered = 0
        for intent, decomposed, profile in zip(request.intents, request.decomposed, request.profiles, strict=True):
            told, stored, seen = self._choose(profile, request.current_turn_units, context)
            considered += seen
            ledger += (*told.ledger, *stored.ledger)
            entries = (*told.entries, *stored.entries)
            evidence.append(
                Evidence(
                    intent=intent,
                    decomposed=decomposed,
                    profile=profile,
                    current_turn_units=told.entries,
                    session_units=tuple(entry for entry in stored.entries if entry.store == "session"),
                    kb_units=tuple(entry for entry in stored.entries if entry.store != "session"),
                    guidance=guidance_for(intent, request.current_turn_units, stored_guidance),
                    sufficient=is_sufficient(entries, profile.needed_roles),
                )
            )
        return Retrieval(
            status="success" if all(item.sufficient for item in evidence) else "insufficient",
            evidence=tuple(evidence),
            ledger=tuple(ledger),
            considered_count=considered,
        )

    def on_session_event(self, event: LifecycleEvent) -> Literal["accepted", "skipped"]:
        """Skip every event: nothing is cached, each call reads the view as it is [PL-44]."""
        return "skipped"

    def _choose(
        self, profile: ContextProfile, turn_units: Sequence[KnowledgeUnit], context: CallContext
    ) -> tuple[Choice, Choice, int]:
        terms = profile.query_terms[:MAX_QUERY_TERMS]
        told = choose(turn_candidates(turn_units, profile.query_terms), profile, POLICY)
        hits = context.knowledge.search(dict.fromkeys(terms, 1.0), CANDIDATE_LIMIT) if terms else ()
        found = [hit for hit in hits if hit.unit.is_evidence]
        stored = choose(_candidates(found), profile, POLICY, taken=told.entries)
        return told, stored, len(hits) + len(turn_units)


def _candidates(hits: Sequence[ScoredUnit]) -> list[Candidate]:
    """Give the hits with BM25 relative to the best of them; one without a matching term is none [BP-22]."""
    best = max((hit.score for hit in hits), default=0.0)
    return [
        Candidate(unit=hit.unit, store=hit.store, scores={"bm25": hit.score / best}, matched=_matched(hit))
        for hit in hits
        if hit.score > 0
    ]


def _matched(hit: ScoredUnit) -> str:
    shares = sorted(hit.term_scores.items(), key=lambda item: (-item[1], item[0]))
    listed = ", ".join(f"{term} {score:.2f}" for term, score in shares if score > 0)
    return f"BM25 {hit.score:.2f}" + (f" ({listed})" if listed else "")


def _as_guidance(hits: Sequence[ScoredUnit]) -> tuple[EvidenceEntry, ...]:
    return tuple(
        EvidenceEntry(unit=hit.unit, score=0.0, store=hit.store, notes=("lasting guidance",))
        for hit in hits
        if hit.unit.is_guidance
    )
