"""The addresses below `/api`, without trailing slashes."""

from django.urls import path, re_path

from sessions_app import addresses  # noqa: F401 (registers `id`)
from sessions_app.api.experiments import endpoints as experiments
from sessions_app.api.experiments import forgetting, suites
from sessions_app.api.knowledge import endpoints as knowledge
from sessions_app.api.knowledge import session_knowledge, workspace
from sessions_app.api.sessions import bundles, memory, policies, remedies, skills
from sessions_app.api.sessions import contents as session_contents
from sessions_app.api.sessions import endpoints as sessions
from sessions_app.api.settings import audit, members, plugins, quotas, retention, storage
from sessions_app.api.settings import models as model_settings
from sessions_app.api.shell import docs, health
from sessions_app.api.shell.views import UnknownPath
from sessions_app.api.turns import alerts, reviews, saved_filters
from sessions_app.api.turns import endpoints as turns
from sessions_app.api.turns import listing as turn_list
from sessions_app.api.turns.chat import ChatCompletions

app_name = "api"
urlpatterns = [
    path("chat/completions", ChatCompletions.as_view(), name="chat"),
    path("sessions", sessions.Sessions.as_view(), name="sessions"),
    path("sessions/<id:session_id>", sessions.OneSession.as_view(), name="session"),
    path("sessions/<id:session_id>/messages", session_contents.Messages.as_view(), name="messages"),
    path("sessions/<id:session_id>/units", session_contents.Units.as_view(), name="units"),
    path("sessions/<id:session_id>/units/<id:unit_id>", session_contents.OneUnit.as_view(), name="unit"),
    path("sessions/<id:session_id>/units/<id:unit_id>/retract", remedies.RetractUnit.as_view(), name="unit-retract"),
    path("sessions/<id:session_id>/units/<id:unit_id>/restore", remedies.RestoreUnit.as_view(), name="unit-restore"),
    path("sessions/<id:session_id>/units/<id:unit_id>/correct", remedies.CorrectUnit.as_view(), name="unit-correct"),
    path("sessions/<id:session_id>/mounts", session_contents.Mounts.as_view(), name="mounts"),
    path("sessions/<id:session_id>/workspace", workspace.Workspace.as_view(), name="workspace"),
    path("sessions/<id:session_id>/workspace/sources", workspace.WorkspaceSources.as_view(), name="workspace-sources"),
    path(
        "sessions/<id:session_id>/workspace/sources/<id:source_id>",
        workspace.OneWorkspaceSource.as_view(),
        name="workspace-source",
    ),
    path("sessions/<id:session_id>/kb/load", session_knowledge.LoadKB.as_view(), name="session-kb-load"),
    path("sessions/<id:session_id>/kb/mount", session_knowledge.MountKB.as_view(), name="session-kb-mount"),
    path("sessions/<id:session_id>/kb/save", session_knowledge.SaveKB.as_view(), name="session-kb-save"),
    path("sessions/<id:session_id>/kb/fork", session_knowledge.ForkKB.as_view(), name="session-kb-fork"),
    path("sessions/<id:session_id>/policies", policies.SessionPolicies.as_view(), name="policies"),
    path("sessions/<id:session_id>/memory", memory.OneSessionMemory.as_view(), name="memory"),
    path("sessions/<id:session_id>/context", session_contents.SessionContext.as_view(), name="context"),
    path(
        "sessions/<id:session_id>/quarantine", session_contents.SessionQuarantine.as_view(), name="session-quarantine"
    ),
    path("sessions/<id:session_id>/export", session_contents.Export.as_view(), name="export"),
    path("sessions/<id:session_id>/bundle", bundles.SessionBundle.as_view(), name="session-bundle"),
    path("bundles", bundles.Bundles.as_view(), name="bundles"),
    path("sessions/<id:session_id>/explainability", turns.Explainability.as_view(), name="explainability"),
    path("sessions/<id:session_id>/turns/<id:request_id>", turns.OneTurn.as_view(), name="turn"),
    path("sessions/<id:session_id>/turns/<id:request_id>/scores", reviews.TurnScores.as_view(), name="scores"),
    path("sessions/<id:session_id>/turns/<id:request_id>/cancel", turns.CancelTurn.as_view(), name="cancel"),
    path("sessions/<id:session_id>/turns/<id:request_id>/replay", experiments.Replay.as_view(), name="replay"),
    path("sessions/<id:session_id>/turns/<id:request_id>/diagnosis", experiments.Diagnoses.as_view(), name="diagnosis"),
    path("sessions/<id:session_id>/turns/<id:request_id>/bisect", experiments.Bisects.as_view(), name="bisect"),
    path("sessions/<id:session_id>/turns/<id:request_id>/details/<id:ref>", turns.TurnDetail.as_view(), name="detail"),
    path("sessions/<id:session_id>/model-config", model_settings.SessionModelConfig.as_view(), name="model-config"),
    path("sessions/<id:session_id>/skills", skills.OneSessionSkills.as_view(), name="skills"),
    path("sessions/<id:session_id>/skills/difference", skills.SkillsDifference.as_view(), name="skills-difference"),
    path("sessions/<id:session_id>/skills/reload", skills.ReloadSkills.as_view(), name="skills-reload"),
    path("experiments", experiments.Experiments.as_view(), name="experiments"),
    path("experiments/estimate", experiments.ExperimentEstimate.as_view(), name="experiment-estimate"),
    path("experiments/<id:experiment_id>", experiments.OneExperiment.as_view(), name="experiment"),
    path("experiments/<id:experiment_id>/trials", experiments.ExperimentTrials.as_view(), name="experiment-trials"),
    path("experiments/<id:experiment_id>/cancel", experiments.CancelExperiment.as_view(), name="experiment-cancel"),
    path("forget", forgetting.Forgettings.as_view(), name="forgettings"),
    path("forget/plan", forgetting.Plans.as_view(), name="forget-plan"),
    path("forget/<id:forgetting_id>", forgetting.OneForgetting.as_view(), name="forgetting"),
    path("forget/<id:forgetting_id>/cancel", forgetting.CancelForgetting.as_view(), name="forgetting-cancel"),
    path("alerts", alerts.Alerts.as_view(), name="alerts"),
    path("alerts/<id:alert_id>", alerts.OneAlert.as_view(), name="alert"),
    path("reviews", reviews.Reviews.as_view(), name="reviews"),
    path("reviews/agreement", reviews.ReviewAgreement.as_view(), name="review-agreement"),
    path("reviews/<id:request_id>", reviews.OneReview.as_view(), name="review"),
    path("suites", suites.Suites.as_view(), name="suites"),
    path("suites/import", suites.SuiteImport.as_view(), name="suite-import"),
    path("suites/<id:suite_id>", suites.OneSuite.as_view(), name="suite"),
    path("suites/<id:suite_id>/file", suites.SuiteExport.as_view(), name="suite-file"),
    path("suites/<id:suite_id>/tests", suites.Tests.as_view(), name="tests"),
    path("suites/<id:suite_id>/tests/keep", suites.KeepTurns.as_view(), name="tests-keep"),
    path("suites/<id:suite_id>/tests/<id:test_id>", suites.OneTest.as_view(), name="test"),
    path("suites/<id:suite_id>/runs", suites.Runs.as_view(), name="suite-runs"),
    path("suites/<id:suite_id>/runs/<id:run_id>", suites.OneRun.as_view(), name="suite-run"),
    path("turns", turn_list.Turns.as_view(), name="turns"),
    path("turns/export", turn_list.TurnExport.as_view(), name="turns-export"),
    path("turns/filters", saved_filters.SavedFilters.as_view(), name="saved-filters"),
    path("turns/filters/<id:filter_id>", saved_filters.OneSavedFilter.as_view(), name="saved-filter"),
    path("kbs", knowledge.KnowledgeBases.as_view(), name="kbs"),
    path("kbs/<id:kb_id>", knowledge.OneKnowledgeBase.as_view(), name="kb"),
    path("kbs/<id:kb_id>/undelete", knowledge.Undelete.as_view(), name="kb-undelete"),
    path("kbs/<id:kb_id>/revisions", knowledge.Revisions.as_view(), name="kb-revisions"),
    path("kbs/<id:kb_id>/restore", knowledge.Restore.as_view(), name="kb-restore"),
    path("kbs/<id:kb_id>/compaction", knowledge.Compaction.as_view(), name="kb-compaction"),
    path("kbs/<id:kb_id>/tests", suites.TestsOfBase.as_view(), name="kb-tests"),
    path("kbs/<id:kb_id>/sources", knowledge.Sources.as_view(), name="sources"),
    path("kbs/<id:kb_id>/sources/<id:source_id>", knowledge.OneSource.as_view(), name="kb-source"),
    path("kbs/<id:kb_id>/quarantine", knowledge.BaseQuarantine.as_view(), name="kb-quarantine"),
    path("plugins", plugins.Plugins.as_view(), name="plugins"),
    path("models", plugins.LanguageModels.as_view(), name="models"),
    path("eval-sources", plugins.EvaluationSources.as_view(), name="eval-sources"),
    path("settings/llm-roles", model_settings.ModelRolesSettings.as_view(), name="llm-roles"),
    path("settings/quotas", quotas.Quotas.as_view(), name="quotas"),
    path("storage", storage.Storage.as_view(), name="storage"),
    path("settings/retention", retention.RetentionSettings.as_view(), name="retention"),
    path("settings/retention/preview", retention.RetentionPreview.as_view(), name="retention-preview"),
    path("settings/retention/stop", retention.StopRetention.as_view(), name="retention-stop"),
    path("settings/retention/start", retention.StartRetention.as_view(), name="retention-start"),
    path("members", members.Members.as_view(), name="members"),
    path("members/<id:name>", members.OneMember.as_view(), name="member"),
    path("invitations", members.Invitations.as_view(), name="invitations"),
    path("invitations/<int:invitation_id>", members.OneInvitation.as_view(), name="invitation"),
    path("audit", audit.Audit.as_view(), name="audit"),
    path("audit/export", audit.AuditExport.as_view(), name="audit-export"),
    path("health", health.health, name="health"),
    path("ready", health.ready, name="ready"),
    path("schema", docs.Schema.as_view(), name="schema"),
    path("docs", docs.Docs.as_view(), name="docs"),
    re_path(r"", UnknownPath.as_view(), name="unknown"),
]
