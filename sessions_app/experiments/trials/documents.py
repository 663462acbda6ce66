"""Choices and changes in the form that clients and suite files give them, and back."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypedDict, cast

from mrpvm.llm.port import Sampling
from mrpvm.values import Selection
from sessions_app.experiments.trials.changes import MOST_SUPPOSED, SUPPOSED_CHARS, Changes
from sessions_app.field_notes import Between, Length, Meaning

_PINS = {
    "planner_plugin": "planner",
    "seed_detector_plugin": "seed_detector",
    "kb_plugin": "kb",
    "goal_solver_plugin": "goal_solver",
}
_SAMPLING = ("temperature", "max_tokens")
_LISTS = ("without_units", "without_sources", "only_units", "with_units", "without_plugins")
_SIMPLE = (
    "message", "history_through", "base", "revision", "deliberation_level", "grounding", "system_prompt", "model",
    "persona", "agent", "style",
)  # fmt: skip


REVISION_MAX = 2**31 - 1
type Id = Annotated[str, Length(1, 400)]


class ChoicesDocument(TypedDict, total=False):
    """What is chosen for a test or a trial; what is absent stays as it was."""

    planner_plugin: Id | None
    seed_detector_plugin: Id | None
    kb_plugin: Id | None
    goal_solver_plugin: Id | None
    deliberation_level: Annotated[int, Between(0, 3)] | None
    model: Annotated[str, Length(1, 200)] | None
    grounding: Literal["strict", "open"] | None
    system_prompt: str | None
    history_through: Annotated[
        Annotated[int, Between(0)] | None, Meaning("Place of the last message that is seen; 0 for none.")
    ]
    without_units: list[Id]
    without_sources: list[Annotated[str, Length(1, 128)]]
    only_units: Annotated[list[Id], Meaning("The only units that are found.")]
    with_units: Annotated[
        list[Annotated[str, Length(1, SUPPOSED_CHARS)]],
        Length(0, MOST_SUPPOSED),
        Meaning("Texts that are supposed: found like what the session knows."),
    ]
    persona: Id | None
    agent: Id | None
    style: Id | None
    temperature: Annotated[float, Between(0, 2)] | None
    max_tokens: Annotated[int, Between(1)] | None
    without_preferences: Annotated[bool, Meaning("Let the planner choose as in a new session.")]
    without_plugins: list[Annotated[str, Length(1, 100)]]
    flags: Annotated[Mapping[str, Any], Meaning("Policies, as in a chat request.")]
    limits: Annotated[
        Mapping[str, Annotated[int, Between(1)]],
        Meaning("Any of max_llm_calls, request_timeout_ms, max_plugins_per_stage, plugin_timeout_ms."),
    ]


class ChangesDocument(ChoicesDocument, total=False):
    """What is different from the recorded turn; what is absent stays as it was."""

    message: Annotated[str, Length(1)] | None
    base: Annotated[Id | None, Meaning("Id of the knowledge base that is mounted in its place.")]
    revision: Annotated[int, Between(1, REVISION_MAX)] | None


def changes_of(document: Mapping[str, Any]) -> Changes:
    """Return the changes of a trial, or a test's choices, as a client names them."""
    temperature, max_tokens = document.get("temperature"), document.get("max_tokens")
    sampling = None
    if temperature is not None or max_tokens is not None:
        sampling = Sampling(temperature=temperature, max_tokens=max_tokens)
    named: dict[str, Any] = {name: document.get(name) for name in _SIMPLE}
    named |= {name: tuple(document.get(name) or ()) for name in _LISTS}
    return Changes(
        **named,
        pins=Selection(**{name: document.get(key) for key, name in _PINS.items()}),
        sampling=sampling,
        without_preferences=bool(document.get("without_preferences")),
        flags=document.get("flags") or {},
        limits=document.get("limits") or {},
    )


def choices_of(changes: Changes) -> ChoicesDocument:
    """Return changes as `changes_of` takes them; what is not changed is left out."""
    named: dict[str, Any] = {key: getattr(changes.pins, name) for key, name in _PINS.items()}
    named |= {name: getattr(changes, name) for name in _SIMPLE}
    named |= {name: list(getattr(changes, name)) for name in _LISTS}
    named |= {name: getattr(changes.sampling, name) if changes.sampling else None for name in _SAMPLING}
    named |= {"flags": dict(changes.flags), "limits": dict(changes.limits)}
    named["without_preferences"] = changes.without_preferences or None
    return cast("ChoicesDocument", {name: value for name, value in named.items() if value not in (None, [], {})})
