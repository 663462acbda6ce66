"""The validator: every check returns a reason or None; the first reason rejects the answer."""

import re
from collections.abc import Iterable

from mrpvm.contracts import CallContext, Descriptor, PlannerHints, ValidateInput, Validation
from mrpvm.english.words.lexicon import pattern
from mrpvm.knowledge.forms import requested_forms
from mrpvm.plugins.response_validators.constraints.forms import broken_form, without_marks
from mrpvm.plugins.response_validators.constraints.grounding import (
    contradicted,
    readable,
    ungrounded_name,
    ungrounded_number,
)
from mrpvm.values import ACTS, AnswerGroup, Evidence

_MENTION, _ARTICLE = pattern("instructions.mention"), pattern("reading.article")

ABOUT = """\
@k1 ku atomic "plugin::val-constraints::unit-000"
@a1 set $k1 sourceId "plugin::val-constraints"
@a2 set $k1 chunkId "plugin::val-constraints"
@a3 set $k1 role Description
@a4 set $k1 topic "val-constraints"
@a5 set $k1 claim "val-constraints rejects answers with uncited or foreign sources, unfounded names or numbers."
@a6 set $k1 utilityNote "Also rejects a broken output form and broken must-mention rules; costs no model call."
@a7 set $k1 phaseScopes [val-plugin mrp-plan-plugin]
"""
"""What planners may know of this plugin, as a control document."""


class ConstraintValidator:
    """Rejects errors that can be detected without understanding the answer."""

    descriptor = Descriptor(
        id="val-constraints",
        type="val-plugin",
        name="Constraint Validator",
        version="1.0.0",
        description="Checks groups, sources, output form, numbers, names and rules of an answer. Needs no model.",
        cost_class="cheap",
        is_quick=True,
        tags=("deterministic",),
        timeout_ms=10_000,
        planner_hints=PlannerHints(
            expected_latency_ms=5,
            expected_llm_calls=0,
            relative_cost=0.02,
            supported_acts=ACTS,
            topic_tags=("legal", "literature", "procedural", "technical", "symbolic", "general"),
            preferred_depth="shallow",
            fallback_role="cheap-probe",
            confidence_when_matched=0.90,
        ),
        provides=("verdict",),
    )
    about = ABOUT

    def validate(self, request: ValidateInput, context: CallContext) -> Validation:
        """Accept, or reject with the first reason found; no-context groups are accepted."""
        by_ref = {item.intent.group_number: item for item in request.evidence}
        reason = _wrong_groups(request.answer.groups, by_ref.keys())
        for group in request.answer.groups if reason is None else ():
            if group.status == "answered":
                reason = _wrong_answer(group, by_ref[group.intent_ref], request.message)
            if reason:
                break
        return Validation(status="rejected", reason=reason) if reason else Validation(status="accepted")


def _wrong_groups(groups: Iterable[AnswerGroup], expected: Iterable[int]) -> str | None:
    answered, wanted = [group.intent_ref for group in groups], set(expected)
    missing = sorted(wanted - set(answered))
    extra = sorted(set(answered) - wanted)
    if missing:
        return f"Intent group {missing[0]} has no answer group."
    if extra:
        return f"Answer group {extra[0]} belongs to no intent."
    return f"Intent group {answered[0]} is answered twice." if len(answered) != len(set(answered)) else None


def _wrong_answer(group: AnswerGroup, evidence: Evidence, message: str) -> str | None:
    """Return why an answered group must not stand, or None."""
    where = f"Group {group.intent_ref}"
    if group.grounded and not group.evidence and group.plugin_output is None:
        return f"{where} is answered without evidence."
    available = {entry.unit.id for entry in (*evidence.entries, *group.evidence)}
    offered = {entry.unit.id for entry in evidence.entries}
    foreign = next((unit_id for unit_id in group.cited_unit_ids if unit_id not in available), None)
    foreign = foreign or next((entry.unit.id for entry in group.evidence if entry.unit.id not in offered), None)
    if foreign:
        return f"{where} names {foreign}, which is not among its evidence."
    broken = broken_form(group.answer_markdown, requested_forms(evidence))
    if broken:
        return f"{where} was to be {broken}."
    return _ungrounded(group, evidence, message, where) or _broken_rule(group, evidence, where)


def _ungrounded(group: AnswerGroup, evidence: Evidence, message: str, where: str) -> str | None:
    if not group.grounded:
        return None
    text = readable(without_marks(group.answer_markdown))
    units = [entry.unit for entry in evidence.entries]
    said = [
        part for unit in units for part in (unit.text, unit.text_body, unit.topic, unit.title, unit.condition) if part
    ]
    support = "\n".join([message, evidence.intent.target, str(group.plugin_output or ""), *said])
    number = ungrounded_number(text, support)
    if number:
        return f"{where} states the number {number}, which no source contains."
    name = ungrounded_name(text, support)
    if name:
        return f"{where} names {name}, whom no source mentions."
    rival = contradicted(text, units)
    return f"{where} contradicts {rival.id}." if rival else None


def _broken_rule(group: AnswerGroup, evidence: Evidence, where: str) -> str | None:
    """Return the must-mention or must-not-mention rule of the guidance that the answer breaks, or None."""
    text = group.answer_markdown
    for entry in evidence.guidance.validation:
        for rule in _MENTION.finditer(entry.unit.text):
            barred, wanted = rule["barred"], rule["wanted"]
            if barred and _mentions(text, barred):
                return f"{where} mentions {barred.strip()}, which a rule forbids."
            if wanted and not _mentions(text, wanted):
                return f"{where} does not mention {wanted.strip()}, as a rule demands."
    return None


def _mentions(text: str, phrase: str) -> bool:
    wanted = _ARTICLE.sub("", phrase.strip(" \"'"))
    return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", text, re.IGNORECASE) is not None
