"""Persona and agent files, and the style of a turn."""

from dataclasses import asdict
from pathlib import Path

import pytest

from mrpvm.assistants.agents import AgentCatalogue, load_agents
from mrpvm.assistants.catalogue_files import FileRoot
from mrpvm.assistants.personas import PersonaCatalogue, PersonaRoot, load_personas, resolve_style


class Homes:
    """Two roots of personas; the second one is the project's."""

    def __init__(self, path: Path) -> None:
        self.bundled, self.workspace = path / "bundled", path / "workspace"
        self.catalogue = self.workspace / "personas"
        for folder in (self.bundled, self.catalogue):
            folder.mkdir(parents=True)

    def load(self) -> PersonaCatalogue:
        """Return the catalogue."""
        return load_personas([
            PersonaRoot(source="bundled", catalogue=self.bundled, v0=self.bundled),
            PersonaRoot(source="workspace", catalogue=self.catalogue, v0=self.workspace),
        ])  # fmt: skip


@pytest.fixture
def homes(tmp_path: Path) -> Homes:
    """Return empty roots."""
    return Homes(tmp_path)


def test_the_four_files_make_up_the_default_persona(homes: Homes) -> None:
    """Each file is read from the nearest root that has it; a missing one is ignored."""
    for name in ("SOUL.md", "USER.md", "AGENTS.md"):
        (homes.bundled / name).write_text(f"bundled {name}\n")
    (homes.workspace / "USER.md").write_text("my USER\n")
    (homes.bundled / "README.md").write_text("about this folder")
    loaded = homes.load()
    assert [item.id for item in loaded.personas] == ["default"]
    default = loaded.personas[0]
    assert default.instructions == "bundled SOUL.md\n\nmy USER\n\nbundled AGENTS.md"
    assert default.default_style == "balanced"


def test_a_catalogue_file_is_a_persona(homes: Homes) -> None:
    (homes.bundled / "Lily.md").write_text("---\nsummary: A\ndefault_style: FOCUS\n---\nBe Lily.")
    (homes.bundled / "b.md").write_text("---\nid: ' Chad '\n---\nBe Chad.")
    loaded = homes.load()
    assert [(item.id, item.default_style, item.instructions) for item in loaded.personas] == [
        ("chad", "balanced", "Be Chad."), ("lily", "focus", "Be Lily."),
    ]  # fmt: skip
    assert loaded == PersonaCatalogue.of_record(asdict(loaded))
    assert homes.load().content_hash == loaded.content_hash


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"---\nid: ../x\n---\nbody", "malformed_frontmatter"),
        (b"---\nid: a/b\n---\nbody", "malformed_frontmatter"),
        (b"---\nauthor: me\n---\nbody", "malformed_frontmatter"),
        (b"---\ndefault_style: loud\n---\nbody", "malformed_frontmatter"),
        (b"---\nid: x\n---\n", "malformed_frontmatter"),
        (b"---\nid: [\n---\nbody", "malformed_frontmatter"),
        (b"\xff\xfe", "malformed_frontmatter"),
        (b"x" * 70_000, "file_too_large"),
    ],
)
def test_a_bad_file_costs_itself_alone(homes: Homes, content: bytes, code: str) -> None:
    (homes.bundled / "bad.md").write_bytes(content)
    (homes.bundled / "good.md").write_text("Be good.")
    loaded = homes.load()
    assert [item.id for item in loaded.personas] == ["good"]
    assert [(item.name, item.code) for item in loaded.diagnostics] == [("bad.md", code)]


def test_an_id_that_comes_twice_is_told_and_not_used(homes: Homes) -> None:
    (homes.bundled / "a.md").write_text("---\nid: x\n---\none")
    (homes.bundled / "b.md").write_text("---\nid: X\n---\ntwo")
    loaded = homes.load()
    assert loaded.personas == ()
    assert loaded.diagnostics[0].message == "Duplicate persona id(s) detected: x"


