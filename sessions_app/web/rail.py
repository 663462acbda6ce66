"""The main navigation: one entry per line, in the order of the rail at the left."""

from dataclasses import dataclass
from functools import lru_cache

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.safestring import SafeString


@dataclass(frozen=True, kw_only=True)
class RailEntry:
    """A page that the rail leads to.

    `group` names the entries that stand together. `section` is what `page(section=...)` is given by the pages below
    it. `drawing` is the path of a 16 by 16 icon.
    `role` is "admin" for admins of the project, "staff" for users of the admin site, empty for everybody.
    """

    group: str
    section: str
    name: str
    url_name: str
    drawing: str
    role: str = ""

    @cached_property
    def url(self) -> str:
        """Return the address of the page."""
        return reverse(self.url_name)


RAIL = (
    RailEntry(
        group="Conversations",
        section="sessions",
        name="Sessions",
        url_name="sessions",
        drawing="M2.5 3.5h11v7h-6l-3 2.5v-2.5h-2z",
    ),
    RailEntry(
        group="Conversations",
        section="turns",
        name="Turns",
        url_name="turns",
        drawing="M2.5 4h2M7 4h6.5M2.5 8h2M7 8h6.5M2.5 12h2M7 12h6.5",
    ),
    RailEntry(
        group="Conversations",
        section="review",
        name="Review",
        url_name="review",
        drawing="M2.5 3h11v8h-5l-3.5 2.5V11h-2.5zM5.5 6.8l1.8 1.8 3.2-3.4",
    ),
    RailEntry(
        group="Conversations",
        section="overview",
        name="Overview",
        url_name="overview",
        drawing="M2.5 13.5h11M4.5 11V7.5M8 11V3M11.5 11V5.5",
    ),
    RailEntry(
        group="Conversations",
        section="search",
        name="Search",
        url_name="search",
        drawing="M7 2.8a4.2 4.2 0 1 0 0 8.4a4.2 4.2 0 1 0 0-8.4zM10.2 10.2L14 14",
    ),
    RailEntry(
        group="Evaluation",
        section="experiments",
        name="Experiments",
        url_name="experiments",
        drawing="M6 2.5h4M7 2.5v4L3.2 12.6a.9.9 0 0 0 .8 1.4h8a.9.9 0 0 0 .8-1.4L9 6.5v-4M5 10h6",
    ),
    RailEntry(
        group="Evaluation",
        section="tests",
        name="Tests",
        url_name="suites",
        drawing="M2.5 4.2l1.2 1.2L6 3M8.5 4.5h5M2.5 11.2l1.2 1.2L6 10M8.5 11.5h5",
    ),
    RailEntry(
        group="Configuration",
        section="knowledge",
        name="Knowledge",
        url_name="knowledge",
        drawing="M8 4C6.5 3 4.5 2.8 2.5 3v9.5c2-.2 4 0 5.5 1 1.5-1 3.5-1.2 5.5-1V3c-2-.2-4 0-5.5 1zM8 4v9.5",
    ),
    RailEntry(
        group="Configuration",
        section="plugins",
        name="Plugins",
        url_name="plugins",
        drawing="M5.5 2v3.5M10.5 2v3.5M3.5 5.5h9v2.5a4.5 4.5 0 0 1-9 0zM8 12.5V15",
    ),
    RailEntry(
        group="Project",
        section="settings",
        name="Settings",
        url_name="settings",
        drawing="M2.5 5h5M11.5 5h2M2.5 11h2M8.5 11h5"
        "M9.5 3a2 2 0 1 0 0 4a2 2 0 1 0 0-4zM6.5 9a2 2 0 1 0 0 4a2 2 0 1 0 0-4z",
    ),
    RailEntry(
        group="Project",
        section="api-keys",
        name="API keys",
        url_name="api-keys",
        drawing="M5 5a3 3 0 1 0 0 6a3 3 0 1 0 0-6zM8 8h6M11.5 8v2.5M14 8v2",
        role="admin",
    ),
    RailEntry(
        group="Project",
        section="members",
        name="Members",
        url_name="members",
        drawing="M6 3a2.3 2.3 0 1 0 0 4.6a2.3 2.3 0 1 0 0-4.6zM1.8 13.2a4.2 4.2 0 0 1 8.4 0"
        "M10.5 3.2a2.2 2.2 0 0 1 0 4.2M11.8 9.6a4 4 0 0 1 2.4 3.6",
        role="admin",
    ),
    RailEntry(
        group="Project",
        section="audit",
        name="Audit log",
        url_name="audit",
        drawing="M3 2.5h7l3 3v8H3zM10 2.5v3h3M5.5 8h5M5.5 10.5h5M5.5 5.5h2",
        role="admin",
    ),
    RailEntry(
        group="Project",
        section="quotas",
        name="Limits",
        url_name="quotas",
        drawing="M2.5 12a5.5 5.5 0 0 1 11 0M8 12l3-4M2.5 12h11",
        role="admin",
    ),
    RailEntry(
        group="Project",
        section="retention",
        name="Retention",
        url_name="retention",
        drawing="M2.5 3h11v3h-11zM3.5 6v7h9V6M6.5 8.5h3",
        role="admin",
    ),
    RailEntry(
        group="Project",
        section="storage",
        name="Storage",
        url_name="storage",
        drawing="M2.5 4c0-1 2.5-1.7 5.5-1.7s5.5.7 5.5 1.7v8c0 1-2.5 1.7-5.5 1.7s-5.5-.7-5.5-1.7z"
        "M2.5 4c0 1 2.5 1.7 5.5 1.7s5.5-.7 5.5-1.7M2.5 8c0 1 2.5 1.7 5.5 1.7s5.5-.7 5.5-1.7",
        role="admin",
    ),
    RailEntry(
        group="Project",
        section="forget",
        name="Forget",
        url_name="forget",
        drawing="M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.6 9h5.8l.6-9M6.8 7v4M9.2 7v4",
        role="admin",
    ),
    RailEntry(
        group="Reference",
        section="api-docs",
        name="API docs",
        url_name="api:docs",
        drawing="M4 2h5.5L12.5 5v9H4zM9.5 2v3h3M6 8h4.5M6 10.8h4.5",
    ),
    RailEntry(
        group="Reference",
        section="admin",
        name="Admin",
        url_name="admin:index",
        drawing="M8 1.8l5 1.9v3.8c0 3.2-2 5.5-5 6.7-3-1.2-5-3.5-5-6.7V3.7z",
        role="staff",
    ),
)


@lru_cache(maxsize=128)
def navigation(section: str, *, is_admin: bool, is_staff: bool) -> SafeString:
    """Return the entries that a role sees, as markup in which those of `section` are the current ones."""
    hidden = {role for role, has_it in (("admin", is_admin), ("staff", is_staff)) if not has_it}
    entries = [entry for entry in RAIL if entry.role not in hidden]
    return render_to_string("shell/navigation.html", {"entries": entries, "section": section})


def rail(request: HttpRequest) -> dict[str, SafeString]:
    """Return the navigation for templates that are not rendered by `page`, such as those of failures."""
    user = getattr(request, "user", None)
    return {"navigation": navigation("", is_admin=False, is_staff=user is not None and user.is_staff)}
