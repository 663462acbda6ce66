"""The grammar of commands, the order in which names are resolved, and every message."""

import json
from copy import replace
from dataclasses import asdict, fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrpvm.assistants.personas import PersonaCatalogue
from mrpvm.assistants.personas.catalogue import _persona
from mrpvm.assistants.skills import SkillSnapshot
from mrpvm.assistants.tools import Tool, Tools
from mrpvm.commands import BUILTINS, RESERVED, SessionFacts, is_command, resolve
from tests.commands.command_scene import FACTS, ScriptedPorts, after, persona, run, said, text_skill, tool_skill


@pytest.mark.rule("DECISION-40")
def test_the_raw_first_character_decides() -> None:
    assert is_command("/skills")
    assert is_command("/")
    assert not is_command("  /skills")
    assert not is_command("skills")
    assert not is_command("")


@pytest.mark.rule("FROZEN-34")
@pytest.mark.parametrize("text", ["/", "/   ", "/\t\n"])
def test_a_name_must_follow(text: str) -> None:
    assert said(text) == ("parse_error", "Error: command name is required after '/'.", {"input": text})


@pytest.mark.parametrize("text", ["/skills", "/ skills", "/\tskills\n"])
def test_white_space_around_a_name_means_nothing(text: str) -> None:
    assert said(text)[0] == "skills_listed"


@pytest.mark.rule("FROZEN-22")
@pytest.mark.parametrize("name", ["unknown", "SKILLS", "skil", "/x", "jobs", "ECHO"])
def test_an_unknown_name_is_refused_without_a_guess(name: str) -> None:
    assert said(f"/{name}") == ("unknown_command", f"Error: unknown command '/{name}'.", {"command": name})


def test_skills_are_listed_with_what_was_found() -> None:
    assert said("/skills") == (
        "skills_listed",
        "add - Adds.\necho - Echoes.\nfirst\nminus\nsecond\n\nDiagnostics:\n"
        "- bad [malformed_frontmatter] Invalid frontmatter: x",
        {"count": 5, "diagnostics_count": 1},
    )
    bare = replace(FACTS, skills=SkillSnapshot())
    assert said("/skills", bare) == (
        "skills_empty", "No skills available in snapshot.", {"count": 0, "diagnostics_count": 0},
    )  # fmt: skip


INVALID = [
    ("/skills now", "/skills does not accept arguments.", {"command": "skills"}),  #
    ("/skill", "/skill requires a skill name.", {"command": "skill"}),
    ("/help", "/help requires exactly one skill name.", {"command": "help"}),
    ("/help a b", "/help requires exactly one skill name.", {"command": "help"}),
    ("/reload_skills x", "/reload_skills does not accept arguments.", {"command": "reload_skills"}),
    ("/new x", "/new does not accept arguments.", {"command": "new"}),
    ("/agent", "/agent requires one subcommand: list|use|show.", {"command": "agent"}),
    ("/agent list x", "/agent list does not accept arguments.", {"command": "agent", "subcommand": "list"}),
    ("/agent show x", "/agent show does not accept arguments.", {"command": "agent", "subcommand": "show"}),
    ("/agent use", "/agent use requires exactly one agent name.", {"command": "agent", "subcommand": "use"}),
    ("/agent use a b", "/agent use requires exactly one agent name.", {"command": "agent", "subcommand": "use"}),
    ("/agent drop ops", "unsupported /agent subcommand 'drop'.", {"command": "agent", "subcommand": "drop"}),
    ("/persona", "/persona requires one subcommand: list|use|show|export|import.", {"command": "persona"}),
    ("/persona list x", "/persona list does not accept arguments.", {"command": "persona", "subcommand": "list"}),
    ("/persona use", "/persona use requires exactly one persona name.", {"command": "persona", "subcommand": "use"}),
    ("/persona drop", "unsupported /persona subcommand 'drop'.", {"command": "persona", "subcommand": "drop"}),
    ("/reload_persona x", "/reload_persona does not accept arguments.", {"command": "reload_persona"}),
    ("/style", "/style requires exactly one value: focus|balanced|playful.", {"command": "style"}),
    ("/style a b", "/style requires exactly one value: focus|balanced|playful.", {"command": "style"}),
    ("/remember", "/remember requires memory content.", {"command": "remember"}),
    ("/forget", "/forget requires exactly one memory id.", {"command": "forget"}),
    ("/memory", "/memory requires a subcommand.", {"command": "memory"}),
    ("/memory dance", "unsupported /memory subcommand 'dance'.", {"command": "memory", "subcommand": "dance"}),
]


