"""From folders to a snapshot: roots, precedence, checks, diagnostics.

Precedence is decided by names alone, before anything is read: a winner that turns out unusable leaves its name absent,
however good the folder it shadows. One bad folder never keeps another from loading.
"""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mrpvm.assistants.files import UnreadableFile, is_inside, read_text
from mrpvm.assistants.front_matter import MalformedText
from mrpvm.assistants.skills.document import TOOL_DISPATCH, SkillDocument, read_document
from mrpvm.assistants.skills.snapshot import SkillDiagnostic, SkillEntry, SkillSnapshot
from mrpvm.errors import Unavailable

FILE_NAME = "SKILL.md"
MOST_FOLDERS = 1_000
"""How many folders of one root are looked at, in the order of their names; a diagnostic counts the others."""
_ALIAS = re.compile(r"[a-z0-9_-]+")
_NAME = re.compile(r"[^\s/\\:.\-][^\s/\\:]{0,63}")


class SkillRootError(Unavailable):
    """A required root cannot be read: nothing is loaded."""

    default_code = "SKILLS_ROOT_UNREADABLE"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillRoot:
    """A folder of skill folders; `source` is bundled, user or workspace."""

    source: str
    path: Path
    is_required: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class LoaderEnvironment:
    """What skills may ask for. `available_tools` holds `tool` and `provider:tool`; None is no policy."""

    platform: str
    has_env: Callable[[str], bool]
    has_binary: Callable[[str], bool]
    available_tools: frozenset[str] | None = None
    reserved_commands: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Folder:
    name: str
    root: SkillRoot

    @property
    def place(self) -> str:
        """Return the path below the root."""
        return f"{self.name}/{FILE_NAME}"

    @property
    def label(self) -> str:
        """Return source and path, as diagnostics name a folder."""
        return f"{self.root.source}:{self.place}"

    def diagnostic(self, code: str, message: str) -> SkillDiagnostic:
        """Return a diagnostic about this folder."""
        return SkillDiagnostic(
            skill_name=self.name, code=code, message=message, source=self.root.source, path=self.place
        )


@dataclass(slots=True)
class _Loaded:
    skills: list[SkillEntry] = field(default_factory=list)
    diagnostics: list[SkillDiagnostic] = field(default_factory=list)


class _Refused(Exception):
    """A check failed; carries code and message of the diagnostic."""


def load_snapshot(roots: Sequence[SkillRoot], environment: LoaderEnvironment) -> SkillSnapshot:
    """Return the snapshot of the roots, the lowest precedence first: equal files give an equal snapshot.

    Raises:
        SkillRootError: a required root is missing or no folder.
    """
    loaded = _Loaded()
    by_name: dict[str, list[_Folder]] = {}
    for root in roots:
        for folder in _folders(root, loaded):
            by_name.setdefault(folder.name, []).append(folder)
    for candidates in by_name.values():
        *losers, winner = candidates
        _load(winner, environment, loaded)
        if losers:
            shadowed = "; ".join(loser.label for loser in reversed(losers))
            loaded.diagnostics.append(
                winner.diagnostic(
                    "precedence_conflict", f"Resolved by precedence. Winner={winner.label}; Losers={shadowed}"
                )
            )
    loaded.diagnostics += _shared_aliases(loaded.skills)
    return SkillSnapshot(tuple(loaded.skills), tuple(loaded.diagnostics))


def _folders(root: SkillRoot, loaded: _Loaded) -> Iterable[_Folder]:
    """Return the root's immediate folders that hold a SKILL.md, by name."""
    try:
        names = sorted(name for name in os.listdir(root.path) if (root.path / name).is_dir())
    except FileNotFoundError:
        if root.is_required:
            raise SkillRootError(f"Required skills root missing: {root.source} ({root.path})") from None
        return
    except OSError:
        if root.is_required:
            raise SkillRootError(f"Required skills root is not a directory: {root.source} ({root.path})") from None
        return
    if len(names) > MOST_FOLDERS:
        left_out = SkillDiagnostic(
            skill_name=_printable(names[MOST_FOLDERS]),
            code="too_many_skills",
            message=f"{len(names) - MOST_FOLDERS} folders are left out; {MOST_FOLDERS} are allowed.",
            source=root.source,
        )
        loaded.diagnostics.append(left_out)
    for name in names[:MOST_FOLDERS]:
        folder = _Folder(name=_printable(name), root=root)
        if not _NAME.fullmatch(name) or not name.isprintable():
            loaded.diagnostics.append(folder.diagnostic("invalid_skill_name", "Invalid skill name; excluded."))
        elif not is_inside(root.path / name, root.path):
            loaded.diagnostics.append(
                folder.diagnostic("path_outside_root", "The path leads out of its root; excluded.")
            )
        elif not os.path.lexists(root.path / name / FILE_NAME):
            loaded.diagnostics.append(
                folder.diagnostic("missing_skill_md", "Skill directory missing SKILL.md; excluded.")
            )
        else:
            yield folder


