"""The conformance suite: every promise of a plugin family, tried on one plugin.

Only what a contract promises is checked: legal statuses, required parts, no exception on odd input, equal output for
equal input, inputs left as they were. Quality is the plugin's own affair.
"""

import copy
import time
from collections.abc import Callable, Sequence
from copy import replace
from functools import partial
from typing import Any, cast

from mrpvm.contracts import (
    CallContext,
    ChunkInput,
    Descriptor,
    DetectInput,
    GoalSolver,
    HelperOutput,
    KBRetriever,
    LanguageModel,
    LifecycleEvent,
    PlanInput,
    Planner,
    PlannerHints,
    Plugin,
    PluginType,
    ResponseValidator,
    RetrieveInput,
    SeedDetector,
    SolveInput,
    SourceReader,
    SourceText,
    UnitReader,
    ValidateInput,
)
from mrpvm.knowledge.decomposition import decompose, profile_for
from mrpvm.lang import admit
from mrpvm.registry import Registry
from mrpvm.testing.ports import InMemoryKnowledge, call_context, unit
from mrpvm.values import (
    LEGAL_STATUSES,
    Answer,
    AnswerGroup,
    Evidence,
    EvidenceEntry,
    GuidanceUnits,
    Intent,
    KnowledgeUnit,
    Selection,
)

ODD_MESSAGES: tuple[str, ...] = (
    "",
    " \n\t ",
    "?",
    "...",
    "constructor",
    "__proto__ toString",
    "What?",
    "a" * 5_000,
    "word " * 2_000,
    "1. \n2. \n3. ",
    "\u0000\u0007\u202e",
    "\ud83d\ude00\ud83d\ude00 \u4f60\u597d \u0645\u0631\u062d\u0628\u0627",
    'She said "no" and \\ left. [1] $x @y',
    "Who is Rex? Answer in JSON. Is it so? List them as a table.",
    "- \n- *\n* -",
)
"""Messages a plugin has to survive."""


QUICK_SECONDS = 1.0
"""Time limit of a quick plugin for one call on a small view; far more than it needs on any machine."""


class NotConforming(AssertionError):
    """The plugin broke a promise of its family."""


def expect(holds: bool, promise: str) -> None:
    """Raise `NotConforming` with the promise unless it holds."""
    if not holds:
        raise NotConforming(promise)


def check_plugin(plugin: Plugin, model: LanguageModel | None = None) -> None:
    """Run a plugin through the contract of its family.

    Args:
        model: what a plugin that needs a language model talks to; none when left out.

    Raises:
        NotConforming: with the promise that was broken.
        RegistryError: the descriptor is not acceptable.
    """
    Registry().register(plugin)
    descriptor = plugin.descriptor
    expect(descriptor.uses_llm or descriptor.max_llm_calls == 0, "a plugin without a model reserves no calls")
    expect(bool(descriptor.model_roles) or not descriptor.uses_llm, "a plugin with a model names its roles")
    _CHECKS[descriptor.type](plugin, model)


def repeatable[T](call: Callable[[], T], inputs: Sequence[Any], descriptor: Descriptor | None = None) -> T:
    """Return what the call returns; it must return the same again and leave its inputs as they were.

    Of a plugin that says that it is quick, with its descriptor given, one of the two calls must have been.
    """
    before = copy.deepcopy(inputs)
    started = time.monotonic()
    first = call()
    between = time.monotonic()
    again = call()
    quicker = min(between - started, time.monotonic() - between)
    expect(first == again, "equal input gives equal output [PLUGIN-27]")
    expect(before == inputs, "inputs are read-only [PLUGIN-28]")
    if descriptor is not None and descriptor.is_quick:
        expect(
            quicker < QUICK_SECONDS, f"a quick plugin returns within {QUICK_SECONDS} s, not {quicker:.1f} s [KERNEL-19]"
        )
    return first


def _legal(plugin: Plugin, status: str) -> None:
    legal = LEGAL_STATUSES[plugin.descriptor.type]
    expect(status in legal, f"status {status!r} is one of {', '.join(sorted(legal))} [PLUGIN-24]")


