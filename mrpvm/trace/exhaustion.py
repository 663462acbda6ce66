"""The details of the error of a stage whose candidates all failed."""

from dataclasses import dataclass, field

from mrpvm.wire import OPTIONAL, on_wire


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedAttempt:
    """What failed, as far as it is known: a plugin with the status that it ended in, and the error."""

    plugin_id: str | None = field(default=None, metadata=OPTIONAL)
    status: str | None = field(default=None, metadata=OPTIONAL)
    code: str | None = field(default=None, metadata=OPTIONAL)
    message: str | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhaustion:
    """The stage, the plugins tried in order, and what failed."""

    stage: str = ""
    plugins_tried: tuple[str, ...] = ()
    diagnostics: tuple[FailedAttempt, ...] = ()
    retry_after_seconds: float | None = field(default=None, metadata={**OPTIONAL, **on_wire("retry_after_seconds")})
