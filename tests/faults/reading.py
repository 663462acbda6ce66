"""What readers see of a session and of its base."""

from typing import Any

from mrpvm.english.words.text import terms
from sessions_app.layers import EffectiveView, SessionKnowledge
from sessions_app.models import KnowledgeBase, Session

_ABOUT = dict.fromkeys(terms("pump"), 1.0)


def seen(session: Session) -> list[list[str]]:
    """Return the leaves that the session finds, those of its rows, and those that its base shows."""
    fresh = Session.objects.select_related("journal", "mounted_kb").get(pk=session.pk)
    rows = fresh.context_units.filter(ku_type="atomic").values_list("claim", flat=True)
    views = [SessionKnowledge.of(fresh), of_head(fresh.mounted_kb)]
    found, held = (
        [hit.unit.claim for hit in view.search(_ABOUT, 50) if hit.unit.ku_type == "atomic"] for view in views
    )
    return [sorted(str(text) for text in texts) for texts in (found, rows, held)]


def of_head(base: KnowledgeBase) -> SessionKnowledge:
    """Return the knowledge of the base's head."""
    head = KnowledgeBase.objects.select_related("head").get(pk=base.pk).head
    return SessionKnowledge(EffectiveView.of_layer(head))


def ranked(base: KnowledgeBase) -> list[list[Any]]:
    """Return the id, text and score of every hit in the base, best first."""
    return [[hit.unit.id, hit.unit.text, hit.score] for hit in of_head(base).search(_ABOUT, 50)]


def leaves_shown() -> dict[str, list[str]]:
    """Return the leaves of the newest session, of its rows and of its base."""
    session = Session.objects.order_by("-pk").first()
    return dict(zip(("session", "rows", "base"), seen(session), strict=True)) if session else {}


def claims_shown() -> dict[str, list[str]]:
    """Return the claims of the newest session and of its base."""
    session = Session.objects.select_related("journal", "mounted_kb").order_by("-pk").first()
    if session is None:
        return {}
    told = sorted(hit.unit.text for hit in SessionKnowledge.of(session).search(_ABOUT, 50))
    return {"session": told, "base": sorted(text for _, text, _ in ranked(session.mounted_kb))}


def ranks_shown() -> dict[str, list[Any]]:
    """Return the hits of the default project's default base."""
    base = KnowledgeBase.objects.filter(is_default=True).first()
    return {"base": ranked(base)} if base else {}
