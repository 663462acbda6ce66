"""Hostile texts and what reads them. `test_hostile_texts` starts this in its own process, since a slow pattern holds
the interpreter's lock.

An eighth of each text is read first. What takes cubic time takes 1/512 of the whole text's for it, so the whole text is
only read if its eighth took longer than `SECONDS`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from time import process_time

from mrpvm.commands import remembered as memory
from mrpvm.conversation import facts
from mrpvm.conversation.guardrails import denial
from mrpvm.conversation.rewriting import rewrite
from mrpvm.conversation.session_memory import after_turn
from mrpvm.conversation.summary import PlacedMessage, Summary, extend_by_rules
from mrpvm.english.messages.instructions import is_instruction, output_forms, without_form_phrases, without_reminder
from mrpvm.english.messages.kinds import is_task_request, kind_of
from mrpvm.english.messages.pragmatics import act_of, role_of
from mrpvm.english.messages.small_talk import is_phatic
from mrpvm.english.sentences.dialogue import speakers_of, utterance_of
from mrpvm.english.sentences.voices import voiced
from mrpvm.english.words.text import collapse, sentences, words
from mrpvm.llm.redaction import redacted
from mrpvm.plugins.goal_solvers.llm.reply import AnswerReader
from mrpvm.plugins.response_validators.constraints.forms import broken_form
from mrpvm.plugins.response_validators.constraints.grounding import readable, ungrounded_name, ungrounded_number
from mrpvm.plugins.seed_detectors.symbolic.segmentation import segment
from mrpvm.sources.chunking import chunk_source
from mrpvm.sources.documents.html import read_html
from mrpvm.sources.units import describe_source
from mrpvm.values import Answer, AnswerGroup, HistoryMessage

PART = 8
SECONDS = 0.1
MESSAGE_CHARS, SENTENCE_CHARS, SOURCE_CHARS = 8_000, 2_000, 5_000_000
OPENINGS = (
    "", "how do", "what is", "tell me about", "# a", "# ", "my favourite", "my name is", "task ", "- ", "1. ", '"a',
    "a", "because", "according to a, A", "Closing Date", '"a" means', "Section 1.", "date:", "remember",
    "don't talk to", "a, who", "[1",
)  # fmt: skip
RUNS = (" ", "\t", "\n", " \n", ".", "?", '"', "\u201c", "'", "1", "1.", "1,", "[", "]", "(", "#", "-", "*", "|", "A",
        "a", "A ", "a ", "a, ", "A. ", "[1] ")  # fmt: skip


@dataclass(frozen=True)
class Text:
    """A start, many repetitions, and an end."""

    start: str
    run: str
    end: str
    chars: int

    def of(self, chars: int) -> str:
        """Return the text with so many characters of repetitions."""
        return self.start + (self.run * (chars // len(self.run) + 1))[:chars] + self.end


def texts(chars: int) -> Iterator[Text]:
    """Return texts whose end matches nothing."""
    for opening, run in {*product(OPENINGS, (" ", "\n", "A")), *product(("", "a", "1. "), RUNS)}:
        yield Text(opening, run, "\nx", chars)


def read(look: Callable[[str], object], text: Text) -> None:
    """Read an eighth of a text, and the whole one if that took long."""
    began = process_time()
    look(text.of(text.chars // PART))
    if process_time() - began > SECONDS:
        look(text.of(text.chars))


def as_reply(text: str) -> None:
    """Read a model's answer."""
    reader = AnswerReader(3, has_marks=True, needs_source=False, show=lambda piece: None)
    reader.feed(text)
    reader.close()


def as_remembered(text: str) -> None:
    """Add an answer to the session's memory."""
    group = AnswerGroup(intent_ref=1, act="ask", intent="?", status="answered", answer_markdown=text)
    after_turn(None, turn_index=1, subject=None, answer=Answer(groups=(group,)), now=datetime.now(UTC))


def as_answer(text: str) -> None:
    """Validate an answer against evidence with the same text."""
    ungrounded_number(readable(text), text)
    ungrounded_name(readable(text), text)
    broken_form(text, ("steps", "table", "list"))


def as_sentence(text: str) -> None:
    """Read a sentence as the solver reads evidence."""
    sentence = collapse(text)
    voiced(sentence)


def as_statement(text: str) -> None:
    """Classify a text."""
    for look in (act_of, role_of, is_task_request, is_instruction, output_forms, without_form_phrases, without_reminder,
                 is_phatic, words, utterance_of):  # fmt: skip
        look(text)
    kind_of(text, is_alone=True)
    speakers_of(text.splitlines())


OF_MESSAGES: tuple[Callable[[str], object], ...] = (
    lambda text: rewrite("And what about it? They say that that.", [HistoryMessage(role="user", content=text)]),
    lambda text: rewrite(text, [HistoryMessage(role="user", content="What is the Grand Canal?")]),
    lambda text: memory.user_facts_in([text]), lambda text: as_remembered(text), facts.details_in, segment, denial,
    redacted,
    lambda text: extend_by_rules(Summary(), [PlacedMessage(sequence=1, role="user", content=text)], 800),
    as_reply, as_answer, as_statement,
)  # fmt: skip
OF_SOURCES: tuple[Callable[[str], object], ...] = (
    lambda text: chunk_source(text, is_markdown=True),
    lambda text: describe_source("s", "s.txt", text),
    sentences,
    lambda text: read_html(f"<pre>{text}</pre>".encode()),
)


def main() -> None:
    """Run each reader on each of its texts."""
    for text in texts(MESSAGE_CHARS):
        for look in OF_MESSAGES:
            read(look, text)
    for text in texts(SENTENCE_CHARS):
        read(as_sentence, text)
    for run in (" ", "\t", ".", "\u201c", "#"):
        for look in OF_SOURCES:
            read(look, Text("# a", run, "b", SOURCE_CHARS))


if __name__ == "__main__":
    main()
