"""What clients send to run a recorded turn again."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from sessions_app.api.shell.fields import JSONText, Truth, WholeNumber
from sessions_app.api.shell.requests import ChoicesFields, Coded, PageQuery
from sessions_app.api.shell.shapes import request_of
from sessions_app.experiments.diagnosis.search import Expectation
from sessions_app.experiments.trials.documents import ChangesDocument, ChoicesDocument

MOST_TRIALS, MOST_MS, MOST_AT_ONCE = 200, 60_000, 50
EXPECTED_CHARS = 2_000


TestChoices = request_of("TestChoices", ChoicesDocument, ChoicesFields)
TrialRequest = request_of("TrialRequest", ChangesDocument, ChoicesFields)


class WaitsFields(Coded):
    """How long the request waits for the end of what it begins."""

    wait_ms = WholeNumber(
        required=False, default=0, min_value=0, max_value=MOST_MS, help_text="How long to wait for the end."
    )


class ModelFields(Coded):
    """Whether a model may be asked."""

    allow_model = Truth(
        required=False,
        default=False,
        help_text="Ask the configured model what was not recorded; needs the role editor.",
    )


class TrialsRequest(WaitsFields):
    """Trials, each by what it changes."""

    trials = serializers.ListField(child=TrialRequest(), min_length=1, max_length=MOST_AT_ONCE)


class ExperimentRequest(TrialsRequest, ModelFields):
    """Trials of a turn, or of a message that was never sent to the session."""

    session_id = JSONText()
    request_id = JSONText(required=False, allow_null=True)
    message = JSONText(required=False, allow_null=True, help_text="In place of `request_id`.")


class ExpectationFields(Coded):
    """What the answer should have said or not; without either, the question is what it depends on."""

    should_contain = JSONText(required=False, allow_null=True, allow_blank=True, max_length=EXPECTED_CHARS)
    should_not_contain = JSONText(required=False, allow_null=True, allow_blank=True, max_length=EXPECTED_CHARS)


class DiagnosisRequest(ExpectationFields, ModelFields):
    """An expectation, and how far the search may go."""

    max_trials = WholeNumber(required=False, default=60, min_value=1, max_value=MOST_TRIALS)
    max_ms = WholeNumber(required=False, default=10_000, min_value=1, max_value=MOST_MS)
    exhaustive = Truth(required=False, default=False, help_text="Go on after three findings that meet the expectation.")
    wait_ms = WholeNumber(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MOST_MS,
        help_text="How long to wait for the end; a little longer than `max_ms` unless said.",
    )


class BisectRequest(ExpectationFields, WaitsFields):
    """An expectation, and what is searched: the session's turns, or the revisions of `kb_id`."""

    kb_id = JSONText(required=False, allow_null=True)


class PlanRequest(WaitsFields):
    """What shall be forgotten: one message, unit, source or session by its ids, or a text.

    A unit or source is that of `session_id` or of `kb_id`. `text` is looked for as it is, whatever its case; with
    `words` every sentence that holds all its words is meant, which is how a person is forgotten by name.
    """

    kind = serializers.ChoiceField(("message", "unit", "source", "session", "text", "words"))
    session_id = JSONText(required=False, default="", max_length=128)
    sequence = WholeNumber(required=False, default=0, min_value=0, help_text="Place of the message in its session.")
    unit_id = JSONText(required=False, default="", max_length=400)
    kb_id = JSONText(required=False, default="", max_length=64)
    source_id = JSONText(required=False, default="", max_length=128)
    text = JSONText(required=False, default="", max_length=EXPECTED_CHARS)


class ForgetRequest(WaitsFields):
    """A plan that is to be carried out, and its name, typed again because nothing brings back what is forgotten."""

    forgetting_id = JSONText()
    confirm = JSONText()


class ExperimentListQuery(PageQuery):
    """A page of experiments."""

    kind = serializers.ChoiceField(("trials", "diagnosis", "bisect", "suite"), required=False)


def expectation_of(body: Mapping[str, Any]) -> Expectation:
    """Return the expectation of a validated body."""
    return Expectation(
        should_contain=body.get("should_contain") or "", should_not_contain=body.get("should_not_contain") or ""
    )
