"""What clients send of suites, their tests and runs."""

from rest_framework import serializers

from sessions_app.api.experiments.requests import ModelFields, TestChoices, WaitsFields
from sessions_app.api.shell.fields import JSONText, Truth, WholeNumber
from sessions_app.api.shell.requests import Coded
from sessions_app.api.shell.shapes import request_of
from sessions_app.experiments.suites.documents import ExpectDocument, TargetDocument
from sessions_app.experiments.trials.documents import REVISION_MAX

ExpectRequest = request_of("ExpectRequest", ExpectDocument)


class TestPatchRequest(Coded):
    """A test's fields; those that are absent stay as they are."""

    name = JSONText(required=False, max_length=200)
    message = JSONText(required=False)
    session_id = JSONText(required=False, allow_null=True)
    request_id = JSONText(required=False, allow_null=True, help_text="The turn over whose state the message is asked.")
    kb_id = JSONText(required=False, allow_null=True, help_text="In place of `request_id`: asked in an empty session.")
    revision = WholeNumber(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=REVISION_MAX,
        help_text="Of `kb_id`; its head if absent.",
    )
    choices = TestChoices(required=False)
    expect = ExpectRequest(required=False)
    tags = serializers.ListField(child=JSONText(max_length=40), required=False, max_length=20)


class TestRequest(TestPatchRequest):
    """A test; of a turn everything but `session_id` and `request_id` may be left out."""


class SuiteRequest(Coded):
    """A suite by its name."""

    name = JSONText(max_length=200)


class SuitePatchRequest(Coded):
    """A suite's name, and the order of its tests."""

    name = JSONText(required=False, max_length=200)
    order = serializers.ListField(
        child=JSONText(max_length=64), required=False, max_length=200, help_text="Ids of tests."
    )


class RunFields(WaitsFields, ModelFields):
    """How long a run is waited for, and whether it may ask a model."""


RunRequest = request_of("RunRequest", TargetDocument, RunFields)


class BaseTestsRequest(WaitsFields):
    """The state that the base may be given: what a save of a session would make, or one of its revisions."""

    draft_of = JSONText(required=False, allow_null=True, help_text="Id of a session that would be saved into the base.")
    include_conversation_units = Truth(
        required=False, help_text="Whether the save would take along what the conversation told; true if absent."
    )
    revision = WholeNumber(required=False, allow_null=True, min_value=1, max_value=REVISION_MAX)


class RunQuery(serializers.Serializer):
    """Which other run a run is compared with."""

    against = JSONText(required=False, allow_blank=True, max_length=64)


class SuiteFileRequest(Coded):
    """A suite in its YAML form."""

    content = JSONText(help_text="The file's text.")
    name = JSONText(required=False, allow_null=True, max_length=200, help_text="In place of the name in the file.")
