"""Ask the machine single questions about a mounted base, each in a new session."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from bench.evaluation.session import Clock, units_of_text
from mrpvm.contracts import CallContext, Solution, SolveInput
from mrpvm.kernel.machine import Machine
from mrpvm.kernel.workers import Workers
from mrpvm.llm.absent import AbsentModel
from mrpvm.plugins.builtin import BUILTIN_PLUGINS
from mrpvm.plugins.goal_solvers.symbolic import SymbolicGoalSolver
from mrpvm.plugins.kb_retrievers.balanced import BalancedKBRetriever
from mrpvm.registry import Registry
from mrpvm.values import AnswerGroup, KnowledgeUnit, SessionState, TurnRequest
from sessions_app.actions.knowledge.artifacts import keep_artifacts
from sessions_app.actions.knowledge.bases import add_source, create_base
from sessions_app.actions.knowledge.source_rows import NewSource
from sessions_app.actions.settings.projects import ensure_default_project
from sessions_app.background.precompute import derive_ahead
from sessions_app.ingest.load import Upload, load_source
from sessions_app.layers import EffectiveView, SessionKnowledge
from sessions_app.models import KnowledgeBase, KnowledgeLayer

_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a question, and the CPU milliseconds of the whole turn and of its solver."""

    groups: tuple[AnswerGroup, ...]
    turn_ms: float
    solver_ms: float

    @property
    def basis(self) -> str:
        """Return the strongest basis among the groups."""
        return next(
            (basis for basis in ("stated", "composed", "quoted") if basis in map(basis_of, self.groups)), "none"
        )

    @property
    def shown(self) -> str:
        """Return the text of the groups that show something."""
        return "\n".join(group.answer_markdown for group in self.groups if basis_of(group) != "none")

    @property
    def cited(self) -> frozenset[str]:
        """Return the ids of the units that are shown."""
        return frozenset(name for group in self.groups for name in group.cited_unit_ids)


def basis_of(group: AnswerGroup) -> str:
    """Return the basis of a group."""
    return group.basis


@dataclass(slots=True)
class _WatchedSolver:
    """The symbolic solver. It records its CPU time and its inputs."""

    solver: SymbolicGoalSolver
    spent_ms: float = 0.0
    requests: list[SolveInput] = field(default_factory=list)

    @property
    def descriptor(self) -> object:
        """Return the solver's descriptor."""
        return self.solver.descriptor

    def solve(self, request: SolveInput, context: CallContext) -> Solution:
        """Solve and note how long it took."""
        began = time.thread_time()
        try:
            return self.solver.solve(request, context)
        finally:
            self.spent_ms += (time.thread_time() - began) * 1000
            self.requests.append(request)


class WatchedMachine:
    """A machine to ask. As a context manager it ends the machine's threads.

    Args:
        embeds: whether to use the embedding model if it is installed.
    """

    def __init__(self, *, embeds: bool) -> None:
        self.solver = _WatchedSolver(SymbolicGoalSolver())
        self._embeds = embeds
        plugins = [self._plugin(plugin, embeds) for plugin in BUILTIN_PLUGINS]
        registry = Registry(plugins)  # type: ignore[arg-type]
        self._workers = Workers()
        self._machine = Machine(registry, self._workers, Clock(), AbsentModel())
        self._detector = registry.seed_detector("sd-symbolic")

    def _plugin(self, plugin: object, embeds: bool) -> object:
        if isinstance(plugin, SymbolicGoalSolver):
            return self.solver
        if isinstance(plugin, BalancedKBRetriever) and not embeds:
            return BalancedKBRetriever(encoder=lambda: None)
        return plugin

    def __enter__(self) -> "WatchedMachine":
        return self

    def __exit__(self, *error: object) -> None:
        self._workers.close()

    def mounted_text(self, text: str, name: str) -> KnowledgeLayer:
        """Return the head of a new base that holds the text, and its vectors if embeddings are used."""
        return self.mounted_texts([text], name)

    def mounted_texts(self, texts: Sequence[str], name: str) -> KnowledgeLayer:
        """Return the head of a new base that holds each text as a source of its own."""
        sources = (units_of_text(self._detector, text, name, f"text-{place}") for place, text in enumerate(texts))
        head = mounted(*sources)
        while self._embeds and derive_ahead():
            pass
        return head

    def ask(self, question: str, head: KnowledgeLayer) -> Reply:
        """Return the reply to a question about a base, in a new session."""
        request = TurnRequest(
            request_id=f"req-{next(_numbers)}",
            message=question,
            session=SessionState(
                session_id="sess-bench",
                mounted_kb_id="kb-bench",
                mounted_kb_name="Bench",
                message_count=0,
                session_context_unit_count=0,
                deliberation_level=0,
            ),
        )
        knowledge = SessionKnowledge(EffectiveView.of_layer(head), keep_artifacts)
        self.solver.spent_ms = 0.0
        self.solver.requests.clear()
        began = time.process_time()
        outcome = self._machine.run_turn(request, knowledge, lambda event: None)
        spent_ms = (time.process_time() - began) * 1000
        return Reply(outcome.answer.groups if outcome.answer else (), spent_ms, self.solver.spent_ms)


def loaded(name: str, texts: Mapping[str, str]) -> KnowledgeBase:
    """Return a new base that holds texts by the names of their files, and everything that plugins derive from it."""
    base = create_base(ensure_default_project(), name)
    for file_name, text in texts.items():
        load_source(base, Upload(name=file_name, data=text.encode()))
        base.refresh_from_db()
    while derive_ahead():
        pass
    return base


def mounted(*sources: Sequence[KnowledgeUnit]) -> KnowledgeLayer:
    """Return the head of a new base that holds the units of each source."""
    base = create_base(ensure_default_project(), f"bench {next(_numbers)}")
    for place, units in enumerate(sources):
        add_source(base, NewSource(name=f"text-{place}", source_id=f"text-{place}", units=units))
        base.refresh_from_db()
    return base.head
