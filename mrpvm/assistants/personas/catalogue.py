"""The persona files of a project as one value: the V0 form and the catalogue form together.

The four V0 files make up the persona `default`, each taken from the nearest root that has it. In the catalogue form
every other `*.md` is a persona of its own, with `id`, `summary` and `default_style` in its front matter.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Self

from mrpvm.assistants.catalogue_files import FileDiagnostic, FileForm, FileRoot, read_files
from mrpvm.assistants.content import content_hash
from mrpvm.assistants.files import UnreadableFile, read_text
from mrpvm.assistants.front_matter import MalformedText, split_front_matter, text_of
from mrpvm.assistants.identifiers import checked_id
from mrpvm.assistants.personas.style import BALANCED, STYLES

DEFAULT_ID = "default"
V0_FILES = ("SOUL.md", "IDENTITY.md", "USER.md", "AGENTS.md")
_KEYS = {"id", "summary", "default_style"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """How the assistant talks: its instructions, and the style it has by itself."""

    id: str
    summary: str
    default_style: str
    instructions: str
    source: str


FALLBACK = Persona(
    id=DEFAULT_ID,
    summary="Fallback persona profile.",
    default_style=BALANCED,
    instructions="Provide clear, accurate, and concise assistance.",
    source="built-in",
)
"""Who talks when the active persona is not in the catalogue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonaRoot:
    """Where a source keeps its catalogue, and where its V0 files."""

    source: str
    catalogue: Path
    v0: Path


@dataclass(frozen=True)
class PersonaCatalogue:
    """The personas, sorted by id, and what was found while reading."""

    personas: tuple[Persona, ...] = ()
    diagnostics: tuple[FileDiagnostic, ...] = ()

    def get(self, persona_id: str) -> Persona | None:
        """Return the persona of an id."""
        return next((item for item in self.personas if item.id == persona_id), None)

    @cached_property
    def content_hash(self) -> str:
        """Return the hash that identifies the content."""
        return content_hash(asdict(self))

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the catalogue of a stored record."""
        return cls(
            personas=tuple(Persona(**item) for item in record["personas"]),
            diagnostics=tuple(FileDiagnostic(**item) for item in record["diagnostics"]),
        )


def load_personas(roots: Sequence[PersonaRoot]) -> PersonaCatalogue:
    """Return the catalogue of the roots, the lowest precedence first; a bad file excludes only itself."""
    folders = [FileRoot(source=root.source, path=root.catalogue) for root in roots]
    by_id, diagnostics = read_files(folders, _FORM)
    default, of_default = _default(roots)
    if default is not None:
        by_id[DEFAULT_ID] = default
    personas = tuple(sorted(by_id.values(), key=lambda item: item.id))
    return PersonaCatalogue(personas, (*diagnostics, *of_default))


@lru_cache(maxsize=256)
def _persona(source: str, name: str, text: str) -> Persona:
    fields, body = split_front_matter(text)
    unknown = sorted(set(fields) - _KEYS)
    if unknown:
        raise MalformedText(f"Invalid frontmatter: unknown keys: {', '.join(unknown)}")
    style = text_of(fields, "default_style").lower() or BALANCED
    if style not in STYLES:
        raise MalformedText(f"Invalid frontmatter: default_style must be one of {', '.join(STYLES)}")
    if not body:
        raise MalformedText("Invalid persona: the file has no body")
    return Persona(
        id=checked_id(text_of(fields, "id") or name.removesuffix(".md")),
        summary=" ".join(text_of(fields, "summary").split()),
        default_style=style,
        instructions=body,
        source=source,
    )


_FORM = FileForm(noun="persona", endings=(".md",), read=_persona, other_names=frozenset({*V0_FILES, "README.md"}))


def _default(roots: Sequence[PersonaRoot]) -> tuple[Persona | None, list[FileDiagnostic]]:
    """Return the persona that the V0 files make up, None without any."""
    parts: list[str] = []
    sources: list[str] = []
    diagnostics: list[FileDiagnostic] = []
    for name in V0_FILES:
        root = next((root for root in reversed(roots) if (root.v0 / name).exists()), None)
        if root is None:
            continue
        try:
            text = read_text(root.v0 / name, root.v0).strip()
        except UnreadableFile as error:
            diagnostics.append(FileDiagnostic(name=name, code=error.code, message=error.message, source=root.source))
            continue
        if text:
            parts.append(text)
            sources.append(root.source)
    if not parts:
        return None, diagnostics
    default = Persona(
        id=DEFAULT_ID,
        summary="The assistant as SOUL, IDENTITY, USER and AGENTS describe it.",
        default_style=BALANCED,
        instructions="\n\n".join(parts),
        source=sources[-1],
    )
    return default, diagnostics
