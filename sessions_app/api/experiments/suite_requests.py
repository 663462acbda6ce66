"""What clients send of suites, their tests and runs."""

from rest_framework import serializers

from mrpvm.values import BASES
from sessions_app.api.experiments.requests import ModelFields, TestChoices, WaitsFields
from sessions_app.api.shell.fields import JSONNumber, JSONText, Truth, WholeNumber
from sessions_app.api.shell.requests import REVISION_MAX, Coded
from sessions_app.experiments.expected import MOST_CHARS, STATUSES

_NUMBER_MAX = 1_000_000_000


def _texts(help_text: str) -> serializers.Field:
    return serializers.ListField(child=JSONText(max_length=MOST_CHARS), required=False, help_text=help_text)


class ExpectRequest(serializers.Serializer):
    """What an answer must fulfil; what is absent is not looked at."""

    contains = _texts("Texts, compared without case and white space.")
    does_not_contain = _texts("Texts that must not be there.")
    equals = JSONText(required=False, allow_null=True, max_length=MOST_CHARS)
    matches = JSONText(required=False, allow_null=True, max_length=MOST_CHARS, help_text="A regular expression.")
    status = serializers.ChoiceField(STATUSES, required=False, allow_null=True)
    basis = serializers.ChoiceField(BASES, required=False, allow_null=True)
    cites = _texts("Ids of units.")
    cites_sources = _texts("Names of sources.")
    cites_nothing_else = Truth(required=False)
    uses = _texts("Ids of plugins that must have answered.")
    max_tokens = WholeNumber(required=False, allow_null=True, min_value=1, max_value=_NUMBER_MAX)
    max_cost = JSONNumber(required=False, allow_null=True, min_value=0, max_value=_NUMBER_MAX)
    reference_ms = WholeNumber(required=False, allow_null=True, min_value=1, max_value=_NUMBER_MAX)
    judged = JSONText(
        required=False,
        allow_null=True,
        max_length=MOST_CHARS,
        help_text="A criterion that a model applies; the run needs `allow_model`.",
    )
    max_times = JSONNumber(
        required=False, allow_null=True, min_value=0, max_value=_NUMBER_MAX, help_text="Times `reference_ms`, at most."
    )


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


class RunRequest(WaitsFields, ModelFields):
    """What the suite is run against; with nothing said, each test where it was kept."""

    kb_id = JSONText(required=False, allow_null=True, help_text="The base that is put below all tests.")
    revision = WholeNumber(required=False, allow_null=True, min_value=1, max_value=REVISION_MAX)
    draft_of = JSONText(
        required=False,
        allow_null=True,
        help_text="Id of a session: the tests of its base run against what a save would make of it.",
    )
    include_conversation_units = Truth(
        required=False, help_text="Whether that save would take along what the conversation told; true if absent."
    )
    heads = Truth(required=False, help_text="Each test against the present state of its own base.")
    tags = serializers.ListField(child=JSONText(max_length=40), required=False, max_length=20)
    choices = TestChoices(required=False)


class BaseTestsRequest(WaitsFields):
    """The state that the base may be given: what a save of a session would make, or one of its revisions."""

    draft_of = JSONText(required=False, allow_null=True, help_text="Id of a session that would be saved into the base.")
    include_conversation_units = Truth(
        required=False, help_text="Whether the save would take along what the conversation told; true if absent."
    )
    revision = WholeNumber(required=False, allow_null=True, min_value=1, max_value=REVISION_MAX)


class RunQuery(serializers.Serializer):
    """Which other run a run is compared with."""

    against = serializers.CharField(required=False, allow_blank=True, max_length=64)


class SuiteFileRequest(Coded):
    """A suite in its YAML form."""

    content = JSONText(help_text="The file's text.")
    name = JSONText(required=False, allow_null=True, max_length=200, help_text="In place of the name in the file.")
