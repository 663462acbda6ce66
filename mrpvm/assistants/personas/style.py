"""Which style a turn speaks in."""

from dataclasses import dataclass

from mrpvm.english.words.lexicon import pattern

FOCUS, BALANCED, PLAYFUL = "focus", "balanced", "playful"
STYLES = (FOCUS, BALANCED, PLAYFUL)

_FOCUS_HINT, _PLAYFUL_HINT = pattern("styles.focus"), pattern("styles.playful")
INSTRUCTIONS = {
    FOCUS: "Style: focus. Answer first, in few words; leave out what is not needed to act.",
    BALANCED: "Style: balanced. Be clear and complete without being long.",
    PLAYFUL: "Style: playful. Stay correct, and let the wording be light and warm.",
}
"""The instruction of each style in the system prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedStyle:
    """A style and what decided it: safety, session, message, persona or default."""

    style: str
    basis: str


def resolve_style(
    active_style: str | None, persona_default: str | None, message: str = "", *, is_forced: bool = False
) -> ResolvedStyle:
    """Return the style of a turn: safety, then the session's, then the message's hint, then the persona's.

    Args:
        message: what the user says in this turn; empty for the session's style outside of a turn.
        is_forced: safety asks for focus.
    """
    hint = FOCUS if _FOCUS_HINT.search(message) else PLAYFUL if _PLAYFUL_HINT.search(message) else None
    ranked = (
        (FOCUS if is_forced else None, "safety"),
        (active_style, "session"),
        (hint, "message"),
        (persona_default, "persona"),
    )
    style, basis = next(((style, basis) for style, basis in ranked if style), (BALANCED, "default"))
    return ResolvedStyle(style=style, basis=basis)
