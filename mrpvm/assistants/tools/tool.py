"""What a tool is, and the table in which skills find one."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

OUTPUT_CHARS = 4_000
"""How long a tool's output may be; a longer one is invalid, never cut."""


class ToolInputInvalid(Exception):
    """The payload is not what the tool takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function from a payload's text to an output's text.

    `read` gives the typed input and raises `ToolInputInvalid`; `run` works on it and may raise anything; `is_output`
    says whether what it gave is what the tool promises.
    """

    provider: str
    name: str
    summary: str
    read: Callable[[str], Any]
    run: Callable[[Any], str]
    is_output: Callable[[str], bool] = bool

    @property
    def label(self) -> str:
        return f"{self.provider}:{self.name}"

    def accepts(self, output: Any) -> bool:
        """Return whether an output is a text of acceptable length that holds what the tool promises."""
        return isinstance(output, str) and len(output) <= OUTPUT_CHARS and self.is_output(output)


class Tools:
    """The tools there are, by provider and name."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = {(tool.provider, tool.name): tool for tool in tools}

    def has_provider(self, provider: str) -> bool:
        """Return whether any tool comes from this provider."""
        return any(known == provider for known, _ in self._tools)

    def get(self, provider: str, name: str) -> Tool | None:
        return self._tools.get((provider, name))

    @property
    def names(self) -> frozenset[str]:
        """Return every name under which a skill may ask for a tool: `name` and `provider:name`."""
        return frozenset(name for tool in self._tools.values() for name in (tool.name, tool.label))
