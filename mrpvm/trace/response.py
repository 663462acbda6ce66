"""What a turn stores of its answer."""

from collections.abc import Iterable, Mapping, Sequence
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


def message_units(group: ResponseGroup) -> Sequence[UnitValue]:
    """Return the units that the turn's own message stated."""
    return group.get("currentTurnContext", ())


def session_units(group: ResponseGroup) -> list[UnitValue]:
    """Return the units of the session."""
    return [source["unit"] for source in group.get("sessionSources", ())]


def base_units(group: ResponseGroup) -> list[UnitValue]:
    """Return the units of drafts and bases."""
    return [source["unit"] for source in group.get("kbSources", ())]


def sources_of(group: ResponseGroup) -> list[UsedSource]:
    """Return the units of the session and its bases; an imported turn's group names neither."""
    return [*group.get("sessionSources", ()), *group.get("kbSources", ())]


def looked_at_units(group: ResponseGroup) -> list[UnitValue]:
    """Return all units that an answer looked at, those of its own message first."""
    return [*message_units(group), *session_units(group), *base_units(group)]


def statements_in(groups: Iterable[ResponseGroup]) -> dict[str, UnitValue]:
    """Return the units that answers looked at by their ids, without those that only stand for their parts."""
    units = (unit for group in groups for unit in looked_at_units(group))
    return {unit["id"]: unit for unit in units if not has_parts(unit)}


def cited_ids(group: ResponseGroup) -> Sequence[str]:
    """Return the ids of the units that the answer cites, in the order of its marks."""
    return group.get("citedUnitIds", ())


def has_parts(unit: UnitValue) -> bool:
    """Return whether the unit says as a whole what others say."""
    return bool(unit.get("childUnitIds"))


def said_text(unit: UnitValue) -> str:
    """Return what the unit says: its claim, else its text."""
    return unit.get("claim") or unit.get("textBody") or ""


def source_id(unit: UnitValue) -> str:
    """Return the id of the unit's source, empty where it has none."""
    return unit.get("sourceId") or ""


def source_name(unit: UnitValue) -> str:
    """Return the name of the unit's source, empty where it has none."""
    return unit.get("sourceName") or ""
