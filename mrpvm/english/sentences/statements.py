"""Splits the evidence into statements, each with the antecedents of its pronouns."""

import re
from collections.abc import Iterable, Mapping, Sequence
from copy import replace
from itertools import groupby

from msgspec import Struct

from mrpvm.english.context.coreference import Antecedents, Mention, in_full, topic_mentions
from mrpvm.english.messages.kinds import asks_reader, is_task_request
from mrpvm.english.messages.small_talk import is_assent
from mrpvm.english.sentences.dialogue import UTTERANCE, in_third_person, utterance_of
from mrpvm.english.sentences.labels import sentence_of_label
from mrpvm.english.sentences.parsing import read
from mrpvm.english.sentences.structure import Sentence
from mrpvm.english.sentences.voices import Voiced, voiced
from mrpvm.english.words.text import QUESTION_MARKS, sentences
from mrpvm.text_cache import TextCache
from mrpvm.values import CHAT_TURN, EvidenceEntry

_STEP_NUMBER = re.compile(r"(?:(?<=\s)|^)(\d{1,2})\.\s+")
_BY_PRONOUN = re.compile(r"(?:he|she|his|her)\b", re.IGNORECASE)
_ITEM = re.compile(r"^- ", re.MULTILINE)
_EMPHASIS = re.compile(r"(?<![\w*])\*{1,3}(?=\S)|(?<=\S)\*{1,3}(?![\w*])")
"""The marks of Markdown around "**Entry fee:** 15 EUR"."""


class _Said(Struct, frozen=True, kw_only=True):
    """The properties of a statement that depend only on its unit's text."""

    text: str
    plain: str
    reading: Sentence
    position: int
    voiced: Voiced
    before: str | None = None
    speaker: str | None = None
    lead: str | None = None
    question: str | None = None
    is_labelled: bool = False
    step: int = 0


class Statement(_Said, frozen=True, kw_only=True):
    """One sentence of a unit.

    `text` is the text to quote, `plain` the text with its speaker in the third person, `reading` the reading of `plain`
    with pronouns replaced. `before` is the sentence that must be quoted with it, `lead` introduces its list, `question`
    is what it answers; a labelled one is a value with its label. `step` counts the steps of its procedure
    from 1. `replaces` is the earlier statement that this one corrects with a new value.
    """

    entry: EvidenceEntry
    replaces: str | None = None

    @property
    def unit_id(self) -> str:
        return self.entry.unit.id

    @property
    def is_of_document(self) -> bool:
        """Return whether it is from a document and not from a conversation."""
        return self.speaker is None and self.entry.unit.source_type not in (None, CHAT_TURN)

    @property
    def order(self) -> tuple[str, str, int, int, int, str, int]:
        """Return the place in the source, for answers that keep its order."""
        unit = self.entry.unit
        return (
            unit.source_id,
            unit.created_at or "",
            unit.chunk_index if unit.chunk_index is not None else -1,
            unit.char_start if unit.char_start is not None else -1,
            unit.unit_index if unit.unit_index is not None else -1,
            unit.id,
            self.position,
        )


class _Part(Struct, frozen=True, kw_only=True):
    """A sentence as written in its unit."""

    text: str
    speaker: str | None = None
    question: str | None = None
    lead: str | None = None
    step: int = 0


def without_summaries(entries: Sequence[EvidenceEntry]) -> Sequence[EvidenceEntry]:
    """Return the evidence without summaries, which only repeat their parts and name headings, if there is other."""
    return [entry for entry in entries if not (entry.unit.unit_type or "").endswith("-aggregate")] or entries


def statements_of(entries: Sequence[EvidenceEntry]) -> list[Statement]:
    """Return the statements of the evidence, best unit first, without questions and repeats."""
    statements: dict[tuple[str, ...], Statement] = {}
    for entry in without_summaries(entries):
        for statement in _of_unit(entry):
            statements.setdefault(_identity(statement), statement)
    return list(statements.values())


def whole_steps(statements: Iterable[Statement]) -> list[Statement]:
    """Return the statements with the sentences of each step as one."""
    groups = groupby(statements, key=lambda item: (item.unit_id, item.step or -item.position))
    steps = (list(step) for _, step in groups)
    return [replace(step[0], text=" ".join(item.text for item in step)) for step in steps]


def _identity(statement: Statement) -> tuple[str, ...]:
    """Return the key by which repeats are found: the words, the antecedents of pronouns, and the heading."""
    unit = statement.entry.unit
    above = (unit.section_title or unit.title or "", statement.lead or "", statement.question or "")
    said = (text.lower().rstrip(".! ") for text in (statement.text, statement.reading.text))
    return (*said, *above)


