"""Shapes of what running a recorded turn again answers."""

from rest_framework import serializers

from sessions_app.api.shell.responses import Anything, AnyValue, Bool, Int, Str, nullable

_REASONS = (
    "plugin-missing", "plugin-version", "product-version", "model-request", "nondeterministic-plugin", "unexplained",
)  # fmt: skip
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


class TrialObject(serializers.Serializer):
    """What a turn answers with changes."""

    changes = Anything()
    status = serializers.ChoiceField(("succeeded", "failed", "cancelled", "needs-model"))
    answer = Str()
    answer_status = nullable(Str)
    basis = Str()
    cited_unit_ids = serializers.ListField(child=serializers.CharField())
    plugins = Anything(help_text="The plugins that answered, by stage.")
    has_effect = Bool(help_text="Whether the machine was given anything else than in the recorded turn.")
    error = nullable(Anything)
    missing_request = nullable(Anything, help_text="What a model would have been asked.")
    duration_ms = Int()


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
    trial = TrialObject()
    links = LinkObject(many=True)


class DiagnosisObject(serializers.Serializer):
    """What a search found, the likeliest cause first."""

    result = serializers.ChoiceField(("found", "nothing-found", "met", "diverged"))
    findings = FindingObject(many=True)
    tried = Int(help_text="How many trials were run.")
    not_tried = serializers.ListField(child=serializers.CharField(), help_text="What the bounds left out.")
    divergence = nullable(DivergenceObject)
    duration_ms = Int()
