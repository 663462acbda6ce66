"""Which policies look at a turn's context: set for the server, a project, a session or one request."""

from collections.abc import Mapping
from copy import replace
from typing import Any, Literal

from msgspec import Struct

from mrpvm.errors import InvalidInput

DocumentBias = Literal["off", "follow-ups", "always"]
DOCUMENT_BIAS = ("off", "follow-ups", "always")
ALIASES: Mapping[str, str] = {
    "query_rewriting_enabled": "enable_query_rewriting",
    "session_memory_enabled": "enable_session_memory",
    "history_summarization_enabled": "enable_history_summarization",
    "skill_selection_enabled": "enable_skill_selection",
    "quotes_enabled": "enable_quotes",
}
"""Names of the same switches elsewhere."""
LIMITS: Mapping[str, tuple[float, float]] = {
    "history_max_turns": (1, 500),
    "verbatim_max_turns": (1, 500),
    "verbatim_max_tokens": (100, 100_000),
    "summary_max_tokens": (50, 10_000),
    "session_memory_ttl_hours": (0.0, 24 * 365),
}
"""The least and the most that a flag with a number may be; where the least is whole, so is the number."""


class Flags(Struct, frozen=True, kw_only=True):
    """The policies of one turn. A policy that is off leaves no trace: the turn is the one without the feature.

    `history_max_turns` counts exchanges of two messages each. With `enable_history_summarization`, so many
    exchanges stay as they were said as `verbatim_max_turns` and `verbatim_max_tokens` allow, the newest always, beside
    a summary of `summary_max_tokens`. Memory lives `session_memory_ttl_hours` after its
    last use. With `enable_quotes`, what cannot be answered shows the closest passage. Only a turn with
    `enable_skill_selection` asks a model which skill fits, if any.
    """

    enable_query_rewriting: bool = True
    enable_session_memory: bool = True
    enable_history_summarization: bool = True
    enable_skill_selection: bool = False
    enable_quotes: bool = True
    history_max_turns: int = 10
    verbatim_max_turns: int = 4
    verbatim_max_tokens: int = 800
    summary_max_tokens: int = 200
    session_memory_ttl_hours: float = 4.0
    document_bias: DocumentBias = "follow-ups"


NAMES = Flags.__struct_fields__


def resolve_flags(default: Flags, *levels: Mapping[str, Any] | None) -> Flags:
    """Return the flags of a turn: each as the last of the levels that names it says."""
    for level in levels:
        if level:
            default = replace(default, **level)
    return default


def flags_in(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the flags that a body names; null is no choice, other keys are not looked at.

    Raises:
        InvalidInput: a value is not one of the flag's.
    """
    named = {ALIASES.get(name, name): value for name, value in given.items()}
    return {name: _checked(name, named[name]) for name in NAMES if named.get(name) is not None}


def with_changes(chosen: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a level's choices after those of a body; null takes a choice back.

    Raises:
        InvalidInput: a value is not one of the flag's.
    """
    taken_back = {ALIASES.get(name, name) for name, value in given.items() if value is None}
    kept = {name: value for name, value in chosen.items() if name not in taken_back}
    return kept | flags_in(given)


def _checked(name: str, value: Any) -> Any:
    if name == "document_bias":
        if value in DOCUMENT_BIAS:
            return value
        raise InvalidInput(f"document_bias must be one of {', '.join(DOCUMENT_BIAS)}.")
    if name.startswith("enable_"):
        if isinstance(value, bool):
            return value
        raise InvalidInput(f"{name} must be true or false.")
    lowest, highest = LIMITS[name]
    numbers = int if isinstance(lowest, int) else int | float
    if isinstance(value, numbers) and not isinstance(value, bool) and lowest <= value <= highest:
        return value
    raise InvalidInput(f"{name} must be a number from {lowest:g} to {highest}.")
