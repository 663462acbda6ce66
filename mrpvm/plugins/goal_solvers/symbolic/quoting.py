"""The fallback after the grammar: the sentence that most likely answers, stated if that is certain enough, else quoted.

If the grammar refuses a plain sentence that it can parse, the refusal stands. It parses too little of long sentences,
so for these the scorer decides.
"""

import re
from collections.abc import Iterable, Sequence
from copy import replace

from msgspec import Struct

from mrpvm.conversation.answers import NO_CONTEXT_TEXT, QUOTED_OPENING
from mrpvm.conversation.rewriting.signals import refers_back
from mrpvm.english.context.coreference import with_meant
from mrpvm.english.context.corrections import asks_of_before, without_corrected
from mrpvm.english.context.discourse import Discourse
from mrpvm.english.context.updates import later_of
from mrpvm.english.messages.kinds import kind_of as kind_of_message
from mrpvm.english.questions.asking import words_asked
from mrpvm.english.questions.entailment import LACKING, refused
from mrpvm.english.questions.requests import request_of
from mrpvm.english.scoring.scorer import Passage, Scored, kind_of, model_of, score, signs_of
from mrpvm.english.scoring.weights import Model, Weights, learned
from mrpvm.english.sentences.dialogue import UTTERANCE
from mrpvm.english.sentences.parsing import read
from mrpvm.english.sentences.statements import Statement, statements_of, without_summaries
from mrpvm.english.words.text import QUESTION_MARKS, sentences
from mrpvm.plugins.goal_solvers.symbolic.composing import related
from mrpvm.values import CHAT_TURN, AnswerGroup, Evidence, EvidenceEntry, HistoryMessage, KnowledgeUnit

SCORER = "the scorer is sure"
"""The beginning of the reason for an answer of the scorer."""
_CANDIDATES_MAX = 16
_PLAIN_WORDS = 15
"""The grammar parses sentences completely up to this number of words."""
_QUOTED_MAX = 4
"""The most sentences of a quotation from one text."""
_QUOTED_APART_MAX = 2
"""The most sentences of a quotation from several texts."""
_HEADED_LIST = re.compile(r"(?!- )(.+):\n- ")
"""A list with a line before it that says what it is about; a row of a table is told as one."""
_HEADED = 0.3
"""The least share of a question's words that a heading and the sentence below it have to be quoted."""


class Candidate(Struct, frozen=True):
    """A sentence of the evidence as input of the scorer, and its place."""

    passage: Passage
    entry: EvidenceEntry
    position: int

    @property
    def text_id(self) -> str:
        """Return the part of a source that contains it; a statement of the conversation is a part by itself."""
        unit = self.entry.unit
        return unit.id if unit.source_type in (None, CHAT_TURN) else unit.chunk_id

    @property
    def order(self) -> tuple[str, int, int, int]:
        """Return the place in its source."""
        unit = self.entry.unit
        return (unit.source_id, unit.chunk_index or 0, unit.unit_index or 0, self.position)


def answered_or_quoted(
    group: AnswerGroup, evidence: Evidence, history: Sequence[HistoryMessage], *, quotes: bool
) -> AnswerGroup:
    """Return the group of a refused intent with the sentence that answers it, or the closest passage.

    Args:
        group: the group from the grammar; it is returned unchanged unless it says that nothing is known.
        history: the messages before, the oldest first.
    """
    if group.status == "answered":
        return replace(group, reason=group.reason or "the grammar found the statement")
    if group.answer_markdown != NO_CONTEXT_TEXT or kind_of_message(evidence.intent.target, is_alone=True) == "order":
        return group
    candidates = quotable_sentences(evidence.intent.target, evidence.entries)
    if not candidates:
        return replace(group, reason=group.reason or "no sentence was found that shares a word with it")
    weights = learned()
    ranked = score(evidence.intent.target, [item.passage for item in candidates], weights)
    best = candidates[ranked[0].place]
    sure = ranked[0].probability
    model = model_of([item.passage for item in candidates], weights)
    needed = model.stated
    doubt = _against_stating(evidence, best, sure, needed)
    if doubt is None:
        return replace(
            group,
            status="answered",
            basis="stated",
            answer_markdown=f"{best.passage.text} [1]",
            cited_unit_ids=(best.entry.unit.id,),
            confidence=round(sure, 2),
            reason=f"{SCORER} ({sure:.2f}, needed {needed:.2f}): {_signs(ranked[0], model)}",
        )
    question, context = evidence.intent.target, evidence.intent.context
    words = words_asked(with_meant(question, context) if context else question)
    shown = _quotable(candidates, ranked, weights, frozenset(words)) if quotes else []
    if quotes and not shown and (not words or refers_back(question)):
        shown = _quotable(candidates, _about(candidates, ranked, weights, history), weights, frozenset())
    if not shown:
        return replace(group, reason=_joined(group.reason, doubt), confidence=round(sure, 2))
    shown += _told_later(evidence, shown)
    shown += _related(evidence, shown)
    # The reason must be about the shown sentence: the grammar may have found another one closest.
    said = frozenset[str]().union(*(read(item.passage.text).senses for item in shown))
    about_shown = refused(words, said)
    is_lacking = about_shown.shared < len(words) or group.reason.startswith(LACKING)
    return _quoted(group, shown, sure, _joined(about_shown.reason if is_lacking else group.reason, doubt))


