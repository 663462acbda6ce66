"""What a statement says besides, in the words in which it is asked for: rules on statements, one row each."""

from collections.abc import Iterator
from dataclasses import dataclass

from mrpvm.english.lexicon import BELONGING, rules

_RULES = rules("rewordings")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewording:
    """What a statement says too, and the topic under which that is found where it does not name it."""

    topic: str | None
    said: str


def rewordings(text: str) -> Iterator[Rewording]:
    """Yield what a sentence says besides, in the order of the table."""
    for rule in _RULES:
        found = rule["pattern"].search(text)
        if found is None or found.groupdict().get("name", "").split(" ")[0].lower() in BELONGING:
            continue
        for said in rule["said"]:
            yield Rewording(topic=rule.get("topic"), said=said.format(**found.groupdict()))
