"""Suites with their tests and results, read-only."""

from django.contrib import admin

from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import Suite, SuiteRun, TestCase, TestResult


@admin.register(Suite)
class SuiteAdmin(ReadOnlyAdmin):
    """Which suites there are."""

    list_display = ("name", "suite_id", "project", "created_by_name", "created_at")
    list_select_related = ("project",)
    search_fields = ("name", "=suite_id")
    ordering = ("name", "id")


@admin.register(TestCase)
class TestCaseAdmin(ReadOnlyAdmin):
    """What is asked and expected."""

    list_display = ("name", "suite", "position", "created_at")
    list_select_related = ("suite",)
    search_fields = ("name", "=test_id", "=suite__suite_id")
    deferred = ("choices", "expected")
    ordering = ("suite_id", "position", "id")


@admin.register(SuiteRun)
class SuiteRunAdmin(ReadOnlyAdmin):
    """When each suite was run."""

    list_display = ("suite", "experiment", "target")
    list_select_related = ("suite", "experiment")
    search_fields = ("=suite__suite_id", "=experiment__experiment_id")
    ordering = ("-id",)


@admin.register(TestResult)
class TestResultAdmin(ReadOnlyAdmin):
    """The result of each test."""

    list_display = ("name", "run", "position", "outcome")
    list_filter = ("outcome",)
    list_select_related = ("run",)
    search_fields = ("=run__experiment__experiment_id",)
    deferred = ("failures", "verdict")
    ordering = ("-run_id", "position")
