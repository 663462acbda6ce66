"""What a turn saw, noted so that it can be run again: pointers to rows, and what rows do not keep.

What turns have in common, such as policies and limits, is stored once for all of them. Messages, units and traces are
pointed at: they only grow, and what is taken out of a session's layers is kept in removed ones.
"""

from collections.abc import Mapping, Sequence
from copy import replace
from typing import Any, Self

from django.conf import settings
from msgspec import Struct

from mrpvm import registry
from mrpvm.assistants.skills.choice import SkillChoice
from mrpvm.commands import Orchestration
from mrpvm.conversation.preparation import ConversationState, PreparedTurn
from mrpvm.conversation.session_memory import Memory, StoredMemory
from mrpvm.conversation.summary import Summary
from mrpvm.llm.port import Sampling
from mrpvm.values import HistoryMessage
from mrpvm.wire import from_wire, to_wire, wire_names
from sessions_app.actions.turns.conditions import digest_of, product_version, store_conditions
from sessions_app.language_model import configuration
from sessions_app.layers import EffectiveView
from sessions_app.models import ExplainabilityTurn

type Utilities = Mapping[tuple[str, str], float]

MOST_CHANGED = 12
"""Utilities that may differ from those of the conditions before new conditions are stored."""
_CONDITIONS_REMEMBERED = 10_000
_MEMORY_INTERVAL = 50
"""Turns from one kept memory to the next; fewer where fewer than ten times as many turns are kept."""


class TurnView(Struct, frozen=True, kw_only=True):
    """What one turn saw. A stored view ends with the last field that says something, so every other has a default.

    `layers` are the session's own, the highest first, then the mounted one; `draft_count` of the own ones, the lowest,
    were its draft. `marks` are the highest keys of units, hidings and layers at that moment. `memory_turn_count` counts
    the turns that the session remembered, None without a memory. `utilities` are those that differ from the conditions'
    by their places there. The turn that extended the session's summary keeps its text as `new_summary`; later
    turns keep how far it goes. A `history` that the request brought is kept as far as its window may reach; of it
    `history_omitted_count` messages are not. Once in `_MEMORY_INTERVAL` turns `memory` is what the session remembered,
    because the turns that left it are not kept for ever.
    """

    layers: tuple[int, ...]
    draft_count: int = 0
    marks: tuple[int, ...] = ()
    evidence_count: int = 0
    term_count: int = 0
    last_place: int = 0
    message_count: int = 0
    unit_count: int = 0
    memory_turn_count: int | None = None
    utilities: tuple[tuple[int, float], ...] = ()
    summary_through: int = 0
    spent_ms: int = 0
    new_summary: Summary | None = None
    history: tuple[HistoryMessage, ...] | None = None
    history_omitted_count: int = 0
    added: tuple[HistoryMessage, ...] = ()
    skill: Orchestration | None = None
    skill_choice: SkillChoice | None = None
    memory: StoredMemory | None = None

    def as_record(self) -> list[Any]:
        """Return the view as stored data: its fields in their order, without those at the end that say nothing."""
        record = list(to_wire(self).values())
        while not record[-1]:
            del record[-1]
        return record

    @classmethod
    def of_record(cls, record: Sequence[Any]) -> Self:
        return from_wire(cls, dict(zip(wire_names(cls), record, strict=False)))

    @classmethod
    def of(cls, state: ConversationState, seen: EffectiveView, prepared: PreparedTurn, utilities: Utilities) -> Self:
        """Return what a turn with this state and knowledge sees; `utilities` are those of its conditions."""
        turn_input, own_count = state.asked, len(seen.session_layers) + len(seen.drafts)
        kept_count = 2 * turn_input.flags.history_max_turns + 1
        history = turn_input.history if turn_input.history is None else turn_input.history[-kept_count:]
        return cls(
            layers=seen.chain[: own_count + 1],
            draft_count=len(seen.drafts),
            marks=tuple(seen.marks),
            evidence_count=seen.evidence_count,
            term_count=seen.term_count,
            last_place=state.last_place,
            message_count=state.session.message_count,
            unit_count=state.session.session_context_unit_count,
            memory_turn_count=state.memory.turn_count if state.memory else None,
            utilities=_changed(state.utilities, utilities),
            spent_ms=prepared.request.spent_ms,
            summary_through=state.summary.through,
            new_summary=prepared.new_summary,
            history=history,
            history_omitted_count=len(turn_input.history or ()) - len(history or ()),
            added=turn_input.added,
            skill=turn_input.skill,
            skill_choice=turn_input.skill_choice,
            memory=_kept_memory(state.memory),
        )


