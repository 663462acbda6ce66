"""The retriever: units that share words with the question, and units that rules over triples link to it."""

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
    SourceReply,
    SourceText,
)
from mrpvm.english.words.text import terms
from mrpvm.knowledge.closure import LIMITS, Triple, neighbourhood
from mrpvm.knowledge.linking import Linked, link_units, links_of, seeds_of
from mrpvm.knowledge.selection import SelectionPolicy, UnitCandidate
from mrpvm.plugins.kb_retrievers.pipeline import (
    BackendFindings,
    lexical_candidates,
    lexical_hits,
    retrieve_evidence,
)
from mrpvm.plugins.kb_retrievers.source_notes import note_source
from mrpvm.values import ContextProfile

POLICY = SelectionPolicy(max_results=12, min_score=0.12, chooses_level=True)
"""Takes more results than any intent asks for, so that the intent alone sets their number."""
FOLLOWED_LIMIT = 16
"""The most units in one search for arguments of triples."""
FOLLOWED_TERMS = 12
"""The most terms in one search, those nearest to the question first, because the cost grows with the terms."""
FOLLOWED_TIMES = LIMITS.depth
"""The most searches for arguments, one for each step away from the question."""

ABOUT = """\
@k1 ku atomic "plugin::kb-thinkingdb::unit-000"
@a1 set $k1 sourceId "plugin::kb-thinkingdb"
@a2 set $k1 chunkId "plugin::kb-thinkingdb"
@a3 set $k1 role Description
@a4 set $k1 topic "kb-thinkingdb"
@a5 set $k1 claim "kb-thinkingdb follows triples from the question over several units and shows each proof."
@a6 set $k1 utilityNote "Good for dependencies, causes and capabilities that no single unit states."
@a7 set $k1 phaseScopes [kb-plugin mrp-plan-plugin]
"""
"""What planners may know of this plugin, as a control document."""


class ThinkingDBKBRetriever:
    """Finds evidence by shared words and by links, each link with a proof in the entry's notes."""

    descriptor = Descriptor(
        id="kb-thinkingdb",
        type="kb-plugin",
        name="ThinkingDB KB Retrieval",
        version="1.0.0",
        description="Follows subject-relation-object triples from unit to unit by a few fixed rules, within bounds, and"
        " notes the proof of every link. Also finds what a lexical search finds.",
        cost_class="expensive",
        heeds_events=False,  # nothing is cached, each call reads the view as it is
        is_quick=True,
        tags=("lexical", "symbolic", "deterministic"),
        planner_hints=PlannerHints(
            expected_latency_ms=220,
            expected_llm_calls=0,
            relative_cost=0.35,
            supported_acts=("compare", "diagnose", "explain", "recommend", "verify"),
            topic_tags=("symbolic", "technical", "legal"),
            preferred_depth="deep",
            fallback_role="heavy-recovery",
            evidence_style=("hybrid", "symbolic-facts"),
            confidence_when_matched=0.84,
        ),
        provides=("evidence", "guidance"),
    )
    about = ABOUT

    def retrieve(self, request: RetrieveInput, context: CallContext) -> Retrieval:
        """Return evidence and guidance for each intent, and the ledger of every unit that was considered."""
        return retrieve_evidence(request, context, POLICY, find_with_links)

    def on_session_event(self, event: LifecycleEvent) -> Literal["accepted", "skipped"]:
        return "skipped"

    def on_source_text(self, source: SourceText) -> SourceReply:
        """Store the source's statistics."""
        return note_source(self.descriptor.id, source)


def find_with_links(profile: ContextProfile, request: RetrieveInput, context: CallContext) -> BackendFindings:
    """Return the hits of a search and the units linked to them; the turn's own units only contribute triples."""
    hits = lexical_hits(profile, request.recall, context)
    of_turn = [link for unit in request.current_turn_units if unit.is_evidence for link in links_of(unit)]
    links, followed = _follow(
        profile, [*of_turn, *(link for hit in hits for link in links_of(hit.unit))], hits, context
    )
    linking = link_units(profile.query_terms, links)
    candidates = [_joined(item, linking.units.get(item.unit.id)) for item in lexical_candidates(hits, request.recall)]
    known = {hit.unit.id for hit in hits}
    candidates += [
        _joined(UnitCandidate(unit=hit.unit, store=hit.store, scores={}), linking.units[hit.unit.id])
        for hit in followed
        if hit.unit.id in linking.units and hit.unit.id not in known
    ]
    note = (
        f"{linking.fact_count} triples near the question, {linking.derived_count} derived from them,"
        f" {linking.kept_count} of these tied to it"
    )
    return BackendFindings(candidates, len(hits) + len(followed), (note,))


def _follow(
    profile: ContextProfile, links: Sequence[Triple], hits: Sequence[ScoredUnit], context: CallContext
) -> tuple[list[Triple], list[ScoredUnit]]:
    """Return all links, and the units found by the arguments of triples that are connected with the question."""
    wanted = frozenset(profile.query_terms)
    links_seen = list(links)
    known = {hit.unit.id for hit in hits}
    terms_seen = set(wanted)
    followed: list[ScoredUnit] = []
    for _ in range(FOLLOWED_TIMES):
        near = neighbourhood(tuple(seeds_of(links_seen, wanted)), links_seen)
        arguments = dict.fromkeys(term for link in near for side in (link.subject, link.object) for term in terms(side))
        new = [term for term in arguments if term not in terms_seen][:FOLLOWED_TERMS]
        if not new or context.stopped():
            break
        terms_seen.update(new)
        more = context.knowledge.search(dict.fromkeys(new, 1.0), FOLLOWED_LIMIT)
        fresh = [hit for hit in more if hit.unit.is_evidence and hit.unit.id not in known]
        known.update(hit.unit.id for hit in fresh)
        followed += fresh
        links_seen += [link for hit in fresh for link in links_of(hit.unit)]
    return links_seen, followed


def _joined(candidate: UnitCandidate, linked: Linked | None) -> UnitCandidate:
    """Return the candidate with its symbolic score and proof added."""
    if linked is None:
        return candidate
    shows = f"linked: {linked.shows}"
    return UnitCandidate(
        unit=candidate.unit,
        store=candidate.store,
        scores={**candidate.scores, "thinkingdb": linked.score},
        matched=f"{candidate.matched}; {shows}" if candidate.matched else shows,
        is_in_use=candidate.is_in_use,
        proof=linked.proof,
    )
