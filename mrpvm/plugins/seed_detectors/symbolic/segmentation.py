"""Splits a message into requests, instructions and statements."""

import re
from copy import replace
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from msgspec import Struct

from mrpvm.english.messages.instructions import (
    form_phrases,
    is_instruction,
    is_session_wide,
    output_forms,
    without_form_phrases,
    without_reminder,
)
from mrpvm.english.messages.kinds import direct_question, is_task_request, kind_of
from mrpvm.english.messages.pragmatics import strip_lead
from mrpvm.english.messages.small_talk import is_phatic
from mrpvm.english.sentences.dialogue import Utterance, speakers_of, utterance_of
from mrpvm.english.words.lexicon import DETERMINERS, REFERRING_PRONOUNS, listed, pattern
from mrpvm.english.words.text import QUESTION_MARKS, collapse, sentences, unique_terms, words
from mrpvm.sources.chunking import without_closing_marks

_ITEM = re.compile(r"^\s*(?:[-*\u2022\u2013]|\(?\d{1,3}[.)]|[a-z]\)|Q\d{1,3}\s*[:.)])\s+(?P<text>\S.*)$")
_HEADING = re.compile(r"^\s{0,3}(?P<marks>#{1,6})\s+(?P<title>.*)$")
_NUMBERED = re.compile(r"^\s*(?:\(?\d{1,3}[.)]|Q\d{1,3}\s*[:.)])\s")
_INLINE_NUMBER = re.compile(r"(?:(?<=\s)|(?<=^))\(?(\d{1,3})[.)]\s+(?=\S)")
_LIST_LEAD = pattern("segmentation.list_lead")
_ASKED = listed("asking_nouns")
_WORDS_OF_A_CLAUSE = 4
_SECOND_REQUEST = pattern("segmentation.second_request")


class MessageRequest(Struct, frozen=True):
    """One task of the message; `forms` are asked for it, `context` is the sentence a pronoun in it refers to."""

    text: str
    forms: tuple[str, ...] = ()
    instructions: tuple[str, ...] = ()
    context: str | None = None


class MessageStatement(Struct, frozen=True):
    """A statement of the message.

    `block` is the number of its paragraph, `heading` the heading above it, `title` the outer headings, `is_procedure`
    marks a numbered list of steps, `speaker` is its speaker in a dialogue.
    """

    text: str
    block: int
    is_procedure: bool = False
    is_list: bool = False
    speaker: str | None = None
    heading: str | None = None
    title: str | None = None


REQUESTS_MAX = 20
"""The most questions of one message that are answered; each costs a search and an answer."""
_MERGED_CHARS = 400
"""A request longer than this is not merged with one that refers back to it."""


@dataclass(slots=True)
class Segmentation:
    """The parts of a message in document order; `left_out_count` is the number of requests above a turn's limit."""

    requests: list[MessageRequest] = field(default_factory=list)
    instructions: list[str] = field(default_factory=list)
    statements: list[MessageStatement] = field(default_factory=list)
    left_out_count: int = 0


class Line(Struct, frozen=True):
    """A line, or an item of an enumeration within a line, without its bullet or number."""

    text: str
    is_item: bool
    is_numbered: bool


def lines_of(text: str) -> list[Line]:
    """Return the lines of `text`; an enumeration inside a line is cut at its numbers first."""
    segments = []
    for line in text.splitlines():
        for part in _cut_inline(line):
            item = _ITEM.match(part)
            segments.append(Line(item["text"] if item else part, item is not None, bool(_NUMBERED.match(part))))
    return segments


def _cut_inline(line: str) -> list[str]:
    marks = list(_INLINE_NUMBER.finditer(line))
    first = int(marks[0][1]) if len(marks) > 1 else -1
    if first not in (0, 1) or [int(mark[1]) for mark in marks] != list(range(first, first + len(marks))):
        return [line]
    if line[: marks[0].start()].rstrip()[-1:].isalnum():
        return [line]  # "The first bus leaves at 1. The second leaves at 2. Both are red."
    cuts = [0, *(mark.start() for mark in marks), len(line)]
    return [line[left:right] for left, right in pairwise(cuts) if line[left:right].strip()]


_WRAPPED_LINE_CHARS = 60
"""A shorter line without a final mark is complete, a longer one is wrapped text."""


def _joined(lines: list[str]) -> str:
    """Return prose lines as one text; an empty line follows a line that ends a sentence without a mark."""
    text = ""
    for line in (line.strip() for line in lines):
        wrapped = len(text.rpartition("\n")[2]) >= _WRAPPED_LINE_CHARS or text.endswith((",", ";"))
        text += ("\n" if wrapped and (_goes_on(line) or not is_task_request(line)) else "\n\n") + line
    return text


