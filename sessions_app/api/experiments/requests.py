"""What clients send to run a recorded turn again."""

from rest_framework import serializers

from sessions_app.api.shell.fields import Text, Truth, WholeNumber
from sessions_app.api.shell.requests import REVISION_MAX, ChoicesFields, Coded

MOST_TRIALS, MOST_MS = 200, 60_000
EXPECTED_CHARS = 2_000


class TrialRequest(ChoicesFields):
    """What is different from the recorded turn; what is absent stays as it was."""

    message = Text(required=False, allow_null=True)
    system_prompt = Text(required=False, allow_null=True, allow_blank=True)
    history_through = WholeNumber(
        required=False, allow_null=True, min_value=0, help_text="Place of the last message that is seen; 0 for none."
    )
    without_units = serializers.ListField(child=Text(max_length=400), required=False)
    without_sources = serializers.ListField(child=Text(max_length=128), required=False)
    base = Text(required=False, allow_null=True, help_text="Id of the knowledge base that is mounted in its place.")
    revision = WholeNumber(required=False, allow_null=True, min_value=1, max_value=REVISION_MAX)
    without_preferences = Truth(required=False, help_text="Let the planner choose as in a new session.")
    without_plugins = serializers.ListField(child=Text(max_length=100), required=False)
    flags = serializers.DictField(required=False, help_text="Policies, as in a chat request.")
    limits = serializers.DictField(
        child=serializers.IntegerField(min_value=1),
        required=False,
        help_text="Any of max_llm_calls, request_timeout_ms, max_plugins_per_stage, plugin_timeout_ms.",
    )


class DiagnosisRequest(Coded):
    """What the answer should have said or not; without either, the question is what it depends on."""

    should_contain = Text(required=False, allow_null=True, allow_blank=True, max_length=EXPECTED_CHARS)
    should_not_contain = Text(required=False, allow_null=True, allow_blank=True, max_length=EXPECTED_CHARS)
    max_trials = WholeNumber(required=False, default=60, min_value=1, max_value=MOST_TRIALS)
    max_ms = WholeNumber(required=False, default=10_000, min_value=1, max_value=MOST_MS)
    exhaustive = Truth(required=False, default=False, help_text="Go on after three findings that meet the expectation.")
