"""The admin's index: models by subject, with how many rows each has and the page that shows them."""

from functools import partial
from typing import Any

from django.conf import settings
from django.contrib.admin import AdminSite, site
from django.contrib.auth.models import Group, User
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.text import slugify

from sessions_app import models
from sessions_app.queries.settings.projects import is_at_least, membership_of

SUBJECTS: dict[str, tuple[type[Model], ...]] = {
    "Conversations": (models.Session, models.Message, models.ContextUnit, models.SessionMemory),
    "Knowledge": (
        models.KnowledgeBase,
        models.KBRevision,
        models.KnowledgeSource,
        models.KBMount,
        models.QuarantinedChunk,
    ),
    "Explainability": (
        models.ExplainabilityTurn,
        models.TurnRating,
        models.TurnScore,
        models.QueuedTurn,
        models.SavedFilter,
        models.Alert,
        models.AlertCrossing,
        models.UnitEvent,
        models.Experiment,
        models.Forgetting,
        models.Suite,
        models.PluginStatistics,
        models.PluginFailure,
        models.ImportedSpan,
    ),
    "Access": (
        models.Project,
        models.Membership,
        User,
        Group,
        models.ApiKey,
        models.LoginLink,
        models.Invitation,
        models.ModelRoles,
        models.Retention,
        models.ModelUse,
        models.StorageSample,
        models.AuditEntry,
    ),
}
OTHERS = "Storage internals"

# The page of a model's rows: the name of its address, and the role that it needs.
PAGES: dict[type[Model], tuple[str, str]] = {
    models.Session: ("sessions", "viewer"),
    models.KnowledgeBase: ("knowledge", "viewer"),
    models.ExplainabilityTurn: ("turns", "viewer"),
    models.Experiment: ("experiments", "viewer"),
    models.Forgetting: ("forget", "admin"),
    models.Suite: ("suites", "viewer"),
    models.SavedFilter: ("turn-filters", "viewer"),
    models.QueuedTurn: ("review", "viewer"),
    models.Alert: ("alerts", "admin"),
    models.PluginStatistics: ("plugins", "viewer"),
    models.ApiKey: ("api-keys", "admin"),
    models.ModelRoles: ("settings", "viewer"),
    models.AuditEntry: ("audit", "admin"),
    models.StorageSample: ("storage", "admin"),
    models.Retention: ("retention", "admin"),
    models.Project: ("projects", "viewer"),
    models.Membership: ("members", "admin"),
    models.Invitation: ("members", "admin"),
}


def models_by_subject(request: HttpRequest, app_label: str | None = None) -> list[dict[str, Any]]:
    """Return the models that the user may see, grouped by subject, storage internals last.

    Those of one app, where its label is given, are listed as Django lists them. Counts are lazy: the navigation beside
    other pages shows none.
    """
    if app_label is not None:
        return AdminSite.get_app_list(site, request, app_label)
    entries = {entry["model"]: entry for app in AdminSite.get_app_list(site, request) for entry in app["models"]}
    subjects = []
    for name, members in SUBJECTS.items():
        subjects.append((name, [entries.pop(model) for model in members if model in entries]))
    subjects.append((OTHERS, list(entries.values())))
    membership = membership_of(request.user) if request.user.is_authenticated else None
    for _, listed in subjects:
        for entry in listed:
            entry["count"] = SimpleLazyObject(partial(row_count, request, entry["model"]))
            page, needed = PAGES.get(entry["model"], ("", ""))
            may_open = page and membership and is_at_least(membership.role, needed)
            entry["page_url"] = reverse(page) if may_open else None
    index = reverse("admin:index")
    return [
        {"name": name, "app_label": slugify(name), "app_url": f"{index}#{slugify(name)}", "models": listed}
        for name, listed in subjects
        if listed
    ]


def row_count(request: HttpRequest, model: type[Model]) -> str:
    """Return how many rows of a model the user may see, as text; of a large table that there are more."""
    rows = site.get_model_admin(model).get_queryset(request).order_by()
    limit = settings.MRPVM_ROWS_COUNTED
    count = rows.values("pk")[: limit + 1].count()
    return f"over {limit:,}" if count > limit else f"{count:,}"
