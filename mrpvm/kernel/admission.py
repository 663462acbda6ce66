"""Admits the control text of a seed detector and converts it to the machine's values."""

from collections.abc import Mapping
from copy import replace
from dataclasses import fields

from msgspec import Struct, field

from mrpvm.contracts import Detection, PluginError
from mrpvm.knowledge.units import content_hash, with_turn_identity
from mrpvm.lang import AdmittedDocument, AdmittedKU, ControlLanguageError, admit
from mrpvm.lang.diagnostics import shown
from mrpvm.values import Intent, KnowledgeUnit, Seed

WRONG_HASHES_NAMED = 10
"""The most units with a wrong hash that a warning names; it gives the number of all."""
_SAME_NAME = set(KnowledgeUnit.__struct_fields__) & {item.name for item in fields(AdmittedKU)} - {"hash"}


class Admitted(Struct, frozen=True, kw_only=True):
    """The result of one detection: numbered intents, their runnable seeds and subproblems, and the stated units.

    `warnings` lists problems of the documents that did not prevent admission.
    """

    intents: tuple[Intent, ...]
    seeds: tuple[Seed, ...]
    units: tuple[KnowledgeUnit, ...] = ()
    goals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def runnable(self) -> tuple[Intent, ...]:
        """Return the intents with a runnable seed; all seeds of the others were deactivated."""
        seeded = {seed.intent_id for seed in self.seeds}
        return tuple(intent for intent in self.intents if intent.id in seeded)


def admit_detection(
    detection: Detection, request_id: str, told_at: str | None = None, first_unit_number: int = 0
) -> Admitted:
    """Return the admitted objects of both documents; all or nothing.

    Args:
        told_at: ISO-8601 time of the turn; it decides which of two facts is later.
        first_unit_number: number of the first unit.

    Raises:
        ControlLanguageError: a document is malformed.
    """
    document = admit(detection.intent_document or "", "intent")
    context = None if detection.context_document is None else admit(detection.context_document, "context")
    return Admitted(
        intents=_intents(document),
        seeds=_seeds(document),
        units=() if context is None else turn_units(context, request_id, told_at, first_unit_number),
        goals=_goals(document),
        warnings=() if context is None else hash_warnings(context),
    )


def refusal(error: ControlLanguageError) -> PluginError:
    """Return a refused document as the error of the execution, with its diagnostics."""
    diagnostics = [str(item) for item in error.diagnostics]
    return PluginError(code=error.code, message=error.message, details={"diagnostics": diagnostics})


def turn_units(
    document: AdmittedDocument, request_id: str, told_at: str | None = None, first_number: int = 0
) -> tuple[KnowledgeUnit, ...]:
    """Return the document's units with ids of the turn."""
    units = [unit_of(ku) for ku in document.kus.values()]
    return with_turn_identity(units, request_id, created_at=told_at, first_number=first_number)


def unit_of(ku: AdmittedKU) -> KnowledgeUnit:
    """Return an admitted unit as the machine's value, with a newly computed hash."""
    unit = KnowledgeUnit(
        id=ku.ku_id,
        subject=ku.symbolic_subject,
        relation=ku.symbolic_relation,
        object=ku.symbolic_object,
        **{name: getattr(ku, name) for name in _SAME_NAME},
    )
    return replace(unit, hash=content_hash(unit))


def hash_warnings(document: AdmittedDocument) -> tuple[str, ...]:
    """Return a warning if hashes in the document do not match the contents of its units, else nothing."""
    claimed = [ku for ku in document.kus.values() if ku.hash is not None]
    wrong = [ku.ku_id for ku in claimed if ku.hash != unit_of(ku).hash]
    if not wrong:
        return ()
    named = ", ".join(shown(ku_id) for ku_id in wrong[:WRONG_HASHES_NAMED])
    others = len(wrong) - WRONG_HASHES_NAMED
    more = f" and {others} more" if others > 0 else ""
    return (f"The hash given for {named}{more} does not fit the content and was ignored.",)


def _intents(document: AdmittedDocument) -> tuple[Intent, ...]:
    return tuple(
        Intent(
            id=item.statement_id,
            group_number=item.group_number,
            act=item.act,
            target=item.target,
            output=item.output,
            context=item.context,
            criterion=item.criterion,
            evidence=item.evidence,
            constraints=item.constraints,
        )
        for item in document.intents.values()
    )


def _seeds(document: AdmittedDocument) -> tuple[Seed, ...]:
    """Return the schedulable seeds; an intent without seeds gets an implicit one."""
    seeds = [
        Seed(
            id=item.statement_id,
            intent_id=item.intent_id,
            mode=item.mode,
            action=item.action,
            focus=item.focus,
            split_from=item.depends_on,
        )
        for item in document.seeds.values()
        if item.is_schedulable
    ]
    seeded = {item.intent_id for item in document.seeds.values()}
    implicit = [implicit_seed(intent) for intent in _intents(document) if intent.id not in seeded]
    return (*seeds, *implicit)


def implicit_seed(intent: Intent) -> Seed:
    """Return the implicit seed of an intent without seeds."""
    return Seed(
        id=f"{intent.id}:implicit",
        intent_id=intent.id,
        mode="direct",
        action=intent.act,
        focus=intent.target,
        implicit=True,
    )


def _goals(document: AdmittedDocument) -> dict[str, tuple[str, ...]]:
    """Return the goals of each intent's subproblems, in document order."""
    goals: dict[str, tuple[str, ...]] = {}
    for item in document.subproblems.values():
        goals[item.intent_id] = (*goals.get(item.intent_id, ()), item.goal)
    return goals
