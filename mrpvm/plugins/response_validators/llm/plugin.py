"""The validator: one model call for one verdict; a reply that cannot be parsed is no verdict."""

import json
from typing import Any

from mrpvm.contracts import CallContext, Descriptor, PlannerHints, PluginError, ValidateInput, Validation
from mrpvm.errors import MRPError
from mrpvm.knowledge.payload import masked, resolved_payload
from mrpvm.llm.prompts import load_prompt
from mrpvm.plugins.dialogue import Dialogue, failure
from mrpvm.values import HistoryMessage

REASON_CHARS = 500
"""The most characters of the model's reason that are stored."""
ABOUT = """\
@k1 ku atomic "plugin::val-llm::unit-000"
@a1 set $k1 sourceId "plugin::val-llm"
@a2 set $k1 chunkId "plugin::val-llm"
@a3 set $k1 role Description
@a4 set $k1 topic "val-llm"
@a5 set $k1 claim "val-llm has a language model reject answers that contradict their evidence or make up specifics."
@a6 set $k1 utilityNote "Costs a model call for each answer; an incomplete but honest answer passes."
@a7 set $k1 phaseScopes [val-plugin mrp-plan-plugin]
"""
"""What planners may know of this plugin, as a control document."""


class LLMValidator:
    """Rejects contradiction with the evidence and fabricated specifics, nothing else."""

    descriptor = Descriptor(
        id="val-llm",
        type="val-plugin",
        name="LLM Validator",
        version="1.0.0",
        description="Has a model look for contradictions with the evidence and made-up specifics. Costs a model call.",
        cost_class="moderate",
        uses_llm=True,
        model_roles=("validation",),
        max_llm_calls=1,
        tags=("llm",),
        planner_hints=PlannerHints(
            expected_latency_ms=800,
            expected_llm_calls=1,
            relative_cost=0.35,
            supported_acts=(),
            topic_tags=(),
            preferred_depth="medium",
            fallback_role="default",
            confidence_when_matched=0.80,
        ),
        provides=("verdict",),
    )
    about = ABOUT

    def __init__(self) -> None:
        """Load the prompt; a missing one is a start-up error."""
        self._prompt = load_prompt(__package__, "validate")

    def validate(self, request: ValidateInput, context: CallContext) -> Validation:
        """Return the model's verdict; without one the status is `error`, which does not accept."""
        dialogue = Dialogue(context, self.descriptor, self._prompt)
        try:
            reply = dialogue.ask([HistoryMessage(role="user", content=_question(request))])
        except MRPError as error:
            return Validation(status="error", error=failure(error), metadata=dialogue.metadata)
        verdict = _verdict(reply)
        if verdict is None:
            unreadable = PluginError(code="LLM_REPLY_INVALID", message="The model's reply is no verdict.")
            return Validation(status="error", error=unreadable, metadata=dialogue.metadata)
        accepted, reason = verdict
        if accepted:
            return Validation(status="accepted", reason=reason, metadata=dialogue.metadata)
        return Validation(status="rejected", reason=reason or "The model gave no reason.", metadata=dialogue.metadata)


def _question(request: ValidateInput) -> str:
    by_ref = {item.intent.group_number: item for item in request.evidence}
    groups = [
        {
            **resolved_payload(by_ref[group.intent_ref]),
            "status": group.status,
            "answer": group.answer_markdown,
            "claimsGrounding": group.grounded,
        }
        for group in request.answer.groups
        if group.intent_ref in by_ref
    ]
    return masked(json.dumps({"message": request.message, "groups": groups}, ensure_ascii=False))


def _verdict(reply: str) -> tuple[bool, str] | None:
    """Return acceptance and reason from the first JSON object in the reply, None if it holds no verdict."""
    parsed: Any = None
    try:
        parsed, _ = json.JSONDecoder().raw_decode(reply, reply.index("{"))
    except (ValueError, RecursionError):
        return None
    verdict, reason = parsed.get("verdict"), parsed.get("reason", "")
    if verdict not in ("accepted", "rejected"):
        return None
    return verdict == "accepted", " ".join(str(reason or "").split())[:REASON_CHARS]
