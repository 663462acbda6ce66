"""The statements that answer a question by the roles of its clause."""

from dataclasses import dataclass

from mrpvm.english.asking import Asked, asked_by
from mrpvm.english.causes import causes
from mrpvm.english.dimensions import asked_with_how
from mrpvm.english.discourse import Discourse
from mrpvm.english.exchanges import replies
from mrpvm.english.fitting import Fit, fits
from mrpvm.english.orders import neighbours, ways
from mrpvm.english.statements import Statement
from mrpvm.english.verdicts import verdicts

_READINGS = 3
"""How many words of a question are tried for its verb."""


@dataclass(frozen=True, slots=True)
class Framed:
    """Statements that answer, with the bare values; `is_undecided` where they give more than one answer."""

    statements: tuple[Statement, ...]
    values: tuple[str, ...]
    is_undecided: bool = False
    verdict: bool | None = None
    is_steps: bool = False


def framed_answer(text: str, discourse: Discourse) -> Framed | None:
    """Return the answer that the roles of clauses tell, or None."""
    found = (
        asked_by(wording, skipped_verbs=count)
        for wording in dict.fromkeys((text, asked_with_how(text)))
        for count in range(_READINGS)
    )
    readings: list[Asked] = []
    for asked in found:
        if asked is not None and asked not in readings:
            readings.append(asked)
    answers = (_answer(asked, discourse.restricted(asked.manners)) for asked in readings)
    return next((found for found in answers if found is not None), None)


def _answer(asked: Asked, discourse: Discourse) -> Framed | None:
    if asked.wants == "verdict":
        return _verdict(asked, discourse)
    if asked.wants == "reason":
        told = list(causes(asked, discourse))[:1]
        return Framed(tuple(item.statement for item in told), ()) if told else _reply(asked, discourse)
    sequence = neighbours(asked, discourse)
    if sequence:
        return Framed(tuple(item.statement for item in sequence[:1]), ())
    if asked.wants == "manner":
        return _way(asked, discourse)
    found = fits(asked, discourse)
    return _decided(found) if found else _reply(asked, discourse)


def replied(text: str, discourse: Discourse) -> Framed | None:
    """Return what was replied where somebody asked the same: all there is for a question that only points."""
    asked = asked_by(text)
    return _reply(asked, discourse) if asked else None


def _way(asked: Asked, discourse: Discourse) -> Framed | None:
    steps = ways(asked, discourse) or replies(asked, discourse)
    if steps:
        return Framed(tuple(item.statement for item in steps), (), is_steps=True)
    found = fits(asked, discourse)
    return Framed((found[0].told.statement,), ()) if found else None


def _verdict(asked: Asked, discourse: Discourse) -> Framed | None:
    found = list(verdicts(asked, discourse))
    if not found or len({said for said, _ in found}) > 1:
        return None
    said, told = found[0]
    return Framed((told.statement,), (), verdict=said)


def _reply(asked: Asked, discourse: Discourse) -> Framed | None:
    told = replies(asked, discourse)
    if not told:
        return None
    names = [clause.subject for item in told for clause in item.parsed.clauses if clause.subject]
    values = [told[0].parsed.text_of(phrase) for phrase in names if phrase.is_name] if asked.wants == "person" else []
    return Framed(tuple(item.statement for item in told), tuple(values))


def _decided(found: list[Fit]) -> Framed:
    first = found[0]
    rivals = [fit for fit in found[1:] if not _agree(first, fit)]
    statements = [fit.told.statement for fit in found] if rivals else [first.told.statement]
    return Framed(tuple(statements), first.values, is_undecided=bool(rivals))


def _agree(left: Fit, right: Fit) -> bool:
    one, other = (set(" ".join(fit.values).lower().split()) for fit in (left, right))
    return one <= other or other <= one
