"""Requests and unit drafts as control text."""

from collections.abc import Sequence

from mrpvm.english.messages.instructions import guidance_scopes
from mrpvm.english.messages.kinds import is_yes_no
from mrpvm.english.messages.pragmatics import act_of, strip_lead
from mrpvm.english.words.text import collapse
from mrpvm.knowledge.facts import FACT_CONFIDENCE
from mrpvm.knowledge.forms import ACKNOWLEDGEMENT, REMAINDER
from mrpvm.knowledge.units import numbered
from mrpvm.lang import ControlWriter
from mrpvm.plugins.seed_detectors.symbolic.grouping import UnitDraft
from mrpvm.plugins.seed_detectors.symbolic.segmentation import MessageRequest, Segmentation

_OUTPUT_BY_ACT = {
    "compare": "comparison",
    "explain": "explanation",
    "describe": "explanation",
    "diagnose": "explanation",
    "implement": "instructions",
    "recommend": "recommendation",
}
_LISTS = ("list", "enumerate")


def expected_output(request: MessageRequest) -> str:
    """Return the output label of a request: the forms it asks for, else what its act calls for."""
    if request.forms:
        return " ".join(request.forms)
    first = strip_lead(request.text).split(" ")[0].lower().strip(":")
    if first in _LISTS:
        return "bullet_list"
    return "verdict" if is_yes_no(request.text) else _OUTPUT_BY_ACT.get(act_of(request.text), "answer")


def intent_document(requests: Sequence[MessageRequest], left_out_count: int = 0) -> str:
    """Return one intent with one seed for each request, in order, and an intent for the number of requests left out."""
    writer = ControlWriter()
    for request in requests:
        act, target = act_of(request.text), collapse(request.text)
        intent = writer.intent(act, target, output=expected_output(request), context=request.context)
        writer.seed(intent, "direct", act, target)
    if left_out_count:
        count = len(requests)
        target = f"I answered the first {count} of {count + left_out_count} questions."
        writer.seed(writer.intent("explain", target, output=REMAINDER), "direct", "explain", target)
    return writer.text()


def acknowledgement_document(message: str) -> str:
    """Return the single `explain` intent on the whole text of a message without a request."""
    writer = ControlWriter()
    target = collapse(message)
    intent = writer.intent("explain", target, output=ACKNOWLEDGEMENT)
    writer.seed(intent, "direct", "explain", target)
    return writer.text()


def guidance_drafts(parts: Segmentation) -> list[UnitDraft]:
    """Return one guidance unit for each instruction, scoped by its wording; repeats are left out.

    An instruction of one of several requests only applies to that request.
    """
    several = len(parts.requests) > 1
    instructions: dict[tuple[str, str | None], None] = dict.fromkeys((text, None) for text in parts.instructions)
    for request in parts.requests:
        instructions |= dict.fromkeys((text, request.text if several else None) for text in request.instructions)
    return [
        UnitDraft(
            ku_type="atomic",
            role="Constraint",
            topic="how to answer",
            text=collapse(text),
            condition=condition,
            phase_scopes=scopes,
        )
        for text, condition in instructions
        if (scopes := guidance_scopes(text)) != ("kb-plugin",)
    ]


def context_document(drafts: Sequence[UnitDraft], source_id: str, chunk_id: str) -> str | None:
    """Return the drafts as units of one chunk, or None when there are none."""
    if not drafts:
        return None
    writer = ControlWriter()
    for number, draft in enumerate(drafts):
        fact = draft.fact
        writer.ku(
            draft.ku_type,
            f"{chunk_id}::{numbered('unit', number)}",
            source_id=source_id,
            chunk_id=chunk_id,
            role=draft.role,
            topic=draft.topic,
            claim=None if draft.role == "Procedure" else draft.text,
            procedure=draft.text if draft.role == "Procedure" else None,
            condition=draft.condition,
            title=draft.section_title,
            section_title=draft.section_title,
            unit_type=draft.unit_type,
            symbolic_subject=fact.subject if fact else None,
            symbolic_relation=fact.relation if fact else None,
            symbolic_object=fact.object if fact else None,
            confidence=FACT_CONFIDENCE if fact else None,
            phase_scopes=draft.phase_scopes if draft.phase_scopes != ("kb-plugin",) else None,
        )
    return writer.text()
