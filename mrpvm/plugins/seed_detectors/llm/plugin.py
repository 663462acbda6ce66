"""The detector for both ids: one model call and at most one corrective retry."""

import json
from collections.abc import Sequence

from msgspec import Struct

from mrpvm.contracts import (
    CallContext,
    ChunkInput,
    Descriptor,
    DetectInput,
    Detection,
    Normalisation,
    PlannerHints,
    PluginError,
)
from mrpvm.conversation.context import message_to_read
from mrpvm.errors import MRPError
from mrpvm.knowledge.payload import masked
from mrpvm.llm.prompts import load_prompt
from mrpvm.plugins.dialogue import Dialogue, failure
from mrpvm.plugins.seed_detectors.llm.sections import Refused, Sections, read_sections
from mrpvm.sources.limits import NORMALISER_MAX_CHARS
from mrpvm.values import ACTS, PHASE_SCOPES, RELATIONS, ROLES, HistoryMessage

INGEST_ROLE = "kb-ingest"
"""The model role for chunks of sources."""
_VALUES = {
    "acts": ", ".join(ACTS),
    "roles": ", ".join(ROLES),
    "relations": ", ".join(RELATIONS),
    "scopes": ", ".join(PHASE_SCOPES),
}
_ABOUT = """\
@k1 ku atomic "plugin::{id}::unit-000"
@a1 set $k1 sourceId "plugin::{id}"
@a2 set $k1 chunkId "plugin::{id}"
@a3 set $k1 role Description
@a4 set $k1 topic "{id}"
@a5 set $k1 claim "{id} reads intents and statements from text in any language with a language model."
@a6 set $k1 utilityNote "{note}"
@a7 set $k1 phaseScopes [sd-plugin mrp-plan-plugin]
"""


class _Talk(Struct, frozen=True):
    """One plugin call: its dialogue, and the instructions for a correction."""

    dialogue: Dialogue
    wants_intents: bool

    def sections(self, said: HistoryMessage, correction: str) -> Sections:
        """Return the documents, after one corrective retry if necessary.

        Raises:
            Refused: the second reply is invalid too.
            MRPError: the model did not answer.
        """
        reply = self.dialogue.ask([said])
        try:
            return read_sections(reply, wants_intents=self.wants_intents)
        except Refused as refused:
            prompt = correction.replace("<diagnostics>", str(refused))
        again = [said, HistoryMessage(role="assistant", content=reply), HistoryMessage(role="user", content=prompt)]
        return read_sections(self.dialogue.ask(again), wants_intents=self.wants_intents)


class LLMSeedDetector:
    """Finds intents and knowledge with a language model; only admitted documents are returned."""

    def __init__(self, descriptor: Descriptor, note: str) -> None:
        """Load the prompts; a missing one is a start-up error."""
        self.descriptor = descriptor
        self.about = _ABOUT.format(id=descriptor.id, note=note)
        self._detect_prompt = load_prompt(__package__, "detect", **_VALUES)
        self._normalise_prompt = load_prompt(__package__, "normalise", **_VALUES)
        self._correction = load_prompt(__package__, "correct")

    def detect(self, request: DetectInput, context: CallContext) -> Detection:
        """Return intents and units of the message; `unsupported` for one without a letter or digit."""
        if not any(char.isalnum() for char in request.message):
            return Detection(status="unsupported")
        wish = request.requested_model or request.session_model
        dialogue = Dialogue(context, self.descriptor, self._detect_prompt, wish=wish)
        said = _as_data({"history": _earlier(request.history), **message_to_read(request.message, request.history)})
        try:
            sections = _Talk(dialogue, wants_intents=True).sections(said, self._correction)
        except Refused as refused:
            return Detection(status="error", error=_refusal(refused), metadata=dialogue.metadata)
        except MRPError as error:
            return Detection(status="error", error=failure(error), metadata=dialogue.metadata)
        return Detection(
            status="success",
            intent_document=sections.intents,
            context_document=sections.context,
            metadata=dialogue.metadata,
        )

    def normalise(self, chunk: ChunkInput, context: CallContext) -> Normalisation:
        """Return the units of a chunk; the ids in them are placeholders, which ingestion replaces."""
        size = len(chunk.text)
        if size > NORMALISER_MAX_CHARS:
            message = f"A chunk may have {NORMALISER_MAX_CHARS} characters, this one has {size}."
            return Normalisation(status="error", error=PluginError(code="PLUGIN_INPUT_TOO_LARGE", message=message))
        if not any(char.isalnum() for char in chunk.text):
            return Normalisation(status="success")
        dialogue = Dialogue(context, self.descriptor, self._normalise_prompt, role=INGEST_ROLE)
        said = _as_data({"section": chunk.section_title, "source": chunk.source_name, "text": chunk.text})
        try:
            sections = _Talk(dialogue, wants_intents=False).sections(said, self._correction)
        except Refused as refused:
            return Normalisation(status="error", error=_refusal(refused), metadata=dialogue.metadata)
        except MRPError as error:
            return Normalisation(status="error", error=failure(error), metadata=dialogue.metadata)
        return Normalisation(status="success", context_document=sections.context, metadata=dialogue.metadata)


