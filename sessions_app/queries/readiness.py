"""Checks that the database holds the rows that turns need."""

from sessions_app.models import KnowledgeBase, LayerUnit, Posting, Session


def has_default_base() -> bool:
    """Return whether the default project's default base is there with its head."""
    return KnowledgeBase.objects.filter(is_default=True, project__is_default=True, head__isnull=False).exists()


def newest_unit_is_indexed() -> bool:
    """Return whether the newest unit that a search should find has postings; True without units."""
    unit = LayerUnit.objects.filter(length__gt=0).order_by("-id").first()
    return unit is None or Posting.objects.filter(unit=unit).exists()


def read_newest_session() -> bool:
    """Read the newest session, if any, with its base and draft."""
    Session.objects.select_related("mounted_kb", "draft").order_by("-id").first()
    return True
