"""What a turn stores of its answer."""

from collections.abc import Mapping
from typing import Annotated, Any, TypedDict

from mrpvm.values import BASES, KU_TYPES, ROLES
from sessions_app.field_notes import OneOf


class UnitValue(TypedDict):
    """A knowledge unit; further fields as the unit has them."""

    id: str
    kuType: Annotated[str, OneOf(KU_TYPES)]
    role: Annotated[str, OneOf(ROLES)]
    topic: str
    claim: str | None
    phaseScopes: list[str]
    hash: str


class EvidenceUnit(UnitValue, total=False):
    """A unit as evidence, with those of its further fields that pages show."""

    sourceId: str
    sourceName: str | None
    textBody: str | None
    childUnitIds: list[str]


class UsedSource(TypedDict):
    """A unit that an answer looked at, and how well it fits."""

    unitId: str
    score: float
    unit: UnitValue


class UsedBaseSource(UsedSource):
    """The same of a base, with the source that it comes from."""

    sourceId: str | None


class ResponseGroup(TypedDict):
    """The answer to one intent."""

    intentRef: int
    act: str
    intent: str
    status: Annotated[str, OneOf(("answered", "no-context", "plugin-error"))]
    basis: Annotated[str, OneOf(BASES)]
    confidence: Annotated[float | None, "How likely the shown text answers, if it is known."]
    reason: Annotated[str, "What decided."]
    currentTurnContext: list[UnitValue]
    sessionSources: list[UsedSource]
    kbSources: list[UsedBaseSource]
    pluginOutput: Mapping[str, Any] | None
    answerMarkdown: str
    citedUnitIds: list[str]
    grounded: bool
    warnings: list[str]


class ResponseDocument(TypedDict):
    """What a turn answered, group by group."""

    sessionId: str
    groups: list[ResponseGroup]
