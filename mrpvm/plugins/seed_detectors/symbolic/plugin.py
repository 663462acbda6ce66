"""The detector: one pass over a message, or over a chunk of a source."""

from copy import replace

from mrpvm import contracts
from mrpvm.english.context.coreference import context_before, topic_before
from mrpvm.english.context.corrections import forget_told
from mrpvm.english.context.ellipsis import asked_again, compared_with_names
from mrpvm.plugins.seed_detectors.symbolic.documents import (
    acknowledgement_document,
    context_document,
    guidance_drafts,
    intent_document,
)
from mrpvm.plugins.seed_detectors.symbolic.grouping import group_statements
from mrpvm.plugins.seed_detectors.symbolic.segmentation import segment
from mrpvm.plugins.seed_detectors.symbolic.source_text import statements_of
from mrpvm.sources.limits import NORMALISER_MAX_CHARS

ABOUT = """\
@k1 ku atomic "plugin::sd-symbolic::unit-000"
@a1 set $k1 sourceId "plugin::sd-symbolic"
@a2 set $k1 chunkId "plugin::sd-symbolic"
@a3 set $k1 role Description
@a4 set $k1 topic "sd-symbolic"
@a5 set $k1 claim "sd-symbolic finds tasks, questions and statements in English text by rules, at no model cost."
@a6 set $k1 utilityNote "Good for plain questions and short facts; indirect or foreign wording needs a model."
@a7 set $k1 phaseScopes [sd-plugin mrp-plan-plugin]
"""
"""What planners may know of this plugin, as a control document."""


class SymbolicSeedDetector:
    """Finds intents and knowledge by the rules of `mrpvm.english`."""

    descriptor = contracts.Descriptor(
        id="sd-symbolic",
        type="sd-plugin",
        name="Symbolic Seed Detector",
        version="1.0.0",
        description="Finds the questions, tasks and statements of a message by deterministic rules. Needs no model.",
        cost_class="cheap",
        is_quick=True,
        tags=("symbolic", "deterministic"),
        planner_hints=contracts.PlannerHints(
            expected_latency_ms=30,
            expected_llm_calls=0,
            relative_cost=0.05,
            supported_acts=("verify", "define", "identify", "describe", "explain"),
            topic_tags=("symbolic", "technical"),
            preferred_depth="shallow",
            fallback_role="cheap-probe",
            confidence_when_matched=0.82,
        ),
        provides=("intents", "context-units"),
        accepts=("chat-turn", "source-text"),
    )
    about = ABOUT

    def detect(self, request: contracts.DetectInput, context: contracts.CallContext) -> contracts.Detection:
        """Return one intent for each task of the message, and its statements and instructions as units."""
        if not any(char.isprintable() and not char.isspace() for char in request.message):
            return contracts.Detection(status="unsupported")
        said = (*request.earlier, *request.history)
        in_full = asked_again(request.message, request.history) or forget_told(request.message, said)
        message = in_full or request.message
        parts = segment(message)
        drafts = group_statements(parts.statements)
        meant = topic_before(parts.statements[0].text, said) if parts.statements else None
        if meant:
            drafts[0] = replace(drafts[0], topic=meant)
        drafts += guidance_drafts(parts)
        named = [item.content for item in request.history if item.role == "user"]
        requests = [
            replace(
                item,
                text=compared_with_names(item.text, [*named, *(before.text for before in parts.requests[:number])]),
                context=item.context or context_before(item.text, said),
            )
            for number, item in enumerate(parts.requests)
        ]
        chunk_id = f"session::{context.request_id}"
        return contracts.Detection(
            status="success",
            intent_document=(
                intent_document(requests, parts.left_out_count) if requests else acknowledgement_document(message)
            ),
            context_document=context_document(drafts, "session", chunk_id),
        )

    def normalise(self, chunk: contracts.ChunkInput, context: contracts.CallContext) -> contracts.Normalisation:
        """Return the statements of a chunk as units, without its questions."""
        if len(chunk.text) > NORMALISER_MAX_CHARS:
            return contracts.Normalisation(
                status="error",
                error=contracts.PluginError(
                    code="PLUGIN_INPUT_TOO_LARGE",
                    message=f"A chunk may have {NORMALISER_MAX_CHARS} characters, this one has {len(chunk.text)}.",
                    details={"limit": NORMALISER_MAX_CHARS, "size": len(chunk.text)},
                ),
            )
        drafts = group_statements(statements_of(chunk.text), chunk.section_title)
        return contracts.Normalisation(
            status="success", context_document=context_document(drafts, chunk.source_id, chunk.chunk_id)
        )
