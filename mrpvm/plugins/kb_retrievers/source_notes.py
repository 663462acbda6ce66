"""The artifacts that the built-in retrievers store of a source: its statistics as JSON and as Markdown."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping

from msgspec import Struct

from mrpvm.contracts import SourceReply, SourceText
from mrpvm.english.words.text import collapse
from mrpvm.wire import to_wire


class SourceFigures(Struct, frozen=True, kw_only=True):
    """The statistics of a source; `derive_model` is None, because no model is used here."""

    plugin_id: str
    source_id: str
    session_id: str | None
    source_hash: str
    unit_count: int
    procedure_count: int
    symbolic_fact_count: int
    roles: tuple[str, ...]
    role_counts: Mapping[str, int]
    derive_model: str | None = None
    generated_at: str | None


def note_source(plugin_id: str, source: SourceText) -> SourceReply:
    """Return `<sourceId>.json` and `<sourceId>.summary.md`; `skipped` if nothing can be stored."""
    if not source.keeps_artifacts:
        return SourceReply(status="skipped")
    roles = Counter(unit.role for unit in source.units)
    figures = SourceFigures(
        plugin_id=plugin_id,
        source_id=source.source_id,
        session_id=source.session_id,
        source_hash=hashlib.sha256(source.content.encode("utf-8", "surrogatepass")).hexdigest(),
        unit_count=len(source.units),
        procedure_count=sum(bool(unit.procedure) for unit in source.units),
        symbolic_fact_count=sum(bool(unit.subject and unit.relation and unit.object) for unit in source.units),
        roles=tuple(sorted(roles)),
        role_counts=dict(sorted(roles.items())),
        generated_at=source.stored_at,
    )
    summary = "\n".join(
        (
            f"# {collapse(source.name)}",
            "",
            f"{figures.unit_count} units, {figures.procedure_count} with a procedure, "
            f"{figures.symbolic_fact_count} with a symbolic fact.",
            "",
            *(f"- {role}: {count}" for role, count in sorted(roles.items())),
            "",
        )
    )
    return SourceReply(
        status="accepted",
        artifacts={
            f"{source.source_id}.json": json.dumps(to_wire(figures), indent=1).encode(),
            f"{source.source_id}.summary.md": summary.encode("utf-8", "surrogatepass"),
        },
    )
