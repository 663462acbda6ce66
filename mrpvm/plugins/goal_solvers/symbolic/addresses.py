"""Addresses and numbers at which somebody is reached: on a label, or in a sentence that says what goes there."""

import re
from collections.abc import Sequence

from mrpvm.knowledge.lexicon import word_class
from mrpvm.plugins.goal_solvers.symbolic.reading import read, sense
from mrpvm.plugins.goal_solvers.symbolic.statements import Statement

CONTACTS = {
    sense("email"): re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,9}"),
    sense("phone"): re.compile(r"(?<![\w.])\+?\d(?:[ /()-]{0,2}\d){5,14}(?!\w)"),
    sense("website"): re.compile(r"\bhttps?://[^\s,;]+[\w/]|\bwww\.[^\s,;]+\w"),
}
"""What an address of each kind looks like."""
_REACHING = frozenset({"you"}) | frozenset(
    sense(word)
    for word in word_class(
        "write send contact call ring reach mail email phone message question request enquiry inquiry query address "
        "number use go visit see turn online"
    )
)
"""Words that only say that somebody is reached."""
_CALL = re.compile(
    r"^(?:(?:in|for|with|in case of) (?P<case>[^,]{1,80}), )?(?:please )?(?:call|phone|ring|contact|reach) "
    r"(?P<who>.{1,80}?) (?:on|at|under)$",
    re.IGNORECASE,
)
"""An order to call somebody, up to the number."""
_NEXT = re.compile(r"(?:then|or|and|not)\b", re.IGNORECASE)


def reached_at(kind: str, things: frozenset[str], statements: Sequence[Statement]) -> Statement | None:
    """Give the sentence that says at what address the things asked about are reached, None where several differ.

    Args:
        kind: one of `CONTACTS`.
        things: what the address is for; the sentence speaks of nothing else, or tells to call there for that.
    """
    pattern = CONTACTS[kind]
    found: dict[str, Statement] = {}
    for item in statements:
        addresses = pattern.findall(item.plain)
        if len(addresses) != 1:
            continue
        said = read(_without_addresses(item.plain))
        goes_there = things == said.senses - _REACHING or _is_called(things, item.plain, pattern)
        if not said.is_negated and things and goes_there:
            found[addresses[0]] = item
    return next(iter(found.values())) if len(found) == 1 else None


def _is_called(things: frozenset[str], text: str, pattern: re.Pattern[str]) -> bool:
    """Tell whether a sentence says to call the one asked about, or to call in the case asked about."""
    address = pattern.search(text)
    order = _CALL.match(text[: address.start()].rstrip()) if address else None
    if order is None:
        return False
    case = {word.sense for word in read(order["case"] or "").words if word.is_core}
    who = [part.strip() for part in order["who"].split(",")]
    if any(_NEXT.match(part) for part in who):
        return False  # "call the fire brigade, then the caretaker": the number is of one of them
    called = [read(part).senses - _REACHING for part in who]
    return things == case or any(
        things == said or (part.istitle() and things <= said) for part, said in zip(who, called, strict=True)
    )


def _without_addresses(text: str) -> str:
    for pattern in CONTACTS.values():
        text = pattern.sub("", text)
    return text