@pytest.mark.parametrize(("text", "message", "data"), INVALID)
def test_arguments_that_do_not_fit_are_refused(text: str, message: str, data: dict[str, str]) -> None:
    assert said(text) == ("invalid_args", f"Error: {message}", data)


@pytest.mark.rule("FROZEN-24", "FROZEN-25")
@pytest.mark.parametrize(("text", "name"), [("/skill ECHO hi", "ECHO"), ("/skill ech", "ech"), ("/help none", "none")])
def test_skill_names_are_exact(text: str, name: str) -> None:
    assert said(text) == ("skill_not_found", f"Error: skill '{name}' not found in snapshot.", {"skill": name})


@pytest.mark.rule("FROZEN-28")
@pytest.mark.parametrize("text", ["/skill add 20+42", "/sum 20+42", "/sum   20 + 42"])
def test_a_tool_runs_without_a_model(text: str) -> None:
    outcome = run(text)
    assert (outcome.result.status, outcome.result.code, outcome.result.message) == ("ok", "tool_ok", "62")
    assert outcome.result.data == {"skill": "add", "provider": "builtin", "tool": "add", "output": "62"}
    assert outcome.tool_call is not None
    assert outcome.tool_call.output == "62"
    assert outcome.changes == {}


@pytest.mark.rule("FROZEN-27")
def test_a_payload_is_checked() -> None:
    assert said("/skill add bad+payload")[:2] == ("tool_input_invalid", "Error: invalid input for tool 'add'.")


def with_skill(**fields_of_skill: object) -> SessionFacts:
    """Return the state with one skill `x`, which the loader would refuse."""
    skill = replace(tool_skill("x", "add"), **fields_of_skill)  # type: ignore[arg-type]
    return replace(FACTS, skills=SkillSnapshot((skill,)))


def broken(run_tool: object) -> Tools:
    """Return tools with the given function as `add`."""
    return Tools([Tool(provider="builtin", name="add", summary="", read=str, run=run_tool)])  # type: ignore[arg-type]


def raising(given: str) -> str:
    """Raise as a faulty tool does."""
    raise OSError(given)


@pytest.mark.parametrize(
    ("facts", "code", "message"),
    [
        (with_skill(command_tool=None), "command_tool_missing", "Error: skill 'x' has no command tool."),
        (
            with_skill(command_tool_provider="mcp"),
            "provider_unbound",
            "Error: tool provider 'mcp' is not registered for skill 'x'.",
        ),
        (with_skill(command_tool="launch"), "provider_tool_unregistered",
         "Error: tool 'builtin:launch' is not registered for skill 'x'."),
        (with_skill(invocation_mode="magic"), "executor_unbound",
         "Error: no executor bound for mode 'magic' (skill 'x')."),
        (
            with_skill(capabilities_declared=True, declared_tools=("subtract",)),
            "skill_capability_denied",
            "Security alert: skill 'x' attempted undeclared tool 'builtin:add'.",
        ),
        (replace(with_skill(), active_agent="reader"), "provider_policy_denied",
         "Error: agent 'reader' may not run tool 'builtin:add'."),
        (replace(with_skill(), tools=broken(raising)), "provider_execution_failed",
         "Error: tool 'add' failed (OSError)."),
        (replace(with_skill(), tools=broken(lambda given: "")), "tool_output_invalid",
         "Error: invalid output from tool 'add'."),
        (replace(with_skill(), tools=broken(lambda given: "x" * 5_000)), "tool_output_invalid",
         "Error: invalid output from tool 'add'."),
        (replace(with_skill(), tools=broken(lambda given: 3)), "tool_output_invalid",
         "Error: invalid output from tool 'add'."),
    ],
)  # fmt: skip
def test_a_tool_that_cannot_run_says_why(facts: SessionFacts, code: str, message: str) -> None:
    assert said("/skill x 1+1", facts)[:2] == (code, message)


@pytest.mark.rule("FROZEN-30")
def test_a_built_in_wins_over_an_alias() -> None:
    facts = replace(FACTS, skills=SkillSnapshot((text_skill("evil", command="skills"),)))
    assert said("/skills", facts)[0] == "skills_listed"


def test_an_alias_of_two_skills_is_ambiguous() -> None:
    assert said("/twice") == (
        "alias_ambiguous", "Error: command alias '/twice' is ambiguous in snapshot.", {"alias": "twice"},
    )  # fmt: skip


