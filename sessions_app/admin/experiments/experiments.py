"""Experiments and their trials, to look at."""

from django.contrib import admin

from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import Experiment, Forgetting, Trial


@admin.register(Experiment)
class ExperimentAdmin(ReadOnlyAdmin):
    list_display = ("experiment_id", "kind", "status", "tried_count", "created_by_name", "created_at")
    list_filter = ("kind", "status")
    search_fields = ("=experiment_id", "=session__session_id")
    ordering = ("-id",)
    deferred = ("question", "result")


@admin.register(Trial)
class TrialAdmin(ReadOnlyAdmin):
    """The result of each trial."""

    list_display = ("experiment", "position", "status", "answer_status", "duration_ms")
    list_filter = ("status",)
    list_select_related = ("experiment",)
    deferred = ("findings", "missing_request")
    search_fields = ("=experiment__experiment_id",)
    ordering = ("-experiment_id", "position")


@admin.register(Forgetting)
class ForgettingAdmin(ReadOnlyAdmin):
    """Who had what forgotten, without the text."""

    list_display = ("forgetting_id", "kind", "status", "created_by_name", "created_at", "finished_at")
    list_filter = ("kind", "status")
    search_fields = ("=forgetting_id",)
    ordering = ("-id",)
    exclude = ("work",)
    deferred = ("work", "before", "after", "notes")
