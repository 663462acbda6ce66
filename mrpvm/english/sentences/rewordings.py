"""Rules that reword a statement in the words in which it may be asked for, one row each."""

from collections.abc import Iterator
from dataclasses import dataclass

from mrpvm.english.words.lexicon import BELONGING, rules

_RULES = rules("rewordings")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewording:
    """A rewording of a statement, and its topic if the rewording does not name that."""

    topic: str | None
    said: str


def rewordings(text: str) -> Iterator[Rewording]:
    """Yield the rewordings of a sentence, in the order of the table."""
    for rule in _RULES:
        match = rule["pattern"].search(text)
        if match is None or match.groupdict().get("name", "").split(" ")[0].lower() in BELONGING:
            continue
        for said in rule["said"]:
            yield Rewording(topic=rule.get("topic"), said=said.format(**match.groupdict()))
