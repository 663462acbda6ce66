"""The solver for both ids: one model call for all intents that may be answered."""

import re
from collections.abc import Callable, Sequence

from mrpvm.contracts import CallContext, Descriptor, PlannerHints, PluginError, Solution, SolveInput, with_helper
from mrpvm.conversation.answers import no_context_text
from mrpvm.conversation.helping import helper_of
from mrpvm.errors import MRPError
from mrpvm.knowledge.forms import requested_forms
from mrpvm.knowledge.payload import offered_entries
from mrpvm.llm.prompts import load_prompt
from mrpvm.plugins.dialogue import Dialogue, failure
from mrpvm.plugins.goal_solvers.llm.question import has_marks, question_messages
from mrpvm.plugins.goal_solvers.llm.reply import AnswerReader, CitedText
from mrpvm.values import Answer, AnswerGroup, Evidence

UNGROUNDED = "This answer rests on the model's own knowledge: no source was cited."
_GROUP = re.compile(r"^[ \t]*===[ \t]*GROUP[ \t]+(\d{1,4})[ \t]*===[ \t]*$", re.MULTILINE | re.IGNORECASE)
_ABOUT = """\
@k1 ku atomic "plugin::{id}::unit-000"
@a1 set $k1 sourceId "plugin::{id}"
@a2 set $k1 chunkId "plugin::{id}"
@a3 set $k1 role Description
@a4 set $k1 topic "{id}"
@a5 set $k1 claim "{id} writes answers with a language model and cites the evidence that it draws on."
@a6 set $k1 utilityNote "{note}"
@a7 set $k1 phaseScopes [gs-plugin mrp-plan-plugin]
"""


class LLMGoalSolver:
    """Answers with a language model; it can only cite the evidence it was given, and its wording is not changed."""

    def __init__(self, descriptor: Descriptor, note: str) -> None:
        """Load the prompts; a missing prompt is an error at start-up."""
        self.descriptor = descriptor
        self.about = _ABOUT.format(id=descriptor.id, note=note)
        self._prompts = {
            grounding: load_prompt(__package__, "solve", grounding=load_prompt(__package__, grounding))
            for grounding in ("strict", "open")
        }

    def solve(self, request: SolveInput, context: CallContext) -> Solution:
        """Return one group per intent; with strict grounding only intents with evidence are sent to the model."""
        if not context.model.available:
            error = PluginError(code="LLM_NOT_AVAILABLE", message="No language model is configured.")
            return Solution(status="error", error=error)
        answerable = [
            item
            for item in request.evidence
            if request.grounding == "open" or item.entries or _is_helped(request, item)
        ]
        answerable = answerable if any(char.isalnum() for char in request.message) else []
        system = "\n\n".join(filter(None, (request.system_prompt, self._prompts[request.grounding])))
        wish = request.requested_model or request.session_model
        dialogue = Dialogue(context, self.descriptor, system, wish=wish)
        try:
            readings = self._readings(dialogue, request, answerable, context.write) if answerable else {}
        except MRPError as error:
            return Solution(status="error", error=failure(error), metadata=dialogue.metadata)
        answer = Answer(
            groups=tuple(
                with_helper(
                    _group(item, readings.get(item.intent.group_number), item in answerable, request),
                    request.helpers,
                )
                for item in request.evidence
            )
        )
        status = "success" if answer.status == "answered" else "no-context"
        return Solution(status=status, answer=answer, metadata=dialogue.metadata)  # type: ignore[arg-type]

    def _readings(
        self, dialogue: Dialogue, request: SolveInput, evidence: Sequence[Evidence], write: Callable[[str], None]
    ) -> dict[int, CitedText]:
        """Return the model's text for each group; groups that it left out are missing."""
        messages = question_messages(request, evidence)
        if len(request.evidence) == 1:
            reader = _reader(evidence[0], request, write)
            reply = dialogue.ask(messages, reader.feed)
            return {evidence[0].intent.group_number: reader.close()} if reply else {}
        by_number = {item.intent.group_number: item for item in evidence}
        readings = {}
        for number, text in _sections(dialogue.ask(messages), [*by_number]):
            if number in by_number and number not in readings:
                reader = _reader(by_number[number], request, _to_nobody)
                reader.feed(text)
                readings[number] = reader.close()
            else:
                dialogue.warnings.append(f"The reply's group {number} was not asked for, or comes twice.")
        return readings


