"""Shapes of what running a recorded turn again answers."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, TypedDict

from mrpvm.errors import ErrorRecord
from sessions_app.experiments.diagnosis.search import FindingKind
from sessions_app.experiments.trials.results import BisectResult, DivergenceRecord, KnownRecord, LinkRecord
from sessions_app.field_notes import OneOf

STATUSES = ("running", "finished", "failed", "cancelled", "interrupted")


class ReplayObject(TypedDict):
    """Whether a turn came out as it is recorded."""

    request_id: str
    result: Annotated[str, OneOf(("identical", "diverged"))]
    divergence: DivergenceRecord | None
    duration_ms: int


class EstimateObject(TypedDict):
    """What trials are likely to take from a model if they may ask one."""

    calls: int
    tokens: int
    cost: Annotated[float | None, "Null where no price is set."]
    budget: Annotated[int, "Tokens that one experiment may take."]
    allowed: bool


class RestObject(EstimateObject):
    """The trials of a search that needed a model, and what they are likely to take from one."""

    trials: int


class TrialObject(TypedDict):
    """A turn run again with changes, and what it answers."""

    trial_id: Annotated[int, "Its number in the experiment."]
    request_id: Annotated[str | None, "Names its trace, which is read like a turn's; null where none is kept."]
    changes: Mapping[str, Any]
    status: Annotated[
        str, OneOf(("waiting", "succeeded", "failed", "needs-model", "refused", "cancelled", "interrupted"))
    ]
    answer: str
    answer_status: str | None
    basis: str
    cited_unit_ids: list[str]
    plugins: Annotated[Mapping[str, Any], "The plugins that answered, by stage."]
    tokens: int | None
    cost: float | None
    has_effect: Annotated[bool, "Whether the machine was given anything else than in the recorded turn."]
    error: ErrorRecord | None
    missing_request: Annotated[Mapping[str, Any] | None, "What a model would have been asked."]
    duration_ms: int | None


class ListedExperiment(TypedDict):
    """An experiment in a list."""

    experiment_id: str
    kind: Annotated[str, OneOf(("trials", "diagnosis", "bisect", "suite"))]
    status: Annotated[str, OneOf(STATUSES)]
    session_id: str
    request_id: Annotated[str | None, "The turn that is tried; null for a message that was never sent."]
    message: str
    created_by: str
    created_at: datetime
    finished_at: datetime | None
    tried: Annotated[int, "How many trials have ended."]
    error: ErrorRecord | None


class ExperimentObject(ListedExperiment):
    """An experiment with its trials."""

    question: Annotated[Mapping[str, Any], "What a search looks for, and its bounds."]
    result: Annotated[Mapping[str, Any] | None, "What a search came to."]
    trials: list[TrialObject]


class ExperimentList(TypedDict):
    """A page of experiments."""

    experiments: list[ListedExperiment]
    next_cursor: str | None


class ExperimentCancelled(TypedDict):
    """An experiment that is being stopped."""

    experiment_id: str
    status: Annotated[str, OneOf(("cancelling",))]


class ListedForgetting(TypedDict):
    """An act of forgetting, without a word of what was forgotten once it has ended."""

    forgetting_id: str
    kind: Annotated[str, OneOf(("message", "unit", "source", "session", "text", "words"))]
    status: Annotated[str, OneOf(("planning", "planned", "running", "finished", "incomplete", "failed", "cancelled"))]
    subject: Annotated[Mapping[str, Any], "The ids that it began from; empty for a text."]
    created_by: str
    created_at: datetime
    began_at: Annotated[datetime | None, "When removing began."]
    finished_at: datetime | None
    stage: Annotated[str, "What is being done."]
    row_count: Annotated[int, "How many rows were looked at."]
    error: ErrorRecord | None


class PlaceObject(TypedDict):
    """One table: how many of its rows are meant, what happens to them, how many were found at the end."""

    place: str
    before: int
    afterwards: str
    after: int | None


class ForgettingObject(ListedForgetting):
    """An act with its plan and, once it has ended, its certificate."""

    name: Annotated[str, "What has to be typed in to have the plan carried out; empty once it was."]
    places: list[PlaceObject]
    notes: list[str]


class ForgettingList(TypedDict):
    """A page of acts."""

    forgettings: list[ListedForgetting]
    next_cursor: str | None


class EffectObject(TypedDict):
    """The recorded answer and the trial's."""

    before: str
    after: str
    meets: Annotated[bool, "Whether the trial's answer meets the expectation."]


class FindingObject(TypedDict):
    """One cause, proved by a trial."""

    kind: FindingKind
    text: str
    advice: str
    effect: EffectObject
    trial_id: int
    trial: TrialObject
    links: list[LinkRecord]


class DiagnosisObject(TypedDict):
    """What a search found, the likeliest cause first."""

    experiment_id: str
    status: Annotated[str, OneOf(STATUSES)]
    result: Annotated[
        str | None, OneOf(("found", "nothing-found", "met", "diverged")), "Null until the search has ended."
    ]
    findings: list[FindingObject]
    known: Annotated[
        list[KnownRecord] | None,
        "What the turn could have found that says what was expected, the statement that came furthest first.",
    ]
    tried: Annotated[int, "How many trials were run."]
    not_tried: Annotated[list[str], "What the bounds left out."]
    needs_model: Annotated[RestObject | None, "What `allow_model` would have tried further; null for nothing."]
    divergence: DivergenceRecord | None
    error: ErrorRecord | None
    duration_ms: int | None


class BisectObject(TypedDict):
    """A search through time."""

    experiment_id: str
    status: Annotated[str, OneOf(STATUSES)]
    found: BisectResult | None
    tried: int
    error: ErrorRecord | None
