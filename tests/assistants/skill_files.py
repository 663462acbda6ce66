"""Helpers for tests of skills: folders with files, and the environment in which they are loaded."""

from collections.abc import Iterable
from pathlib import Path

from mrpvm.assistants.skills import LoaderEnvironment, SkillRoot, SkillSnapshot, load_snapshot
from mrpvm.assistants.tools import BUILTIN_TOOLS, Tools
from mrpvm.commands import RESERVED

SOURCES = ("bundled", "user", "workspace")


def write_skill(root: Path, name: str, text: str = "") -> Path:
    """Write a SKILL.md; return its path."""
    path = root / name / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def front(body: str = "Do it.", **fields: str) -> str:
    """Return a SKILL.md's text with these lines of front matter."""
    return "\n".join(("---", *(f"{name}: {value}" for name, value in fields.items()), "---", body))


class Folders:
    """The three roots of skills below a directory of the test."""

    def __init__(self, path: Path) -> None:
        self.bundled, self.user, self.workspace = (path / source for source in SOURCES)
        for root in (self.bundled, self.workspace):
            root.mkdir(parents=True, exist_ok=True)

    @property
    def roots(self) -> list[SkillRoot]:
        """Return the roots by precedence, the lowest first."""
        return [
            SkillRoot(source="bundled", path=self.bundled),
            SkillRoot(source="user", path=self.user, is_required=False),
            SkillRoot(source="workspace", path=self.workspace),
        ]

    def load(
        self,
        *,
        platform: str = "linux",
        env: Iterable[str] = (),
        binaries: Iterable[str] = (),
        tools: Iterable[str] | None = Tools(BUILTIN_TOOLS).names,
    ) -> SkillSnapshot:
        """Return the snapshot in the vectors' environment: linux, nothing set, unless other values are given."""
        names, programs = frozenset(env), frozenset(binaries)
        return load_snapshot(
            self.roots,
            LoaderEnvironment(
                platform=platform,
                has_env=names.__contains__,
                has_binary=programs.__contains__,
                available_tools=None if tools is None else frozenset(tools),
                reserved_commands=RESERVED,
            ),
        )


def found(snapshot: SkillSnapshot) -> list[tuple[str, str]]:
    """Return the name and code of every diagnostic."""
    return [(item.skill_name, item.code) for item in snapshot.diagnostics]


def names(snapshot: SkillSnapshot) -> list[str]:
    """Return the names of the skills."""
    return [item.skill_name for item in snapshot.skills]
