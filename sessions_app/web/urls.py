"""The addresses of the pages; fragments and actions lie below their page."""

from django.contrib.auth.views import LogoutView
from django.urls import path, register_converter
from django.urls.converters import StringConverter

from sessions_app.web.views import (
    api_keys,
    knowledge,
    login,
    plugins,
    ratings,
    search,
    session,
    session_memory,
    session_skills,
    sessions,
    settings,
    turn_choice,
    turn_files,
    turns,
    units,
)


class NameConverter(StringConverter):
    """An id in a page's address: anything without a slash or a control character; clients' own may hold spaces."""

    regex = r"[^/\x00-\x1f\x7f]{1,500}"


register_converter(NameConverter, "name")

_SESSION = "sessions/<name:session_id>"
_TURN = f"{_SESSION}/turns/<name:request_id>"

urlpatterns = [
    path("", sessions.index, name="sessions"),
    path("list", sessions.rows, name="sessions-list"),
    path("sessions", sessions.create, name="session-create"),
    path(_SESSION, session.show, name="session"),
    path(f"{_SESSION}/head", session.head, name="session-head"),
    path(f"{_SESSION}/messages", session.messages, name="session-messages"),
    path(f"{_SESSION}/state", session.state, name="session-state"),
    path(f"{_SESSION}/diagnostics", session.diagnostics, name="session-diagnostics"),
    path(f"{_SESSION}/composer", session.composer, name="session-composer"),
    path(f"{_SESSION}/skills", session_skills.show, name="session-skills"),
    path(f"{_SESSION}/skills/reload", session_skills.reload, name="session-skills-reload"),
    path(f"{_SESSION}/models", session.take_models, name="session-take-models"),
    path(f"{_SESSION}/memory/clear", session_memory.clear, name="session-memory-clear"),
    path(f"{_SESSION}/completion", session_skills.completion, name="session-completion"),
    path(f"{_SESSION}/ask", session.ask, name="session-ask"),
    path(f"{_SESSION}/rename", session.rename, name="session-rename"),
    path(f"{_SESSION}/delete", session.delete, name="session-delete"),
    path(f"{_SESSION}/restore", session.restore, name="session-restore"),
    path(f"{_SESSION}/unit", units.show, name="unit"),
    path(_TURN, turns.show, name="turn"),
    path(f"{_TURN}/sources/<int:number>", units.cited, name="turn-source"),
    path(f"{_TURN}/head", turns.head, name="turn-head"),
    path(f"{_TURN}/graph", turns.graph, name="turn-graph"),
    path(f"{_TURN}/timeline", turns.timeline, name="turn-timeline"),
    path(f"{_TURN}/outline", turns.outline, name="turn-outline"),
    path(f"{_TURN}/context", turns.context, name="turn-context"),
    path(f"{_TURN}/sections/<int:place>", turns.section, name="turn-section"),
    path(f"{_TURN}/requests/<name:ref>", turns.requests, name="turn-requests"),
    path(f"{_TURN}/what-if", turn_choice.predict, name="turn-what-if"),
    path(f"{_TURN}/state", turns.state, name="turn-state"),
    path(f"{_TURN}/compare", turns.compare, name="turn-compare"),
    path(f"{_TURN}/choice", turns.choice, name="turn-choice"),
    path(f"{_TURN}/turn.json", turn_files.export, name="turn-export"),
    path(f"{_TURN}/graph.svg", turn_files.picture, name="turn-picture"),
    path(f"{_TURN}/overview", turns.overview, name="turn-overview"),
    path(f"{_TURN}/details/<name:ref>", turns.detail, name="turn-detail"),
    path(f"{_TURN}/cancel", turns.cancel, name="turn-cancel"),
    path(f"{_TURN}/rate", ratings.rate, name="turn-rate"),
    path("knowledge", knowledge.index, name="knowledge"),
    path("knowledge/<name:kb_id>", knowledge.show, name="knowledge-base"),
    path("knowledge/<name:kb_id>/tree", knowledge.tree, name="knowledge-tree"),
    path("knowledge/<name:kb_id>/upload", knowledge.upload, name="knowledge-upload"),
    path("knowledge/<name:kb_id>/restore", knowledge.restore, name="knowledge-restore"),
    path("knowledge/<name:kb_id>/compact", knowledge.compact, name="knowledge-compact"),
    path("plugins", plugins.index, name="plugins"),
    path("search", search.index, name="search"),
    path("search/palette", search.palette, name="search-palette"),
    path("search/complete", search.complete, name="search-complete"),
    path("settings", settings.index, name="settings"),
    path("settings/models", settings.names, name="model-names"),
    path("api-keys", api_keys.index, name="api-keys"),
    path("api-keys/<int:key_pk>/revoke", api_keys.revoke, name="api-key-revoke"),
    path("login", login.PasswordLogin.as_view(), name="login"),
    path("login/link/<str:secret>", login.login_link, name="login-link"),
    path("logout", LogoutView.as_view(next_page="login"), name="logout"),
]