def test_a_skill_for_a_model_is_handed_on_with_its_reason() -> None:
    """The outcome has one skill and the reason for it."""
    named, alias = resolve("/skill echo  a   b", FACTS), resolve("/say a b", FACTS)
    assert named.orchestration is not None
    assert alias.orchestration is not None
    assert named.orchestration.message == alias.orchestration.message == "a b"
    assert "/skill names 'echo'" in named.reason
    assert "'say' is the alias of the skill 'echo'" in alias.reason
    empty = resolve("/say", FACTS).orchestration
    assert empty is not None
    assert empty.message == "Apply the skill echo to this conversation."


@pytest.mark.rule("FROZEN-33")
def test_help_tells_what_the_snapshot_knows() -> None:
    """It reads only the snapshot."""
    assert said("/help add")[1] == (
        "# /help add\n- `name`: add\n- `summary`: Adds.\n- `source`: bundled\n- `invocation_mode`: tool_dispatch\n"
        "- `command_alias`: sum\n- `command_tool_provider`: builtin\n- `command_tool`: add\n"
        "- `requires_tools`: (none)\n"
        "- `plugin`: (none)\n- `eligibility`:\n  - `os`: (none)\n  - `env`: (none)\n  - `binaries`: (none)"
    )


@pytest.mark.rule("FROZEN-19")
def test_a_reload_replaces_the_snapshot_and_counts() -> None:
    """The number increases even if nothing changed."""
    ports = ScriptedPorts(skills=SKILLS_NOW)
    outcome = run("/reload_skills", ports=ports)
    assert outcome.result.message == "Reloaded skills for current session. version=4 count=1"
    assert outcome.result.data == {"version": 4, "count": 1}
    assert outcome.changes == {"skills": SKILLS_NOW, "snapshot_version": 4}
    again = run("/reload_skills", after(FACTS, outcome), ports)
    assert again.result.data == {"version": 5, "count": 1}


SKILLS_NOW = SkillSnapshot((text_skill("new"),))


def test_a_reload_without_files_is_refused() -> None:
    message = "Error: /reload_skills is unavailable for this session."
    assert said("/reload_skills") == ("reload_unavailable", message, None)


@pytest.mark.rule("FROZEN-36", "FROZEN-37")
def test_agents() -> None:
    assert said("/agent list")[:2] == (
        "agent_listed", "* default - The default.\n  ops - The ops.\n  reader - The reader.",
    )  # fmt: skip
    assert said("/agent show") == ("agent_shown", "Agent: default\nSummary: The default.", {"agent": "default"})
    assert said("/agent use missing") == (
        "agent_not_found",
        "Error: agent 'missing' was not found.",
        {"agent": "missing"},
    )
    for text in ("/agent use OPS", "/agent Ops"):
        outcome = run(text)
        assert (outcome.result.code, outcome.result.message) == ("agent_set", "Active agent set to 'ops'.")
        assert outcome.changes == {"active_agent": "ops"}
    none = replace(FACTS, agents=type(FACTS.agents)())
    assert said("/agent list", none)[1] == "No agents available."
    assert said("/agent show", none)[:2] == ("agent_not_found", "Error: active agent 'default' is missing.")


@pytest.mark.rule("FROZEN-39")
def test_personas() -> None:
    assert said("/persona list")[:2] == (
        "persona_listed", "  barbie - The barbie.\n  chad - The chad.\n* lily - The lily.",
    )  # fmt: skip
    focused = after(FACTS, run("/style focus"))
    outcome = run("/persona use Chad", focused)
    assert outcome.result.message == "Active persona set to 'chad' (default style: playful)."
    assert outcome.changes == {"active_persona": "chad", "active_style": None}
    shown = said("/persona show", after(focused, outcome))
    assert shown[2] == {"persona": "chad", "default_style": "playful", "effective_style": "playful"}
    assert said("/persona use x") == ("persona_not_found", "Error: persona 'x' was not found.", {"persona": "x"})
    none = replace(FACTS, personas=PersonaCatalogue())
    assert said("/persona list", none)[:2] == ("persona_not_found", "Error: no persona profiles are available.")
    assert said("/persona show", none)[1] == "Error: active persona 'lily' is missing from persona catalog."


def test_personas_leave_and_enter_by_no_path() -> None:
    assert said("/persona export lily")[:2] == (
        "persona_exported", "---\nid: lily\nsummary: 'The lily.'\ndefault_style: focus\n---\nBe lily.",
    )  # fmt: skip
    assert said("/persona export lily ../x")[0] == "persona_export_failed"
    assert said("/persona import ../x")[0] == "persona_import_failed"


