"""The policies of a session on its page: values, where they come from, and the other choices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mrpvm.errors import InvalidInput
from sessions_app.models import Session
from sessions_app.queries.sessions.flags import PolicyValue, SessionPolicy, policies_of
from sessions_app.web.shell.changed_fields import changed_fields
from sessions_app.web.shell.words import CHOSEN_BY

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
    "grounding": ("Grounding", "Whether a model may answer without evidence"),
}
_SWITCH = {"yes": True, "no": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyField:
    """One policy with its field: `chosen` is the session's own value, empty without one.

    `choices` are values and their words; a policy without any is a number within `limits`.
    """

    key: str
    name: str
    hint: str
    source: str
    inherited: str
    chosen: str
    choices: Sequence[str]
    limits: tuple[float | None, float | None]


def policy_fields(session: Session) -> list[PolicyField]:
    """Return the session's policies in the order of the page, each with where its value comes from."""
    policies = {policy.name: policy for policy in policies_of(session)}
    return [_field(policies[key], name, hint) for key, (name, hint) in _WORDS.items()]


def _field(policy: SessionPolicy, name: str, hint: str) -> PolicyField:
    return PolicyField(
        key=policy.name,
        name=name,
        hint=hint,
        source=CHOSEN_BY[policy.chosen_by],
        inherited=_text(policy.otherwise),
        chosen=_text(policy.value) if policy.chosen_by == "session" else "",
        choices=[_text(value) for value in policy.choices or ()],
        limits=(policy.least, policy.most),
    )


def _text(value: PolicyValue) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, int | float) else value


def chosen_policies(form: Mapping[str, str]) -> dict[str, PolicyValue | None]:
    """Return the choices that the form changes, None for the value of the project or server.

    Raises:
        InvalidInput: a number cannot be read.
    """
    return {key: _value(key, text) for key, text in changed_fields(form, _WORDS).items()}


def _value(key: str, text: str) -> PolicyValue | None:
    if not text:
        return None
    if key.startswith("enable_"):
        return _SWITCH.get(text, text)
    if key in ("document_bias", "grounding"):
        return text
    try:
        number = float(text)
    except ValueError:
        raise InvalidInput(f"{_WORDS[key][0]} is a number.") from None
    return int(number) if number.is_integer() else number