def _earlier(history: Sequence[HistoryMessage]) -> list[dict[str, str]]:
    return [{"role": item.role, "content": item.content} for item in history]


def _as_data(said: object) -> HistoryMessage:
    """Return the input of a model as JSON with masked ids."""
    return HistoryMessage(role="user", content=masked(json.dumps(said, ensure_ascii=False)))


def _refusal(refused: Refused) -> PluginError:
    return PluginError(
        code="CONTROL_LANGUAGE_INVALID",
        message="The model's control text was refused twice.",
        details={"diagnostics": refused.diagnostics},
    )


def fast_detector() -> LLMSeedDetector:
    descriptor = Descriptor(
        id="sd-llm-fast",
        type="sd-plugin",
        name="Fast LLM Seed Detector",
        version="1.0.0",
        description="Reads intents and statements from wording of any kind with a quick model. Costs a call or two.",
        cost_class="moderate",
        uses_llm=True,
        model_roles=("seed-fast", INGEST_ROLE),
        max_llm_calls=2,
        tags=("llm",),
        planner_hints=PlannerHints(
            expected_latency_ms=800,
            expected_llm_calls=1,
            relative_cost=0.35,
            supported_acts=("compare", "define", "explain", "identify", "recommend", "verify"),
            topic_tags=("general", "technical", "literature"),
            preferred_depth="medium",
            fallback_role="default",
            confidence_when_matched=0.72,
        ),
        provides=("intents", "context-units"),
        accepts=("chat-turn", "source-text"),
    )
    return LLMSeedDetector(descriptor, "Good where rules fail: indirect, foreign or informal wording.")


def deep_detector() -> LLMSeedDetector:
    descriptor = Descriptor(
        id="sd-llm-deep",
        type="sd-plugin",
        name="Deep LLM Seed Detector",
        version="1.0.0",
        description="Reads intents and statements from long or hard text with a strong model. Costs a call or two.",
        cost_class="expensive",
        uses_llm=True,
        model_roles=("seed-deep", INGEST_ROLE),
        max_llm_calls=2,
        tags=("llm",),
        planner_hints=PlannerHints(
            expected_latency_ms=1800,
            expected_llm_calls=1,
            relative_cost=0.75,
            supported_acts=("compare", "diagnose", "explain", "recommend", "verify"),
            topic_tags=("general", "technical", "legal", "literature"),
            preferred_depth="deep",
            fallback_role="heavy-recovery",
            confidence_when_matched=0.80,
        ),
        provides=("intents", "context-units"),
        accepts=("chat-turn", "source-text"),
    )
    return LLMSeedDetector(descriptor, "For long or ambiguous messages whose parts depend on each other.")
