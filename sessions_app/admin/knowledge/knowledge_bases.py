"""Knowledge bases."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from sessions_app.admin.knowledge.forms import (
    CompactBase,
    CreateBase,
    ForkBase,
    MountInSession,
    RenameBase,
    RestoreBase,
)
from sessions_app.admin.shell.cells import base_page, list_links, row_link
from sessions_app.admin.shell.choosers import asked_project
from sessions_app.admin.shell.object_actions import ActionAdmin
from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import KBMount, KBRevision, KnowledgeBase, Session


@admin.register(KnowledgeBase)
class KnowledgeBaseAdmin(ActionAdmin):
    """Bases of all projects: make, name, mount, fork, restore and compact them."""

    add_action = CreateBase
    object_actions = (MountInSession, ForkBase, RestoreBase, CompactBase, RenameBase)
    listed_actions = (MountInSession, ForkBase)
    list_display = (
        "name", "default", "project", "parent_link", "revision", "source_count", "units", "updated_at",
    )  # fmt: skip
    list_filter = ("is_default", "project")
    list_select_related = ("project", "parent", "head")
    deferred = ("head__ancestry",)
    search_fields = ("name", "=kb_id")
    ordering = ("name", "id")
    fields = (
        "kb_id", "project", "name", "is_default", "parent", "forks", "head", "depth", "revision", "revisions",
        "source_count", "units", "mounts", "created_at", "updated_at",
    )  # fmt: skip

    def page_links(self, request: HttpRequest, row: KnowledgeBase) -> list[tuple[str, str]]:
        """Return the way to the base's own page."""
        return [("Knowledge page", base_page(row))]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[KnowledgeBase], search_term: str
    ) -> tuple[QuerySet[KnowledgeBase], bool]:
        """Return what is found, in one project only when a field asks for that."""
        project_id = asked_project(request)
        bounded = queryset if project_id is None else queryset.filter(project_id=project_id)
        return super().get_search_results(request, bounded, search_term)

    @admin.display(ordering="is_default")
    def default(self, base: KnowledgeBase) -> str:
        """Mark the project's default base."""
        return "yes" if base.is_default else ""

    @admin.display(description="forked from", ordering="parent__name")
    def parent_link(self, base: KnowledgeBase) -> SafeString:
        """Return the base it was forked from."""
        return row_link(base.parent)

    @admin.display(description="units", ordering="head__unit_count")
    def units(self, base: KnowledgeBase) -> int:
        """Return how many units it shows."""
        return base.head.unit_count

    @admin.display(description="forks of it")
    def forks(self, base: KnowledgeBase) -> SafeString:
        """Return the way to its forks."""
        return list_links([(KnowledgeBase, "parent")], base)

    @admin.display(description="mounted in")
    def mounts(self, base: KnowledgeBase) -> SafeString:
        """Return the ways to its mounts, past and present, and to the sessions that use it now."""
        return list_links([(KBMount, "knowledge_base"), (Session, "mounted_kb")], base)

    @admin.display(description="layers")
    def depth(self, base: KnowledgeBase) -> str:
        """Return the length of the chain of layers, and whether its compaction was requested."""
        note = "; compaction was asked for" if base.compaction_asked_at else ""
        return f"{base.head.depth + 1}{note}"

    @admin.display(description="earlier revisions")
    def revisions(self, base: KnowledgeBase) -> SafeString:
        """Return the way to its revisions."""
        return list_links([(KBRevision, "knowledge_base")], base)


@admin.register(KBRevision)
class KBRevisionAdmin(ReadOnlyAdmin):
    """What bases were; an earlier revision is restored on its base's page."""

    list_display = ("id", "base_link", "revision", "reason", "created_by", "created_at")
    list_select_related = ("knowledge_base", "created_by")
    search_fields = ("knowledge_base__name", "=knowledge_base__kb_id")
    ordering = ("-id",)
    fields = (
        "knowledge_base", "revision", "layer", "reason", "origin_base", "origin_revision", "created_by", "created_at",
    )  # fmt: skip

    @admin.display(description="knowledge base", ordering="knowledge_base__name")
    def base_link(self, kept: KBRevision) -> SafeString:
        return row_link(kept.knowledge_base)
