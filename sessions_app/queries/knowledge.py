"""Knowledge bases."""

from django.db.models import QuerySet

from mrpvm.errors import NotFound
from sessions_app.models import KnowledgeBase, Project


def knowledge_bases(project: Project) -> QuerySet[KnowledgeBase]:
    """Give the project's bases with head and parent, the default one first, then by name [API-9]."""
    return (
        KnowledgeBase.objects.filter(project=project)
        .select_related("head", "parent")
        .order_by("-is_default", "name", "id")
    )


def knowledge_base(project: Project, kb_id: str) -> KnowledgeBase:
    """Give one base of the project; `default` is an alias for its default one [O-25].

    Raises:
        NotFound: KB_NOT_FOUND.
    """
    bases = knowledge_bases(project)
    found = (bases.filter(is_default=True) if kb_id == "default" else bases.filter(kb_id=kb_id)).first()
    if found is None:
        raise NotFound(f"There is no knowledge base '{kb_id}'.", code="KB_NOT_FOUND")
    return found