def _kept_memory(memory: Memory | None) -> StoredMemory | None:
    """Return what a turn keeps of the session's memory: all of it after every so many turns, else nothing."""
    interval = max(1, min(_MEMORY_INTERVAL, settings.MRPVM_MAX_EXPLAINABILITY_ENTRIES // 10))
    return memory.as_record() if memory and memory.turn_count and memory.turn_count % interval == 0 else None


def note_view(
    turn: ExplainabilityTurn, state: ConversationState, seen: EffectiveView, prepared: PreparedTurn, sampling: Sampling
) -> None:
    """Note on the unsaved turn what it sees.

    Effects: a row of conditions, where no turn of the project had the same.
    """
    project_pk = turn.session.project_id
    base = stored_conditions.utilities_near(project_pk, state.utilities)
    turn.view = TurnView.of(state, seen, prepared, base).as_record()
    turn.conditions_id = stored_conditions.key_of(project_pk, conditions_of(turn, state, base, sampling))


def conditions_of(
    turn: ExplainabilityTurn, state: ConversationState, utilities: Utilities, sampling: Sampling
) -> dict[str, Any]:
    """Return what a turn runs under and shares with others: choices, utilities, models, versions."""
    conditions = {
        "state": shared_state(state),
        "utilities": [[*key, value] for key, value in sorted(utilities.items())],
        "models": _models(turn, sampling),
        "plugins": plugin_versions(),
        "product": product_version(),
    }
    record: dict[str, Any] = to_wire(conditions)
    return record


def shared_state(state: ConversationState) -> ConversationState:
    """Return what is the same in many turns: the state without what `TurnView` and rows say."""
    turn_input = replace(state.asked, request_id="", message="", history=None, added=(), skill=None, skill_choice=None)
    session = replace(state.session, session_id="", message_count=0, session_context_unit_count=0)
    return replace(
        state,
        asked=turn_input,
        session=session,
        messages=(),
        last_place=0,
        summary=Summary(),
        memory=None,
        utilities={},
    )


def _changed(present: Utilities, base: Utilities) -> tuple[tuple[int, float], ...]:
    return tuple((place, present[key]) for place, key in enumerate(sorted(base)) if present[key] != base[key])


def _models(turn: ExplainabilityTurn, sampling: Sampling) -> dict[str, Any] | None:
    """Return where models were asked and under which roles, never with a key; None where none was configured."""
    where = configuration()
    if where is None:
        return None
    return {
        "baseUrl": where.base_url,
        "model": where.model,
        "api": where.api,
        "config": turn.session.model_config,
        "sampling": sampling,
    }


def plugin_versions() -> dict[str, str]:
    """Return the version of each plugin by its type and id."""
    descriptors = registry.installed.descriptors()
    return {f"{item.type} {item.id}": item.version for item in descriptors}


class _Stored:
    """What this process has stored of conditions: the utilities of each project's last ones, and keys by digest."""

    def __init__(self) -> None:
        self._utilities: dict[int, Utilities] = {}
        self._keys: dict[tuple[int, str], int] = {}

    def utilities_near(self, project_pk: int, present: Utilities) -> Utilities:
        """Return utilities of stored conditions that differ from the present ones in few places."""
        base = self._utilities.get(project_pk)
        if base is None or base.keys() != present.keys() or len(_changed(present, base)) > MOST_CHANGED:
            base = self._utilities[project_pk] = dict(present)
        return base

    def key_of(self, project_pk: int, content: Mapping[str, Any]) -> int:
        """Return the key of the conditions with this content; they are stored unless a turn had the same."""
        digest = digest_of(content)
        if (project_pk, digest) not in self._keys:
            if len(self._keys) >= _CONDITIONS_REMEMBERED:
                self._keys.clear()
            self._keys[project_pk, digest] = store_conditions(project_pk, digest, content)
        return self._keys[project_pk, digest]

    def forget(self) -> None:
        """Clear the cache."""
        self._utilities.clear()
        self._keys.clear()


stored_conditions = _Stored()