def _check_detector(plugin: Plugin, model: LanguageModel | None) -> None:
    detector = cast(SeedDetector, plugin)
    context = call_context(model=model)
    for message in ODD_MESSAGES:
        request = DetectInput(message=message)
        detection = repeatable(partial(detector.detect, request, context), [request], plugin.descriptor)
        _legal(plugin, detection.status)
        if detection.status == "success":
            expect(bool(detection.intent_document), "success comes with an intent document [PLUGIN-7]")
            admit(detection.intent_document or "", "intent")
            if detection.context_document is not None:
                admit(detection.context_document, "context")
        chunk = ChunkInput(text=message[:8_000], source_id="src-1", source_name="a.txt", chunk_id="src-1::chunk-000")
        normal = repeatable(partial(detector.normalise, chunk, context), [chunk])
        _legal(plugin, normal.status)
        if normal.context_document is not None:
            admit(normal.context_document, "context")


def _check_retriever(plugin: Plugin, model: LanguageModel | None) -> None:
    retriever = cast(KBRetriever, plugin)
    for message in ODD_MESSAGES:
        request = retrieve_input([message])
        context = call_context(_knowledge(), model=model)
        retrieval = repeatable(partial(retriever.retrieve, request, context), [request], plugin.descriptor)
        _legal(plugin, retrieval.status)
        if retrieval.status == "error":
            continue
        expect(len(retrieval.evidence) == len(request.intents), "one evidence per intent, in order [PLUGIN-9]")
        for intent, profile, evidence in zip(request.intents, request.profiles, retrieval.evidence, strict=True):
            expect(evidence.intent == intent, "evidence is in intent order [PLUGIN-9]")
            expect(all(0 <= entry.score <= 1 for entry in evidence.entries), "scores lie in [0, 1]")
            expect(
                all(entry.unit.is_evidence for entry in evidence.entries), "evidence is kb-plugin scoped [BUILTIN-27]"
            )
            stored = len(evidence.session_units) + len(evidence.kb_units)
            expect(stored <= profile.max_results, "results never exceed the intent's limit [INTENT-10]")
    for kind in ("session-created", "kb-loaded", "session-kus-added", "kb-saved", "kb-forked", "something-new"):
        reply = retriever.on_session_event(LifecycleEvent(event_type=kind))
        expect(reply in ("accepted", "skipped"), "a lifecycle event is accepted or skipped [PLUGIN-10]")
    if isinstance(plugin, SourceReader):
        _check_source_reader(plugin)
    if isinstance(plugin, UnitReader):
        _check_unit_reader(plugin)


def _check_source_reader(reader: SourceReader) -> None:
    for message in ODD_MESSAGES:
        for units in ((), _UNITS):
            source = SourceText(
                source_id="src-1",
                name=message or "-",
                content=message,
                units=units,
                stored_at="2026-01-01T00:00:00+00:00",
                keeps_artifacts=True,
            )
            reply = repeatable(partial(reader.on_source_text, source), [source])
            expect(
                reply.status in ("accepted", "skipped", "error"),
                "a source is accepted, skipped or an error [PLUGIN-10]",
            )
            expect(not reply.artifacts or reply.status == "accepted", "artifacts come with acceptance [PLUGIN-10]")
            without = reader.on_source_text(replace(source, keeps_artifacts=False))
            expect(without.status == "skipped", "without an artifact store a source is skipped [PLUGIN-10]")


def _check_unit_reader(reader: UnitReader) -> None:
    for units in ((), _UNITS):
        artifacts = repeatable(partial(reader.artifacts_of, units), [units])
        expect(
            artifacts.keys() <= {unit.id for unit in units},
            "artifacts are of the units that were asked about [BASE-14]",
        )
        expect(reader.artifact_version is not None or not artifacts, "what is derived has a version [BASE-15]")


