"""What a trial changes of a recorded turn, and the setup that follows from it."""

from collections.abc import Collection, Mapping
from copy import replace
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from msgspec import structs

from mrpvm import registry
from mrpvm.assistants.personas import STYLES
from mrpvm.conversation.flags import Flags, flags_in
from mrpvm.conversation.preparation import ConversationState, Guidance
from mrpvm.conversation.summary import PlacedMessage, Summary
from mrpvm.errors import InvalidInput, NotFound
from mrpvm.llm.port import Sampling
from mrpvm.registry import Registry
from mrpvm.values import Selection
from mrpvm.wire import JSONObject, to_wire
from sessions_app.experiments.replays.recorded import RecordedTurn, messages_before
from sessions_app.layers import EffectiveView, Hidden, Marks, SeenLayers, past_view
from sessions_app.models import KnowledgeBase, KnowledgeLayer, LayerUnit, Session
from sessions_app.queries.experiments.rerun import (
    base_at,
    evidence_but,
    evidence_totals,
    layer_of,
    mounted_draft,
    units_of,
)
from sessions_app.queries.sessions.frozen_content import agents_of, personas_of

MOST_LEFT_OUT = 200
"""How many units or sources a trial may leave out, or name as the only ones."""
MOST_SUPPOSED, SUPPOSED_CHARS = 20, 2_000
"""How many texts a trial may suppose, and how long each may be."""
MOST_TEMPERATURE = 2.0
MOST_HIDDEN = 50_000
"""How many units a view may have for a trial to choose the only ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What is different from the recorded turn; None and nothing leave it as it was.

    `history_through` is the place of the last message that is seen, 0 for none. `base` is the id of another base that
    is mounted at `revision`, its present one when None; `draft` the id of a session whose base is mounted as a save
    would make it, with what the conversation told or, by `without_told`, without. `without_preferences` lets the
    planner choose as in a new session. Where `only_units` are named, no others are evidence; `with_units` are
    texts that are supposed beside them. `persona`, `agent`, `style` and `sampling` reach models alone: where none is
    configured they have no effect.
    """

    message: str | None = None
    history_through: int | None = None
    without_units: tuple[str, ...] = ()
    without_sources: tuple[str, ...] = ()
    only_units: tuple[str, ...] = ()
    with_units: tuple[str, ...] = ()
    base: str | None = None
    revision: int | None = None
    draft: str | None = None
    without_told: bool = False
    pins: Selection = field(default_factory=Selection)
    without_preferences: bool = False
    deliberation_level: int | None = None
    grounding: Literal["strict", "open"] | None = None
    flags: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)
    without_plugins: tuple[str, ...] = ()
    system_prompt: str | None = None
    model: str | None = None
    sampling: Sampling | None = None
    persona: str | None = None
    agent: str | None = None
    style: str | None = None

    def as_record(self) -> JSONObject:
        """Return what is different as JSON data."""
        record = to_wire(self)
        record["pins"] = {stage: plugin for stage, plugin in record["pins"].items() if plugin}
        record["sampling"] = {name: value for name, value in (record["sampling"] or {}).items() if value is not None}
        return {name: value for name, value in record.items() if value or (value == 0 and value is not False)}


LIMIT_NAMES = ("max_llm_calls", "request_timeout_ms", "max_plugins_per_stage", "plugin_timeout_ms")


