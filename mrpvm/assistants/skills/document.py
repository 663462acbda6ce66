"""One SKILL.md: what its front matter says and the instructions below it.

Also takes the Agent Skills form that others ship: its `description` is the summary where no `summary` stands.
"""

from dataclasses import dataclass
from functools import lru_cache

from mrpvm.assistants.front_matter import MalformedText, mapping_of, split_front_matter, text_of, texts_of

LLM_ORCHESTRATION, TOOL_DISPATCH = "llm_orchestration", "tool_dispatch"
BUILTIN_PROVIDER = "builtin"
KNOWN_KEYS = frozenset({
    "summary", "invocation_mode", "command", "command_tool", "command_tool_provider", "requires_tools", "eligibility",
    "capabilities",
    "name", "description", "license", "compatibility", "metadata", "allowed-tools",
})  # fmt: skip
"""Keys of ours and those of the Agent Skills form; any other is ignored with a diagnostic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillDocument:
    """What a SKILL.md states; `stated_name` is the Agent Skills form's name, which does not rename a folder."""

    summary: str
    invocation_mode: str
    instructions: str
    command: str | None
    command_tool_provider: str
    command_tool: str | None
    requires_tools: tuple[str, ...]
    declared_tools: tuple[str, ...]
    capabilities_declared: bool
    allowed_os: tuple[str, ...]
    required_env: tuple[str, ...]
    required_binaries: tuple[str, ...]
    stated_name: str
    unknown_keys: tuple[str, ...]


@lru_cache(maxsize=512)
def read_document(text: str) -> SkillDocument:
    """Return what the text of a SKILL.md states. Remembered by the text itself, so it can never be out of date.

    Raises:
        MalformedText: the front matter is invalid.
    """
    fields, body = split_front_matter(text)
    eligibility, capabilities = mapping_of(fields, "eligibility"), mapping_of(fields, "capabilities")
    document = SkillDocument(
        summary=" ".join((text_of(fields, "summary") or text_of(fields, "description")).split()),
        invocation_mode=text_of(fields, "invocation_mode") or LLM_ORCHESTRATION,
        instructions=body,
        command=text_of(fields, "command") or None,
        command_tool_provider=text_of(fields, "command_tool_provider") or BUILTIN_PROVIDER,
        command_tool=text_of(fields, "command_tool") or None,
        requires_tools=texts_of(fields, "requires_tools"),
        declared_tools=tuple(sorted(texts_of(capabilities, "declared_tools"))),
        capabilities_declared="capabilities" in fields,
        allowed_os=texts_of(eligibility, "os"),
        required_env=texts_of(eligibility, "env"),
        required_binaries=texts_of(eligibility, "binaries"),
        stated_name=text_of(fields, "name"),
        unknown_keys=tuple(sorted(set(fields) - KNOWN_KEYS)),
    )
    _check_invocation(document)
    return document


def _check_invocation(document: SkillDocument) -> None:
    if document.invocation_mode not in (LLM_ORCHESTRATION, TOOL_DISPATCH):
        raise MalformedText(f"Invalid frontmatter: invocation_mode must be {LLM_ORCHESTRATION} or {TOOL_DISPATCH}")
    if document.invocation_mode != TOOL_DISPATCH:
        return
    if document.command_tool is None:
        raise MalformedText("Invalid frontmatter: tool_dispatch requires command_tool")
    if document.capabilities_declared and not declares(document.declared_tools, document.command_tool_provider,
                                                       document.command_tool):  # fmt: skip
        raise MalformedText(
            f"Invalid frontmatter: command_tool '{document.command_tool}' is not in capabilities.declared_tools"
        )


def declares(declared_tools: tuple[str, ...], provider: str, tool: str) -> bool:
    """Return whether a tool is listed, as `tool` or `provider:tool`."""
    return tool in declared_tools or f"{provider}:{tool}" in declared_tools
