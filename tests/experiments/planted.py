"""Thirty turns with a planted cause: six of each of five kinds."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from mrpvm import registry
from sessions_app.actions.knowledge.bases import add_source, create_base
from sessions_app.actions.sessions.session import Choices
from sessions_app.actions.settings.projects import ensure_default_project
from sessions_app.models import ExplainabilityTurn
from tests.kernel.scripted import plugin, retrieval, solution
from tests.layers.units import make_unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A conversation whose last answer is not what was expected, and the kind of finding that is its cause.

    `base` is a knowledge base that is not mounted: its name and what it says.
    """

    kind: str
    told: tuple[str, ...]
    asked: str
    expected: str
    unexpected: str = ""
    base: tuple[str, str] | None = None
    call: dict[str, Any] = field(default_factory=dict)


_PLACES = (
    ("ferry to Nore", "gate A", "gate B"), ("night bus", "platform 2", "platform 7"),
    ("train to Ulm", "track 4", "track 9"),
    ("tour of the harbour", "pier 1", "pier 3"), ("shuttle to the fair", "stop C", "stop F"),
    ("boat to Brae", "quay 5", "quay 8"),
)  # fmt: skip
WRONG_FACTS = tuple(
    Planted(
        kind="unit",
        told=(f"The {name} leaves from {wrong}.", "I like tea.", f"The {name} leaves from {right}."),
        asked=f"Where does the {name} leave from?",
        expected=right,
        unexpected=wrong,
    )
    for name, wrong, right in _PLACES
)
_BASES = (
    ("Ferry handbook", "The ferry to Nore costs 12 euros.", "How much does the ferry to Nore cost?", "12 euros"),
    ("Pump manual", "The pump P7 needs 4 bars.", "How many bars does the pump P7 need?", "4 bars"),
    ("House rules", "The kitchen closes at 10 pm.", "When does the kitchen close?", "10 pm"),
    ("Staff list", "Anna Berg runs the library.", "Who runs the library?", "Anna Berg"),
    ("Garden notes", "The roses were planted in 2011.", "When were the roses planted?", "2011"),
    ("Price list", "A night in the cabin costs 80 euros.", "How much does a night in the cabin cost?", "80 euros"),
)
MISSING_BASES = tuple(
    Planted(kind="missing-base", told=("I like tea.",), asked=asked, expected=expected, base=(name, says))
    for name, says, asked, expected in _BASES
)
_PAIRS = (
    ("museum", "harbour"), ("library", "castle"), ("tower", "garden"), ("theatre", "market"), ("chapel", "cinema"),
    ("aquarium", "gallery"),
)  # fmt: skip
CUTS = tuple(
    Planted(
        kind="cut",
        told=(
            f"The {one} opens at 9 am.", f"The {other} opens at 6 am.", f"The {one} costs 12 euros.",
            f"The {other} costs 3 euros.", f"When does the {one} open?", "I like tea.",
        ),
        asked="What does it cost?",
        expected=f"{one} costs 12 euros",
        unexpected=other,
        call={"flags": {"history_max_turns": 1, "enable_history_summarization": False}},
    )
    for one, other in _PAIRS
)  # fmt: skip
REWRITES = tuple(
    Planted(
        kind="rewrite",
        told=(
            f"The {one} opens at 9 am.", f"The {third} opens at 6 am.", f"The {other} costs 2 euros.",
            f"The {place} costs 12 euros.", f"Anna runs the {other}.", f"Tom guards the {place}.",
            f"The {third} has two cranes.", f"The {one} shows old ships.", f"The ships in the {third} are new.",
            f"What does the {place} cost?",
        ),
        asked=f"And what does it cost at the {other}?",
        expected=f"{other} costs 2 euros",
        unexpected=place,
    )
    for one, third, other, place in (
        ("museum", "harbour", "library", "castle"), ("market", "station", "theatre", "tower"),
        ("chapel", "bakery", "cinema", "garden"), ("school", "mill", "aquarium", "gallery"),
        ("park", "bridge", "zoo", "palace"), ("inn", "farm", "observatory", "abbey"),
    )
)  # fmt: skip
WRONG_PLUGINS = tuple(
    Planted(
        kind="plugin",
        told=(says,),
        asked=asked,
        expected=expected,
        call={"choices": Choices(**{stage: plugin_id})},
    )
    for stage, plugin_id, says, asked, expected in (
        ("goal_solver", "gs-parrot", "My dog is called Rex.", "What is my dog called?", "Rex"),
        (
            "goal_solver",
            "gs-parrot",
            "The ferry to Nore costs 12 euros.",
            "How much does the ferry to Nore cost?",
            "12",
        ),
        ("goal_solver", "gs-parrot", "Anna Berg runs the library.", "Who runs the library?", "Anna Berg"),
        ("kb", "kb-blind", "The kitchen closes at 10 pm.", "When does the kitchen close?", "10 pm"),
        ("kb", "kb-blind", "The roses were planted in 2011.", "When were the roses planted?", "2011"),
        ("kb", "kb-blind", "The pump P7 needs 4 bars.", "How many bars does the pump P7 need?", "4 bars"),
    )
)
CASES: tuple[Planted, ...] = (*WRONG_FACTS, *MISSING_BASES, *CUTS, *WRONG_PLUGINS, *REWRITES)


@contextmanager
def planted(talk: Callable[..., ExplainabilityTurn], case: Planted) -> Iterator[ExplainabilityTurn]:
    """Hold the conversation and return its last turn, with the case's plugins installed."""
    if case.base is not None:
        name, says = case.base
        base = create_base(ensure_default_project(), name)
        add_source(base, name=name, content=says, units=[make_unit(f"{name}::0", says)])
    wrong = (plugin("gs-plugin", "gs-parrot", solution("Polly.")), plugin("kb-plugin", "kb-blind", retrieval()))
    added = {(item.descriptor.type, item.descriptor.id): item for item in wrong if case.kind == "plugin"}
    with patch.object(registry.installed, "_plugins", {**registry.installed._plugins, **added}):
        yield talk(*case.told, case.asked, **case.call)
