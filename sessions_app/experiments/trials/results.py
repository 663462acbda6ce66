"""What experiments found, as it is stored and as clients get it."""

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from mrpvm.trace.replay import Part
from sessions_app.experiments.diagnosis.search import Finding, FindingKind, KnownStatement, Reach
from sessions_app.experiments.replays.replay import Divergence, Reason


class LinkRecord(TypedDict):
    """What a finding speaks of."""

    kind: Literal["unit", "base", "plugin"]
    id: str
    name: str


class FindingRecord(TypedDict):
    """A cause that a trial proves, as it is stored with the trial."""

    kind: FindingKind
    text: str
    advice: str
    before: str
    meets: bool
    weight: int
    links: list[LinkRecord]


def finding_record(finding: Finding) -> FindingRecord:
    """Return a finding as it is stored with its trial."""
    return {
        "kind": finding.kind,
        "text": finding.text,
        "advice": finding.advice,
        "before": finding.before,
        "meets": finding.meets,
        "weight": finding.weight,
        "links": [{"kind": link.kind, "id": link.id, "name": link.name} for link in finding.links],
    }


class KnownRecord(TypedDict):
    """A statement that the turn could have found and that says what was expected."""

    unit_id: str
    text: str
    place: Annotated[Reach, "How far it came in the turn."]
    rank: Annotated[int | None, "Its best rank; null where it was not ranked."]


def known_record(known: KnownStatement) -> KnownRecord:
    """Return a statement that says what was expected as it is stored with the search."""
    return {"unit_id": known.unit_id, "text": known.text, "place": known.place, "rank": known.rank}


class DivergenceRecord(TypedDict):
    """The first thing that came out differently, and why it may have."""

    reason: Reason
    detail: str
    part: Part
    name: Annotated[str, "The event's name, or the node's id."]
    frame_id: str
    execution_id: str | None
    recorded: Any
    replayed: Any


def divergence_record(divergence: Divergence) -> DivergenceRecord:
    """Return where a replay left its record."""
    difference = divergence.difference
    return {
        "reason": divergence.reason,
        "detail": divergence.detail,
        "part": difference.part,
        "name": difference.name,
        "frame_id": difference.frame_id,
        "execution_id": difference.execution_id,
        "recorded": difference.recorded,
        "replayed": difference.replayed,
    }


class DiagnosisFound(TypedDict):
    """What a search for causes came to; its findings are stored with their trials."""

    result: Literal["found", "nothing-found", "met", "diverged"]
    divergence: NotRequired[DivergenceRecord]
    known: NotRequired[list[KnownRecord] | None]
    not_tried: NotRequired[list[str]]
    needing_model_count: NotRequired[int]


class DiagnosisResult(DiagnosisFound):
    """The same, and how long it took."""

    duration_ms: int


class BisectResult(TypedDict):
    """Since which turn or revision the answer is what it is."""

    result: Literal["found", "always"]
    over: Literal["session", "base"]
    number: Annotated[int | None, "Index of the turn, or the revision, after which the answer is as it is."]
    request_id: str | None
    message: str
    told: Annotated[list[str], "What that turn told, at most 20 units."]
    before: str
    after: str
    moment_count: int
    is_monotonous: Annotated[bool, "False where the answer was seen to change more than once."]
    changes: list[int]