def _printable(name: str) -> str:
    """Return a name that can be stored and shown, whatever bytes the file system has for it."""
    return "".join(char if char.isprintable() else "\ufffd" for char in name)


def _load(folder: _Folder, environment: LoaderEnvironment, loaded: _Loaded) -> None:
    """Load a winner: the first check that fails excludes it, with one diagnostic."""
    try:
        document = read_document(read_text(folder.root.path / folder.name / FILE_NAME, folder.root.path))
        _check_alias(document, environment)
        _check_eligibility(document, environment)
        _check_tools(document, environment)
    except UnreadableFile as error:
        loaded.diagnostics.append(folder.diagnostic(error.code, error.message))
    except MalformedText as error:
        loaded.diagnostics.append(folder.diagnostic("malformed_frontmatter", error.message))
    except _Refused as error:
        loaded.diagnostics.append(folder.diagnostic(*error.args))
    else:
        loaded.skills.append(_entry(folder, document))
        loaded.diagnostics += _remarks(folder, document)


def _entry(folder: _Folder, document: SkillDocument) -> SkillEntry:
    return SkillEntry(
        skill_name=folder.name,
        source=folder.root.source,
        path=folder.place,
        summary=document.summary,
        invocation_mode=document.invocation_mode,
        instructions=document.instructions,
        command=document.command,
        command_tool_provider=document.command_tool_provider,
        command_tool=document.command_tool,
        requires_tools=document.requires_tools,
        declared_tools=document.declared_tools,
        capabilities_declared=document.capabilities_declared,
        allowed_os=document.allowed_os,
        required_env=document.required_env,
        required_binaries=document.required_binaries,
    )


def _remarks(folder: _Folder, document: SkillDocument) -> Iterable[SkillDiagnostic]:
    if document.unknown_keys:
        yield folder.diagnostic("unknown_keys", f"Ignored keys: {', '.join(document.unknown_keys)}")
    if document.stated_name and document.stated_name != folder.name:
        yield folder.diagnostic(
            "name_differs", f"The file names itself '{document.stated_name}'; the folder's name counts."
        )


def _check_alias(document: SkillDocument, environment: LoaderEnvironment) -> None:
    alias = document.command
    if alias is None:
        return
    if not _ALIAS.fullmatch(alias):
        raise _Refused("invalid_command_alias", f"Invalid command alias: {alias}")
    if alias in environment.reserved_commands:
        raise _Refused("command_alias_collision", f"Command alias collides with reserved command: {alias}")


def _check_eligibility(document: SkillDocument, environment: LoaderEnvironment) -> None:
    reasons = []
    if document.allowed_os and environment.platform not in document.allowed_os:
        reasons.append(f"OS '{environment.platform}' is not one of: {', '.join(document.allowed_os)}")
    reasons += [
        f"Missing environment variable: {name}" for name in document.required_env if not environment.has_env(name)
    ]
    reasons += [f"Missing binary: {name}" for name in document.required_binaries if not environment.has_binary(name)]
    if reasons:
        raise _Refused("ineligible", "; ".join(reasons))


def _check_tools(document: SkillDocument, environment: LoaderEnvironment) -> None:
    """Refuse a skill of which some tool does not exist, the one it dispatches to included."""
    available = environment.available_tools
    if available is None:
        return
    missing = {name for name in document.requires_tools if name not in available}
    dispatched = document.command_tool if document.invocation_mode == TOOL_DISPATCH else None
    if dispatched is not None and f"{document.command_tool_provider}:{dispatched}" not in available:
        missing.add(dispatched)
    if missing:
        raise _Refused(
            "missing_required_tools", "; ".join(f"Missing required tool: {name}" for name in sorted(missing))
        )


def _shared_aliases(skills: Iterable[SkillEntry]) -> Iterable[SkillDiagnostic]:
    """Return a diagnostic for each skill whose alias others have too; calling it is ambiguous."""
    by_alias: dict[str, list[SkillEntry]] = {}
    for item in skills:
        if item.command is not None:
            by_alias.setdefault(item.command, []).append(item)
    for alias, sharing in by_alias.items():
        names = ", ".join(sorted(item.skill_name for item in sharing))
        if len(sharing) > 1:
            for item in sharing:
                yield SkillDiagnostic(
                    skill_name=item.skill_name,
                    code="command_alias_ambiguous",
                    message=f"Command alias '{alias}' is shared by: {names}",
                    source=item.source,
                    path=item.path,
                )
