"""The addresses of the pages; fragments and actions are below their page."""

from django.contrib.auth.views import LogoutView
from django.urls import path, re_path

from sessions_app import addresses  # noqa: F401 (registers `id`)
from sessions_app.web.experiments import forgetting
from sessions_app.web.experiments import suite_views as suites
from sessions_app.web.experiments import views as experiments
from sessions_app.web.knowledge import unit_views as units
from sessions_app.web.knowledge import views as knowledge
from sessions_app.web.search import views as search
from sessions_app.web.sessions import knowledge_views as session_knowledge
from sessions_app.web.sessions import list_views as sessions
from sessions_app.web.sessions import memory_views as session_memory
from sessions_app.web.sessions import skill_views as session_skills
from sessions_app.web.sessions import views as session
from sessions_app.web.settings import (
    api_keys,
    audit,
    members,
    passwords,
    projects,
    quotas,
    retention,
    second_factor,
    storage,
)
from sessions_app.web.settings import plugin_views as plugins
from sessions_app.web.settings import views as settings
from sessions_app.web.shell import login
from sessions_app.web.shell import slash_addresses as slashes
from sessions_app.web.shell.form_addresses import form_of
from sessions_app.web.turns import file_views as turn_files
from sessions_app.web.turns import rating_views as ratings
from sessions_app.web.turns import views as turns
from sessions_app.web.turns.lists import alert_views as alerts
from sessions_app.web.turns.lists import filter_views as turn_filters
from sessions_app.web.turns.lists import list_views as turn_list
from sessions_app.web.turns.lists import overview_views as overview
from sessions_app.web.turns.lists import review_views as reviews
from sessions_app.web.turns.lists import several_views as several_turns
from sessions_app.web.turns.panels import what_if_views as turn_choice

_SESSION = "sessions/<id:session_id>"
_TURN = f"{_SESSION}/turns/<id:request_id>"

