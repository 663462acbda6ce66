"""Running a skill by its tool, without any model."""

from mrpvm.assistants.skills import SkillEntry
from mrpvm.assistants.skills.document import TOOL_DISPATCH, declares
from mrpvm.assistants.tools import Tool, ToolInputInvalid
from mrpvm.commands.facts import SessionFacts
from mrpvm.commands.result import CommandOutcome, CommandResult, ToolCall, error


def dispatch_tool(facts: SessionFacts, skill: SkillEntry, payload: str) -> CommandOutcome:
    """Return what the skill's tool makes of the payload; input and output are checked, nothing else is tried."""
    name = skill.skill_name
    if skill.invocation_mode != TOOL_DISPATCH:
        message = f"no executor bound for mode '{skill.invocation_mode}' (skill '{name}')."
        return error("executor_unbound", message, {"skill": name})
    provider, tool_name = skill.command_tool_provider, skill.command_tool
    if tool_name is None:
        return error("command_tool_missing", f"skill '{name}' has no command tool.", {"skill": name})
    data = {"skill": name, "provider": provider, "tool": tool_name}
    refusal = _refusal(facts, skill, provider, tool_name, data)
    if refusal is not None:
        return refusal
    tool = facts.tools.get(provider, tool_name)
    if tool is None:
        message = f"tool '{provider}:{tool_name}' is not registered for skill '{name}'."
        return error("provider_tool_unregistered", message, data)
    return _run(tool, payload, data)


def _refusal(
    facts: SessionFacts, skill: SkillEntry, provider: str, tool_name: str, data: dict[str, str]
) -> CommandOutcome | None:
    name = skill.skill_name
    if skill.capabilities_declared and not declares(skill.declared_tools, provider, tool_name):
        alert = f"Security alert: skill '{name}' attempted undeclared tool '{provider}:{tool_name}'."
        return CommandOutcome(
            result=CommandResult(status="error", code="skill_capability_denied", message=alert, data=data)
        )
    if not facts.tools.has_provider(provider):
        return error("provider_unbound", f"tool provider '{provider}' is not registered for skill '{name}'.", data)
    acting = facts.agents.get(facts.active_agent)
    if acting is not None and not acting.may_run(provider, tool_name):
        message = f"agent '{acting.id}' may not run tool '{provider}:{tool_name}'."
        return error("provider_policy_denied", message, data)
    return None


def _run(tool: Tool, payload: str, data: dict[str, str]) -> CommandOutcome:
    try:
        tool_input = tool.read(payload)
    except ToolInputInvalid:
        return error("tool_input_invalid", f"invalid input for tool '{tool.name}'.", data)
    try:
        output = tool.run(tool_input)
    except Exception as problem:
        return error("provider_execution_failed", f"tool '{tool.name}' failed ({type(problem).__name__}).", data)
    if not tool.accepts(output):
        return error("tool_output_invalid", f"invalid output from tool '{tool.name}'.", data)
    return CommandOutcome(
        result=CommandResult(status="ok", code="tool_ok", message=output, data={**data, "output": output}),
        tool_call=ToolCall(provider=tool.provider, tool=tool.name, input=payload, output=output),
    )
