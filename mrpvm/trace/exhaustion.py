"""The details of the error of a stage whose candidates all failed."""

from typing import Annotated

from msgspec import Struct

from mrpvm.wire import OPTIONAL, OnWire


class FailedAttempt(Struct, frozen=True, kw_only=True):
    """What failed, as far as it is known: a plugin with the status that it ended in, and the error."""

    plugin_id: Annotated[str | None, OPTIONAL] = None
    status: Annotated[str | None, OPTIONAL] = None
    code: Annotated[str | None, OPTIONAL] = None
    message: Annotated[str | None, OPTIONAL] = None


class Exhaustion(Struct, frozen=True, kw_only=True):
    """The stage, the plugins tried in order, and what failed."""

    stage: str = ""
    plugins_tried: tuple[str, ...] = ()
    diagnostics: tuple[FailedAttempt, ...] = ()
    retry_after_seconds: Annotated[float | None, OnWire("retry_after_seconds", is_optional=True)] = None
