"""A wrapper's manifest, and which wrappers an operator admits."""

import json
import re
import shutil
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec import Struct

from mrpvm.values import PLUGIN_TYPES

PROTOCOL_VERSION = 1
MANIFEST = "manifest.json"
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class WrapperManifest(Struct, frozen=True, kw_only=True):
    """What a wrapper says about itself."""

    id: str
    name: str
    command: str
    type: str = "gs-plugin"
    version: str = "1.0.0"
    description: str = ""
    capabilities: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    timeout_ms: int = 30_000
    priority: int = 0
    exclusive: bool = False
    max_input_bytes: int = 65_536


class InvalidManifest(ValueError):
    """A manifest that is not acceptable; the message says why."""


class Admission(Struct, frozen=True):
    """The admitted wrappers' manifests with their directories, and a sentence for each that was skipped."""

    admitted: tuple[tuple[WrapperManifest, Path], ...]
    problems: tuple[str, ...]


def admit_wrappers(directory: Path, allowed: Collection[str]) -> Admission:
    """Return the wrappers below `directory` that are on the allowlist by id or name and have a valid manifest."""
    admitted: list[tuple[WrapperManifest, Path]] = []
    problems: list[str] = []
    ids: set[str] = set()
    for path in sorted(directory.glob(f"*/{MANIFEST}")):
        try:
            manifest = read_manifest(path.parent)
        except InvalidManifest as refused:
            problems.append(f"The wrapper in '{path.parent.name}' is skipped: {refused}")
            continue
        if not {manifest.id, manifest.name} & set(allowed):
            problems.append(f"The wrapper '{manifest.id}' is skipped: it is not named in MRPVM_WRAPPERS.")
        elif manifest.id in {item.id for item, _ in admitted}:
            problems.append(f"The wrapper in '{path.parent.name}' is skipped: there is another '{manifest.id}'.")
        else:
            admitted.append((manifest, path.parent))
        ids |= {manifest.id, manifest.name}
    missing = [name for name in allowed if name not in ids]
    problems += [f"MRPVM_WRAPPERS names '{name}', and there is no such wrapper in {directory}." for name in missing]
    return Admission(tuple(admitted), tuple(problems))


def read_manifest(directory: Path) -> WrapperManifest:
    """Return the manifest of the wrapper in a directory.

    Raises:
        InvalidManifest: it cannot be read, or a field is not acceptable.
    """
    try:
        raw = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidManifest(f"{MANIFEST} cannot be read ({type(error).__name__}).") from None
    if not isinstance(raw, dict):
        raise InvalidManifest(f"{MANIFEST} is no JSON object.")
    if raw.get("protocolVersion") != PROTOCOL_VERSION:
        raise InvalidManifest(f"protocolVersion must be {PROTOCOL_VERSION}.")
    wrapper_id = _text(raw, "id") or _text(raw, "name")
    if not _ID.fullmatch(wrapper_id):
        raise InvalidManifest(f"the id '{wrapper_id}' is not kebab-case.")
    kind = _text(raw, "type") or "gs-plugin"
    if kind not in PLUGIN_TYPES:
        raise InvalidManifest(f"the type '{kind}' is not known.")
    return WrapperManifest(
        id=wrapper_id,
        name=_text(raw, "name") or wrapper_id,
        type=kind,
        command=_command(directory, _text(raw, "command")),
        timeout_ms=_number(raw, "timeout", 30_000, lowest=1),
        priority=_number(raw, "priority", 0, lowest=-1_000_000),
        exclusive=_flag(raw, "exclusive"),
        max_input_bytes=_number(raw, "maxInputSizeBytes", 65_536, lowest=1),
        version=_text(raw, "version") or "1.0.0",
        description=_text(raw, "description"),
        capabilities=_texts(raw, "capabilities"),
        keywords=_texts(raw, "keywords"),
        args=_texts(raw, "args"),
    )


def _command(directory: Path, command: str) -> str:
    """Return the program to start: a file of the wrapper's directory, else an executable of the search path."""
    if not command:
        raise InvalidManifest("command is missing.")
    path = PurePosixPath(command)
    if path.is_absolute() or ".." in path.parts or "\\" in command:
        raise InvalidManifest("command must be relative to the wrapper's directory, or a bare name.")
    own = directory / command
    if own.is_file():
        return str(own.resolve())
    path_of_command = shutil.which(command) if len(path.parts) == 1 else None
    if path_of_command is None:
        raise InvalidManifest(f"there is no program '{command}'.")
    return path_of_command


def _text(raw: dict[str, Any], name: str) -> str:
    value = raw.get(name) or ""
    if not isinstance(value, str):
        raise InvalidManifest(f"{name} must be a text.")
    return value.strip()


def _texts(raw: dict[str, Any], name: str) -> tuple[str, ...]:
    values = raw.get(name, [])
    if not isinstance(values, list) or not all(isinstance(value, str) and value for value in values):
        raise InvalidManifest(f"{name} must be a list of texts.")
    return tuple(values)


def _number(raw: dict[str, Any], name: str, default: int, *, lowest: int) -> int:
    value = raw.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < lowest:
        raise InvalidManifest(f"{name} must be a whole number of {lowest} or more.")
    return value


def _flag(raw: dict[str, Any], name: str) -> bool:
    value = raw.get(name, False)
    if not isinstance(value, bool):
        raise InvalidManifest(f"{name} must be true or false.")
    return value
