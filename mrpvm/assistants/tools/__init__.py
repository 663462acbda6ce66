"""Tools that a command may run without any model: typed, bounded, known by name."""

from mrpvm.assistants.tools.builtin import BUILTIN_TOOLS
from mrpvm.assistants.tools.tool import Tool, ToolInputInvalid, Tools

__all__ = ["BUILTIN_TOOLS", "Tool", "ToolInputInvalid", "Tools"]
