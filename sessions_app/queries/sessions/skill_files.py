"""The files that a project's new sessions and reloads read: shipped ones, the operator's, the project's own.

Each source has the folders `skills/`, `personas/` and `agents/`: bundled beside the server's code, user in the data
directory, workspace in `workspace/<project>/` of the data directory. The four V0 files are in `personas/`, those of a
workspace in the workspace itself; a workspace has `evidence/` too, whose texts commands read.
"""

import os
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, wraps
from pathlib import Path

from django.conf import settings

from mrpvm.assistants.agents import AgentCatalogue, load_agents
from mrpvm.assistants.catalogue_files import FileRoot
from mrpvm.assistants.files import is_inside, read_text
from mrpvm.assistants.personas import PersonaCatalogue, PersonaRoot, load_personas
from mrpvm.assistants.skills import LoaderEnvironment, SkillRoot, SkillSnapshot, load_snapshot
from mrpvm.assistants.tools import BUILTIN_TOOLS, Tools
from mrpvm.commands import RESERVED
from mrpvm.errors import NotFound
from sessions_app.models import Project


@cache
def tools() -> Tools:
    """Return the tools that commands may run."""
    return Tools(BUILTIN_TOOLS)


def workspace(project: Project) -> Path:
    """Return the project's own folder in the data directory; the slug is safe in a path."""
    return Path(settings.MRPVM_DATA_DIR) / "workspace" / project.slug


def _while_unchanged[Read](folder: str) -> Callable[[Callable[[Project], Read]], Callable[[Project], Read]]:
    """Return a decorator that caches a reader of this folder in each source until a file has changed.

    The cache lasts at most a second, because programs and variables that skills require may change without a file.
    """

    def decorate(read: Callable[[Project], Read]) -> Callable[[Project], Read]:
        kept: dict[str, tuple[object, Read]] = {}  # by the project's own folder

        @wraps(read)
        def current(project: Project) -> Read:
            own = str(workspace(project))
            homes = (str(settings.MRPVM_SHIPPED_DIR), str(settings.MRPVM_DATA_DIR), own)
            states = [*_states(own), *(_states(os.path.join(home, folder)) for home in homes)]
            seen = (homes, int(time.monotonic()), states)
            known = kept.get(own)
            if known is not None and known[0] == seen:
                return known[1]
            content = read(project)
            kept[own] = (seen, content)
            return content

        return current

    return decorate


def _states(folder: str) -> list[tuple[str, int, int, int, int]]:
    """Return values that change with any file in the folder or its subfolders; empty if it cannot be read."""
    states = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            paths = [entry.path]
            if entry.is_dir():
                with suppress(OSError):
                    paths += [os.path.join(entry.path, name) for name in os.listdir(entry.path)]
            for path in paths:
                with suppress(OSError):
                    state = os.stat(path)
                    states.append((path, state.st_ino, state.st_mtime_ns, state.st_ctime_ns, state.st_size))
    return states


@_while_unchanged("skills")
def current_skills(project: Project) -> SkillSnapshot:
    """Return the skills as the files are now. The project's own folder is made if it is not there yet.

    Raises:
        SkillRootError: the shipped or the project's folder cannot be read.
    """
    own = workspace(project) / "skills"
    with suppress(OSError):  # then the loader reports what is wrong
        own.mkdir(parents=True, exist_ok=True)
    roots = [
        SkillRoot(source="bundled", path=settings.MRPVM_SHIPPED_DIR / "skills"),
        SkillRoot(source="user", path=Path(settings.MRPVM_DATA_DIR) / "skills", is_required=False),
        SkillRoot(source="workspace", path=own),
    ]
    return load_snapshot(roots, _environment())


@_while_unchanged("personas")
def current_personas(project: Project) -> PersonaCatalogue:
    """Return the personas as the files are now."""
    shipped, own, folder = settings.MRPVM_SHIPPED_DIR, Path(settings.MRPVM_DATA_DIR), workspace(project)
    return load_personas([
        PersonaRoot(source="bundled", catalogue=shipped / "personas", v0=shipped / "personas"),
        PersonaRoot(source="user", catalogue=own / "personas", v0=own / "personas"),
        PersonaRoot(source="workspace", catalogue=folder / "personas", v0=folder),
    ])  # fmt: skip


@_while_unchanged("agents")
def current_agents(project: Project) -> AgentCatalogue:
    """Return the agents as the files are now."""
    homes = (
        ("bundled", settings.MRPVM_SHIPPED_DIR),
        ("user", Path(settings.MRPVM_DATA_DIR)),
        ("workspace", workspace(project)),
    )
    return load_agents([FileRoot(source=source, path=home / "agents") for source, home in homes])


def evidence_text(project: Project, path: str) -> str:
    """Return the text of a file of the project's own evidence folder; nothing outside of it is read.

    Raises:
        NotFound: there is none of this path inside; whether there is one outside is not told.
        UnreadableFile: it is no text of a sane size.
    """
    root = workspace(project) / "evidence"
    if not is_inside(root / path, root):
        raise NotFound(f"the project's evidence folder has no file '{path}'.")
    return read_text(root / path, root)


def _environment() -> LoaderEnvironment:
    return LoaderEnvironment(
        platform=sys.platform,
        has_env=lambda name: bool(settings.ENVIRONMENT.variables.get(name)),
        has_binary=lambda name: os.sep not in name and shutil.which(name) is not None,
        available_tools=tools().names,
        reserved_commands=RESERVED,
    )
