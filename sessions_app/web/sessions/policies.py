"""The policies of a session on its page: what holds, where that comes from, and what may be chosen instead."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from mrpvm.conversation.flags import DOCUMENT_BIAS, LIMITS
from mrpvm.errors import InvalidInput
from sessions_app.queries.sessions.flags import server_flags

if TYPE_CHECKING:
    from sessions_app.models import Session

_WORDS: Mapping[str, tuple[str, str]] = {
    "history_max_turns": ("Window, exchanges", "How many exchanges a model is given at most"),
    "enable_history_summarization": ("Summary", "Older exchanges are summed up"),
    "verbatim_max_turns": ("Verbatim, exchanges", "With summaries: how many stay as they were said"),
    "verbatim_max_tokens": ("Verbatim, tokens", "With summaries: how much stays as it was said"),
    "summary_max_tokens": ("Summary, tokens", "How long a summary may be"),
    "enable_query_rewriting": ("Rewriting", "Follow-ups are searched for in words that stand alone"),
    "enable_session_memory": ("Memory", "Documents and terms of earlier turns are remembered"),
    "session_memory_ttl_hours": ("Memory, hours", "How long after its last use"),
    "document_bias": ("Document bias", "Which searches prefer the documents in use"),
    "enable_quotes": ("Quotations", "The closest passage is shown where nothing states the answer"),
    "enable_skill_selection": ("Skill choice", "A model may choose a skill"),
}
_SWITCH = {"yes": True, "no": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One policy: `value` holds now and comes from `source`; `chosen` is the session's own value, empty without one.

    `choices` are values and their words; a policy without any is a number within `limits`.
    """

    key: str
    name: str
    hint: str
    value: str
    source: str
    inherited: str
    chosen: str
    choices: Sequence[tuple[str, str]]
    limits: tuple[float, float] | None


def policies_of(session: "Session") -> list[Policy]:
    """Return the session's policies, each as the most specific level that names it says."""
    server = asdict(server_flags())
    return [_policy(session, server, key) for key in _WORDS]


def _policy(session: "Session", server: Mapping[str, Any], key: str) -> Policy:
    name, hint = _WORDS[key]
    levels: Sequence[tuple[str, Mapping[str, Any]]] = (
        ("this session", session.flags),
        ("the project", session.project.flags),
        ("the server", server),
    )
    source, value = next((source, flags[key]) for source, flags in levels if key in flags)
    inherited = next(flags[key] for _, flags in levels[1:] if key in flags)
    own = session.flags.get(key)
    return Policy(
        key=key,
        name=name,
        hint=hint,
        value=_text(value),
        source=source,
        inherited=_text(inherited),
        chosen="" if own is None else _text(own),
        choices=_choices(key),
        limits=LIMITS.get(key),
    )


def _choices(key: str) -> Sequence[tuple[str, str]]:
    if key.startswith("enable_"):
        return [("yes", "yes"), ("no", "no")]
    return [(value, value) for value in DOCUMENT_BIAS] if key == "document_bias" else ()


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def chosen_policies(given: Mapping[str, str]) -> dict[str, Any]:
    """Return what a form chose of each policy, None where the project's or the server's shall hold.

    Raises:
        InvalidInput: a number cannot be read.
    """
    return {key: _value(key, given[key].strip()) for key in _WORDS if key in given}


def _value(key: str, text: str) -> Any:
    if not text:
        return None
    if key.startswith("enable_"):
        return _SWITCH.get(text, text)
    if key == "document_bias":
        return text
    try:
        number = float(text)
    except ValueError:
        raise InvalidInput(f"{_WORDS[key][0]} is a number.") from None
    return int(number) if number.is_integer() else number
