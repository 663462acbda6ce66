"""What a reader sees of a session and of its base."""

from mrpvm.knowledge.text import terms
from sessions_app.models import KnowledgeBase, Session
from sessions_app.search.knowledge import EffectiveView, SessionKnowledge


def seen(session: Session) -> list[list[str]]:
    """Give the leaves that the session finds, its units, and the leaves that its base shows."""
    fresh = Session.objects.get(pk=session.pk)
    head = KnowledgeBase.objects.select_related("head").get(pk=fresh.mounted_kb_id).head
    rows = fresh.context_units.filter(ku_type="atomic").values_list("claim", flat=True)
    views = [SessionKnowledge.of(fresh), SessionKnowledge(EffectiveView.of_layer(head))]
    found, held = (
        [hit.unit.claim for hit in view.search(dict.fromkeys(terms("pump"), 1.0), 50) if hit.unit.ku_type == "atomic"]
        for view in views
    )
    return [sorted(str(text) for text in texts) for texts in (found, rows, held)]