def _about(
    candidates: Sequence[Candidate], ranked: Sequence[Scored], weights: Weights, history: Sequence[HistoryMessage]
) -> list[Scored]:
    """Return the ranked sentences with their signs for the question before, which one that refers back is about."""
    before = next((item.content for item in reversed(history) if item.role == "user"), "")
    signs = signs_of(before, [item.passage for item in candidates], weights)
    return [replace(item, signs=signs[item.place]) for item in ranked]


def _quotable(
    candidates: Sequence[Candidate], ranked: Sequence[Scored], weights: Weights, words: frozenset[str]
) -> list[Candidate]:
    """Return the sentences to quote, best first: those of texts with a sentence that shares enough with the question.

    The answer itself may share no word with the question, if it uses other words or a pronoun.

    Args:
        words: the words of the question by their senses: "mother" is "mum".
    """
    on_topic = {
        candidates[item.place].text_id
        for item in ranked
        if item.signs["bm25 whole"] >= weights.quoted
        or (candidates[item.place].passage.heading and item.signs["coverage headed"] >= _HEADED)
        or (words and words <= read(candidates[item.place].passage.text).senses)
    }
    shown = [candidates[item.place] for item in ranked[:_QUOTED_MAX] if candidates[item.place].text_id in on_topic]
    return shown if len({candidate.text_id for candidate in shown}) == 1 else shown[:_QUOTED_APART_MAX]


def _told_later(evidence: Evidence, shown: Sequence[Candidate]) -> list[Candidate]:
    """Return later statements on the topic of the closest sentence, unless the question is about the former state."""
    question, best = evidence.intent.target, shown[0]
    statements = statements_of(evidence.entries)
    same = (item for item in statements if (item.unit_id, item.text) == (best.entry.unit.id, best.passage.text))
    first = None if asks_of_before(question) else next(same, None)
    return _unless_shown(later_of(first, question, statements) if first else [], shown)


def _related(evidence: Evidence, shown: Sequence[Candidate]) -> list[Candidate]:
    """Return what belongs with a quotation, if it was asked to explain, compare, summarise or trace."""
    question = evidence.intent.target
    request = request_of(question)
    if request is None or not request.is_ordered or request.kind == "steps":
        return []
    statements = without_corrected(statements_of(evidence.entries), keeps_former=asks_of_before(question))
    return _unless_shown(related(request, Discourse(statements)), shown)[: max(0, request.sentences - len(shown))]


def _unless_shown(statements: Iterable[Statement], shown: Sequence[Candidate]) -> list[Candidate]:
    known: dict[str, str] = {}
    for item in shown:
        known[item.entry.unit.id] = f"{known.get(item.entry.unit.id, '')} {item.passage.text}"
    return [
        Candidate(Passage(text=item.text), item.entry, item.position)
        for item in statements
        if item.text not in known.get(item.unit_id, "")
    ]


def _joined(refused: str, doubt: str) -> str:
    """Return the reasons of grammar and scorer as one text."""
    return f"{refused or 'refused: no rule fits'}; {doubt}"


