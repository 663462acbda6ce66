"""Shapes of what running a recorded turn again answers."""

from rest_framework import serializers

from sessions_app.api.shell.responses import Anything, AnyValue, Bool, Int, Str, nullable

_REASONS = (
    "plugin-missing", "plugin-version", "product-version", "model-request", "nondeterministic-plugin", "unexplained",
)  # fmt: skip
STATUSES = ("running", "finished", "failed", "cancelled", "interrupted")
_KINDS = (
    "unit", "outranked", "missing-base", "cut", "rewrite", "plugin", "validator", "limit", "setting",
)  # fmt: skip


class DivergenceObject(serializers.Serializer):
    """The first thing that came out differently, and why it may have."""

    reason = serializers.ChoiceField(_REASONS)
    detail = Str()
    part = serializers.ChoiceField(("event", "payload", "ledger", "answer"))
    name = Str(help_text="The event's name, or the node's id.")
    frame_id = Str()
    execution_id = nullable(Str)
    recorded = AnyValue()
    replayed = AnyValue()


class ReplayObject(serializers.Serializer):
    """Whether a turn came out as it is recorded."""

    request_id = Str()
    result = serializers.ChoiceField(("identical", "diverged"))
    divergence = nullable(DivergenceObject)
    duration_ms = Int()


class EstimateObject(serializers.Serializer):
    """What trials are likely to take from a model if they may ask one."""

    calls = Int()
    tokens = Int()
    cost = nullable(serializers.FloatField, help_text="Null where no price is set.")
    budget = Int(help_text="Tokens that one experiment may take.")
    allowed = Bool()


class RestObject(EstimateObject):
    """The trials of a search that needed a model, and what they are likely to take from one."""

    trials = Int()


class TrialObject(serializers.Serializer):
    """A turn run again with changes, and what it answers."""

    trial_id = Int(help_text="Its number in the experiment.")
    request_id = nullable(Str, help_text="Names its trace, which is read like a turn's; null where none is kept.")
    changes = Anything()
    status = serializers.ChoiceField(
        ("waiting", "succeeded", "failed", "needs-model", "refused", "cancelled", "interrupted")
    )
    answer = Str()
    answer_status = nullable(Str)
    basis = Str()
    cited_unit_ids = serializers.ListField(child=serializers.CharField())
    plugins = Anything(help_text="The plugins that answered, by stage.")
    tokens = nullable(Int)
    cost = nullable(serializers.FloatField)
    has_effect = Bool(help_text="Whether the machine was given anything else than in the recorded turn.")
    error = nullable(Anything)
    missing_request = nullable(Anything, help_text="What a model would have been asked.")
    duration_ms = nullable(Int)


class ListedExperiment(serializers.Serializer):
    """An experiment in a list."""

    experiment_id = Str()
    kind = serializers.ChoiceField(("trials", "diagnosis", "bisect", "suite"))
    status = serializers.ChoiceField(STATUSES)
    session_id = Str()
    request_id = nullable(Str, help_text="The turn that is tried; null for a message that was never sent.")
    message = Str()
    created_by = Str()
    created_at = serializers.DateTimeField()
    finished_at = nullable(serializers.DateTimeField)
    tried = Int(help_text="How many trials have ended.")
    error = nullable(Anything)


class ExperimentObject(ListedExperiment):
    """An experiment with its trials."""

    question = Anything(help_text="What a search looks for, and its bounds.")
    result = nullable(Anything, help_text="What a search came to.")
    trials = TrialObject(many=True)


class ExperimentList(serializers.Serializer):
    """A page of experiments."""

    experiments = ListedExperiment(many=True)
    next_cursor = nullable(Str)


class ExperimentCancelled(serializers.Serializer):
    """An experiment that is being stopped."""

    experiment_id = Str()
    status = serializers.ChoiceField(("cancelling",))


class ListedForgetting(serializers.Serializer):
    """An act of forgetting, without a word of what was forgotten once it has ended."""

    forgetting_id = Str()
    kind = serializers.ChoiceField(("message", "unit", "source", "session", "text", "words"))
    status = serializers.ChoiceField(
        ("planning", "planned", "running", "finished", "incomplete", "failed", "cancelled")
    )
    subject = Anything(help_text="The ids that it began from; empty for a text.")
    created_by = Str()
    created_at = serializers.DateTimeField()
    began_at = nullable(serializers.DateTimeField, help_text="When removing began.")
    finished_at = nullable(serializers.DateTimeField)
    stage = Str(help_text="What is being done.")
    row_count = Int(help_text="How many rows were looked at.")
    error = nullable(Anything)


class PlaceObject(serializers.Serializer):
    """One table: how many of its rows are meant, what becomes of them, how many were found at the end."""

    place = Str()
    before = Int()
    afterwards = Str()
    after = nullable(Int)


class ForgettingObject(ListedForgetting):
    """An act with its plan and, once it has ended, its certificate."""

    name = Str(help_text="What has to be typed in to have the plan carried out; empty once it was.")
    places = PlaceObject(many=True)
    notes = serializers.ListField(child=serializers.CharField())


class ForgettingList(serializers.Serializer):
    """A page of acts."""

    forgettings = ListedForgetting(many=True)
    next_cursor = nullable(Str)


class LinkObject(serializers.Serializer):
    """What a finding speaks of."""

    kind = serializers.ChoiceField(("unit", "base", "plugin"))
    id = Str()
    name = Str()


class EffectObject(serializers.Serializer):
    """The recorded answer and the trial's."""

    before = Str()
    after = Str()
    meets = Bool(help_text="Whether the trial's answer meets the expectation.")


class FindingObject(serializers.Serializer):
    """One cause, proved by a trial."""

    kind = serializers.ChoiceField(_KINDS)
    text = Str()
    advice = Str()
    effect = EffectObject()
    trial_id = Int()
    trial = TrialObject()
    links = LinkObject(many=True)


class DiagnosisObject(serializers.Serializer):
    """What a search found, the likeliest cause first."""

    experiment_id = Str()
    status = serializers.ChoiceField(STATUSES)
    result = serializers.ChoiceField(
        ("found", "nothing-found", "met", "diverged"), allow_null=True, help_text="Null until the search has ended."
    )
    findings = FindingObject(many=True)
    tried = Int(help_text="How many trials were run.")
    not_tried = serializers.ListField(child=serializers.CharField(), help_text="What the bounds left out.")
    needs_model = nullable(RestObject, help_text="What `allow_model` would have tried further; null for nothing.")
    divergence = nullable(DivergenceObject)
    error = nullable(Anything)
    duration_ms = nullable(Int)


class BisectionObject(serializers.Serializer):
    """Since which turn or revision the answer is what it is."""

    result = serializers.ChoiceField(("found", "always"))
    over = serializers.ChoiceField(("session", "base"))
    number = nullable(Int, help_text="Index of the turn, or the revision, after which the answer is as it is.")
    request_id = nullable(Str)
    message = Str()
    told = serializers.ListField(child=serializers.CharField(), help_text="What that turn told, at most 20 units.")
    before = Str()
    after = Str()
    moment_count = Int()
    is_monotonous = Bool(help_text="False where the answer was seen to change more than once.")
    changes = serializers.ListField(child=serializers.IntegerField())


class BisectObject(serializers.Serializer):
    """A search through time."""

    experiment_id = Str()
    status = serializers.ChoiceField(STATUSES)
    found = nullable(BisectionObject)
    tried = Int()
    error = nullable(Anything)
