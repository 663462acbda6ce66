"""The history of mounts; adding one mounts a base."""

from django.contrib import admin
from django.http import HttpRequest
from django.utils.safestring import SafeString

from sessions_app.admin.knowledge.forms import AddMount
from sessions_app.admin.sessions.forms import ForkSessionBase, MountBase, SaveSessionBase, UnmountBase
from sessions_app.admin.shell.cells import row_link, session_page
from sessions_app.admin.shell.object_actions import ActionAdmin, action_links
from sessions_app.models import KBMount

_OF_SESSION = (MountBase, UnmountBase, SaveSessionBase, ForkSessionBase)


@admin.register(KBMount)
class KBMountAdmin(ActionAdmin):
    """Mounts of all sessions; one without an end is the session's current one."""

    add_action = AddMount
    listed_actions = (MountBase, ForkSessionBase)
    list_display = (
        "id", "session_link", "base_link", "revision", "reason", "mounted_by", "mounted_at", "until",
    )  # fmt: skip
    list_filter = (("until", admin.EmptyFieldListFilter),)
    list_select_related = ("session", "knowledge_base", "mounted_by")
    deferred = ("session__system_prompt",)
    search_fields = ("=session__session_id", "session__title", "knowledge_base__name", "=knowledge_base__kb_id")
    ordering = ("-id",)
    fields = ("session", "knowledge_base", "layer", "revision", "reason", "mounted_by", "mounted_at", "until")

    @admin.display(description="session", ordering="session__title")
    def session_link(self, mount: KBMount) -> SafeString:
        return row_link(mount.session)

    @admin.display(description="knowledge base", ordering="knowledge_base__name")
    def base_link(self, mount: KBMount) -> SafeString:
        return row_link(mount.knowledge_base)

    def page_links(self, request: HttpRequest, row: KBMount) -> list[tuple[str, str]]:
        """Return the way to the session's page and, for a current mount, to what the user may do with the session."""
        actions = _OF_SESSION if row.until is None else ()
        return [
            ("Session page", session_page(row.session) if row.session.deleted_at is None else ""),
            *action_links(request, row.session, actions),
        ]

    def listed_links(self, request: HttpRequest, row: KBMount) -> list[tuple[str, str]]:
        """Return what can be done with the session of a current mount."""
        return action_links(request, row.session, self.listed_actions if row.until is None else (), in_list=True)
