"""The retriever: BM25 over journal, draft and mounted base, and the units of the running turn."""

from typing import Literal

from mrpvm.contracts import (
    CallContext,
    Descriptor,
    LifecycleEvent,
    PlannerHints,
    Retrieval,
    RetrieveInput,
    SourceReply,
    SourceText,
)
from mrpvm.knowledge.selection import SelectionPolicy
from mrpvm.plugins.kb_retrievers.pipeline import find_lexically, retrieve_evidence
from mrpvm.plugins.kb_retrievers.source_notes import note_source

POLICY = SelectionPolicy(max_results=10, min_score=0.30)
"""More results than the reference's three, because a solver can only notice contradicting facts that it sees."""

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
"""What planners may know of this plugin, as a control document."""


class FastKBRetriever:
    """Finds evidence by shared words, with one search per intent."""

    descriptor = Descriptor(
        id="kb-fast",
        type="kb-plugin",
        name="Fast KB Retrieval",
        version="1.0.0",
        description="Finds evidence by shared words (BM25) in the session and its mounted knowledge base. Cheapest.",
        cost_class="cheap",
        heeds_events=False,  # nothing is cached, each call reads the view as it is
        is_quick=True,
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
        """Return evidence and guidance for each intent, and the ledger of every unit that was considered."""
        return retrieve_evidence(request, context, POLICY, find_lexically)

    def on_session_event(self, event: LifecycleEvent) -> Literal["accepted", "skipped"]:
        return "skipped"

    def on_source_text(self, source: SourceText) -> SourceReply:
        """Store the source's statistics."""
        return note_source(self.descriptor.id, source)
