"""What one turn may look at, prepared from the stored conversation: a function of its arguments.

The only thing that it asks is a language model, where one is configured; what cannot be summarised or rewritten by it
is done by rules or left out, with a warning. Nothing is stored here: a turn's commit does that.
"""

import logging
from collections.abc import Mapping, Sequence
from copy import replace
from itertools import batched
from typing import Literal

from msgspec import Struct, field

from mrpvm.assistants.agents import Agent
from mrpvm.assistants.personas import Persona, resolve_style
from mrpvm.assistants.skills.choice import SkillChoice
from mrpvm.commands import Orchestration
from mrpvm.commands.orchestration import skill_use
from mrpvm.commands.remembered import Remembered, recalled
from mrpvm.conversation.asking import PreparationModel
from mrpvm.conversation.context import Context, ContextReport, build_context
from mrpvm.conversation.flags import Flags
from mrpvm.conversation.rewriting import (
    FOLLOWS_UP,
    Rewriting,
    before_repeats,
    need_of,
    refers_back,
    rewrite,
    spoken,
)
from mrpvm.conversation.rewriting.by_model import model_asker
from mrpvm.conversation.session_memory import Memory, told_terms
from mrpvm.conversation.summary import (
    MODEL_MESSAGES,
    PlacedMessage,
    Summary,
    due_through,
    extend_by_rules,
    summarise,
    through_within,
)
from mrpvm.conversation.system_prompt import Instruction, KeptTexts, client_prompt, instructions, system_prompt
from mrpvm.conversation.window import Window, beside_summary, counted_chars, cut_window, without_current
from mrpvm.values import CHARS_PER_TOKEN, HistoryMessage, Limits, Recall, Selection, SessionState, TurnRequest

logger = logging.getLogger(__name__)

SUMMARY_FAILED, REWRITING_FAILED = "summary_failed", "rewriting_failed"
"""Warnings: the rules summarised instead of the model; the turn continued without the rewriting."""
BATCH_MESSAGES = 100
"""How many messages of an imported history the rules summarise at once."""
LAST_ANSWER_WEIGHT, FIRST_MESSAGE_WEIGHT, MEANT_WEIGHT = 0.3, 0.1, 0.5
"""Weights of these texts in a vector search; the message has weight 1. Measured on follow-ups of three collections."""


class Guidance(Struct, frozen=True, kw_only=True):
    """What the system prompt says of the session; `style` is the active one's name."""

    persona: Persona
    style: str | None
    agent: Agent | None
    remembered: tuple[Remembered, ...] = ()


class TurnInput(Struct, frozen=True, kw_only=True):
    """What somebody asks of a conversation, with every choice made: the turn's own, the session's or the server's.

    `history` is what was said before as the request tells it; without it the session's messages are taken.
    `added` was said since. `max_history_chars` bounds the window.
    """

    request_id: str
    message: str
    flags: Flags
    system_prompt: str | None = None
    skill: Orchestration | None = None
    skill_choice: SkillChoice | None = None
    history: tuple[HistoryMessage, ...] | None = None
    added: tuple[HistoryMessage, ...] = ()
    pins: Selection = field(default_factory=Selection)
    deliberation_level: int = 0
    model: str | None = None
    grounding: Literal["strict", "open"] = "strict"
    is_streamed: bool = False
    limits: Limits = field(default_factory=Limits)
    max_history_chars: int = 16_000


