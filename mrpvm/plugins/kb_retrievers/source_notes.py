"""The artifacts that the built-in retrievers store of a source: its statistics as JSON and as Markdown."""

import hashlib
import json
from collections import Counter

from mrpvm.contracts import SourceReply, SourceText
from mrpvm.english.words.text import collapse


def note_source(plugin_id: str, source: SourceText) -> SourceReply:
    """Return `<sourceId>.json` and `<sourceId>.summary.md`; `skipped` if nothing can be stored.

    `deriveModel` is null, because no model is used here.
    """
    if not source.keeps_artifacts:
        return SourceReply(status="skipped")
    roles = Counter(unit.role for unit in source.units)
    figures = {
        "pluginId": plugin_id,
        "sourceId": source.source_id,
        "sessionId": source.session_id,
        "sourceHash": hashlib.sha256(source.content.encode("utf-8", "surrogatepass")).hexdigest(),
        "unitCount": len(source.units),
        "procedureCount": sum(bool(unit.procedure) for unit in source.units),
        "symbolicFactCount": sum(bool(unit.subject and unit.relation and unit.object) for unit in source.units),
        "roles": sorted(roles),
        "roleCounts": dict(sorted(roles.items())),
        "deriveModel": None,
        "generatedAt": source.stored_at,
    }
    summary = "\n".join(
        (
            f"# {collapse(source.name)}",
            "",
            f"{figures['unitCount']} units, {figures['procedureCount']} with a procedure, "
            f"{figures['symbolicFactCount']} with a symbolic fact.",
            "",
            *(f"- {role}: {count}" for role, count in sorted(roles.items())),
            "",
        )
    )
    return SourceReply(
        status="accepted",
        artifacts={
            f"{source.source_id}.json": json.dumps(figures, indent=1).encode(),
            f"{source.source_id}.summary.md": summary.encode("utf-8", "surrogatepass"),
        },
    )
