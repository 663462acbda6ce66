"""Colours of a status and texts of a duration, shared by graph, outline, timeline and badges."""

import math
from enum import StrEnum


class Tone(StrEnum):
    """The six colours of a status; the value ends the CSS class `status-<tone>`."""

    OK = "ok"
    WARN = "warn"
    WEAK = "weak"
    ERROR = "error"
    IDLE = "idle"
    ACTIVE = "active"


# is the table; needs-decomposition is; interrupted and cancelled are the turn's own ends.
_STATUSES: dict[Tone, tuple[str, ...]] = {
    Tone.OK: ("success", "succeeded", "accepted", "answered", "settled", "strong", "resolved"),
    Tone.WARN: ("unsupported", "refused", "needs-decomposition"),
    Tone.WEAK: ("insufficient", "no-context", "sufficient", "weak", "comparative_open", "open"),
    Tone.ERROR: ("error", "failed", "rejected", "plugin-error", "timeout", "interrupted"),
    Tone.IDLE: (
        "skipped",
        "skipped-budget",
        "inactive",
        "queued",
        "deactivated",
        "superseded",
        "unknown",
        "cancelled",
    ),
    Tone.ACTIVE: ("active", "running", "candidate_found"),
}
_TONE_OF = {status: tone for tone, statuses in _STATUSES.items() for status in statuses}


def tone_of(status: str, *, frame_active: bool = False) -> Tone:
    """Return the colour of a status.

    Args:
        frame_active: whether the frame around it still runs; an unknown status is then blue, else gray.
    """
    return _TONE_OF.get(status, Tone.ACTIVE if frame_active else Tone.IDLE)


def duration_badge(duration_ms: float | None) -> str:
    """Return a duration as the badge shows it, empty while it is not known.

    The value is rounded before the unit is chosen, so that no badge reads `1000 ms` or `10.0 s`.
    """
    if duration_ms is None:
        return ""
    if _round(duration_ms) < 1000:
        return f"{_round(duration_ms)} ms"
    tenths = _round(duration_ms / 100)
    if tenths < 100:
        return f"{tenths // 10}.{tenths % 10} s"
    return f"{_round(duration_ms / 1000)} s"


def _round(value: float) -> int:
    """Round half up; times are never negative."""
    return math.floor(max(value, 0.0) + 0.5)
