"""One intent answered from its evidence, or honestly not [BP-34 to BP-37, R-7, R-9]."""

from collections.abc import Sequence
from dataclasses import replace

from mrpvm.conversation.answers import NO_CONTEXT_TEXT, no_context_text
from mrpvm.knowledge.forms import ACKNOWLEDGEMENT, requested_forms
from mrpvm.knowledge.small_talk import UNDERSTOOD_REPLY, small_talk_reply
from mrpvm.knowledge.text import sentences
from mrpvm.plugins.goal_solvers.symbolic import explaining
from mrpvm.plugins.goal_solvers.symbolic.corrections import asks_of_before, without_corrected
from mrpvm.plugins.goal_solvers.symbolic.frames.answers import Framed, framed_answer, replied
from mrpvm.plugins.goal_solvers.symbolic.frames.identities import identified
from mrpvm.plugins.goal_solvers.symbolic.happenings import asks_what_happens, happenings
from mrpvm.plugins.goal_solvers.symbolic.headings import granted, granted_way
from mrpvm.plugins.goal_solvers.symbolic.labels import is_labelled, labelled_answer
from mrpvm.plugins.goal_solvers.symbolic.matching import Match, matches
from mrpvm.plugins.goal_solvers.symbolic.opening_hours import hours_of, open_on
from mrpvm.plugins.goal_solvers.symbolic.paraphrases import paraphrases
from mrpvm.plugins.goal_solvers.symbolic.questions import SINGLE, Kind, Question, analyse
from mrpvm.plugins.goal_solvers.symbolic.readers import readers_wordings
from mrpvm.plugins.goal_solvers.symbolic.reading import read
from mrpvm.plugins.goal_solvers.symbolic.reasons import outcomes
from mrpvm.plugins.goal_solvers.symbolic.references import leading_phrase, with_meant
from mrpvm.plugins.goal_solvers.symbolic.rendering import (
    BRIEF_CLAIMS,
    Rendered,
    bullets_text,
    comparison_text,
    json_text,
    sentences_text,
    steps_text,
    table_text,
    value_text,
)
from mrpvm.plugins.goal_solvers.symbolic.restating import restated
from mrpvm.plugins.goal_solvers.symbolic.statements import Statement, statements_of
from mrpvm.plugins.goal_solvers.symbolic.titles import titled
from mrpvm.plugins.goal_solvers.symbolic.verdicts import verdict_of
from mrpvm.plugins.goal_solvers.symbolic.voices import voiced
from mrpvm.values import AnswerGroup, Evidence

UNDECIDED_TEXT = "The evidence gives more than one answer and does not decide between them."
_SENTENCE_LIMIT = 2
"""Sentences of an answer unless an explanation, a list or steps were asked for."""
_PROCEDURE_CHARS = 400
_EXCLUSIVE_ATTRIBUTES = frozenset(("name", "age", "colour", "year", "date", "price"))


def answer_intent(evidence: Evidence) -> AnswerGroup:
    """Give the group of one intent; nothing is asserted that the evidence does not say."""
    forms = requested_forms(evidence)
    only_told = evidence.intent.output == ACKNOWLEDGEMENT
    rendered = _acknowledge(evidence) if only_told else _Answerer(evidence, forms).run()
    if rendered is None:
        return group_of(evidence, "no-context", no_context_text(as_json="json" in forms, text=_refusal(evidence)))
    if rendered.text.startswith(UNDECIDED_TEXT):
        return group_of(evidence, "no-context", rendered.text, rendered.cited_unit_ids)
    return group_of(evidence, "answered", rendered.text, rendered.cited_unit_ids)


def _refusal(evidence: Evidence) -> str:
    """Give what is said where there is no answer: to small talk and instructions something civil, else [R-7]."""
    reply = small_talk_reply(evidence.intent.target)
    if reply is None and evidence.intent.output == ACKNOWLEDGEMENT:
        told = (*evidence.guidance.goal_solver, *evidence.guidance.planner, *evidence.guidance.validation)
        reply = UNDERSTOOD_REPLY if any(entry.store == "current-turn" for entry in told) else None
    return reply or NO_CONTEXT_TEXT