def check_changes(changes: Changes) -> None:
    """Refuse what a trial cannot change.

    Raises:
        InvalidInput: an unknown plugin, flag or limit, a bad level or sampling, too much left out.
    """
    if changes.message is not None and not changes.message.strip():
        raise InvalidInput("The message is empty.", code="INVALID_CONTENT")
    if len(changes.without_units) + len(changes.without_sources) > MOST_LEFT_OUT:
        raise InvalidInput(f"At most {MOST_LEFT_OUT} units and sources can be left out.")
    if len(changes.only_units) > MOST_LEFT_OUT:
        raise InvalidInput(f"At most {MOST_LEFT_OUT} units can be named.")
    if len(changes.with_units) > MOST_SUPPOSED or any(len(text) > SUPPOSED_CHARS for text in changes.with_units):
        raise InvalidInput(f"At most {MOST_SUPPOSED} texts of {SUPPOSED_CHARS} characters can be supposed.")
    if not all(text.strip() for text in changes.with_units):
        raise InvalidInput("A supposed text is empty.")
    if changes.style is not None and changes.style not in STYLES:
        raise InvalidInput(f"style must be one of {', '.join(STYLES)}.")
    if changes.grounding not in (None, "strict", "open"):
        raise InvalidInput("grounding must be strict or open.")
    if changes.deliberation_level is not None and not 0 <= changes.deliberation_level <= 3:
        raise InvalidInput("deliberation_level must be a number from 0 to 3.")
    _check_sampling(changes.sampling or Sampling())
    flags_in(changes.flags)
    unknown = sorted(changes.limits.keys() - set(LIMIT_NAMES))
    if unknown or any(not 0 < value <= 3_600_000 for value in changes.limits.values()):
        raise InvalidInput(f"limits are positive numbers under {', '.join(LIMIT_NAMES)}.")
    for kind, plugin_id in _named_plugins(changes):
        if plugin_id and not any(item.id == plugin_id for item in registry.installed.descriptors(kind)):
            raise InvalidInput(f"There is no plugin '{plugin_id}' of this kind.")


def _check_sampling(sampling: Sampling) -> None:
    if sampling.temperature is not None and not 0 <= sampling.temperature <= MOST_TEMPERATURE:
        raise InvalidInput(f"temperature must be from 0 to {MOST_TEMPERATURE:g}.")
    if sampling.max_tokens is not None and not 0 < sampling.max_tokens < 10**9:
        raise InvalidInput("max_tokens must be above 0.")


def _named_plugins(changes: Changes) -> list[tuple[str | None, str | None]]:
    pins = changes.pins
    return [
        ("mrp-plan-plugin", pins.planner), ("sd-plugin", pins.seed_detector), ("kb-plugin", pins.kb),
        ("gs-plugin", pins.goal_solver), *((None, plugin_id) for plugin_id in changes.without_plugins),
    ]  # fmt: skip


def changed_state(recorded: RecordedTurn, changes: Changes) -> ConversationState:
    """Return the conversation as the trial's preparation sees it."""
    state = recorded.state
    turn_input = state.asked
    flags = replace(turn_input.flags, **flags_in(changes.flags))
    if flags != turn_input.flags and turn_input.history is None:
        state = replace(state, messages=_messages(recorded, flags))
    if changes.history_through is not None:
        through = changes.history_through
        state = replace(
            state,
            messages=tuple(item for item in state.messages if item.sequence <= through),
            last_place=min(state.last_place, through),
            summary=state.summary if state.summary.through <= through else Summary(),
            memory=state.memory if through else None,
        )
    pins = replace(
        turn_input.pins, **{stage: plugin for stage, plugin in structs.asdict(changes.pins).items() if plugin}
    )
    level = turn_input.deliberation_level if changes.deliberation_level is None else changes.deliberation_level
    turn_input = replace(
        turn_input,
        message=changes.message or turn_input.message,
        flags=flags,
        pins=pins,
        deliberation_level=level,
        grounding=changes.grounding or turn_input.grounding,
        limits=replace(turn_input.limits, **cast("dict[str, Any]", changes.limits)),
        system_prompt=turn_input.system_prompt if changes.system_prompt is None else changes.system_prompt,
        model=changes.model or turn_input.model,
        history=() if changes.history_through == 0 and turn_input.history is not None else turn_input.history,
    )
    if changes.without_preferences:
        state = replace(state, preferences=Selection())
    guidance = _guidance(recorded, changes)
    if guidance is not None:
        state = replace(state, guidance=guidance)
    mounted = _mounted(recorded, changes)
    if mounted is not None:
        base, _ = mounted
        session = replace(state.session, mounted_kb_id=base.kb_id, mounted_kb_name=base.name)
        state = replace(state, session=session)
    return replace(state, asked=turn_input)


def _guidance(recorded: RecordedTurn, changes: Changes) -> Guidance | None:
    """Return what a model is told of the session, with the persona, agent and style that the trial names.

    Raises:
        NotFound: the session has no such persona or agent.
    """
    guidance, session = recorded.state.guidance, recorded.turn.session
    if guidance is None:
        return None
    check_guidance(session, changes)
    if changes.persona is not None:
        guidance = replace(guidance, persona=personas_of(session).get(changes.persona) or guidance.persona)
    if changes.agent is not None:
        guidance = replace(guidance, agent=agents_of(session).get(changes.agent))
    return guidance if changes.style is None else replace(guidance, style=changes.style)


