"""The page of one knowledge base: its content, revisions and sessions."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.conf import settings

from mrpvm.contracts import ScoredUnit
from sessions_app.layers import EffectiveView, SessionKnowledge, outdated_layers
from sessions_app.models import KnowledgeBase, LayerUnit
from sessions_app.queries.experiments.suites import suites_using
from sessions_app.queries.knowledge.bases import named_revisions, revision_of, revisions, sources, stale_source_keys
from sessions_app.queries.knowledge.pages import (
    TURNS_LOOKED_AT,
    asked_terms,
    base_family,
    forks_of,
    mounting_sessions,
    newest_fork,
    roots_of,
    saved_conversations,
    source_of_base,
    unit_of_base,
    uses_of,
)
from sessions_app.queries.search.units import ASKED_WORDS, asked_for, units_holding
from sessions_app.web.knowledge.differences import layer_differences
from sessions_app.web.knowledge.lineage import lineage_picture
from sessions_app.web.shell.excerpts import excerpt

REVISIONS_SHOWN = 20
REVISIONS_COMPARED = 200
"""Revisions that the page offers to compare."""
ASKED_CHARS = 1_000
UNITS_FOUND, EXCERPT_CHARS = 20, 240
CHILDREN_SHOWN = 50


def base_context(
    base: KnowledgeBase,
    words: str = "",
    unit_id: str = "",
    source_id: str = "",
    *,
    by_rank: bool = False,
    older_than: int | None = None,
) -> dict[str, Any]:
    """Return everything on the page; `asked` are words to search units for, `unit_id` is a unit to look at.

    Args:
        source_id: a source whose tree of units is shown.
        older_than: the key of a source; the sources before it are listed.
        by_rank: search as a turn does, by single words, the best first, in place of all words and phrases as asked.

    Raises:
        NotFound: UNIT_NOT_FOUND, SOURCE_NOT_FOUND.
    """
    family = base_family(
        base,
        generations=settings.MRPVM_GENERATIONS_SHOWN,
        forks=settings.MRPVM_FORKS_SHOWN,
        revisions=settings.MRPVM_DOTS_SHOWN,
    )
    kept = list(named_revisions(base)[: REVISIONS_SHOWN + 1])
    mounting = mounting_sessions(base, settings.MRPVM_BASE_SESSIONS_SHOWN + 1)
    fork = newest_fork(base) if family.fork_count else None
    return {
        "base": base,
        "fork_name": base.fork_name,
        "seen": _seen(base.revision, fork.pk if fork else 0),
        "is_outdated": outdated_layers(base.head.chain).exists(),
        "forks": forks_of(base)[: settings.MRPVM_FORKS_NAMED] if family.fork_count else (),
        "forks_unnamed": max(0, family.fork_count - settings.MRPVM_FORKS_NAMED),
        **_sources(base, older_than),
        "conversations": saved_conversations(base),
        "sessions": mounting[: settings.MRPVM_BASE_SESSIONS_SHOWN],
        "sessions_left_out": len(mounting) > settings.MRPVM_BASE_SESSIONS_SHOWN,
        "picture": lineage_picture(family, base),
        "revisions": kept[:REVISIONS_SHOWN],
        "test_suites": suites_using(base),
        "revisions_left_out": len(kept) > REVISIONS_SHOWN,
        "by_rank": by_rank,
        "looked_for": f"{ASKED_CHARS:,} characters" if len(words) > ASKED_CHARS else "",
        **(_ranked if by_rank else _holding)(base, words[:ASKED_CHARS]),
        **_looked_at(base, unit_id),
        **_tree(base, source_id),
    }


def comparison_context(base: KnowledgeBase, before: int | None, after: int | None) -> dict[str, Any]:
    """Return two revisions of the base with what differs between them.

    Raises:
        NotFound: KB_REVISION_NOT_FOUND.
    """
    after = base.revision if after is None else after
    before = max(1, after - 1) if before is None else before
    earlier, later = (revision_of(base, number) for number in (before, after))
    return {
        "base": base,
        "before": earlier,
        "after": later,
        "revisions": list(revisions(base)[:REVISIONS_COMPARED]),
        "told": layer_differences(earlier.layer, later.layer),
        "restores": before == base.revision and after < before,
    }


def _seen(revision: int, fork_pk: int) -> str:
    return urlencode({"revision": revision, "fork": fork_pk})


def news_context(base: KnowledgeBase, revision: int, fork_pk: int) -> dict[str, Any] | None:
    """Return changes of the base since a page showed this revision and, as its newest fork, the one with this key.

    None if the page still shows the base as it is.
    """
    fork = newest_fork(base)
    is_forked = fork is not None and fork.pk > fork_pk
    if base.revision <= revision and not is_forked:
        return None
    return {
        "base": base,
        "seen": _seen(revision, fork_pk),
        "newest": revisions(base).first() if base.revision > revision else None,
        "fork": fork if is_forked else None,
    }


def _sources(base: KnowledgeBase, older_than: int | None) -> dict[str, Any]:
    listed = sources(base).order_by("-pk")
    wanted = listed if older_than is None else listed.filter(pk__lt=older_than)
    rows = list(wanted[: settings.MRPVM_SOURCES_SHOWN + 1])
    shown = rows[: settings.MRPVM_SOURCES_SHOWN]
    goes_on = len(rows) > len(shown)
    return {
        "sources": shown,
        "stale_sources": stale_source_keys(base.head),
        "sources_before": shown[-1].pk if goes_on else None,
        "sources_from_newest": older_than is None,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeNode:
    """A unit in the tree of its source; a twin is there for one that says the same, and does not open."""

    row: LayerUnit
    part_count: int
    is_twin: bool = False


def _tree(base: KnowledgeBase, source_id: str) -> dict[str, Any]:
    if not source_id:
        return {"tree_source": None}
    source = source_of_base(base, source_id)
    rows = roots_of(source, EffectiveView.of_layer(base.head).hidden, CHILDREN_SHOWN + 1)
    return {
        "tree_source": source,
        "nodes": [_node(row) for row in rows[:CHILDREN_SHOWN]],
        "left_out": len(rows) > CHILDREN_SHOWN,
    }


def tree_context(base: KnowledgeBase, unit_id: str, after: int) -> dict[str, Any]:
    """Return one unit with its parts, from the one at place `after` on.

    Raises:
        NotFound: UNIT_NOT_FOUND.
    """
    view = EffectiveView.of_layer(base.head)
    unit = unit_of_base(base, unit_id, view.hidden, CHILDREN_SHOWN, after)
    following = after + CHILDREN_SHOWN
    more_after = following if following < len(unit.value.child_unit_ids) else None
    return {
        "base": base,
        "unit": unit,
        "nodes": [_node(part.row, is_twin=part.is_twin) for part in unit.children],
        "gone_count": unit.gone_count,
        "more_after": more_after,
        "parent_id": unit_id,
    }


def _node(row: LayerUnit, *, is_twin: bool = False) -> TreeNode:
    return TreeNode(row=row, part_count=len(row.to_value().child_unit_ids), is_twin=is_twin)


def _holding(base: KnowledgeBase, words: str) -> dict[str, Any]:
    wanted = asked_for(words)
    if not wanted.phrases:
        return {"asked": words, "found": [] if words.strip() else None, "holds_no_word": True}
    rows = units_holding(EffectiveView.of_layer(base.head), wanted, UNITS_FOUND + 1)
    shown = [(row, excerpt(row.text, wanted.words, EXCERPT_CHARS)) for row in rows[:UNITS_FOUND]]
    context = {"asked": words, "found": shown, "found_limit": UNITS_FOUND, "has_more": len(rows) > UNITS_FOUND}
    return context | ({"looked_for": f"{ASKED_WORDS} words"} if wanted.left_out_count else {})


def _ranked(base: KnowledgeBase, words: str) -> dict[str, Any]:
    if not words.strip():
        return {"asked": "", "found": None}
    hits = SessionKnowledge(EffectiveView.of_layer(base.head)).search(asked_terms(words), UNITS_FOUND)
    return {"asked": words, "found": [(hit, _shares(hit)) for hit in hits], "found_limit": UNITS_FOUND}


def _shares(hit: ScoredUnit) -> list[tuple[str, float]]:
    """Return the parts of a hit's score, largest first."""
    return sorted(hit.term_scores.items(), key=lambda row: (-row[1], row[0]))


def _looked_at(base: KnowledgeBase, unit_id: str) -> dict[str, Any]:
    if not unit_id:
        return {"unit": None}
    parts = tree_context(base, unit_id, 0)
    uses = uses_of(base, unit_id, settings.MRPVM_USES_SHOWN + 1)
    return {
        "unit": parts["unit"],
        "unit_parts": parts,
        "uses": uses[: settings.MRPVM_USES_SHOWN],
        "uses_left_out": len(uses) > settings.MRPVM_USES_SHOWN,
        "sessions_looked_at": settings.MRPVM_SESSIONS_LOOKED_AT,
        "turns_looked_at": TURNS_LOOKED_AT,
    }