def _of_unit(entry: EvidenceEntry) -> Iterable[Statement]:
    unit = entry.unit
    said = _said_in(unit.text, unit.topic, unit.title, unit.unit_type, is_procedure=bool(unit.procedure))
    return (Statement(entry=entry, **{name: getattr(item, name) for name in _Said.__struct_fields__}) for item in said)


@TextCache  # the same units are evidence of question after question
def _said_in(
    text: str, topic: str, title: str | None, unit_type: str | None, *, is_procedure: bool
) -> tuple[_Said, ...]:
    antecedents = Antecedents(*topic_mentions(topic))
    asks = is_task_request if unit_type == UTTERANCE else asks_reader
    parts = [part for part in _parts(text, unit_type, is_procedure=is_procedure) if is_procedure or not asks(part.text)]
    parts = [part for part in parts if part.text.rstrip(".") != title]
    if not parts and (title or "").endswith(QUESTION_MARKS):
        parts = [_Part(text=text)]  # "No." says nothing but to the question above it
    all_said: list[_Said] = []
    for position, part in enumerate(parts):
        said = voiced(_EMPHASIS.sub("", part.text))
        sentence = None if part.speaker or said.is_claim else sentence_of_label(said.said, part.lead, title)
        plain = in_third_person(said.said, part.speaker) if part.speaker else sentence or said.said
        parsed = read(plain)
        meant = antecedents.resolve(parsed, _quoted(part))
        all_said.append(
            _Said(
                text=_quoted(part),
                plain=plain if not said.is_claim else part.text,
                reading=read(in_full(plain, parsed, meant) if not said.is_claim else part.text),
                position=position,
                voiced=said,
                before=part.lead if sentence else _told_before(meant, _quoted(part), all_said),
                speaker=part.speaker,
                lead=part.lead,
                question=_question_of(part, title),
                is_labelled=sentence is not None,
                step=part.step,
            )
        )
    return tuple(all_said)


def _told_before(meant: Mapping[int, Mention], text: str, earlier: Sequence[_Said]) -> str | None:
    """Return the text to quote before a sentence so that its first pronoun is clear.

    It is the sentence with the antecedent, after the text that this sentence needs itself.
    """
    named_in = next((item.sentence for _, item in sorted(meant.items()) if item.sentence not in ("", text)), None)
    if not earlier or not _BY_PRONOUN.match(text):
        return named_in
    named_in = named_in or earlier[-1].text
    before = next((item.before for item in earlier if item.text == named_in), None)
    return f"{before} {named_in}" if before and _BY_PRONOUN.match(named_in) else named_in


def _question_of(part: _Part, title: str | None) -> str | None:
    """Return the question that a statement answers, in the third person: a speaker's, or the heading above it."""
    utterance = utterance_of(part.question) if part.question else None
    if utterance is not None:
        return in_third_person(utterance.said, utterance.speaker)
    return title if (title or "").endswith(QUESTION_MARKS) else None


def _quoted(part: _Part) -> str:
    return f"{part.speaker}: {part.text}" if part.speaker else part.text


def _parts(text: str, unit_type: str | None, *, is_procedure: bool) -> Iterable[_Part]:
    if unit_type == UTTERANCE:
        return _utterances(text)
    lines = text.split("\n")
    if any(_ITEM.match(line) for line in lines):
        return _items(lines)
    steps = _steps(text) if is_procedure else []
    said = [(sentence, step) for step, part in enumerate(steps, 1) for sentence in sentences(part)]
    said = said or [(sentence, 0) for sentence in sentences(text)]
    return [_Part(text=sentence, step=step) for sentence, step in said if not is_assent(sentence)]


def _utterances(text: str) -> Iterable[_Part]:
    """Return the statements of a reply; the first one has the question before it."""
    question: str | None = None
    for line in text.split("\n"):
        utterance = utterance_of(line)
        if utterance is None:
            continue
        for sentence in sentences(utterance.said):
            if sentence.endswith(QUESTION_MARKS):
                question = line
                continue
            yield _Part(text=sentence, speaker=utterance.speaker, question=question)
            question = None


def _items(lines: Sequence[str]) -> Iterable[_Part]:
    lead = ""
    for line in lines:
        if not _ITEM.match(line):
            lead = line
            continue
        yield _Part(text=line.removeprefix("- "), lead=lead)


def _steps(text: str) -> list[str]:
    """Return the lead and the steps of "To clean it: 1. Switch it off. 2. Rinse it.", empty if it has no two steps."""
    cuts = [0]
    number = 0
    for match in _STEP_NUMBER.finditer(text):
        if int(match[1]) == number + 1:  # "Wait until 9. Then" is no step
            number += 1
            cuts += [match.start(), match.end()]
    parts = [text[start:end].strip() for start, end in zip(cuts[::2], [*cuts[1::2], len(text)], strict=True)]
    return [part for part in parts if part] if number > 1 else []