def _check_solver(plugin: Plugin, model: LanguageModel | None) -> None:
    solver = cast(GoalSolver, plugin)
    for message in ODD_MESSAGES:
        bare, informed = solve_input(message, ()), solve_input(message, _UNITS)
        for request in (bare, informed, *(replace(bare, helpers=(helper,)) for helper in _HELPERS)):
            context = call_context(_knowledge(), model=model)
            solution = repeatable(partial(solver.solve, request, context), [request], plugin.descriptor)
            _legal(plugin, solution.status)
            if solution.status not in ("success", "no-context"):
                continue
            expect(solution.answer is not None, "an outcome comes with an answer [PLUGIN-13]")
            _check_answer(cast(Answer, solution.answer), request, solution.status)


def _check_answer(answer: Answer, request: SolveInput, status: str) -> None:
    refs = [group.intent_ref for group in answer.groups]
    expect(refs == [item.intent.group_number for item in request.evidence], "one group per intent, in order [ANSWER-1]")
    answered = any(group.status == "answered" for group in answer.groups)
    expect(answered == (status == "success"), "success means an answered group [PLUGIN-14]")
    for group, evidence in zip(answer.groups, request.evidence, strict=True):
        available = {entry.unit.id for entry in evidence.entries}
        expect(set(group.cited_unit_ids) <= available, "every cited source was available [ANSWER-9]")
        expect(bool(group.answer_markdown), "an answer is never empty [ANSWER-3]")
        if group.status == "answered" and group.grounded and group.plugin_output is None:
            expect(bool(group.cited_unit_ids), "a grounded answer cites its evidence [ANSWER-9]")
        helped = any(helper.status == "success" for helper in request.helpers)
        expect(group.plugin_output is None or helped, "only what a helper gave is shown as its output [ANSWER-10]")


def _check_validator(plugin: Plugin, model: LanguageModel | None) -> None:
    validator = cast(ResponseValidator, plugin)
    for message in ODD_MESSAGES:
        request = solve_input(message, _UNITS)
        for text, cited in ((message or "-", ()), ("My dog is called Rex. [1]", (_UNITS[0].id,))):
            groups = tuple(_group(item, text, cited) for item in request.evidence)
            validated = ValidateInput(message=message, answer=Answer(groups=groups), evidence=request.evidence)
            context = call_context(_knowledge(), model=model)
            verdict = repeatable(partial(validator.validate, validated, context), [validated], plugin.descriptor)
            _legal(plugin, verdict.status)
            expect(bool(verdict.reason) or verdict.status != "rejected", "a rejection says why [PLUGIN-15]")


def _check_planner(plugin: Plugin, model: LanguageModel | None) -> None:
    planner = cast(Planner, plugin)
    context = call_context(_knowledge(), model=model)
    for message in ODD_MESSAGES:
        for phase in ("post-seed", "post-kb", "post-solve"):
            request = plan_input(message, phase, context)
            plan = repeatable(partial(planner.plan, request, context), [request], plugin.descriptor)
            if plan is None:
                continue
            kb = {item.id for item in request.kb_descriptors}
            solvers = {item.id for item in request.goal_solver_descriptors}
            expect(set(plan.kb_plugin_order) <= kb, "a plan orders given KB plugins only [PLUGIN-20]")
            expect(set(plan.goal_solver_order) <= solvers, "a plan orders given solvers only [PLUGIN-20]")
            expect(not kb or bool(plan.kb_plugin_order), "one KB plugin remains [BUILTIN-49]")
            expect(not solvers or bool(plan.goal_solver_order), "one solver remains [BUILTIN-49]")
            expect(plan.planner_plugin_id == planner.descriptor.id, "a plan names its planner [PLUGIN-17]")


_CHECKS: dict[str, Callable[[Plugin, LanguageModel | None], None]] = {
    "sd-plugin": _check_detector,
    "kb-plugin": _check_retriever,
    "gs-plugin": _check_solver,
    "val-plugin": _check_validator,
    "mrp-plan-plugin": _check_planner,
}
_UNITS: tuple[KnowledgeUnit, ...] = (
    unit("session::req-1::unit-000", "My dog is called Rex."),
    unit("session::req-2::unit-000", "My car is red."),
    unit("src-1::chunk-000::unit-000", "Open the valve.", role="Procedure", topic="reset"),
)


