"""What a turn stores of its answer."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from mrpvm.values import Basis, KuType, Role


class UnitValue(TypedDict):
    """A knowledge unit; further fields as the unit has them."""

    id: str
    kuType: KuType
    role: Role
    topic: str
    claim: str | None
    procedure: NotRequired[str | None]
    textBody: NotRequired[str | None]
    sourceId: NotRequired[str]
    sourceName: NotRequired[str | None]
    childUnitIds: NotRequired[list[str]]
    phaseScopes: list[str]
    hash: str


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
    status: Literal["answered", "no-context", "plugin-error"]
    basis: Basis
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


def sources_of(group: ResponseGroup) -> list[UsedSource]:
    """Return the units of the session and its bases; an imported turn's group names neither."""
    return [*group.get("sessionSources", ()), *group.get("kbSources", ())]


def looked_at_units(group: ResponseGroup) -> list[UnitValue]:
    """Return all units that an answer looked at, those of its own message first."""
    return [*group.get("currentTurnContext", ()), *(source["unit"] for source in sources_of(group))]