@pytest.mark.rule("FROZEN-42")
def test_a_persona_that_vanished_gives_way_to_the_first() -> None:
    left = PersonaCatalogue((persona("barbie", "playful"), persona("chad", "playful")))
    facts = replace(FACTS, active_style="balanced")
    outcome = run("/reload_persona", facts, ScriptedPorts(personas=left))
    assert outcome.result.message == "Reloaded personas. active=barbie count=2 switched=true"
    assert outcome.changes == {"personas": left, "active_persona": "barbie", "active_style": None}
    kept = run("/reload_persona", facts, ScriptedPorts(personas=FACTS.personas))
    assert kept.result.message == "Reloaded personas. active=lily count=3 switched=false"
    assert kept.changes == {"personas": FACTS.personas}
    assert said("/reload_persona") == (
        "persona_reload_failed", "Error: no persona profiles are available after reload.", None,
    )  # fmt: skip


@pytest.mark.rule("FROZEN-40")
def test_style() -> None:
    outcome = run("/style Playful")
    assert (outcome.result.message, outcome.changes) == ("Session style set to 'playful'.", {"active_style": "playful"})
    message = "Error: invalid style 'loud'. Use focus|balanced|playful."
    assert said("/style Loud") == ("style_invalid", message, {"style": "loud"})


def test_another_session() -> None:
    assert said("/new") == ("session_started", "Started session sess-2.", {"session_id": "sess-2"})


def test_every_reserved_name_is_a_command_or_kept_for_one() -> None:
    assert {
        "skills", "skill", "help", "reload_skills", "persona", "reload_persona", "agent", "style", "remember",
        "forget", "memory", "jobs", "new",
    } == RESERVED  # fmt: skip


WORDS = st.sampled_from((
    *(f"/{name}" for name in (*BUILTINS, "sum", "say", "less", "twice", "nothing", "")),
    "list", "use", "show", "ops", "OPS", "lily", "chad", "focus", "loud", "add", "echo", "1+1", "20 + 42", "x", '"a',
))  # fmt: skip
TEXTS = st.lists(WORDS, min_size=1, max_size=4).map(lambda words: "/" + " ".join(words).lstrip("/"))
MAY_CHANGE = {
    "reload_skills": {"skills", "snapshot_version"},
    "agent": {"active_agent"},
    "persona": {"active_persona", "active_style"},
    "reload_persona": {"personas", "active_persona", "active_style"},
    "style": {"active_style"},
}


@given(st.lists(TEXTS, max_size=8))
@settings(max_examples=60)
def test_commands_depend_on_state_and_change_nothing_else(texts: list[str]) -> None:
    """The same commands in two equal states give identical outputs; each command changes only its own fields."""
    states = [FACTS, FACTS]
    ports = [ScriptedPorts(skills=SKILLS_NOW, personas=FACTS.personas) for _ in states]
    for text in texts:
        resolved = [resolve(text, facts) for facts in states]
        assert resolved[0] == resolved[1]
        if resolved[0].orchestration is not None:
            continue
        outcomes = [run(text, facts, port) for facts, port in zip(states, ports, strict=True)]
        assert len({json.dumps(outcome.result.as_record()) for outcome in outcomes}) == 1
        before = states[0]
        states = [after(facts, outcome) for facts, outcome in zip(states, outcomes, strict=True)]
        changed = {item.name for item in fields(before) if getattr(before, item.name) != getattr(states[0], item.name)}
        assert changed <= MAY_CHANGE.get(resolved[0].name, set())
        if outcomes[0].result.status == "error":
            assert changed == set()


@given(st.text(max_size=60))
@settings(max_examples=60)
def test_any_text_after_the_sign_has_an_answer(text: str) -> None:
    resolved = resolve(f"/{text}", FACTS)
    if resolved.orchestration is None:
        result = run(f"/{text}").result
        assert set(asdict(result)) == {"status", "code", "message", "data"}
        json.dumps(result.as_record())


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60) | st.sampled_from(['It\'s "both".', "# no", "a: b"])
)
def test_an_exported_persona_reads_back_as_it_was(text: str) -> None:
    told = replace(persona("lily", "focus"), summary=" ".join(text.split()))
    exported = said("/persona export lily", replace(FACTS, personas=PersonaCatalogue((told,))))[1]
    assert _persona("bundled", "lily.md", exported) == told