def test_the_nearest_root_wins_and_the_conflict_is_told(homes: Homes) -> None:
    (homes.bundled / "x.md").write_text("far")
    (homes.catalogue / "x.md").write_text("near")
    loaded = homes.load()
    assert [(item.source, item.instructions) for item in loaded.personas] == [("workspace", "near")]
    assert [item.code for item in loaded.diagnostics] == ["precedence_conflict"]


def test_a_link_out_of_the_root_is_not_followed(homes: Homes, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("secret")
    (homes.catalogue / "x.md").symlink_to(secret)
    (homes.workspace / "SOUL.md").symlink_to(secret)
    loaded = homes.load()
    assert loaded.personas == ()
    assert sorted((item.name, item.code) for item in loaded.diagnostics) == [
        ("SOUL.md", "path_outside_root"), ("x.md", "path_outside_root"),
    ]  # fmt: skip


def test_agents_are_read_in_all_three_forms(tmp_path: Path) -> None:
    (tmp_path / "a.agent.yaml").write_text("id: OPS\nsummary: Runs things\ndeclared_tools: [b, a]\n")
    (tmp_path / "b.agent.yml").write_text("id: reader\ninstructions: Read.\n")
    (tmp_path / "c.agent.md").write_text("---\nid: old\n---\nIn the old form.")
    (tmp_path / "d.agent.yaml").write_text("summary: nobody\n")
    (tmp_path / "e.agent.yaml").write_text("id: twice\n")
    (tmp_path / "f.agent.yaml").write_text("id: twice\n")
    (tmp_path / "readme.yaml").write_text("id: no agent\n")
    loaded = load_agents([FileRoot(source="user", path=tmp_path)])
    assert [(item.id, item.declared_tools, item.instructions) for item in loaded.agents] == [
        ("old", (), "In the old form."),
        ("ops", ("a", "b"), ""),
        ("reader", (), "Read."),
    ]
    assert [item.message for item in loaded.diagnostics] == [
        "Invalid agent: id is required", "Duplicate agent id(s) detected: twice",
    ]  # fmt: skip
    assert loaded == AgentCatalogue.of_record(asdict(loaded))
    assert load_agents([FileRoot(source="user", path=tmp_path / "none")]) == AgentCatalogue()


def test_a_stored_agent_may_have_a_field_that_is_no_longer_read(tmp_path: Path) -> None:
    """A session keeps its agents as they were when it was created, also after an upgrade of the server."""
    (tmp_path / "a.agent.yaml").write_text("id: ops\ndeclared_tools: [a]\n")
    loaded = load_agents([FileRoot(source="user", path=tmp_path)])
    record = asdict(loaded)
    assert record["agents"]
    older = record | {"agents": [item | {"policy": "safe_eval"} for item in record["agents"]]}
    assert AgentCatalogue.of_record(older) == loaded


@pytest.mark.parametrize(
    ("active", "default", "message", "forced", "expected"),
    [
        ("playful", "playful", "urgent", True, ("focus", "safety")),
        ("playful", "balanced", "this is urgent", False, ("playful", "session")),
        (None, "playful", "The PROD database is broken", False, ("focus", "message")),
        (None, "playful", "fix now, and tell a joke", False, ("focus", "message")),
        (None, "focus", "lighten  up", False, ("playful", "message")),
        (None, "focus", "a produce stall, funny errors", False, ("focus", "persona")),
        (None, "playful", "", False, ("playful", "persona")),
        (None, None, "hello", False, ("balanced", "default")),
    ],
)
def test_the_style_of_a_turn(
    active: str | None, default: str | None, message: str, forced: bool, expected: tuple[str, str]
) -> None:
    """The order is safety, the session, the message, the persona."""
    resolved = resolve_style(active, default, message, is_forced=forced)
    assert (resolved.style, resolved.basis) == expected