def check_guidance(session: Session, changes: Changes) -> None:
    """Refuse a persona or an agent that a session does not have.

    Raises:
        NotFound: with its name.
    """
    if changes.persona is not None and personas_of(session).get(changes.persona) is None:
        raise NotFound(f"The session has no persona '{changes.persona}'.")
    if changes.agent is not None and agents_of(session).get(changes.agent) is None:
        raise NotFound(f"The session has no agent '{changes.agent}'.")


def _messages(recorded: RecordedTurn, flags: Flags) -> tuple[PlacedMessage, ...]:
    through = recorded.state.summary.through if flags.enable_history_summarization else 0
    return messages_before(recorded.turn.session, recorded.view, flags, through)


def changed_knowledge(recorded: RecordedTurn, changes: Changes) -> EffectiveView:
    """Return what the trial's searches see.

    Raises:
        NotFound: KB_NOT_FOUND, the project has no such base or revision.
    """
    mounted = _mounted(recorded, changes)
    view = recorded.knowledge if mounted is None else _over_layer(recorded, mounted[1])
    if changes.only_units:
        view = _hiding(view, _others(view, changes.only_units))
    if changes.without_units or changes.without_sources:
        view = _hiding(view, units_of(view.chain, changes.without_units, changes.without_sources))
    return view


def _mounted(recorded: RecordedTurn, changes: Changes) -> tuple[KnowledgeBase, KnowledgeLayer] | None:
    """Return the base that is mounted in place of the recorded one, and which of its layers; None for no other."""
    project_pk = recorded.turn.session.project_id
    if changes.draft is not None:
        session = mounted_draft(project_pk, changes.draft)
        return session.mounted_kb, session.draft if changes.without_told else session.journal
    return None if changes.base is None else base_at(project_pk, changes.base, changes.revision)


def _over_layer(recorded: RecordedTurn, layer: KnowledgeLayer) -> EffectiveView:
    """Return what the session's own layers show over another one.

    Layers that were saved into it since are already part of it.
    """
    view = recorded.view
    *own, mounted_pk = view.layers
    kept = tuple(pk for pk in own if pk not in layer.chain)
    if len(kept) == len(own):
        mounted = layer_of(mounted_pk)
        evidence_count = view.evidence_count - mounted.evidence_count
        term_count = view.term_count - mounted.term_count
    else:
        evidence_count, term_count = evidence_totals(kept, view.marks[0])
    seen = SeenLayers(
        own=kept,
        drafts=tuple(pk for pk in own[len(own) - view.draft_count :] if pk in kept),
        mounted=layer.pk,
        marks=Marks(*view.marks),
        evidence_count=evidence_count + layer.evidence_count,
        term_count=term_count + layer.term_count,
    )
    return past_view(recorded.turn.session, seen)


def _others(view: EffectiveView, unit_ids: Collection[str]) -> list[LayerUnit]:
    """Return the evidence units other than these.

    Raises:
        InvalidInput: it is too much to be hidden one by one.
    """
    if view.evidence_count > MOST_HIDDEN:
        raise InvalidInput(f"Of more than {MOST_HIDDEN} units none can be chosen as the only ones.")
    return evidence_but(view.chain, unit_ids)


def _hiding(view: EffectiveView, hidden_units: Collection[LayerUnit]) -> EffectiveView:
    """Return the view without these units."""
    gone = {row.pk: row for row in hidden_units if row.pk not in view.hidden.of(row.layer_id)}
    hidden = dict(view.hidden.by_layer)
    for row in gone.values():
        hidden[row.layer_id] = hidden.get(row.layer_id, frozenset()) | {row.pk}
    evidence = [row for row in gone.values() if row.is_evidence]
    return replace(
        view,
        hidden=Hidden(hidden),
        evidence_count=view.evidence_count - len(evidence),
        term_count=view.term_count - sum(row.length for row in evidence),
    )


def plugins_without(plugin_ids: Collection[str]) -> Registry:
    """Return the installed plugins without these."""
    if not plugin_ids:
        return registry.installed
    kept = Registry(
        plugin
        for item in registry.installed.descriptors()
        if item.id not in plugin_ids and (plugin := registry.installed.get(item.type, item.id)) is not None
    )
    kept.wrappers = registry.installed.wrappers
    return kept
