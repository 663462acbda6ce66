"""Shapes of suites, their tests and runs."""

from rest_framework import serializers

from sessions_app.api.experiments.responses import STATUSES, TrialObject
from sessions_app.api.shell.responses import Anything, Bool, Int, Page, Str, Time, nullable, texts


class TestObject(serializers.Serializer):
    """A test; either `request_id` or `kb_id` says where its message is asked, none where that was removed."""

    test_id = Str()
    name = Str()
    message = Str()
    session_id = Str(required=False)
    request_id = Str(required=False)
    kb_id = Str(required=False)
    revision = Int(required=False)
    choices = Anything(required=False)
    expect = Anything()
    tags = serializers.ListField(child=Str(), required=False)


class RefusedTurn(serializers.Serializer):
    """A turn that could not be kept."""

    request_id = Str()
    reason = Str()


class KeptTurns(serializers.Serializer):
    """What came of keeping several turns."""

    tests = TestObject(many=True)
    refused = RefusedTurn(many=True)


class RunCounts(serializers.Serializer):
    """How many tests came out how."""

    passed = Int()
    failed = Int()
    error = Int(help_text="Those that could not be run.")
    waiting = Int()


class ListedRun(serializers.Serializer):
    """A run in a list."""

    run_id = Str(help_text="Its experiment's id: by it the run is followed, stopped and removed.")
    status = serializers.ChoiceField(STATUSES)
    target = Anything(help_text="What it was run against.")
    counts = RunCounts()
    created_by = Str()
    created_at = Time()
    finished_at = nullable(Time)
    error = nullable(Anything)


class ListedSuite(serializers.Serializer):
    """A suite in a list."""

    suite_id = Str()
    name = Str()
    test_count = Int()
    created_by = Str()
    created_at = Time()
    last_run = ListedRun(allow_null=True)


class SuiteList(serializers.Serializer):
    """The project's suites."""

    suites = ListedSuite(many=True)


class SuiteObject(serializers.Serializer):
    """A suite with its tests."""

    suite_id = Str()
    name = Str()
    created_by = Str()
    created_at = Time()
    tests = TestObject(many=True)


class RunList(Page):
    """A page of a suite's runs."""

    runs = ListedRun(many=True)


class ResultObject(serializers.Serializer):
    """What came of a test in a run."""

    test_id = nullable(Str, help_text="Null where the test was removed.")
    name = Str()
    outcome = serializers.ChoiceField(("waiting", "passed", "failed", "error"))
    failures = texts()
    verdict = Str(help_text="What a model said of the answer, if it was asked.")
    breaks = Bool(help_text="It fails on the state that was tried and passes on the present one.")
    trial = TrialObject()


class BaseRun(ListedRun):
    """A run of the tests of one base in a suite."""

    suite_id = Str()
    name = Str(help_text="The suite's.")
    breaks = texts()


class BaseTests(serializers.Serializer):
    """What the tests of a base say of a state that it may be given."""

    tests = Int()
    breaks = Int(help_text="Tests that fail there and pass on the present state.")
    runs = BaseRun(many=True)


class DifferenceObject(serializers.Serializer):
    """What has changed since another run, by names of tests."""

    against = Str()
    fixed = texts()
    broken = texts()
    same = Int()


class RunObject(ListedRun):
    """A run with its results in order."""

    results = ResultObject(many=True)
    difference = DifferenceObject(allow_null=True, help_text="Against the run before, or the one that was asked for.")


class SuiteFile(serializers.Serializer):
    """A suite in its YAML form."""

    name = Str()
    content = Str()