def _goes_on(line: str) -> bool:
    """Return whether a line continues a sentence: "is driven by motor M7."."""
    first = sentences(line)[0]
    return line[:1].islower() and (first.endswith(".") or (first == line and len(line) >= _WRAPPED_LINE_CHARS))


class Segmenter:
    """Splits one message in a single pass over its lines."""

    def __init__(self, *, is_alone: bool = False) -> None:
        self.result = Segmentation()
        self._is_alone = is_alone
        self.block = 0
        self._heading: str | None = None
        self._marked: tuple[tuple[int, str], ...] = ()  # the headings with marks that one is in, with their levels
        self._speakers: frozenset[str] = frozenset()
        self._asked: Utterance | None = None
        self._prose: list[str] = []
        self._since_request: list[str] = []

    def run(self, text: str) -> Segmentation:
        lines = self._lines(text)
        self._speakers = speakers_of(line.text for line in lines if not line.is_item)
        for is_item, group in groupby(lines, key=lambda line: line.is_item):
            if is_item:
                self._take_list(list(group))
            else:
                for line in group:
                    self._take_line(line.text)
        self._flush_prose()
        self._share_instructions()
        return self.result

    def _lines(self, text: str) -> list[Line]:
        return lines_of(text)

    def _joined(self) -> str:
        """Return the collected prose as one text."""
        return _joined(self._prose)

    def _take_line(self, text: str) -> None:
        utterance = utterance_of(text, self._speakers)
        heading = _HEADING.match(text)
        if utterance:
            self._flush_prose()
            self._take_utterance(utterance)
        elif heading:
            self._flush_prose()
            self._take_heading(without_closing_marks(heading["title"]) or None, len(heading["marks"]))
        elif text.strip():
            self._prose.append(text)
        else:
            self._flush_prose()

    def _take_heading(self, title: str | None, level: int) -> None:
        """Begin the section of a heading, which names it and states nothing."""
        self._heading = title
        outer = (above for above in self._marked if above[0] < level)
        self._marked = (*outer, *([(level, title)] if title else []))

    def _take_utterance(self, utterance: Utterance) -> None:
        """Add a speaker's statements; a question is only kept before its reply, which may refer to it."""
        parts = sentences(utterance.said)
        stated = [text for text in parts if not is_task_request(text) and not is_phatic(text)]
        if stated:
            text = f"{utterance.speaker}: {' '.join(stated)}"
            if self._asked and self._asked.speaker != utterance.speaker and not is_task_request(parts[0]):
                text = f"{self._asked.speaker}: {self._asked.said}\n{text}"
            self._add_statement(text, speaker=utterance.speaker)
            self.block += 1
        questions = [text for text in parts[-1:] if text.endswith(QUESTION_MARKS)]
        self._asked = Utterance(utterance.speaker, questions[0]) if questions else None

    def _add_statement(
        self, text: str, *, is_procedure: bool = False, is_list: bool = False, speaker: str | None = None
    ) -> None:
        self.result.statements.append(
            MessageStatement(
                text,
                self.block,
                is_procedure,
                is_list,
                speaker=speaker,
                heading=self._heading,
                title=": ".join(title for _, title in self._marked[:-1]) or None,
            )
        )

    def _take_list(self, items: list[Line]) -> None:
        lead = self._take_lead()
        texts = [collapse(item.text) for item in items]
        asks = any(is_task_request(text) for text in texts)
        if asks or (lead and (is_task_request(lead) or is_instruction(lead) or _asks_for_each(lead))):
            self._take_requests(lead, texts)
            return
        self._state_list(lead, texts, is_procedure=all(item.is_numbered for item in items))

    def _state_list(self, lead: str, texts: list[str], *, is_procedure: bool) -> None:
        self._flush_prose()
        if is_procedure:
            body = " ".join(f"{place}. {text}" for place, text in enumerate(texts, 1))
            self._add_statement(f"{lead} {body}".strip(), is_procedure=True)
        else:
            lines = [lead, *(f"- {_stop(text)}" for text in texts)]
            self._add_statement("\n".join(line for line in lines if line), is_list=True)
        self.block += 1

    def _take_lead(self) -> str:
        """Return the sentence that introduces a list: the last one before it, if its form allows that."""
        parts = sentences(self._joined())
        if parts and (parts[-1].endswith(":") or is_instruction(parts[-1]) or _asks_for_each(parts[-1])):
            self._prose = [" ".join(parts[:-1])]
            return parts[-1]
        return ""

    def _take_requests(self, lead: str, texts: list[str]) -> None:
        self._flush_prose()
        verb = strip_lead(lead).split(" ")[0] if lead and is_task_request(lead) else ""
        if lead and not verb and (output_forms(lead) or is_instruction(lead)):
            self.result.instructions.append(lead.rstrip(":"))
        forms = output_forms(lead)
        for text in texts:
            request = text if is_task_request(text) or not verb else f"{verb} {text}"
            self._add_request(request, forms)

    def _flush_prose(self) -> None:
        text = self._joined()
        self._prose = []
        for sentence in sentences(text):
            self._take_sentence(sentence)
        if text.strip():
            self.block += 1

    def _take_sentence(self, sentence: str) -> None:
        if is_instruction(sentence) or _only_asks_for_form(sentence):
            (self._since_request if self.result.requests else self.result.instructions).append(sentence)
            return
        kind = kind_of(sentence, is_alone=self._is_alone)
        if kind == "statement":
            self._add_statement(without_reminder(sentence))
        elif kind != "talk":
            for part in _SECOND_REQUEST.split(sentence):
                self._add_request(part.strip())

    def _add_request(self, text: str, forms: tuple[str, ...] = ()) -> None:
        text = direct_question(text) or text
        requests = self.result.requests
        if len(requests) == REQUESTS_MAX:
            self.result.left_out_count += 1
            return
        if requests:
            self._give_instructions_to_last()
            if len(requests[-1].text) < _MERGED_CHARS and _refers_back(text, requests[-1].text):
                requests[-1] = replace(requests[-1], text=f"{requests[-1].text} {text}")
                return
        phrases = form_phrases(text)
        bare = without_form_phrases(text) if phrases else text
        requests.append(
            MessageRequest(
                text=bare if unique_terms(bare) else text,
                forms=output_forms(*phrases, *forms),  # "Explain the Oak table." asks for no table
                instructions=phrases,
                context=self._antecedent(text),
            )
        )

    def _antecedent(self, text: str) -> str | None:
        if REFERRING_PRONOUNS.isdisjoint(words(text)):
            return None
        if self.result.requests:
            return self.result.requests[-1].text
        return self.result.statements[-1].text if self.result.statements else None

    def _give_instructions_to_last(self) -> None:
        """Assign instructions between two requests to the first of them; session-wide ones apply to all requests."""
        local = tuple(text for text in self._since_request if not is_session_wide(text))
        self.result.instructions += [text for text in self._since_request if text not in local]
        last = self.result.requests[-1]
        self.result.requests[-1] = replace(
            last, forms=last.forms or output_forms(*local), instructions=(*last.instructions, *local)
        )
        self._since_request = []

    def _share_instructions(self) -> None:
        """Add the instructions before the first and after the last request to each request without its own."""
        self.result.instructions += self._since_request
        shared = output_forms(*self.result.instructions)
        self.result.requests = [
            request if request.forms else replace(request, forms=shared) for request in self.result.requests
        ]


