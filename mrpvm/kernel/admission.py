"""From control text to the machine's values: admission of what a seed detector wrote [T-8, T-9]."""

from dataclasses import dataclass, fields, replace

from mrpvm.contracts import Detection, PluginError
from mrpvm.knowledge.units import content_hash, with_turn_identity
from mrpvm.lang import AdmittedDocument, AdmittedKU, ControlLanguageError, admit
from mrpvm.values import Intent, KnowledgeUnit, Seed

_SAME_NAME = {item.name for item in fields(KnowledgeUnit)} & {item.name for item in fields(AdmittedKU)} - {"hash"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """What one detection came to: numbered intents, their runnable seeds, and the units the message stated."""

    intents: tuple[Intent, ...]
    seeds: tuple[Seed, ...]
    units: tuple[KnowledgeUnit, ...]


def admit_detection(detection: Detection, request_id: str, told_at: str | None = None) -> Admitted:
    """Give the admitted objects of both documents; all or nothing [T-8].

    Args:
        told_at: ISO-8601 time of the turn; of two facts it tells which came later.

    Raises:
        ControlLanguageError: a document is malformed [SOP-4].
    """
    document = admit(detection.intent_document or "", "intent")
    context = None if detection.context_document is None else admit(detection.context_document, "context")
    return Admitted(
        intents=_intents(document),
        seeds=_seeds(document),
        units=() if context is None else turn_units(context, request_id, told_at),
    )


def refusal(error: ControlLanguageError) -> PluginError:
    """Give a refused document as the execution's error, diagnostics included."""
    diagnostics = [str(item) for item in error.diagnostics]
    return PluginError(code=error.code, message=error.message, details={"diagnostics": diagnostics})


def turn_units(document: AdmittedDocument, request_id: str, told_at: str | None = None) -> tuple[KnowledgeUnit, ...]:
    """Give the document's units under the identities of a turn [T-9]."""
    return with_turn_identity([unit_of(ku) for ku in document.kus.values()], request_id, created_at=told_at)


def unit_of(ku: AdmittedKU) -> KnowledgeUnit:
    """Give an admitted unit as the machine's value, its hash computed here [KU-9]."""
    unit = KnowledgeUnit(
        id=ku.ku_id,
        subject=ku.symbolic_subject,
        relation=ku.symbolic_relation,
        object=ku.symbolic_object,
        **{name: getattr(ku, name) for name in _SAME_NAME},
    )
    return replace(unit, hash=content_hash(unit))


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
    """Give the schedulable seeds; an intent without any gets one implicit seed [I-5]."""
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
    implicit = [
        Seed(
            id=f"{intent.statement_id}:implicit",
            intent_id=intent.statement_id,
            mode="direct",
            action=intent.act,
            focus=intent.target,
            implicit=True,
        )
        for intent in document.intents.values()
        if intent.statement_id not in seeded
    ]
    return (*seeds, *implicit)