urlpatterns = [
    path("", sessions.index, name="sessions"),
    path("list", sessions.rows, name="sessions-list"),
    path("start", sessions.start, name="start"),
    path("import", sessions.import_session, name="session-import"),
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
    path(f"{_SESSION}/policies", session.policies, name="session-policies"),
    path(f"{_SESSION}/preferences/clear", session.clear, name="session-clear-preference"),
    path(f"{_SESSION}/memory/clear", session_memory.clear, name="session-memory-clear"),
    path(f"{_SESSION}/kb/saving", session_knowledge.saving, name="session-kb-saving"),
    path(f"{_SESSION}/kb/mount", session_knowledge.mount, name="session-kb-mount"),
    path(f"{_SESSION}/kb/mounting", session_knowledge.mounting, name="session-kb-mounting"),
    path(f"{_SESSION}/kb/unmount", session_knowledge.unmount, name="session-kb-unmount"),
    path(f"{_SESSION}/kb/unstage", session_knowledge.unstage, name="session-kb-unstage"),
    path(f"{_SESSION}/kb/save", session_knowledge.save, name="session-kb-save"),
    path(f"{_SESSION}/kb/test", suites.run_before_save, name="session-kb-test"),
    path(f"{_SESSION}/kb/fork", session_knowledge.fork, name="session-kb-fork"),
    path(f"{_SESSION}/completion", session_skills.completion, name="session-completion"),
    path(f"{_SESSION}/ask", session.ask, name="session-ask"),
    path(f"{_SESSION}/rename", session.rename, name="session-rename"),
    path(f"{_SESSION}/delete", session.delete, name="session-delete"),
    path(f"{_SESSION}/restore", session.restore, name="session-restore"),
    path(f"{_SESSION}/bisect", experiments.bisect, name="session-bisect"),
    path(f"{_SESSION}/bisect/run", experiments.search_time, name="session-bisect-run"),
    path(f"{_SESSION}/unit", units.show, name="unit"),
    path(f"{_SESSION}/unit/retract", units.retract, name="unit-retract"),
    path(f"{_SESSION}/unit/restore", units.restore, name="unit-restore"),
    path(f"{_SESSION}/unit/correct", units.correct, name="unit-correct"),
    path(_TURN, turns.show, name="turn"),
    path(f"{_TURN}/sources/<int:number>", units.cited, name="turn-source"),
    path(f"{_TURN}/head", turns.head, name="turn-head"),
    path(f"{_TURN}/graph", turns.graph, name="turn-graph"),
    path(f"{_TURN}/timeline", turns.timeline, name="turn-timeline"),
    path(f"{_TURN}/outline", turns.outline, name="turn-outline"),
    path(f"{_TURN}/draft", turns.draft, name="turn-draft"),
    path(f"{_TURN}/remedies", turns.remedies, name="turn-remedies"),
    path(f"{_TURN}/context", turns.context, name="turn-context"),
    path(f"{_TURN}/sections/<int:place>", turns.section, name="turn-section"),
    path(f"{_TURN}/requests/<id:ref>", turns.requests, name="turn-requests"),
    path(f"{_TURN}/what-if", turn_choice.predict, name="turn-what-if"),
    path(f"{_TURN}/try", experiments.trial, name="turn-try"),
    path(f"{_TURN}/try/run", experiments.try_turn, name="turn-try-run"),
    path(f"{_TURN}/try/continue", experiments.continuation, name="turn-continue"),
    path(f"{_TURN}/diagnosis", experiments.diagnosis, name="turn-diagnosis"),
    path(f"{_TURN}/diagnosis/run", experiments.diagnose, name="turn-diagnose"),
    path(f"{_TURN}/keep", suites.keep, name="turn-keep"),
    path(f"{_TURN}/replay", experiments.replay, name="turn-replay"),
    path(f"{_TURN}/state", turns.state, name="turn-state"),
    path(f"{_TURN}/compare", turns.compare, name="turn-compare"),
    path(f"{_TURN}/choice", turns.choice, name="turn-choice"),
    path(f"{_TURN}/turn.json", turn_files.export, name="turn-export"),
    path(f"{_TURN}/graph.svg", turn_files.picture, name="turn-picture"),
    path(f"{_TURN}/detail", turns.detail, name="turn-detail"),
    path(f"{_TURN}/cancel", turns.cancel, name="turn-cancel"),
    path(f"{_TURN}/rate", ratings.rate, name="turn-rate"),
    path("experiments", experiments.index, name="experiments"),
    path("experiments/<id:experiment_id>", experiments.show, name="experiment"),
    path("experiments/<id:experiment_id>/stop", experiments.stop, name="experiment-stop"),
    path("experiments/<id:experiment_id>/delete", experiments.delete, name="experiment-delete"),
    path("forget", forgetting.index, name="forget"),
    path("forget/plan", forgetting.plan, name="forget-plan"),
    path("forget/<id:forgetting_id>", forgetting.show, name="forgetting"),
    path("forget/<id:forgetting_id>/run", forgetting.run, name="forgetting-run"),
    path("forget/<id:forgetting_id>/cancel", forgetting.cancel, name="forgetting-cancel"),
    path("tests", suites.index, name="suites"),
    path("tests/import", suites.upload, name="suite-import"),
    path("tests/<id:suite_id>", suites.show, name="suite"),
    path("tests/<id:suite_id>/suite.yaml", suites.download, name="suite-file"),
    path("tests/<id:suite_id>/run", suites.run, name="suite-run-start"),
    path("tests/<id:suite_id>/rename", suites.rename, name="suite-rename"),
    path("tests/<id:suite_id>/delete", suites.delete, name="suite-delete"),
    path("tests/<id:suite_id>/new", suites.new_test, name="test-new"),
    path("tests/<id:suite_id>/tests/<id:test_id>", suites.edit_test, name="test"),
    path("tests/<id:suite_id>/tests/<id:test_id>/delete", suites.delete_test, name="test-delete"),
    path("tests/<id:suite_id>/runs/<id:run_id>", suites.show_run, name="suite-run"),
    path("knowledge", knowledge.index, name="knowledge"),
    path("knowledge/<id:kb_id>", knowledge.show, name="knowledge-base"),
    path("knowledge/<id:kb_id>/tests", suites.base_tests, name="knowledge-tests"),
    path("knowledge/<id:kb_id>/tests/run", suites.run_before_restore, name="knowledge-test"),
    path("knowledge/<id:kb_id>/news", knowledge.news, name="knowledge-news"),
    path("knowledge/<id:kb_id>/tree", knowledge.tree, name="knowledge-tree"),
    path("knowledge/<id:kb_id>/upload", knowledge.upload, name="knowledge-upload"),
    path("knowledge/<id:kb_id>/remove", knowledge.remove, name="knowledge-remove"),
    path("knowledge/<id:kb_id>/compare", knowledge.compare, name="knowledge-compare"),
    path("knowledge/<id:kb_id>/restore", knowledge.restore, name="knowledge-restore"),
    path("knowledge/<id:kb_id>/rename", knowledge.rename, name="knowledge-rename"),
    path("knowledge/<id:kb_id>/fork", knowledge.fork, name="knowledge-fork"),
    path("knowledge/<id:kb_id>/delete", knowledge.delete, name="knowledge-delete"),
    path("knowledge/<id:kb_id>/undelete", knowledge.undelete, name="knowledge-undelete"),
    path("knowledge/<id:kb_id>/compact", knowledge.compact, name="knowledge-compact"),
    path("plugins", plugins.index, name="plugins"),
    path("overview", overview.index, name="overview"),
    path("turns", turn_list.index, name="turns"),
    path("turns/filters", turn_filters.index, name="turn-filters"),
    path("turns/filters/save", turn_filters.save, name="turn-filter-save"),
    path("turns/filters/<id:filter_id>", turn_filters.show, name="turn-filter"),
    path("turns/filters/<id:filter_id>/change", turn_filters.change, name="turn-filter-change"),
    path("turns/filters/<id:filter_id>/delete", turn_filters.delete, name="turn-filter-delete"),
    path("turns/keep", several_turns.keep, name="turns-keep"),
    path("turns/review", reviews.queue, name="turns-review"),
    path("alerts", alerts.index, name="alerts"),
    path("alerts/<id:alert_id>/delete", alerts.delete, name="alert-delete"),
    path("review", reviews.index, name="review"),
    path("review/clear", reviews.clear, name="review-clear"),
    path("review/<id:session_id>/<id:request_id>", reviews.rate, name="review-rate"),
    path("search", search.index, name="search"),
    path("search/palette", search.palette, name="search-palette"),
    path("search/complete", search.complete, name="search-complete"),
    path("settings", settings.index, name="settings"),
    path("settings/models", settings.names, name="model-names"),
    path("projects", projects.index, name="projects"),
    path("projects/<slug:slug>/choose", projects.choose, name="project-choose"),
    path("members", members.index, name="members"),
    path("members/<id:name>/role", members.role, name="member-role"),
    path("members/<id:name>/remove", members.remove, name="member-remove"),
    path("invitations/<int:key>/withdraw", members.withdraw, name="invitation-withdraw"),
    path("join/<str:secret>", members.invitation, name="invitation"),
    path("limits", quotas.index, name="quotas"),
    path("storage", storage.index, name="storage"),
    path("retention", retention.index, name="retention"),
    path("retention/stop", retention.stop, name="retention-stop"),
    path("retention/start", retention.start, name="retention-start"),
    path("audit", audit.index, name="audit"),
    path("password", passwords.index, name="password"),
    path("second-factor", second_factor.index, name="second-factor"),
    path("api-keys", api_keys.index, name="api-keys"),
    path("api-keys/<int:key_pk>/revoke", api_keys.revoke, name="api-key-revoke"),
    path("login", login.PasswordLogin.as_view(), name="login"),
    path("login/code", login.code, name="login-code"),
    path("login/second-factor", login.enrolment, name="login-enrolment"),
    path("login/link/<str:secret>", login.login_link, name="login-link"),
    path("logout", form_of("sessions")(LogoutView.as_view(next_page="login")), name="logout"),
    re_path(r"^(?P<address>[^/].*[^/])/$", slashes.without, name="slash"),
]
