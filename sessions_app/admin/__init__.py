"""The admin: read-only pages of all rows, and actions on projects, keys, sessions and knowledge bases.

Rows are changed only by object actions. Each has a page of its own and calls `sessions_app.actions`, as the API does.
"""

from django.contrib import admin

from sessions_app.admin import damaged_values, database_versions
from sessions_app.admin.experiments import experiments, suites
from sessions_app.admin.knowledge import kb_mounts, knowledge_bases, quarantine
from sessions_app.admin.knowledge import layers as knowledge_layers
from sessions_app.admin.sessions import (
    context_units,
    conversation_points,
    frozen_contents,
    messages,
    session_memories,
    sessions,
)
from sessions_app.admin.settings import (
    api_keys,
    audit,
    invitations,
    kept_answers,
    model_roles,
    model_uses,
    plugin_failures,
    plugin_statistics,
    projects,
    retention,
    second_factor,
    storage_samples,
)
from sessions_app.admin.shell.index import models_by_subject
from sessions_app.admin.shell.login import go_to_login
from sessions_app.admin.turns import (
    alerts,
    imported_spans,
    queued_turns,
    saved_filters,
    turn_counts,
    turn_ratings,
    turns,
)

__all__ = [
    "alerts",
    "api_keys",
    "audit",
    "context_units",
    "conversation_points",
    "damaged_values",
    "database_versions",
    "experiments",
    "frozen_contents",
    "imported_spans",
    "invitations",
    "kb_mounts",
    "kept_answers",
    "knowledge_bases",
    "knowledge_layers",
    "messages",
    "model_roles",
    "model_uses",
    "plugin_failures",
    "plugin_statistics",
    "projects",
    "quarantine",
    "queued_turns",
    "retention",
    "saved_filters",
    "second_factor",
    "session_memories",
    "sessions",
    "storage_samples",
    "suites",
    "turn_counts",
    "turn_ratings",
    "turns",
]

admin.site.site_header = "mrpvm administration"
admin.site.site_title = "mrpvm"
admin.site.index_title = "Everything the server holds"
admin.site.login = go_to_login  # type: ignore[method-assign]
admin.site.get_app_list = models_by_subject  # type: ignore[method-assign]