_HELPERS = (
    HelperOutput(intent_ref=1, plugin="Calculator", status="success", result="It is 42.", confidence="0.9"),
    HelperOutput(intent_ref=1, plugin="Calculator", status="error", error_code="PLUGIN_TIMEOUT", error_message="late"),
)


def _knowledge() -> InMemoryKnowledge:
    return InMemoryKnowledge(
        (*_UNITS, unit("session::req-3::unit-000", "Answer in one word.", phase_scopes=("gs-plugin",)))
    )


def intent_of(text: str, number: int = 1, *, act: str = "identify", output: str = "answer") -> Intent:
    """Return an intent on `text`."""
    return Intent(id=f"i{number}", group_number=number, act=act, target=text, output=output)


def retrieve_input(texts: Sequence[str], turn_units: Sequence[KnowledgeUnit] = ()) -> RetrieveInput:
    """Return what a retriever is asked for questions with these texts."""
    intents = tuple(intent_of(text, number) for number, text in enumerate(texts, 1))
    decomposed = tuple(decompose(intent) for intent in intents)
    return RetrieveInput(
        intents=intents,
        decomposed=decomposed,
        profiles=tuple(profile_for(item) for item in decomposed),
        current_turn_units=tuple(turn_units),
    )


def evidence_for(intent: Intent, units: Sequence[KnowledgeUnit]) -> Evidence:
    """Return evidence of session units for an intent, in the given order."""
    decomposed = decompose(intent)
    entries = tuple(EvidenceEntry(unit=item, score=1 / place, store="session") for place, item in enumerate(units, 1))
    return Evidence(
        intent=intent,
        decomposed=decomposed,
        profile=profile_for(decomposed),
        session_units=entries,
        sufficient=bool(entries),
    )


def solve_input(message: str, units: Sequence[KnowledgeUnit]) -> SolveInput:
    """Return what a solver is asked about one message, with the units as evidence."""
    return SolveInput(message=message, evidence=(evidence_for(intent_of(message), units),))


def plan_input(message: str, phase: str, context: CallContext) -> PlanInput:
    """Return what a planner is asked about one message."""
    request = retrieve_input([message])
    return PlanInput(
        phase=cast(Any, phase),
        current_message=message,
        history=(),
        intents=request.intents,
        decomposed=request.decomposed,
        profiles=request.profiles,
        current_turn_units=(),
        guidance=GuidanceUnits(),
        retrievals=(),
        prior_plan=None,
        pins=Selection(),
        preferences=Selection(),
        session=context.session,
        kb_descriptors=tuple(_candidate("kb-plugin", name) for name in ("kb-one", "kb-two")),
        goal_solver_descriptors=tuple(_candidate("gs-plugin", name) for name in ("gs-one", "gs-two")),
    )


def _candidate(plugin_type: PluginType, plugin_id: str) -> Descriptor:
    hints = PlannerHints(
        expected_latency_ms=10,
        expected_llm_calls=0,
        relative_cost=0.1,
        supported_acts=("explain", "identify"),
        topic_tags=("general",),
        preferred_depth="medium",
        fallback_role="default",
        confidence_when_matched=0.5,
    )
    return Descriptor(
        id=plugin_id,
        type=plugin_type,
        name=plugin_id,
        version="1.0.0",
        description="One to choose from.",
        cost_class="cheap",
        planner_hints=hints,
    )


def _group(evidence: Evidence, text: str, cited: tuple[str, ...]) -> AnswerGroup:
    return AnswerGroup(
        intent_ref=evidence.intent.group_number,
        act=evidence.intent.act,
        intent=evidence.intent.target,
        status="answered",
        answer_markdown=text,
        evidence=evidence.entries,
        cited_unit_ids=cited,
    )
