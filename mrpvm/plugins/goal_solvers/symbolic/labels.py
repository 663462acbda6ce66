"""Values that stand beside a label: "Uploads: 4 GB" below "Limits", or a cell of a table [BP-36 b].

A label and the heading above it are no sentence. So every word of the question has to stand in the label, its heading
or its value, and the label and the heading may say nothing that is not asked.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mrpvm.knowledge.dialogue import UTTERANCE
from mrpvm.knowledge.lexicon import AUXILIARIES, word_class
from mrpvm.plugins.goal_solvers.symbolic.addresses import reached_at
from mrpvm.plugins.goal_solvers.symbolic.label_questions import LIMITS, LabelQuestion, canonical, label_questions
from mrpvm.plugins.goal_solvers.symbolic.reading import read, sense
from mrpvm.plugins.goal_solvers.symbolic.statements import Statement
from mrpvm.values import KnowledgeUnit

_LINE = re.compile(r"^[*_ ]{0,3}(?P<label>[^\W\d_][^:|.!?;\n]{0,60}?)[*_]{0,3}:[*_]{0,3}\s+[*_]{0,3}(?P<value>\S.*)$")
_OWN_CONTACT = re.compile(r"\b(?:my|our) (?:phone|telephone|mobile|e-?mail|number|address|website)\b", re.IGNORECASE)
"""Whoever asks so does not mean what a document gives: that is the number of whom it tells of."""
_LABEL_WORDS_MAX = 6
_TITLE_WORDS_MAX = 10
_PLAIN_HEADINGS = frozenset(
    sense(word)
    for word in word_class(
        "contact information info detail data overview general specification spec technical fact summary feature key "
        "property parameter setting configuration profile basic note product description main staff team people rule"
    )
)
"""Words of headings that only name a section: they say nothing of the lines below."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A value with its label.

    `lead` introduces the list it stands in, `heading` stands above both, `title` is what the source or the part of it
    around the heading is about.
    """

    statement: Statement
    label: frozenset[str]
    lead: frozenset[str]
    heading: frozenset[str]
    title: frozenset[str]
    ending: str
    value: str


def labelled_answer(text: str, statements: Sequence[Statement]) -> Statement | None:
    """Give the line whose label or heading names what is asked, None where several differ.

    An address may stand in a sentence as well, which then says what it is for.
    """
    if _OWN_CONTACT.search(text):
        statements = [item for item in statements if not item.is_of_document]
    lines = list(_lines(statements))
    for question in label_questions(text):
        found = [line for line in lines if _answers(question, line)]
        reached = reached_at(question.contact, question.things, statements) if question.contact else None
        if reached and not found:
            return reached
        if found:
            return _told(found[0]) if len({line.value.lower() for line in found}) == 1 else None
    return None


def is_labelled(text: str) -> bool:
    """Tell whether a text is a label with its value."""
    return _split(text) is not None


def _told(line: Labelled) -> Statement:
    """Give the statement, told with what introduces its list."""
    return replace(line.statement, before=line.statement.lead) if line.lead else line.statement


def _split(text: str) -> tuple[str, str] | None:
    line = _LINE.match(text)
    if line is None or len(line["label"].split()) > _LABEL_WORDS_MAX:
        return None
    if AUXILIARIES & set(read(line["label"]).tokens):
        return None
    return line["label"], line["value"].rstrip(". ")


def _lines(statements: Sequence[Statement]) -> Iterator[Labelled]:
    titles = {item.entry.unit.source_id: _thing_of(item.text) for item in statements if _is_title(item)}
    for item in statements:
        unit = item.entry.unit
        parts = _split(item.text) if unit.unit_type != UTTERANCE else None
        if parts is None:
            continue
        label = read(canonical(parts[0]))
        heading = read(canonical(unit.section_title or unit.title or "")).senses
        yield Labelled(
            statement=item,
            label=label.senses,
            lead=read(canonical(item.lead or "")).senses,
            heading=frozenset() if heading <= _PLAIN_HEADINGS else heading,
            title=_topic_of(unit) or titles.get(unit.source_id, frozenset()),
            ending=label.tokens[-1],
            value=parts[1],
        )


def _topic_of(unit: KnowledgeUnit) -> frozenset[str]:
    """Give what the headings around a label's own tell it to be about, of several the innermost that names a thing."""
    parts = [_thing_of(part) for part in unit.topic.split(": ")]
    named = (part for part in reversed(parts) if not part <= _PLAIN_HEADINGS | read(canonical(unit.text)).senses)
    return next(named, frozenset())


def _thing_of(title: str) -> frozenset[str]:
    """Give the words of the thing that a title names: not whose it is, nor where or about what."""
    return frozenset(word.sense for word in read(canonical(title)).words if word.is_core and not word.is_owner)


def _is_title(statement: Statement) -> bool:
    """Tell whether a statement is the title of its source: its first line, no sentence and no label."""
    unit = statement.entry.unit
    is_first = unit.chunk_index == 0 and unit.unit_index == 0 and statement.position == 0
    return is_first and len(unit.text.split()) <= _TITLE_WORDS_MAX and unit.text[-1:].isalnum() and ":" not in unit.text


def _answers(question: LabelQuestion, line: Labelled) -> bool:
    """Tell whether a line says all that is asked, and its label and heading nothing besides."""
    naming = question.things | question.said_by | question.optional
    if not line.label or not line.label <= naming:
        return False
    if not line.lead <= naming or not _is_open(line.heading - naming, below=line.lead):
        return False
    above = line.lead | line.heading or line.title
    if question.said_by and not question.said_by & (line.label | above):
        return False
    if question.said_by == LIMITS and not line.label & question.things:
        return False
    if question.links and line.ending not in question.links:
        return False
    known = line.label | line.lead | line.heading | (read(line.value).senses & question.limits)
    if not (line.lead | line.heading) & question.things:
        known |= line.title
    return question.things <= known and question.fits(line.value)


def _is_open(unasked: frozenset[str], below: frozenset[str]) -> bool:
    """Tell whether a heading leaves open what stands below it: one word above a lead only says of what kind it is."""
    return unasked <= _PLAIN_HEADINGS or (bool(below) and len(unasked) == 1)
