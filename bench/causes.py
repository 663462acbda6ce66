"""Turns with a planted cause, which a search for causes should list first."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import replace
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from mrpvm import registry
from mrpvm.contracts import (
    CallContext,
    Descriptor,
    LifecycleEvent,
    PlannerHints,
    Retrieval,
    RetrieveInput,
    Solution,
    SolveInput,
)
from mrpvm.knowledge.units import content_hash
from mrpvm.values import Answer, AnswerGroup, Evidence, KnowledgeUnit
from sessions_app.actions.experiments.experiments import Author
from sessions_app.actions.knowledge.bases import add_source, create_base
from sessions_app.actions.knowledge.source_rows import NewSource
from sessions_app.actions.sessions.session import Choices
from sessions_app.actions.settings.projects import ensure_default_project
from sessions_app.experiments.diagnosis.search import USUAL_BOUNDS, Expectation
from sessions_app.experiments.running.experiments import start_diagnosis
from sessions_app.models import ExplainabilityTurn
from sessions_app.queries.experiments.experiments import ranked_findings


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A conversation whose last answer is not what was expected, and the kind of finding that is its cause.

    `base` is a knowledge base that is not mounted: its name and what it says.
    """

    kind: str
    messages: tuple[str, ...]
    question: str
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
        messages=(f"The {name} leaves from {wrong}.", "I like tea.", f"The {name} leaves from {right}."),
        question=f"Where does the {name} leave from?",
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
    Planted(kind="missing-base", messages=("I like tea.",), question=question, expected=expected, base=(name, says))
    for name, says, question, expected in _BASES
)
_PAIRS = (
    ("museum", "harbour"), ("library", "castle"), ("tower", "garden"), ("theatre", "market"), ("chapel", "cinema"),
    ("aquarium", "gallery"),
)  # fmt: skip
CUTS = tuple(
    Planted(
        kind="cut",
        messages=(
            f"The {one} opens at 9 am.", f"The {other} opens at 6 am.", f"The {one} costs 12 euros.",
            f"The {other} costs 3 euros.", f"When does the {one} open?", "I like tea.",
        ),
        question="What does it cost?",
        expected=f"{one} costs 12 euros",
        unexpected=other,
        call={"flags": {"history_max_turns": 1, "enable_history_summarization": False}},
    )
    for one, other in _PAIRS
)  # fmt: skip
REWRITES = tuple(
    Planted(
        kind="rewrite",
        messages=(
            f"The {one} opens at 9 am.", f"The {third} opens at 6 am.", f"The {other} costs 2 euros.",
            f"The {place} costs 12 euros.", f"Anna runs the {other}.", f"Tom guards the {place}.",
            f"The {third} has two cranes.", f"The {one} shows old ships.", f"The ships in the {third} are new.",
            f"What does the {place} cost?",
        ),
        question=f"So what does it cost, the {other}?",
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
        messages=(says,),
        question=question,
        expected=expected,
        call={"choices": Choices(**{stage: plugin_id})},
    )
    for stage, plugin_id, says, question, expected in (
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


_NARROW = {"flags": {"history_max_turns": 1, "enable_history_summarization": False}}
FURTHER: tuple[Planted, ...] = (
    Planted(
        kind="unit",
        messages=(
            "The opening ceremony starts at noon on Saturday.", "My sister sings in the choir.",
            "The opening ceremony starts at 2 pm on Saturday.",
        ),
        question="When does the opening ceremony start?", expected="noon", unexpected="2 pm",
    ),
    Planted(
        kind="unit",
        messages=(
            "The boiler is inspected in March.", "We had a leak last winter.", "The boiler is inspected in October.",
        ),
        question="When is the boiler inspected?", expected="March", unexpected="October",
    ),
    Planted(
        kind="unit",
        messages=(
            "Louise teaches at the French Lyceum in Berlin.", "Her brother Martin repairs organs.",
            "Louise teaches at the Huguenot Museum.",
        ),
        question="Where does Louise teach?", expected="French Lyceum", unexpected="Museum",
    ),
    Planted(
        kind="missing-base", messages=("I am writing a school essay.",), question="When did the oil embargo end?",
        expected="March 1974",
        base=(
            "Oil crisis",
            "The oil embargo ended in March 1974. The price of oil had risen from 3 dollars to 12 dollars.",
        ),
    ),
    Planted(
        kind="missing-base", messages=("Hello!", "I collect old engines."),
        question="Who patented the separate condenser?", expected="James Watt",
        base=("Steam engines", "James Watt patented the separate condenser in 1769."),
    ),
    Planted(
        kind="cut",
        messages=(
            "Ida runs the mill.", "Olaf runs the dairy.", "The mill lies in Lund.", "The dairy lies in Ystad.",
            "Who runs the dairy?", "I like rain.",
        ),
        question="Where does it lie?", expected="Ystad", unexpected="Lund", call=_NARROW,
    ),
    Planted(
        kind="cut",
        messages=(
            "Weiss treats hearts.", "Blum treats eyes.", "Weiss works in Bonn.", "Blum works in Kiel.",
            "What does Blum treat?", "I wear glasses.",
        ),
        question="Where does she work?", expected="Kiel", unexpected="Bonn", call=_NARROW,
    ),
    Planted(
        kind="plugin", messages=("The vaccine protects against measles.",),
        question="What does the vaccine protect against?", expected="measles",
        call={"choices": Choices(goal_solver="gs-parrot")},
    ),
    Planted(
        kind="plugin", messages=("The directive was adopted in 2004.", "Two states voted against it."),
        question="When was the directive adopted?", expected="2004", call={"choices": Choices(kb="kb-blind")},
    ),
    Planted(
        kind="rewrite",
        messages=("The embargo began in October.", "The strike began in May.", "When did the embargo begin?"),
        question="And it, the strike, when did it begin?", expected="May", unexpected="October",
    ),
    Planted(
        kind="rewrite",
        messages=("The library lends 10 books.", "The school lends 4 books.", "How many books does the library lend?"),
        question="How many does it lend at the school?", expected="4 books", unexpected="10 books",
    ),
    Planted(
        kind="rewrite",
        messages=(
            "The museum is closed on Monday.", "The gallery is closed on Tuesday.", "When is the museum closed?",
        ),
        question="When is it closed, the gallery?", expected="Tuesday", unexpected="Monday",
    ),
    Planted(
        kind="rewrite",
        messages=(
            "The queen opened the bridge in 1964.", "The mayor opened the tunnel in 1971.", "Who opened the bridge?",
        ),
        question="And who opened it, the tunnel?", expected="mayor", unexpected="queen",
    ),
    Planted(
        kind="rewrite",
        messages=(
            "Paula runs the bakery.", "The bakery opens at 5 am.", "The mill opens at 9 am.", "Who runs the bakery?",
        ),
        question="When does it open?", expected="5 am", unexpected="9 am",
        call={"flags": {"enable_query_rewriting": False}},
    ),
)  # fmt: skip
"""Written when the search stood; measured, and used to improve no rule."""


class _Parrot:
    """A solver that gives every question the same answer."""

    def __init__(self) -> None:
        self.descriptor = _descriptor("gs-plugin", "gs-parrot")

    def solve(self, request: SolveInput, context: CallContext) -> Solution:
        groups = tuple(
            AnswerGroup(
                intent_ref=item.intent.group_number, act=item.intent.act, intent=item.intent.target, status="answered",
                answer_markdown="Polly.", evidence=item.entries,
                cited_unit_ids=tuple(entry.unit.id for entry in item.entries),
            )
            for item in request.evidence
        )  # fmt: skip
        return Solution(status="success", answer=Answer(groups=groups))


class _Blind:
    """A retriever that finds nothing and reports it as sufficient."""

    def __init__(self) -> None:
        self.descriptor = _descriptor("kb-plugin", "kb-blind")

    def retrieve(self, request: RetrieveInput, context: CallContext) -> Retrieval:
        rows = zip(request.intents, request.decomposed, request.profiles, strict=True)
        evidence = (Evidence(intent=one, decomposed=two, profile=three, sufficient=True) for one, two, three in rows)
        return Retrieval(status="success", evidence=tuple(evidence))

    def on_session_event(self, event: LifecycleEvent) -> str:
        return "accepted"


def _descriptor(kind: Any, plugin_id: str) -> Descriptor:
    hints = PlannerHints(
        expected_latency_ms=1, expected_llm_calls=0, relative_cost=0.1, supported_acts=("explain",),
        topic_tags=("general",), preferred_depth="shallow", fallback_role="default", confidence_when_matched=0.8,
    )  # fmt: skip
    return Descriptor(
        id=plugin_id, type=kind, name=plugin_id.title(), version="1.0.0", description="Planted.", cost_class="cheap",
        planner_hints=hints,
    )  # fmt: skip


@contextmanager
def planted(talk: Callable[..., ExplainabilityTurn], case: Planted) -> Iterator[ExplainabilityTurn]:
    """Hold the conversation and return its last turn, with the case's plugins installed."""
    if case.base is not None:
        name, says = case.base
        unit = KnowledgeUnit(id=f"{name}::0", role="Explanation", topic="", claim=says)
        base = create_base(ensure_default_project(), name)
        units = [replace(unit, hash=content_hash(unit))]
        add_source(base, NewSource(name=name, source_id="planted", content=says, units=units))
    added: dict[tuple[str, str], Any] = {}
    if case.kind == "plugin":
        added = {(item.descriptor.type, item.descriptor.id): item for item in (_Parrot(), _Blind())}
    with patch.object(registry.installed, "_plugins", {**registry.installed._plugins, **added}):
        yield talk(*case.messages, case.question, **case.call)


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """The result of a search for a planted cause. `first` is the kind and the text of its first finding.

    `clicks` is the way from the findings to the expected answer: 0 if the first finding quotes it, 1 if its trial
    shows it, None otherwise.
    """

    case: Planted
    first: tuple[str, str] | None
    is_right: bool
    clicks: int | None
    trial_count: int


def searched(turn: ExplainabilityTurn, case: Planted) -> Searched:
    """Search for the cause of a planted turn's answer."""
    expected = Expectation(should_contain=case.expected, should_not_contain=case.unexpected)
    experiment = start_diagnosis(turn, expected, USUAL_BOUNDS, Author(name="bench"), wait_ms=60_000)
    trial, first = next(iter(ranked_findings(experiment)), (None, None))
    clicks = None
    if trial is not None and first is not None:
        clicks = 0 if case.expected.casefold() in first["text"].casefold() else 1 if first["meets"] else None
    return Searched(
        case=case,
        first=(first["kind"], first["text"]) if first else None,
        is_right=bool(first) and first["meets"] and first["kind"] == case.kind,
        clicks=clicks,
        trial_count=experiment.tried_count,
    )
