"""Loading a snapshot of skills from folders."""

import os
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrpvm.assistants.files import FILE_BYTES
from mrpvm.assistants.skills import SkillRootError, SkillSnapshot, difference
from tests.assistants.skill_files import Folders, found, front, names, write_skill

TOOL = {"invocation_mode": "tool_dispatch", "command_tool": "add"}


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """Return empty roots."""
    return Folders(tmp_path)


@pytest.mark.rule("FROZEN-1")
def test_the_workspace_wins_and_the_conflict_is_told(folders: Folders) -> None:
    write_skill(folders.bundled, "echo", front(summary="bundled"))
    write_skill(folders.user, "echo", front(summary="user"))
    write_skill(folders.workspace, "echo", front(summary="mine"))
    loaded = folders.load()
    assert [(item.skill_name, item.source, item.summary) for item in loaded.skills] == [("echo", "workspace", "mine")]
    assert found(loaded) == [("echo", "precedence_conflict")]
    assert loaded.diagnostics[0].message == (
        "Resolved by precedence. Winner=workspace:echo/SKILL.md; Losers=user:echo/SKILL.md; bundled:echo/SKILL.md"
    )


@pytest.mark.rule("FROZEN-3", "FROZEN-4")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("---\neligibility:\n  os: [darwin]\n---\nx", "ineligible"),  #
        ("---\nsummary: x\n", "malformed_frontmatter"),  #
        (front(command="skills"), "command_alias_collision"),
    ],
)
def test_a_winner_that_cannot_be_used_has_no_fallback(folders: Folders, text: str, code: str) -> None:
    write_skill(folders.bundled, "echo", front(summary="fine"))
    write_skill(folders.workspace, "echo", text)
    loaded = folders.load()
    assert loaded.skills == ()
    assert found(loaded) == sorted([("echo", code), ("echo", "precedence_conflict")])


@pytest.mark.rule("FROZEN-6")
def test_only_immediate_folders_are_looked_at(folders: Folders) -> None:
    write_skill(folders.bundled / "a", "b")
    loaded = folders.load()
    assert (names(loaded), found(loaded)) == ([], [("a", "missing_skill_md")])
    assert loaded.diagnostics[0].message == "Skill directory missing SKILL.md; excluded."


def test_a_folder_without_a_skill_shadows_nothing(folders: Folders) -> None:
    """Such a folder is no candidate."""
    write_skill(folders.bundled, "echo")
    (folders.workspace / "echo").mkdir()
    loaded = folders.load()
    assert (names(loaded), found(loaded)) == (["echo"], [("echo", "missing_skill_md")])


@pytest.mark.rule("FROZEN-7")
def test_without_front_matter_the_whole_file_is_the_body(folders: Folders) -> None:
    write_skill(folders.bundled, "plain", "# Plain\n\nDo it.\n")
    skill = folders.load().skills[0]
    assert (skill.summary, skill.invocation_mode, skill.instructions) == ("", "llm_orchestration", "# Plain\n\nDo it.")


@pytest.mark.rule("FROZEN-9")
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"---\nsummary: [\n---\n", "Invalid frontmatter: "),
        (b"---\nsummary: a: b\n---\n", "Invalid frontmatter: "),
        (b"---\n- a\n---\n", "Invalid frontmatter: expected a YAML mapping/object"),
        (b"---\nsummary: x\n", "Invalid frontmatter: missing closing delimiter"),
        (b"---\na: &x [1]\nb: *x\n---\n", "Invalid frontmatter: aliases are not allowed"),
        (b"---\nsummary: a\nsummary: b\n---\n", "Invalid frontmatter: the key 'summary' comes twice"),
        (b"---\n? [a]\n: b\n---\n", "Invalid frontmatter: "),
        (b"---\nsummary: !!python/object:os.system x\n---\n", "Invalid frontmatter: "),
        (b"---\nsummary: " + b"[" * 5_000 + b"\n---\n", "Invalid frontmatter: "),
        (b"---\nsummary: " + b"x" * 20_000 + b"\n---\n", "Invalid frontmatter: "),
        (b"---\nrequires_tools: add\n---\n", "Invalid frontmatter: requires_tools must be a list of texts"),
        (b"---\neligibility: linux\n---\n", "Invalid frontmatter: eligibility must be a mapping"),
        (b"---\ninvocation_mode: magic\n---\n", "Invalid frontmatter: invocation_mode must be"),
        (b"---\ninvocation_mode: tool_dispatch\n---\n", "Invalid frontmatter: tool_dispatch requires command_tool"),
        (b"\xff\xfe-\x00-\x00", "Invalid encoding: not UTF-8"),
        (b"na\xefve", "Invalid encoding: not UTF-8"),
        (b"a\x00b", "Invalid encoding: the text holds a null character"),
    ],
)
def test_a_file_that_cannot_be_read_costs_itself_alone(folders: Folders, content: bytes, message: str) -> None:
    write_skill(folders.bundled, "bad").write_bytes(content)
    write_skill(folders.bundled, "good")
    loaded = folders.load()
    assert (names(loaded), found(loaded)) == (["good"], [("bad", "malformed_frontmatter")])
    assert loaded.diagnostics[0].message.startswith(message)


