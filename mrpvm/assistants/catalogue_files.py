"""Folders of small files, one thing each: the nearest root wins by id, a bad file excludes only itself.

Personas and agents are read by this module; each gives a `FileForm`.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from mrpvm.assistants.files import UnreadableFile, read_text
from mrpvm.assistants.front_matter import MalformedText

MOST_FILES = 200
"""How many files of one root are looked at, in the order of their names; a diagnostic counts the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDiagnostic:
    """What was found about one file; `name` is the file's."""

    name: str
    code: str
    message: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRoot:
    """A folder of files; `source` is bundled, user or workspace. A missing one is empty."""

    source: str
    path: Path


class _Identified(Protocol):
    @property
    def id(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FileForm[Thing: _Identified]:
    """How files of one kind are named, and how one becomes a thing: from its source, its name and its text."""

    noun: str
    endings: tuple[str, ...]
    read: Callable[[str, str, str], Thing]
    other_names: frozenset[str] = frozenset()

    def takes(self, name: str) -> bool:
        """Return whether a file of this name is one of them."""
        return name.endswith(self.endings) and name not in self.other_names


def read_files[Thing: _Identified](
    roots: Sequence[FileRoot], form: FileForm[Thing]
) -> tuple[dict[str, Thing], list[FileDiagnostic]]:
    """Return the things by id and what was found about files.

    Args:
        roots: the lowest precedence first.
    """
    things: dict[str, Thing] = {}
    diagnostics: list[FileDiagnostic] = []
    for root in roots:
        own = _of_root(root, form, diagnostics)
        diagnostics += [
            FileDiagnostic(
                name=name,
                code="precedence_conflict",
                message=f"Resolved by precedence. Winner={root.source}:{name}; the one of another root is shadowed.",
                source=root.source,
            )
            for name in sorted(own.keys() & things.keys())
        ]
        things |= own
    return dict(sorted(things.items())), sorted(diagnostics, key=lambda item: (item.name, item.code, item.source))


def _of_root[Thing: _Identified](
    root: FileRoot, form: FileForm[Thing], diagnostics: list[FileDiagnostic]
) -> dict[str, Thing]:
    things_by_id: dict[str, list[Thing]] = {}
    for name in _names(root, form, diagnostics):
        try:
            thing = form.read(root.source, name, read_text(root.path / name, root.path))
        except (UnreadableFile, MalformedText) as error:
            code = error.code if isinstance(error, UnreadableFile) else "malformed_frontmatter"
            diagnostics.append(FileDiagnostic(name=name, code=code, message=error.message, source=root.source))
        else:
            things_by_id.setdefault(thing.id, []).append(thing)
    for repeated in sorted(thing_id for thing_id, things in things_by_id.items() if len(things) > 1):
        message = f"Duplicate {form.noun} id(s) detected: {repeated}"
        diagnostics.append(FileDiagnostic(name=repeated, code="duplicate_id", message=message, source=root.source))
    return {thing_id: things[0] for thing_id, things in things_by_id.items() if len(things) == 1}


def _names(root: FileRoot, form: FileForm[Any], diagnostics: list[FileDiagnostic]) -> list[str]:
    try:
        names = sorted(name for name in os.listdir(root.path) if form.takes(name))
    except OSError:
        return []
    if len(names) > MOST_FILES:
        message = f"{len(names) - MOST_FILES} files are left out; {MOST_FILES} are allowed."
        diagnostics.append(
            FileDiagnostic(name=ascii(names[MOST_FILES]), code="too_many_files", message=message, source=root.source)
        )
    return [name for name in names[:MOST_FILES] if name.isprintable()]
