"""Answers one intent from its evidence, or refuses with a reason."""

from collections.abc import Sequence
from copy import replace

from mrpvm.conversation.answers import NO_CONTEXT_TEXT, UNDECIDED_TEXT, no_context_text
from mrpvm.english.context.coreference import open_pronoun, with_meant
from mrpvm.english.context.corrections import asks_of_before, restated, taken_back, without_corrected
from mrpvm.english.context.discourse import Discourse
from mrpvm.english.context.updates import later_of
from mrpvm.english.messages.small_talk import (
    FORGOTTEN_OPENING,
    NOTED_OPENING,
    REPLIES,
    UNDERSTOOD_REPLY,
    small_talk_reply,
)
from mrpvm.english.questions.answers import ANSWERED, Framed, answered_in_source, framed_answer, replied
from mrpvm.english.questions.entailment import Refusal, Verdict
from mrpvm.english.questions.requests import Request, request_of
from mrpvm.english.sentences.parsing import read
from mrpvm.english.sentences.statements import Statement, statements_of, whole_steps
from mrpvm.english.sentences.voices import voiced
from mrpvm.english.words.text import sentences
from mrpvm.knowledge.forms import ACKNOWLEDGEMENT, REMAINDER, requested_forms
from mrpvm.plugins.goal_solvers.symbolic import rendering
from mrpvm.plugins.goal_solvers.symbolic.composing import Composed, composed
from mrpvm.values import AnswerGroup, Evidence

LATER = "a later message may have changed it"
MAY_HAVE_CHANGED = f"refused: {LATER}"
UNDECIDED = "refused: the cited sentences give different answers"
_VERDICTS: dict[Verdict, str] = {"yes": "Yes", "no": "No", "depends": "It depends"}
_SENTENCE_LIMIT = 2
"""The number of sentences in an answer, unless an explanation, a list or steps were asked for."""
_PROCEDURE_CHARS = 400


def answer_intent(evidence: Evidence) -> AnswerGroup:
    """Return the group of one intent; it asserts nothing beyond the evidence."""
    if evidence.intent.output == REMAINDER:
        return group_of(evidence, "no-context", evidence.intent.target)
    forms = requested_forms(evidence)
    only_told = evidence.intent.output == ACKNOWLEDGEMENT
    if only_told:
        rendered, reason, is_composed = _acknowledge(evidence), "", False
    else:
        answerer = _Answerer(evidence, forms)
        rendered, reason, is_composed = answerer.run(), answerer.reason, answerer.is_composed
    if rendered is None:
        text = no_context_text(as_json="json" in forms, text=_refusal(evidence))
        return replace(group_of(evidence, "no-context", text), reason=reason)
    if rendered.text.startswith(UNDECIDED_TEXT):
        return replace(group_of(evidence, "no-context", rendered.text, rendered.cited_unit_ids), reason=reason)
    group = group_of(evidence, "answered", rendered.text, rendered.cited_unit_ids)
    return replace(group, reason=reason, basis="composed" if is_composed else group.basis)


def _refusal(evidence: Evidence) -> str:
    """Return the text of a group without an answer: a reply to small talk, an acknowledgement, or the refusal."""
    reply = small_talk_reply(evidence.intent.target)
    if reply is None and evidence.intent.output == ACKNOWLEDGEMENT:
        entries = (*evidence.guidance.goal_solver, *evidence.guidance.planner, *evidence.guidance.validation)
        is_instruction = any(entry.store == "current-turn" for entry in entries)
        return UNDERSTOOD_REPLY if is_instruction else REPLIES["assent"]
    return reply or NO_CONTEXT_TEXT


def group_of(evidence: Evidence, status: str, text: str, cited: tuple[str, ...] = ()) -> AnswerGroup:
    """Return the group of an intent with its evidence."""
    return AnswerGroup(
        intent_ref=evidence.intent.group_number,
        act=evidence.intent.act,
        intent=evidence.intent.target,
        status="answered" if status == "answered" else "no-context",
        answer_markdown=text,
        evidence=evidence.entries,
        cited_unit_ids=cited,
    )