class ConversationState(Struct, frozen=True, kw_only=True):
    """What is asked in a turn, and what is stored about its conversation at that moment.

    `messages` are the newest that a model may see, the newest first: as many as the window or the summary can need.
    `last_place` is the place of the last message of any kind. `guidance` is None where no model is configured.
    """

    asked: TurnInput
    session: SessionState
    preferences: Selection = field(default_factory=Selection)
    preferred_model: str | None = None
    system_prompt: str | None = None
    messages: tuple[PlacedMessage, ...] = ()
    last_place: int = 0
    summary: Summary = field(default_factory=Summary)
    memory: Memory | None = None
    guidance: Guidance | None = None
    utilities: Mapping[tuple[str, str], float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


class PreparedTurn(Struct, frozen=True, kw_only=True):
    """What the machine gets, the report of how it was made, and the conversation's summary where that has grown."""

    request: TurnRequest
    report: ContextReport
    new_summary: Summary | None = None


def prepare_turn(state: ConversationState, model: PreparationModel) -> PreparedTurn:
    """Return what the turn may look at.

    1. extend the summary where too many messages wait for it
    2. cut the window, build the context with its report
    3. rewrite the message for retrieval, prefer documents of earlier turns

    Raises:
        TurnCancelled, TurnInterrupted: the turn must end; a model was being asked meanwhile.
    """
    turn_input = state.asked
    instructions = _instructions(state)
    summary, context = _context(state, instructions, model)
    recall, rewriting, warnings = _recall(state, context.history, model)
    spent = model.spent()
    report = replace(
        context.report,
        warnings=(*context.report.warnings, *warnings, *state.warnings),
        requests=spent.exchanges,
        rewriting=rewriting,
        memory={"preferred_documents": list(recall.documents)} if turn_input.flags.enable_session_memory else None,
        skill=turn_input.skill.skill.skill_name if turn_input.skill and turn_input.skill_choice else None,
    )
    request = TurnRequest(
        request_id=turn_input.request_id,
        message=turn_input.message,
        system_prompt=system_prompt(instructions),
        skill=skill_use(turn_input.skill),
        skill_choice=turn_input.skill_choice.offer if turn_input.skill_choice else None,
        history=context.history,
        earlier=_earlier(state, len(context.history)),
        recall=recall if recall.terms or recall.documents else None,
        resolves_references=rewriting is not None and not rewriting.stands_alone,
        pins=turn_input.pins,
        preferences=state.preferences,
        deliberation_level=turn_input.deliberation_level,
        requested_model=turn_input.model,
        session_model=state.preferred_model,
        grounding=turn_input.grounding,
        quotes=turn_input.flags.enable_quotes,
        is_streamed=turn_input.is_streamed,
        session=state.session,
        limits=turn_input.limits,
        spent_ms=spent.ms,
        spent_llm_calls=spent.call_count,
        utilities=state.utilities,
    )
    return PreparedTurn(request=request, report=report, new_summary=summary)


def _instructions(state: ConversationState) -> tuple[Instruction, ...]:
    """Return the parts of the system prompt; without a model the client's own alone."""
    turn_input = state.asked
    own = client_prompt(turn_input.system_prompt, state.system_prompt)
    guidance = state.guidance
    if guidance is None:
        return (own,) if own else ()
    texts = recalled(guidance.remembered, turn_input.message)
    return instructions(
        guidance.persona,
        resolve_style(guidance.style, guidance.persona.default_style, turn_input.message),
        guidance.agent,
        own,
        KeptTexts(texts=texts, omitted_count=len(guidance.remembered) - len(texts)),
        turn_input.skill.skill if turn_input.skill else None,
    )


def _context(
    state: ConversationState, instructions: Sequence[Instruction], model: PreparationModel
) -> tuple[Summary | None, Context]:
    """Return the summary where it has grown, and the context before anything was retrieved."""
    turn_input = state.asked
    if turn_input.history is not None:
        said = without_current(turn_input.history, turn_input.message)
        cut = beside_summary if turn_input.flags.enable_history_summarization else cut_window
        window = cut(said[::-1], len(said), 2 * turn_input.flags.history_max_turns, turn_input.max_history_chars)
        context = build_context(
            message=turn_input.message, instructions=instructions, window=window, summary=Summary(), source="request"
        )
        return None, context
    summary, warnings = Summary(), tuple[str, ...]()
    if turn_input.flags.enable_history_summarization:
        summary, warnings = _summary(state, model)
    rows = [item for item in state.messages if item.sequence > summary.through]
    window = _window(turn_input, rows, state.last_place - summary.through)
    kept_count = len(window.messages) - len(turn_input.added)
    is_stored = 0 < kept_count <= len(rows) and not turn_input.added
    shown = [item.content for item in window.messages]
    context = build_context(
        message=turn_input.message,
        instructions=instructions,
        window=window,
        summary=summary,
        memory=told_terms(state.memory, turn_input.message, shown) if state.memory else "",
        source="stored",
        places=(rows[kept_count - 1].sequence, rows[0].sequence) if is_stored else None,
        warnings=warnings,
    )
    has_grown = summary.through > state.summary.through
    return summary if has_grown else None, context


def _earlier(state: ConversationState, shown_count: int) -> tuple[HistoryMessage, ...]:
    """Return the user's messages before the window among the newest of the conversation, the oldest first."""
    turn_input = state.asked
    if turn_input.history is not None:
        return ()
    older = state.messages[max(0, shown_count - len(turn_input.added)) : 2 * turn_input.flags.history_max_turns]
    return tuple(
        HistoryMessage(role=item.role, content=item.content) for item in reversed(older) if item.role == "user"
    )


def _window(turn_input: TurnInput, stored: Sequence[PlacedMessage], stored_count: int) -> Window:
    """Return what stays of the stored messages that are not summarised, and of those that were said since."""
    flags = turn_input.flags
    messages = [HistoryMessage(role=item.role, content=item.content, tool=item.tool, tool_input=item.tool_input)
                for item in stored]  # fmt: skip
    newest_first, total_count = [*reversed(turn_input.added), *messages], stored_count + len(turn_input.added)
    if not flags.enable_history_summarization:
        return cut_window(newest_first, total_count, 2 * flags.history_max_turns, turn_input.max_history_chars)
    return beside_summary(newest_first, total_count, 2 * flags.history_max_turns, _verbatim_chars(turn_input))


def _verbatim_chars(turn_input: TurnInput) -> int:
    return min(turn_input.max_history_chars, turn_input.flags.verbatim_max_tokens * CHARS_PER_TOKEN)


def _summary(state: ConversationState, model: PreparationModel) -> tuple[Summary, tuple[str, ...]]:
    """Return the summary as it must be for this turn; extended only when too much waits for it."""
    summary, flags = state.summary, state.asked.flags
    through = due_through(state.last_place, summary.through, 2 * flags.verbatim_max_turns)
    verbatim = [item for item in reversed(state.messages) if item.sequence > through]
    room = _verbatim_chars(state.asked) - sum(map(counted_chars, state.asked.added))
    through = through_within(verbatim, through, max(0, room))
    if through <= summary.through:
        return summary, ()
    max_chars = flags.summary_max_tokens * CHARS_PER_TOKEN
    waiting = [item for item in reversed(state.messages) if summary.through < item.sequence <= through]
    # Of an imported history the rules take up what is older than a model gets at once.
    older = [item for item in waiting if item.sequence <= through - MODEL_MESSAGES]
    for batch in batched(older, BATCH_MESSAGES, strict=False):
        summary = extend_by_rules(summary, batch, max_chars)
    waiting = waiting[len(older) :]
    try:
        return summarise(model, summary, waiting, max_chars), ()
    except Exception:
        logger.warning("the summary of session %s was made by rules", state.session.session_id, exc_info=True)
        return extend_by_rules(summary, waiting, max_chars), (SUMMARY_FAILED,)


def _recall(
    state: ConversationState, history: Sequence[HistoryMessage], model: PreparationModel
) -> tuple[Recall, Rewriting | None, tuple[str, ...]]:
    """Return what the conversation adds to the turn's searches, the rewriting it comes from, and warnings."""
    turn_input = state.asked
    said = before_repeats(turn_input.message, spoken(history))
    rewriting, warnings = None, tuple[str, ...]()
    if turn_input.flags.enable_query_rewriting:
        try:
            rewriting = rewrite(turn_input.message, said, ask=model_asker(model) if model.available else None)
        except Exception:
            logger.warning("the message of turn %s was not rewritten", turn_input.request_id, exc_info=True)
            warnings = (REWRITING_FAILED,)
    documents: tuple[str, ...] = ()
    if state.memory is not None and _prefers_documents(turn_input, said, rewriting):
        documents = state.memory.document_ids
    weights = rewriting.weights if rewriting else {}
    texts = meant_texts(rewriting, said) if rewriting and weights else ()
    recall = Recall(
        terms=weights,
        texts=texts,
        documents=documents,
        is_needed=refers_back(turn_input.message),
        prefers_always=turn_input.flags.document_bias == "always",
    )
    return recall, rewriting, warnings


def meant_texts(rewriting: Rewriting, said: Sequence[HistoryMessage]) -> tuple[tuple[float, str], ...]:
    """Return what a search by meaning takes from a conversation that the message follows up, with the weights."""
    first = next((item.content for item in said if item.role == "user"), "")
    answer = next((item.content for item in reversed(said) if item.role == "assistant"), "")
    meant = " ".join(item.word for item in rewriting.terms)
    weighted = ((LAST_ANSWER_WEIGHT, answer), (FIRST_MESSAGE_WEIGHT, first), (MEANT_WEIGHT, meant))
    return tuple((weight, text) for weight, text in weighted if text.strip())


def _prefers_documents(turn_input: TurnInput, said: Sequence[HistoryMessage], rewriting: Rewriting | None) -> bool:
    """Return whether documents of earlier turns are preferred: always, never, or in follow-ups."""
    if turn_input.flags.document_bias == "follow-ups":
        return (rewriting.need_probability if rewriting else need_of(turn_input.message, said)) > FOLLOWS_UP
    return turn_input.flags.document_bias == "always"
