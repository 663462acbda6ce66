"""Rules that reword a statement in the words in which it may be asked for, one row each."""

from collections.abc import Iterator

from mrpvm.english.words.lexicon import BELONGING, rules

_RULES = rules("rewordings")


def rewordings(text: str) -> Iterator[tuple[str | None, str]]:
    """Yield the rewordings of a sentence in the order of the table, each after its topic if it does not name that."""
    for rule in _RULES:
        match = rule["pattern"].search(text)
        if match is None or match.groupdict().get("name", "").split(" ")[0].lower() in BELONGING:
            continue
        for said in rule["said"]:
            yield rule.get("topic"), said.format(**match.groupdict())
