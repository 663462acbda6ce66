"""The present state of a session: preferences, mount and draft, units with their origin, turns, mounts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sessions_app.actions.sessions.session import PREFERENCES
from sessions_app.models import ExplainabilityTurn, KBMount, Session, TurnRating
from sessions_app.queries.search.filter_language import parse
from sessions_app.queries.search.row_numbers import whole_number
from sessions_app.queries.sessions.pages import newest_units, turn_registry
from sessions_app.queries.settings.model_roles import session_config
from sessions_app.queries.turns.lists import used_since
from sessions_app.queries.turns.outcomes import outcome
from sessions_app.web.sessions.conversation import rating_of, turn_tone
from sessions_app.web.sessions.memory import memory_context
from sessions_app.web.sessions.policies import policy_fields
from sessions_app.web.sessions.saving import saving_context
from sessions_app.web.sessions.skills import frozen_context
from sessions_app.web.settings.model_roles import own_model_lines
from sessions_app.web.shell.prose import plain
from sessions_app.web.shell.words import ending
from sessions_app.web.turns.graph.status import Tone, duration_badge

PREVIEW_CHARS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryRow:
    """One turn in the registry."""

    turn: ExplainabilityTurn
    ending: str
    tone: Tone
    duration: str
    question: str
    answer: str
    rating: TurnRating | None


type Panel = Literal["knowledge", "turns", "settings"]
PANELS: Mapping[Panel, str] = {"knowledge": "Knowledge", "turns": "Turns", "settings": "Settings"}
"""The tabs beside the conversation, and what they are called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelQuery:
    """The tab that is shown, and how many of its rows.

    `find` is a filter of turns; `unit_count` and `turn_count` are the numbers of rows that are loaded already.
    """

    panel: Panel = "knowledge"
    find: str = ""
    unit_count: int | None = None
    turn_count: int | None = None

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> "PanelQuery":
        """Read the parameters of an address; a filter of turns shows the turns, and diagnostics the settings."""
        find = parameters.get("find", "")
        usual: Panel = "turns" if "find" in parameters else "settings" if "diagnostics" in parameters else "knowledge"
        return cls(
            panel=next((name for name in PANELS if name == parameters.get("panel")), usual),
            find=find,
            unit_count=whole_number(parameters.get("units")),
            turn_count=whole_number(parameters.get("turns")),
        )


def state_context(session: Session, query: PanelQuery, mounted: Sequence[KBMount] | None = None) -> dict[str, Any]:
    """Return what the tab beside the conversation shows; `mounted` as `saving_context` takes them."""
    return {"session": session, "panels": PANELS, "panel": query.panel, **_panel_context(session, query, mounted)}


def _panel_context(session: Session, query: PanelQuery, mounted: Sequence[KBMount] | None) -> dict[str, Any]:
    match query.panel:
        case "knowledge":
            return {
                **saving_context(session, mounted, names_told=False),
                **units_context(session, None, query.unit_count),
            }
        case "turns":
            return registry_context(session, query.find, None, query.turn_count)
        case "settings":
            return {
                "preferences": _preferences(session),
                "policies": policy_fields(session),
                "models": own_model_lines(session_config(session)),
                **frozen_context(session),
                **memory_context(session),
            }


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """A preference of the session; `since` is the turn that set it, None if there is none or it is unknown."""

    column: str
    name: str
    value: str | int | None
    since: int | None
    is_usual: bool


_NAMES = {
    "preferred_planner_plugin": ("Planner", "planner_plugin"),
    "preferred_seed_detector_plugin": ("Seed detector", "seed_detector_plugin"),
    "preferred_kb_plugin": ("KB plugin", "kb_plugin"),
    "preferred_goal_solver_plugin": ("Goal solver", "goal_solver_plugin"),
    "preferred_deliberation_level": ("Deliberation level", "deliberation_level"),
    "preferred_model": ("Model", "model"),
}
"""Each preference on screen, and the column of a turn that says what it used."""


def _preferences(session: Session) -> list[Preference]:
    used = {column: getattr(session, preference) for preference, (_, column) in _NAMES.items()}
    since = used_since(session, used)
    return [
        Preference(
            column=preference,
            name=name,
            value=used[column],
            since=since[column],
            is_usual=used[column] == PREFERENCES[preference],
        )
        for preference, (name, column) in _NAMES.items()
    ]


def units_context(session: Session, before: int | None, count: int | None = None) -> dict[str, Any]:
    """Return units from the newest on; pending ones are the newest there are."""
    units, units_before = newest_units(session, before, count)
    return {"session": session, "units": units, "units_before": units_before}


def registry_context(session: Session, find: str, before: int | None, count: int | None = None) -> dict[str, Any]:
    """Return the turns that are wanted from the newest on."""
    wanted = parse(find)
    turns, turns_before = turn_registry(session, wanted, before, count)
    rows = [
        RegistryRow(
            turn=turn,
            ending=ending(turn.status, outcome(turn), turn.kind),
            tone=turn_tone(turn),
            duration=duration_badge(turn.duration_ms),
            rating=rating_of(turn),
            question=turn.user_message[:PREVIEW_CHARS],
            answer=plain(turn.assistant_preview),
        )
        for turn in turns
    ]
    return {"session": session, "registry": rows, "turns_before": turns_before, "wanted": wanted}
