"""Knowledge bases in the order of their lineage."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from sessions_app.layers import outdated_layers
from sessions_app.models import KnowledgeBase, Project
from sessions_app.queries.knowledge.bases import deleted_bases
from sessions_app.queries.knowledge.pages import listed_bases

DELETED_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseRow:
    """A base and how many forks deep it lies."""

    base: KnowledgeBase
    depth: int


def list_context(project: Project, words: str) -> dict[str, Any]:
    """Return the project's bases with `asked` in their name, cut to as many as one page shows."""
    limit = settings.MRPVM_BASES_SHOWN
    listed = listed_bases(project, words, limit + 1)
    shown = listed[:limit]
    deleted = list(deleted_bases(project)[: DELETED_SHOWN + 1])
    return {
        "bases": lineage(shown),
        "asked": words,
        "deleted": deleted[:DELETED_SHOWN],
        "deleted_left_out": len(deleted) > DELETED_SHOWN,
        "left_out": len(listed) > limit,
        "is_outdated": outdated_layers(layer for base in shown for layer in base.head.chain).exists(),
    }


def lineage(bases: Iterable[KnowledgeBase]) -> list[BaseRow]:
    """Return the bases with every fork right below its parent, otherwise in the given order."""
    listed = list(bases)
    present = {base.pk for base in listed}
    forks: dict[int | None, list[KnowledgeBase]] = {}
    for base in listed:
        forks.setdefault(base.parent_id if base.parent_id in present else None, []).append(base)
    rows: list[BaseRow] = []
    waiting = [(base, 0) for base in reversed(forks.get(None, []))]
    while waiting:
        base, depth = waiting.pop()
        rows.append(BaseRow(base=base, depth=depth))
        waiting.extend((fork, depth + 1) for fork in reversed(forks.get(base.pk, [])))
    return rows
