"""The unsaved content of a session, and whether a save into its base is possible."""

from collections.abc import Sequence
from typing import Any

from sessions_app.models import KBMount, Session
from sessions_app.queries.experiments.suites import count_of_tests
from sessions_app.queries.knowledge.bases import draft_sources, told_counts, told_units, unsaved
from sessions_app.queries.sessions.pages import newest_mounts
from sessions_app.web.knowledge.differences import layer_differences

NAMED = 5
"""Sources that the dialog names; the rest is counted."""
CHOICES = 200
"""Statements of the conversation that can be chosen one by one; the others go along with all or with none."""
STAGED_SHOWN = 20
"""Sources of a draft that its session's page lists."""


def saving_context(
    session: Session, mounted: Sequence[KBMount] | None = None, *, names_told: bool = True
) -> dict[str, Any]:
    """Return the staged sources, the facts told, the base to save into, and the name of a fork.

    `mounted` are the session's newest mounts where they are known already. Without `names_told` what was told is
    counted and not named, and what a save would change is left out.

    `is_behind`: the base has gone on since the session mounted it, so a save is refused. `ways` says what can be done
    with what is not saved; empty where everything is.
    """
    changes = unsaved(session) if session.is_dirty else None
    told_count, forgotten_count = told_counts(session)
    mounted = mounted or newest_mounts(session)
    seen = mounted[0].revision
    is_behind = seen != session.mounted_kb.revision
    return {
        "session": session,
        "unsaved": changes,
        "staged": list(draft_sources(session)[:STAGED_SHOWN]) if changes else [],
        "staged_unnamed": max(0, changes["own_source_count"] - NAMED) if changes else 0,
        "told": list(told_units(session)[:CHOICES]) if told_count and names_told else [],
        "told_count": told_count,
        "told_unnamed": max(0, told_count - CHOICES),
        "forgotten_count": forgotten_count,
        "mounts": mounted,
        "seen_revision": seen,
        "is_behind": is_behind,
        "ways": _ways(bool(changes), bool(told_count or forgotten_count), is_behind),
        "test_count": 0 if is_behind or not names_told else count_of_tests(session.mounted_kb),
        "fork_name": session.mounted_kb.fork_name,
        "would_change": None
        if is_behind or not names_told
        else layer_differences(session.mounted_layer, session.journal),
    }


def _ways(is_dirty: bool, has_told: bool, is_behind: bool) -> str:
    if is_dirty:
        return "Fork or discard" if is_behind else "Save, fork or discard"
    if has_told:
        return "Fork" if is_behind else "Save or fork"
    return ""