def group_of(evidence: Evidence, status: str, text: str, cited: tuple[str, ...] = ()) -> AnswerGroup:
    """Give the group record of an intent with its evidence [R-2]."""
    return AnswerGroup(
        intent_ref=evidence.intent.group_number,
        act=evidence.intent.act,
        intent=evidence.intent.target,
        status="answered" if status == "answered" else "no-context",
        answer_markdown=text,
        evidence=evidence.entries,
        cited_unit_ids=cited,
    )


def _acknowledge(evidence: Evidence) -> Rendered | None:
    """Give back the first statements of the message, from this turn's own units, and that there were more [BP-6]."""
    told = sorted(statements_of(evidence.current_turn_units), key=lambda item: item.order)
    if not told:
        return None
    unit = told[0].entry.unit
    if unit.procedure and len(unit.procedure) <= _PROCEDURE_CHARS:
        return sentences_text([replace(told[0], text=unit.procedure)], opening="Noted:")
    first = sentences_text(told[:_SENTENCE_LIMIT], opening="Noted:")
    return replace(first, text=f"{first.text} And the rest.") if len(told) > _SENTENCE_LIMIT else first


class _Answerer:
    """The way from one question to its rendered answer."""

    def __init__(self, evidence: Evidence, forms: tuple[str, ...]) -> None:
        self.forms = forms
        asked = voiced(evidence.intent.target)
        by_voice = asked.is_attributed
        statements = without_corrected(
            restated(statements_of(evidence.entries)), keeps_former=asks_of_before(evidence.intent.target)
        )
        self.statements = _said_by(asked.voice, statements) if by_voice else statements
        self.original = self.asked = asked.said if by_voice else evidence.intent.target
        self.context = evidence.intent.context
        self.question = _resolved(analyse(self.original), self.context)

    def run(self) -> Rendered | None:
        """Give the answer, or None when the evidence does not hold one."""
        if not self.statements:
            return None
        if self.question.has_open_pronoun:
            return self._framed(replied(self.asked, self.statements))
        found = self._answer() or self._by_hours() or self._by_place() or self._in_other_words()
        return found or self._as_meant() or self._as_reader()

    def _by_hours(self) -> Rendered | None:
        """Give what opening hours tell of the days asked about."""
        verdict = open_on(self.asked, self.statements)
        if verdict:
            return self._rendered_verdict(is_yes=verdict[0], statement=verdict[1])
        return self._told(hours_of(self.asked, self.statements))

    def _as_meant(self) -> Rendered | None:
        """Give the answer to the question with its pronoun replaced by what it means."""
        wording = with_meant(self.original, self.context) if self.context else self.original
        if wording == self.original:
            return None
        self.asked, self.question = wording, analyse(wording)
        return self._answer() or self._by_place() or self._in_other_words()

    def _as_reader(self) -> Rendered | None:
        """Give what a document tells whoever reads it, if nothing is known of who asks."""
        for wording, statements in list(readers_wordings(self.original, self.statements)):
            self.asked, self.question, self.statements = wording, analyse(wording), statements
            # A label names nobody, so the reader's own thing is not the one beside it.
            by_place = None if "your" in wording.lower().split() else self._by_place()
            found = self._answer() or by_place or self._in_other_words()
            if found:
                return found
        return None

    def _answer(self) -> Rendered | None:
        found = self._by_words() or self._framed(framed_answer(self.asked, self.statements))
        return found or self._framed(identified(self.asked, self.statements)) or self._title()

    def _title(self) -> Rendered | None:
        found = titled(self.asked, self.statements)
        if found is None:
            return None
        statement, title = found
        return value_text(title, [statement]) if "one_word" in self.forms else self._told([statement], values=[title])

    def _by_place(self) -> Rendered | None:
        """Give what a label or heading names: what stands beside or below it answers without naming it again."""
        verdict = granted(self.asked, self.statements)
        if verdict:
            return self._rendered_verdict(is_yes=verdict[0], statement=verdict[1])
        line = labelled_answer(self.asked, self.statements)
        if line:
            return self._told([line])
        steps = granted_way(self.asked, self.statements)
        return self._told(steps or happenings(self.asked, self.statements), is_long=True)

    def _in_other_words(self) -> Rendered | None:
        for wording in paraphrases(self.asked):
            self.asked, self.question = wording, analyse(wording)
            found = self._answer()
            if found:
                return found
        return None

    def _framed(self, found: Framed | None) -> Rendered | None:
        """Give the answer that the roles of clauses tell, where the words alone tell none."""
        if found is None:
            return None
        if found.is_undecided:
            marks = sentences_text(found.statements)
            return Rendered(f"{UNDECIDED_TEXT} {_marks_of(marks)}", marks.cited_unit_ids)
        if found.verdict is not None:
            return self._rendered_verdict(is_yes=found.verdict, statement=found.statements[0])
        if found.is_steps and len(found.statements) > _SENTENCE_LIMIT and not self.forms:
            return steps_text(found.statements)
        if "one_word" in self.forms and found.values:
            return value_text(_last_word(found.values[0]), found.statements)
        return self._told(found.statements, values=found.values)

    def _by_words(self) -> Rendered | None:
        kind = self.question.kind
        if kind is Kind.YES_NO:
            return self._verdict()
        if kind is Kind.COMPARE:
            return self._comparison()
        if kind is Kind.WHY:
            return self._told(explaining.reasons(self.question, self.statements), is_long=True)
        if kind is Kind.HOW:
            return self._procedure()
        if kind is Kind.OUTCOME:
            return self._told(outcomes(self.question, self.statements))
        items = explaining.listing(self.question, self.statements)
        line = labelled_answer(self.asked, items) if items else None
        if line or not (self.question.attribute and any(is_labelled(item.text) for item in items)):
            listed = self._told([line] if line else items)
            if listed or items:
                return listed
        if kind is Kind.OPEN:
            return self._told(explaining.about(self.question, self.statements), is_long=True)
        return self._fact()

    def _verdict(self) -> Rendered | None:
        verdict = verdict_of(self.question, self.statements)
        if verdict is None:
            return None
        return self._rendered_verdict(is_yes=verdict.is_yes, statement=verdict.statement)

    def _rendered_verdict(self, *, is_yes: bool, statement: Statement) -> Rendered:
        word = "Yes" if is_yes else "No"
        if "json" in self.forms:
            return json_text(word, [statement])
        if {"yes_no", "one_word"} & set(self.forms):
            return value_text(word, [statement])
        says_it = statement.text.startswith(f"{word},")
        return sentences_text([statement], opening="" if says_it else f"{word}.")

    def _fact(self) -> Rendered | None:
        if asks_what_happens(self.asked):
            return None  # that something is spoken of does not say what becomes of it
        found = matches(self.question, self.statements)
        if not found:
            return self._definition()
        if "yes_no" in self.forms:
            return None
        if self._has_one_answer() and not _agree(found):
            marks = sentences_text([match.statement for match in found])
            return Rendered(f"{UNDECIDED_TEXT} {_marks_of(marks)}", marks.cited_unit_ids)
        if "one_word" in self.forms:
            word = _one_word(found[0])
            if "call" in self.question.senses and word.islower():
                return None  # a name is asked for
            return value_text(word, [found[0].statement])
        if self._has_one_answer():
            found = found[:1]
        return self._told([match.statement for match in found], values=[match.fillers[0].text for match in found])

    def _has_one_answer(self) -> bool:
        question = self.question
        return (
            "one_word" in self.forms
            or question.kind in SINGLE
            or question.attribute in _EXCLUSIVE_ATTRIBUTES
            or "call" in question.senses
        )

    def _definition(self) -> Rendered | None:
        question = self.question
        plain = question.kind in (Kind.WHAT, Kind.WHO) and question.is_copular and not question.attribute
        if not plain or not _is_one_thing(question) or "one_word" in self.forms:
            return None
        return self._told(explaining.definition(question, self.statements))

    def _procedure(self) -> Rendered | None:
        framed = framed_answer(self.asked, self.statements)
        if framed and framed.is_steps and len(framed.statements) > _SENTENCE_LIMIT:
            return self._framed(framed)
        steps = explaining.procedure(self.question, self.statements)
        if len(steps) > _SENTENCE_LIMIT and not self.forms:
            return steps_text(steps)
        return self._told(steps, is_long=True)

    def _comparison(self) -> Rendered | None:
        groups = explaining.comparison(self.question, self.statements)
        if not groups:
            return None
        flat = [(name, item) for name, items in groups.items() for item in items]
        if "table" in self.forms:
            return table_text([(name, item.text, item) for name, item in flat], ("Subject", "Statement"))
        if "json" in self.forms:
            return json_text(" ".join(item.text for _, item in flat), [item for _, item in flat])
        return comparison_text(groups)

    def _told(
        self, found: Sequence[Statement], *, is_long: bool = False, values: Sequence[str] = ()
    ) -> Rendered | None:
        """Give statements in the form asked for; None if there are none or the form cannot hold them."""
        unique = list({(item.before, item.text): item for item in reversed(found)}.values())[::-1]
        if not unique or {"one_word", "yes_no"} & set(self.forms):
            return None
        if "json" in self.forms:
            return json_text(" ".join(item.text for item in unique), unique)
        if "table" in self.forms:
            names = [*values, *([""] * len(unique))]
            rows = [(names[place] or item.entry.unit.topic, item.text, item) for place, item in enumerate(unique)]
            return table_text(rows, ("Subject", "Statement"))
        if "step_by_step" in self.forms:
            return steps_text(sorted(unique, key=lambda item: item.order))
        if "bullet_list" in self.forms or (not is_long and len(unique) > _SENTENCE_LIMIT):
            return bullets_text([(item.text, item) for item in unique])
        return sentences_text(unique[:BRIEF_CLAIMS] if "brief" in self.forms else unique)