@pytest.mark.rule("FROZEN-10")
def test_unknown_keys_are_ignored_and_told(folders: Folders) -> None:
    write_skill(folders.bundled, "echo", front(author="me", summary="Echoes"))
    loaded = folders.load()
    assert (names(loaded), found(loaded)) == (["echo"], [("echo", "unknown_keys")])
    assert loaded.excluded == ()


def test_the_agent_skills_form_loads(folders: Folders) -> None:
    head = "name: pdf\ndescription: Reads PDFs.\nlicense: MIT\nmetadata:\n  version: 1.0\nallowed-tools: Read"
    text = f"---\n{head}\n---\nUse it."
    write_skill(folders.user, "pdf", text)
    loaded = folders.load()
    assert [(item.skill_name, item.summary, item.instructions) for item in loaded.skills] == [
        ("pdf", "Reads PDFs.", "Use it.")
    ]
    assert loaded.diagnostics == ()


def test_a_stated_name_does_not_rename_a_folder(folders: Folders) -> None:
    write_skill(folders.user, "pdf", front(name="word"))
    loaded = folders.load()
    assert (names(loaded), found(loaded)) == (["pdf"], [("pdf", "name_differs")])


@pytest.mark.rule("FROZEN-12")
@pytest.mark.parametrize("alias", ["skills", "help", "jobs", "new", "reload_persona"])
def test_an_alias_may_not_be_a_reserved_name(folders: Folders, alias: str) -> None:
    write_skill(folders.bundled, "a", front(command=alias))
    loaded = folders.load()
    assert found(loaded) == [("a", "command_alias_collision")]
    assert loaded.diagnostics[0].message == f"Command alias collides with reserved command: {alias}"


@pytest.mark.rule("FROZEN-13")
@pytest.mark.parametrize("alias", ["Plan!", "PLAN", "/plan", "a b", "plän"])
def test_an_alias_has_a_form(folders: Folders, alias: str) -> None:
    write_skill(folders.bundled, "a", front(command=alias))
    loaded = folders.load()
    assert found(loaded) == [("a", "invalid_command_alias")]
    assert loaded.diagnostics[0].message == f"Invalid command alias: {alias}"


@pytest.mark.rule("FROZEN-15")
def test_missing_tools_are_named(folders: Folders) -> None:
    write_skill(folders.bundled, "a", front(requires_tools="[write, read]"))
    loaded = folders.load(tools={"read"})
    assert found(loaded) == [("a", "missing_required_tools")]
    assert loaded.diagnostics[0].message == "Missing required tool: write"
    assert names(folders.load(tools=None)) == ["a"], "no policy, no check"


def test_a_tool_that_does_not_exist_excludes_at_load(folders: Folders) -> None:
    """The error is found at load, never at run time."""
    write_skill(folders.bundled, "a", front(**TOOL | {"command_tool": "launch"}))
    write_skill(folders.bundled, "b", front(**TOOL | {"command_tool_provider": "mcp"}))
    write_skill(folders.bundled, "c", front(**TOOL))
    loaded = folders.load()
    assert names(loaded) == ["c"]
    assert [(item.skill_name, item.message) for item in loaded.diagnostics] == [
        ("a", "Missing required tool: launch"),
        ("b", "Missing required tool: add"),
    ]


def test_declared_capabilities_hold_the_dispatched_tool(folders: Folders) -> None:
    for place, declared in enumerate(("[add]", "['builtin:add']", "[subtract]")):
        head = f"invocation_mode: tool_dispatch\ncommand_tool: add\ncapabilities:\n  declared_tools: {declared}"
        text = f"---\n{head}\n---\n"
        write_skill(folders.bundled, f"s{place}", text)
    loaded = folders.load()
    assert (names(loaded), found(loaded)) == (["s0", "s1"], [("s2", "malformed_frontmatter")])


def test_all_reasons_of_ineligibility_are_collected(folders: Folders) -> None:
    """System names are compared exactly."""
    text = "---\neligibility:\n  os: [Linux]\n  env: [SET, UNSET]\n  binaries: [git, nothere]\n---\n"
    write_skill(folders.bundled, "a", text)
    loaded = folders.load(env={"SET"}, binaries={"git"})
    assert loaded.diagnostics[0].message == (
        "OS 'linux' is not one of: Linux; Missing environment variable: UNSET; Missing binary: nothere"
    )
    assert names(folders.load(platform="Linux", env={"SET", "UNSET"}, binaries={"git", "nothere"})) == ["a"]


@pytest.mark.rule("FROZEN-16")
def test_a_required_root_must_be_there(folders: Folders, tmp_path: Path) -> None:
    folders.load()
    folders.bundled.rmdir()
    with pytest.raises(SkillRootError, match=r"^Required skills root missing: bundled \("):
        folders.load()
    folders.bundled.write_text("a file")
    with pytest.raises(SkillRootError, match=r"^Required skills root is not a directory: bundled \("):
        folders.load()


