"""The source-text hook of KB plugins: the last step of reading a source in."""

from collections.abc import Mapping
from typing import Literal, Protocol, runtime_checkable

from msgspec import Struct, field

from mrpvm.values import KnowledgeUnit


class SourceText(Struct, frozen=True, kw_only=True):
    """A source that was just stored: its whole text and its stored units.

    Artifacts are kept with a source of a knowledge base; where there is none, as for a context load, `keeps_artifacts`
    is False. `session_id` is None outside of a session; `stored_at` is ISO 8601 in UTC.
    """

    source_id: str
    name: str
    content: str
    units: tuple[KnowledgeUnit, ...]
    stored_at: str
    keeps_artifacts: bool
    session_id: str | None = None


class SourceReply(Struct, frozen=True, kw_only=True):
    """What a plugin made of a source: bytes by name that it alone will read; `error` says why there is nothing."""

    status: Literal["accepted", "skipped", "error"]
    artifacts: Mapping[str, bytes] = field(default_factory=dict)
    error: str = ""


@runtime_checkable
class SourceReader(Protocol):
    """A KB plugin with this optional hook."""

    def on_source_text(self, source: SourceText) -> SourceReply:
        """Return what is to be kept with the source; `skipped` where nothing can be kept."""
