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
_REACHING = frozenset(
    sense(word)
    for word in word_class(
        "write send contact call ring reach mail email phone message question request enquiry inquiry query address "
        "number use go visit see turn online"
    )
)
"""Words that only say that somebody is reached."""


def reached_at(kind: str, things: frozenset[str], statements: Sequence[Statement]) -> Statement | None:
    """Give the sentence that says at what address the things asked about are reached, None where several differ.

    Args:
        kind: one of `CONTACTS`.
        things: what the address is for; the sentence speaks of nothing else.
    """
    pattern = CONTACTS[kind]
    found: dict[str, Statement] = {}
    for item in statements:
        addresses = pattern.findall(item.plain)
        if len(addresses) != 1:
            continue
        said = read(_without_addresses(item.plain))
        if not said.is_negated and things and things == said.senses - _REACHING:
            found[addresses[0]] = item
    return next(iter(found.values())) if len(found) == 1 else None


def _without_addresses(text: str) -> str:
    for pattern in CONTACTS.values():
        text = pattern.sub("", text)
    return text