def quotable_sentences(question: str, entries: Sequence[EvidenceEntry]) -> list[Candidate]:
    """Return the sentences of the best units, each with its neighbours; summaries are left out.

    Statements that were corrected or retracted later in the conversation are left out.
    """
    units = without_summaries(entries)
    statements = statements_of(units)
    kept = set(map(id, without_corrected(statements, keeps_former=asks_of_before(question))))
    gone = {(item.unit_id, item.text) for item in statements if id(item) not in kept}
    candidates: list[Candidate] = []
    for entry in sorted(units, key=lambda entry: -entry.score)[:_CANDIDATES_MAX]:
        unit = entry.unit
        if _answers_question(unit):
            passage = Passage(text=f"{unit.title} {unit.text}", score=entry.score, likeness=entry.likeness)
            candidates.append(Candidate(passage, entry, 0))
            continue
        said = sentences(unit.text)
        for place, text in enumerate(said):
            if text.endswith(QUESTION_MARKS) and unit.unit_type != UTTERANCE:
                continue  # a question states nothing
            if (unit.id, text) in gone:
                continue
            around = " ".join((*said[max(0, place - 1) : place], *said[place + 1 : place + 2]))
            heading = unit.title or unit.section_title or ""
            passage = Passage(text=text, around=around, heading=heading, score=entry.score, likeness=entry.likeness)
            candidates.append(Candidate(passage, entry, place))
    at = {
        (item.entry.unit.chunk_id, item.entry.unit.unit_index, item.position): item.passage.text for item in candidates
    }
    return [_beside(item, at) for item in candidates[:_CANDIDATES_MAX]]


def _answers_question(unit: KnowledgeUnit) -> bool:
    """Return whether a unit is a document's answer to the question above it, which is read and quoted with it."""
    return (unit.title or "").endswith(QUESTION_MARKS) and unit.unit_type != UTTERANCE


def _beside(item: Candidate, at: dict[tuple[str, int | None, int], str]) -> Candidate:
    """Return the candidate with the sentences of the units before and after it."""
    unit = item.entry.unit
    if unit.unit_index is None:
        return item
    near = [at.get((unit.chunk_id, unit.unit_index + step, 0), "") for step in (-1, 1)]
    around = " ".join(filter(None, (item.passage.around, *near)))
    return replace(item, passage=replace(item.passage, around=around))


def may_be_stated(question: str, candidate: Candidate) -> bool:
    """Return whether the scorer may state a sentence: it must be long, and the question must ask for a fact."""
    is_plain = len(candidate.passage.text.split()) <= _PLAIN_WORDS
    return not is_plain and kind_of(question) not in ("yes", "other")


def _against_stating(evidence: Evidence, best: Candidate, sure: float, needed: float) -> str | None:
    """Return why the best sentence is not stated as the answer, None if it is."""
    if best.entry.unit.unit_type == UTTERANCE or best.entry.unit.source_type in (None, CHAT_TURN):
        return "the scorer does not judge conversations"
    if _answers_question(best.entry.unit):
        return "the closest passage answers another question"
    if not may_be_stated(evidence.intent.target, best):
        return "the closest sentence is short enough for the rules, whose refusal counts"
    if sure < needed:
        return f"the scorer is not sure ({sure:.2f}, needed {needed:.2f})"
    return None


def _quoted(group: AnswerGroup, candidates: Sequence[Candidate], sure: float, reason: str) -> AnswerGroup:
    """Return the group with the closest passage and its source; sentences are in the order of their source."""
    shown = sorted(candidates, key=lambda item: item.order)
    unit_ids = tuple(dict.fromkeys(item.entry.unit.id for item in shown))
    said = " ".join(f"{_quotation(item, shown)} [{unit_ids.index(item.entry.unit.id) + 1}]" for item in shown)
    return replace(
        group,
        basis="quoted",
        answer_markdown=f"{QUOTED_OPENING} {said}",
        cited_unit_ids=unit_ids,
        confidence=round(sure, 2),
        reason=reason,
    )


def _quotation(item: Candidate, shown: Sequence[Candidate]) -> str:
    """Return the sentence, and before an item of a list or table what the list is about, unless that is shown too."""
    text, unit = item.passage.text, item.entry.unit
    headed = _HEADED_LIST.match(unit.text) if text.startswith("- ") else None
    is_begun = any(other.entry.unit.id == unit.id and other.position < item.position for other in shown)
    return text if headed is None or is_begun else f"{sentences(headed[1])[-1]}: {text}"


def _signs(best: Scored, model: Model) -> str:
    """Return the features that counted most for the best sentence, in words."""
    shares = sorted(((model.sure.get(name, 0.0) * value, name) for name, value in best.signs.items()), reverse=True)
    return ", ".join(name for share, name in shares[:3] if share > 0 and name != "always")