def _stop(text: str) -> str:
    return text if text[-1:] in ".!?:;" else text + "."


def _asks_for_each(lead: str) -> bool:
    return lead.endswith(":") and bool(_LIST_LEAD.search(lead)) and not _tells_of_items(lead)


def _tells_of_items(lead: str) -> bool:
    """Return whether the lead is a statement about its items ("The following valves exist:"), not an imperative."""
    tokens = words(lead)
    return tokens[0] in DETERMINERS and len(tokens) >= _WORDS_OF_A_CLAUSE and not _ASKED.intersection(tokens)


def _only_asks_for_form(sentence: str) -> bool:
    """Return whether a request only names the form of the answer ("Give me a short answer.")."""
    if not form_phrases(sentence) or not is_task_request(sentence):
        return False
    rest = strip_lead(without_form_phrases(sentence)).split(" ")[1:]
    return not unique_terms(" ".join(rest))


def _refers_back(text: str, before: str) -> bool:
    """Return whether a request refers back by a pronoun and names nothing new: it belongs to the previous one."""
    return not REFERRING_PRONOUNS.isdisjoint(words(text)) and set(unique_terms(text)) <= set(unique_terms(before))


def segment(message: str) -> Segmentation:
    """Return the requests, instructions and statements of a message, each in document order."""
    is_alone = "\n" not in message.strip() and len(sentences(message)) == 1
    return Segmenter(is_alone=is_alone).run(message)
