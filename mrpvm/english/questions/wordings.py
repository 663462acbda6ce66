"""Other wordings of a question, in which a statement may answer it: a row of a table says what is, not how it is."""

from collections.abc import Iterator

from mrpvm.english.sentences.values import MEASURED_BY
from mrpvm.english.words.lexicon import rules
from mrpvm.english.words.text import MEASURES

_RULES = rules("wordings")
_OTHER = {word: noun for noun, others in MEASURES.items() for word in others} | MEASURED_BY
"""The noun for each word after "how", and the reverse."""


def wordings_of(text: str) -> Iterator[str]:
    """Yield the other wordings of a question: "how wide is it" for "what is the width of it", and the reverse."""
    asked = " ".join(text.split()).rstrip("?!. ")
    for rule in _RULES:
        match = rule["pattern"].match(asked)
        if match is None:
            continue
        parts = {name: part or "" for name, part in match.groupdict().items()}
        measure = parts.get("measure", "").lower()
        if not measure or measure in _OTHER:
            yield from (said.format(**parts, other=_OTHER.get(measure, "")) for said in rule["said"])