def test_a_shared_alias_is_told_and_both_load(folders: Folders) -> None:
    write_skill(folders.bundled, "a", front(command="go"))
    write_skill(folders.bundled, "b", front(command="go"))
    loaded = folders.load()
    assert names(loaded) == ["a", "b"]
    assert found(loaded) == [("a", "command_alias_ambiguous"), ("b", "command_alias_ambiguous")]


def test_the_index_is_in_code_point_order(folders: Folders) -> None:
    for name in ("echo", "_z", "Echo"):
        write_skill(folders.bundled, name)
    assert names(folders.load()) == ["Echo", "_z", "echo"]


def test_a_huge_file_is_excluded(folders: Folders) -> None:
    write_skill(folders.bundled, "big", "x" * (FILE_BYTES + 1))
    write_skill(folders.bundled, "full", "x" * FILE_BYTES)
    loaded = folders.load()
    assert (names(loaded), found(loaded)) == (["full"], [("big", "file_too_large")])


@pytest.mark.parametrize("name", ["..x", ".git", "a b", "a\\b", "c:", "x" * 65, "a\nb", "\u202eb", "-rf"])
def test_a_name_like_a_path_or_untypable_is_refused(folders: Folders, name: str) -> None:
    write_skill(folders.bundled, name)
    write_skill(folders.bundled, "good")
    loaded = folders.load()
    assert (names(loaded), [code for _, code in found(loaded)]) == (["good"], ["invalid_skill_name"])


def test_links_out_of_the_root_are_refused(folders: Folders, tmp_path: Path) -> None:
    outside = write_skill(tmp_path / "elsewhere", "secret", "secret")
    (folders.workspace / "folder").symlink_to(outside.parent)
    (folders.workspace / "file").mkdir()
    (folders.workspace / "file" / "SKILL.md").symlink_to(outside)
    (folders.workspace / "loop").symlink_to("loop")
    (folders.workspace / "dead").mkdir()
    (folders.workspace / "dead" / "SKILL.md").symlink_to(tmp_path / "nothing")
    inside = write_skill(folders.workspace, "real")
    (folders.workspace / "near").symlink_to(inside.parent)
    loaded = folders.load()
    assert names(loaded) == ["near", "real"]
    assert found(loaded) == [(name, "path_outside_root") for name in ("dead", "file", "folder")]


def test_what_is_no_file_is_not_opened(folders: Folders) -> None:
    """Opening a pipe would wait for a writer for ever."""
    for name in ("folder", "pipe"):
        (folders.bundled / name).mkdir()
    (folders.bundled / "folder" / "SKILL.md").mkdir()
    os.mkfifo(folders.bundled / "pipe" / "SKILL.md")
    assert found(folders.load()) == [("folder", "file_unreadable"), ("pipe", "file_unreadable")]


def test_a_difference_names_what_changed(folders: Folders) -> None:
    for name in ("gone", "changed", "same"):
        write_skill(folders.bundled, name, front(summary="a"))
    before = folders.load()
    (folders.bundled / "gone" / "SKILL.md").unlink()
    write_skill(folders.bundled, "changed", front(summary="b"))
    write_skill(folders.bundled, "new")
    after = folders.load()
    told = difference(before, after)
    assert [item.skill_name for item in told.added] == ["new"]
    assert [item.skill_name for item in told.removed] == ["gone"]
    assert [(item.before.skill_name, item.fields) for item in told.changed] == [("changed", ("summary",))]
    assert [item.code for item in told.new_diagnostics] == ["missing_skill_md"]
    assert difference(before, before).is_empty
    assert not told.is_empty


TEXTS = st.one_of(
    st.text(max_size=60),
    st.text(max_size=40).map(lambda text: f"---\n{text}\n---\nbody"),
    st.sampled_from((front(summary="a"), front(command="go"), front(**TOOL), front(requires_tools="[x]"))),
)
FILES = st.dictionaries(
    st.tuples(st.sampled_from(("bundled", "user", "workspace")), st.sampled_from("abcd")), TEXTS, max_size=6
)


@given(FILES, st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_any_files_give_one_snapshot_whatever_their_order(
    tmp_path_factory: pytest.TempPathFactory, files: dict[tuple[str, str], str], random: object
) -> None:
    """Loading raises nothing, every folder is a skill or has a diagnostic, and the snapshot survives serialization."""
    snapshots = []
    for _ in range(2):
        folders = Folders(tmp_path_factory.mktemp("roots"))
        ordered = list(files.items())
        random.shuffle(ordered)  # type: ignore[attr-defined]
        for (source, name), text in ordered:
            path = getattr(folders, source) / name / "SKILL.md"
            path.parent.mkdir(parents=True)
            path.write_bytes(text.encode("utf-8", "surrogatepass"))
        snapshots.append(folders.load())
    first, second = snapshots
    assert first == second
    assert first.content_hash == second.content_hash == SkillSnapshot.of_record(asdict(first)).content_hash
    known = {item.skill_name for item in first.skills} | {item.skill_name for item in first.excluded}
    assert known == {name for _, name in files}
