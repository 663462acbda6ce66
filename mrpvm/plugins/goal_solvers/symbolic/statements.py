"""The evidence as single statements, each with what its pronouns stand for."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mrpvm.knowledge.lexicon import REFERRING_PRONOUNS, TIME_WORDS
from mrpvm.knowledge.pragmatics import is_task_request
from mrpvm.knowledge.text import sentences, words
from mrpvm.plugins.goal_solvers.symbolic.reading import Reading, Word, is_past, read
from mrpvm.values import EvidenceEntry

_CLAUSE_BREAK = re.compile(
    r";\s*|,?\s+(?:but|whereas|although|though|yet)\s+|,\s+(?:and|while|so|or)\s+(?=(?:the|a|an|my|your|his|her|its|our|their|i"
    r"|we|you|he|she|it|they|[A-Z]\w+)\b)",
)
_STEP_NUMBER = re.compile(r"(?:(?<=\s)|^)\d{1,2}\.\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One sentence of a unit; `inherited` are words its pronoun refers to, `before` the sentence that names them."""

    text: str
    reading: Reading
    clauses: tuple[Reading, ...]
    entry: EvidenceEntry
    position: int
    inherited: tuple[Word, ...] = ()
    before: str | None = None

    @property
    def unit_id(self) -> str:
        """Give the id of the unit that says it."""
        return self.entry.unit.id

    @property
    def order(self) -> tuple[str, int, int, int, str, int]:
        """Give the place in the source, for answers that tell things in their order [BP-36 d]."""
        unit = self.entry.unit
        return (
            unit.source_id,
            unit.chunk_index if unit.chunk_index is not None else -1,
            unit.char_start if unit.char_start is not None else -1,
            unit.unit_index if unit.unit_index is not None else -1,
            unit.id,
            self.position,
        )


def statements_of(entries: Iterable[EvidenceEntry]) -> list[Statement]:
    """Give the statements of the evidence, best unit first; questions in it state nothing, repeats are left out."""
    found: dict[str, Statement] = {}
    for entry in entries:
        for statement in _of_unit(entry):
            found.setdefault(statement.text.lower().rstrip(".! "), statement)
    return list(found.values())


def _of_unit(entry: EvidenceEntry) -> Iterable[Statement]:
    unit = entry.unit
    texts = [text for text in _sentences(unit.text) if not is_task_request(text) or unit.procedure]
    for position, text in enumerate(texts):
        previous = texts[position - 1] if position else None
        inherited = _antecedent(text, previous, unit.topic)
        yield Statement(
            text=text,
            reading=read(text),
            clauses=_clauses(text),
            entry=entry,
            position=position,
            inherited=inherited,
            before=previous if inherited and previous else None,
        )


def _sentences(text: str) -> list[str]:
    if len(_STEP_NUMBER.findall(text)) >= 2:
        return [part.strip() for part in _STEP_NUMBER.split(text) if part.strip()]
    return sentences(text)


def _clauses(text: str) -> tuple[Reading, ...]:
    parts = [part.strip() for part in _CLAUSE_BREAK.split(text) if part.strip()]
    return tuple(read(part) for part in parts) if len(parts) > 1 else ()


def _antecedent(text: str, previous: str | None, topic: str) -> tuple[Word, ...]:
    """Give the words a leading pronoun stands for: the subject of the sentence before, or the unit's topic.

    A sentence that names two things leaves open which of them is meant; then nothing is inherited.
    """
    first = words(text)[:1]
    if not first or first[0] not in REFERRING_PRONOUNS:
        return ()
    source = read(previous) if previous else read(topic)
    leading = leading_phrase(source.words)
    rivals = {word.sense for word in source.words if _is_rival(word)}
    if previous and rivals - {word.sense for word in leading}:
        return ()
    return leading


def _is_rival(word: Word) -> bool:
    return word.is_name and word.is_core and not word.is_owner and word.text not in TIME_WORDS


def leading_phrase(found: Sequence[Word]) -> tuple[Word, ...]:
    """Give the words of the subject, as far as they can be told from a verb."""
    phrase: list[Word] = []
    for word in found:
        if not word.is_core or word.is_pronoun or word.is_owner or word.text in TIME_WORDS:
            if phrase:
                break
            continue
        follows = not phrase or (word.place == phrase[-1].place + 1 and not (phrase[-1].is_name and not word.is_name))
        if not follows or is_past(word.text) or (phrase and not word.is_name and word.text.endswith("s")):
            break
        phrase.append(word)
        if len(phrase) == 3:
            break
    return tuple(phrase)
