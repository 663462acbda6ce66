"""The retriever: search by words and meaning, a lower minimum score, diverse results and a fitting level of detail."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
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
from mrpvm.knowledge.embedding.encoder import Encoder, installed_encoder, is_encoder_installed
from mrpvm.knowledge.selection import SelectionPolicy
from mrpvm.plugins.kb_retrievers.balanced.hybrid import find_by_meaning, unit_vectors
from mrpvm.plugins.kb_retrievers.pipeline import find_lexically, retrieve_evidence
from mrpvm.plugins.kb_retrievers.source_notes import note_source
from mrpvm.values import KnowledgeUnit

POLICY = SelectionPolicy(max_results=12, min_score=0.15, beside_best=0.07, is_diverse=True, chooses_level=True)
"""Takes more results than any intent asks for, so that the intent alone sets their number."""
RANKED_BY = "ranked by shared words alone: no embedding backend is installed"

ABOUT = """\
@k1 ku atomic "plugin::kb-balanced::unit-000"
@a1 set $k1 sourceId "plugin::kb-balanced"
@a2 set $k1 chunkId "plugin::kb-balanced"
@a3 set $k1 role Description
@a4 set $k1 topic "kb-balanced"
@a5 set $k1 claim "kb-balanced finds more units than kb-fast, of different kinds and at the level a question asks for."
@a6 set $k1 utilityNote "Good for comparisons, overviews and, where an embedding model is installed, paraphrase."
@a7 set $k1 phaseScopes [kb-plugin mrp-plan-plugin]
"""
"""What planners may know of this plugin, as a control document."""


class BalancedKBRetriever:
    """Finds evidence by shared words and by meaning, and prefers units that add something new.

    Args:
        encoder: returns the sentence model, or None if there is none: then only words decide.
    """

    descriptor = Descriptor(
        id="kb-balanced",
        type="kb-plugin",
        name="Balanced KB Retrieval",
        version="1.0.0",
        description="Finds more evidence than the fast search, not all of a kind, and as broad or narrow as asked."
        " Ranks by shared words (BM25), and by likeness of meaning where the embedding extra is installed.",
        cost_class="moderate",
        # Units without a vector are only found by words; later the same question finds them by meaning too.
        is_deterministic=not is_encoder_installed(),
        heeds_events=False,  # nothing is cached, each call reads the view as it is
        tags=("lexical", "diverse", "deterministic"),
        planner_hints=PlannerHints(
            expected_latency_ms=120,
            expected_llm_calls=0,
            relative_cost=0.22,
            supported_acts=("compare", "define", "describe", "explain", "identify", "recommend"),
            topic_tags=("technical", "legal", "literature", "procedural"),
            preferred_depth="medium",
            fallback_role="default",
            evidence_style=("lexical", "hybrid"),
            confidence_when_matched=0.76,
        ),
        provides=("evidence", "guidance"),
    )
    about = ABOUT

    def __init__(self, encoder: Callable[[], Encoder | None] = installed_encoder) -> None:
        self._encoder = encoder

    def retrieve(self, request: RetrieveInput, context: CallContext) -> Retrieval:
        """Return evidence and guidance for each intent, and the ledger of every unit that was considered."""
        encoder = self._encoder()
        if encoder is None:
            return retrieve_evidence(request, context, POLICY, find_lexically, notes=(RANKED_BY,))
        return retrieve_evidence(request, context, POLICY, partial(find_by_meaning, encoder))

    def on_session_event(self, event: LifecycleEvent) -> Literal["accepted", "skipped"]:
        return "skipped"

    def on_source_text(self, source: SourceText) -> SourceReply:
        """Store the source's statistics."""
        return note_source(self.descriptor.id, source)

    @property
    def artifact_version(self) -> str | None:
        """Return the version of the model that makes the vectors, None without a model."""
        encoder = self._encoder()
        return encoder.version if encoder else None

    def artifacts_of(self, units: Sequence[KnowledgeUnit]) -> Mapping[str, bytes]:
        """Return the units' vectors, made ahead so that no question has to wait for them."""
        encoder = self._encoder()
        return unit_vectors(encoder, units) if encoder else {}