def _is_helped(request: SolveInput, evidence: Evidence) -> bool:
    """Return whether a wrapper gave a result for the intent, on which an answer may be based."""
    helper = helper_of(evidence.intent.group_number, request.helpers)
    return helper is not None and helper.status == "success"


def _to_nobody(text: str) -> None:
    """Discard the text."""


def _reader(evidence: Evidence, request: SolveInput, show: Callable[[str], None]) -> AnswerReader:
    needs_source = request.grounding == "strict" and not _is_helped(request, evidence)
    return AnswerReader(
        len(offered_entries(evidence)), has_marks=has_marks(evidence), needs_source=needs_source, show=show
    )


def _sections(reply: str, numbers: Sequence[int]) -> list[tuple[int, str]]:
    """Return the groups of a reply; a reply without headings belongs to the only group asked for."""
    parts = _GROUP.split(reply)
    sections = [(int(parts[place]), parts[place + 1]) for place in range(1, len(parts), 2)]
    return sections or ([(numbers[0], reply)] if len(numbers) == 1 else [])


def _group(evidence: Evidence, reading: CitedText | None, was_asked: bool, request: SolveInput) -> AnswerGroup:
    """Return the group for a parsed reply; only its structure is repaired, never its wording."""
    warnings = []
    if was_asked and reading is None:
        warnings.append("The model's reply holds no such group.")
    if reading is not None and reading.unknown:
        places = ", ".join(str(place) for place in reading.unknown)
        warnings.append(f"The reply cites sources that were not offered ({places}); the citations were left out.")
    strict, is_helped = request.grounding == "strict", _is_helped(request, evidence)
    is_uncited = reading is not None and not reading.is_no_context and not reading.places and not is_helped
    if is_uncited and strict:
        warnings.append("The reply cites no source and was not used.")
    elif is_uncited:
        warnings.append(UNGROUNDED)
    is_answered = reading is not None and not reading.is_no_context and not (is_uncited and strict)
    entries = offered_entries(evidence)
    text = reading.text if reading is not None and is_answered else ""
    return AnswerGroup(
        intent_ref=evidence.intent.group_number,
        act=evidence.intent.act,
        intent=evidence.intent.target,
        status="answered" if is_answered else "no-context",
        answer_markdown=text or no_context_text(as_json="json" in requested_forms(evidence)),
        evidence=evidence.entries,
        cited_unit_ids=tuple(entries[place - 1].unit.id for place in reading.places) if text and reading else (),
        warnings=tuple(warnings),
        basis="composed" if text and reading and reading.places else "none",
        grounded=not (is_answered and is_uncited),
    )


def fast_solver() -> LLMGoalSolver:
    descriptor = Descriptor(
        id="gs-llm-fast",
        type="gs-plugin",
        name="Fast LLM Goal Solver",
        version="1.0.0",
        description="Writes answers from evidence with a quick model and cites what it draws on. Costs a model call.",
        cost_class="moderate",
        uses_llm=True,
        model_roles=("goal-fast",),
        max_llm_calls=1,
        tags=("llm",),
        planner_hints=PlannerHints(
            expected_latency_ms=900,
            expected_llm_calls=1,
            relative_cost=0.40,
            supported_acts=("compare", "define", "describe", "diagnose", "explain", "identify", "recommend"),
            topic_tags=("general", "technical", "literature", "legal"),
            preferred_depth="medium",
            fallback_role="default",
            confidence_when_matched=0.74,
        ),
        provides=("answer",),
    )
    return LLMGoalSolver(descriptor, "Good for free wording and for putting several statements together.")


def deep_solver() -> LLMGoalSolver:
    descriptor = Descriptor(
        id="gs-llm-deep",
        type="gs-plugin",
        name="Deep LLM Goal Solver",
        version="1.0.0",
        description="Writes answers that need several steps of thought with a strong model, and cites its evidence.",
        cost_class="expensive",
        uses_llm=True,
        model_roles=("goal-deep",),
        max_llm_calls=1,
        tags=("llm",),
        planner_hints=PlannerHints(
            expected_latency_ms=2200,
            expected_llm_calls=1,
            relative_cost=0.78,
            supported_acts=("compare", "diagnose", "explain", "recommend", "verify"),
            topic_tags=("general", "technical", "literature", "legal", "symbolic"),
            preferred_depth="deep",
            fallback_role="heavy-recovery",
            confidence_when_matched=0.82,
        ),
        provides=("answer",),
    )
    return LLMGoalSolver(descriptor, "For comparisons, diagnoses and advice that other solvers could not give.")