def _resolved(question: Question, context: str | None) -> Question:
    """Give the question with its pronoun replaced by the subject of the sentence it refers to."""
    if not question.has_open_pronoun or not context:
        return question
    subject = leading_phrase(read(sentences(context)[-1]).words)
    if not subject:
        return question
    known = question.senses
    added = tuple(replace(word, preposition=None) for word in subject if word.sense not in known)
    return replace(question, required=(*added, *question.required), has_open_pronoun=False)


def _said_by(voice: frozenset[str], statements: Sequence[Statement]) -> list[Statement]:
    """Give what is put down to one voice, read as what it says."""
    return [
        replace(item, reading=read(item.voiced.said), clauses=())
        for item in statements
        if voice and voice <= item.voiced.voice | read(item.speaker or "").senses
    ]


def _agree(found: Sequence[Match]) -> bool:
    """Tell whether all matches give one value: each has a filler that is, or is part of, one of the first match's."""
    first = [set(filler.text.lower().split()) for filler in found[0].fillers]
    return all(
        any(
            one <= other or other <= one
            for one in first
            for other in (set(f.text.lower().split()) for f in match.fillers)
        )
        for match in found[1:]
    )


def _one_word(match: Match) -> str:
    return _last_word(match.fillers[0].text)


def _last_word(value: str) -> str:
    parts = value.split()
    return parts[0] if parts[0][:1].isdigit() else parts[-1]


def _is_one_thing(question: Question) -> bool:
    if not all(word.is_core or word.preposition == "of" for word in question.required):
        return False
    places = sorted(word.place for word in question.required)
    return bool(places) and places[-1] - places[0] == len(places) - 1


def _marks_of(rendered: Rendered) -> str:
    return " ".join(f"[{place}]" for place in range(1, len(rendered.cited_unit_ids) + 1))