def _acknowledge(evidence: Evidence) -> rendering.Rendered | None:
    """Return the first statements of the message, from this turn's own units, and note if there were more."""
    statements = sorted(statements_of(evidence.current_turn_units), key=lambda item: item.order)
    if not statements:
        return None
    if gone := taken_back(statements[0].text):
        return rendering.sentences_text(
            [replace(statements[0], text=f"{gone[:1].upper()}{gone[1:]}.")], opening=FORGOTTEN_OPENING
        )
    unit = statements[0].entry.unit
    if unit.procedure and len(unit.procedure) <= _PROCEDURE_CHARS:
        return rendering.sentences_text([replace(statements[0], text=unit.procedure)], opening=NOTED_OPENING)
    first = rendering.sentences_text(statements[:_SENTENCE_LIMIT], opening=NOTED_OPENING)
    return replace(first, text=f"{first.text} And the rest.") if len(statements) > _SENTENCE_LIMIT else first


class _Answerer:
    """Answers one question and renders the answer."""

    def __init__(self, evidence: Evidence, forms: tuple[str, ...]) -> None:
        self.forms = forms
        voiced_question = voiced(evidence.intent.target)
        by_voice = voiced_question.is_attributed
        self.is_of_before = asks_of_before(evidence.intent.target)
        statements = without_corrected(restated(statements_of(evidence.entries)), keeps_former=self.is_of_before)
        self.statements = _said_by(voiced_question.voice, statements) if by_voice else statements
        self.question = voiced_question.said if by_voice else evidence.intent.target
        self.context = evidence.intent.context
        self.reason = "refused: no sentence was given"
        self.is_composed = False

    def run(self) -> rendering.Rendered | None:
        """Return the answer, or None if the evidence has none."""
        if not self.statements:
            return None
        meant = with_meant(self.question, self.context) if self.context else self.question
        if answered := answered_in_source(meant, self.statements):
            return self._answered(answered)
        discourse = Discourse(self.statements)
        if open_pronoun(self.question) and meant == self.question:
            return self._ordered(request_of(self.question), discourse) or self._framed(
                replied(self.question, discourse)
            )
        wordings = dict.fromkeys([meant] if open_pronoun(self.question) else [self.question, meant])
        return next(filter(None, (self._found(wording, discourse) for wording in wordings)), None)

    def _found(self, wording: str, discourse: Discourse) -> rendering.Rendered | None:
        request = request_of(wording)
        if rendered := self._ordered(request, discourse) or self._framed(framed_answer(wording, discourse)):
            return rendered
        return self._composed(request, discourse) if request is not None and not request.is_ordered else None

    def _ordered(self, request: Request | None, discourse: Discourse) -> rendering.Rendered | None:
        """Return the statements that an imperative asks for, None for a question."""
        return self._composed(request, discourse) if request is not None and request.is_ordered else None

    def _answered(self, statements: Sequence[Statement]) -> rendering.Rendered | None:
        """Return a source's own answer to the question: its steps, or its paragraphs as a whole."""
        self.reason = ANSWERED
        if all(item.entry.unit.procedure for item in statements):
            return self._told_together(Composed(kind="steps", groups={"": whole_steps(statements)}))
        units = {item.unit_id: replace(item, text=item.entry.unit.text, before=None) for item in statements}
        return self._told(list(units.values()), is_long=True)

    def _composed(self, request: Request, discourse: Discourse) -> rendering.Rendered | None:
        composition = composed(request, discourse)
        rendered = self._told_together(_within(composition, request.sentences)) if composition else None
        if rendered:
            self.is_composed = True
            self.reason = f"the cited sentences belong to the {request.kind} that was asked for"
        return rendered

    def _told_together(self, composition: Composed) -> rendering.Rendered | None:
        if composition.kind == "steps" and len(composition.statements) > _SENTENCE_LIMIT and not self.forms:
            return rendering.steps_text(composition.statements)
        if composition.kind != "comparison":
            return self._told(composition.statements, is_long=composition.kind != "list")
        if "table" in self.forms:
            rows = [(name, item.text, item) for name, items in composition.groups.items() for item in items]
            return rendering.table_text(rows, ("Subject", "Statement"))
        if "json" in self.forms:
            return rendering.json_text(" ".join(item.text for item in composition.statements), composition.statements)
        return rendering.comparison_text(composition.groups)

    def _framed(self, answer: Framed | Refusal) -> rendering.Rendered | None:
        """Return the answer by the roles of clauses, and note what decided."""
        if isinstance(answer, Refusal):
            self.reason = answer.reason
            return None
        self.reason = answer.reason
        if answer.is_undecided:
            self.reason = UNDECIDED
            return rendering.sentences_text(answer.statements, opening=UNDECIDED_TEXT)
        later = later_of(answer.statements[0], self.question, self.statements) if not self.is_of_before else []
        if later and (answer.verdict is not None or {"one_word", "yes_no"} & set(self.forms)):
            self.reason = MAY_HAVE_CHANGED
            return None
        if later:
            self.reason = f"{self.reason}; {LATER}"
            shown = [replace(item, before=None) for item in later if item not in answer.statements]
            marked = [replace(item, text=f"Later: {item.text}") for item in shown[:1]]
            return self._told([*answer.statements, *marked, *shown[1:]], is_long=True, values=answer.values)
        if answer.verdict is not None:
            return self._rendered_verdict(answer.verdict, answer.statements)
        if "one_word" in self.forms and answer.values:
            return rendering.value_text(_last_word(answer.values[0]), answer.statements)
        return self._told(answer.statements, values=answer.values)

    def _rendered_verdict(self, verdict: Verdict, statements: Sequence[Statement]) -> rendering.Rendered | None:
        word = _VERDICTS[verdict]
        if "json" in self.forms:
            return rendering.json_text(word, statements)
        if {"yes_no", "one_word"} & set(self.forms):
            return rendering.value_text(word, statements) if verdict != "depends" else None
        says_it = statements[0].text.startswith(f"{word},")
        return rendering.sentences_text(statements, opening="" if says_it else f"{word}.")

    def _told(
        self, statements: Sequence[Statement], *, is_long: bool = False, values: Sequence[str] = ()
    ) -> rendering.Rendered | None:
        """Return statements in the output form; None if there are none or they do not fit the form."""
        unique = list({(item.before, item.text): item for item in reversed(statements)}.values())[::-1]
        if not unique or {"one_word", "yes_no"} & set(self.forms):
            return None
        if "json" in self.forms:
            return rendering.json_text(" ".join(item.text for item in unique), unique)
        if "table" in self.forms:
            names = [*values, *([""] * len(unique))]
            rows = [(names[place] or item.entry.unit.topic, item.text, item) for place, item in enumerate(unique)]
            return rendering.table_text(rows, ("Subject", "Statement"))
        if "step_by_step" in self.forms:
            return rendering.steps_text(sorted(unique, key=lambda item: item.order))
        if "bullet_list" in self.forms or (not is_long and len(unique) > _SENTENCE_LIMIT):
            return rendering.bullets_text(unique)
        return rendering.sentences_text(unique[: rendering.BRIEF_CLAIMS] if "brief" in self.forms else unique)


def _within(answer: Composed, most: int) -> Composed:
    """Return the statements with the sentences that their pronouns need, at most `most` sentences in all."""
    room = most - sum(map(len, answer.groups.values()))
    groups: dict[str, list[Statement]] = {}
    for name, statements in answer.groups.items():
        shown = {item.text for item in statements}
        groups[name] = []
        for item in statements:
            extra = [text for text in sentences(item.before or "") if text not in shown]
            fits = len(extra) <= room
            room -= len(extra) if fits else 0
            groups[name].append(item if fits else replace(item, before=None))
    return replace(answer, groups=groups)


def _said_by(voice: frozenset[str], statements: Sequence[Statement]) -> list[Statement]:
    """Return the statements attributed to one voice, each read as the voice's own words."""
    return [
        replace(item, reading=read(item.voiced.said))
        for item in statements
        if voice and voice <= item.voiced.voice | read(item.speaker or "").senses
    ]


def _last_word(value: str) -> str:
    parts = value.split()
    return parts[0] if parts[0][:1].isdigit() else parts[-1]
