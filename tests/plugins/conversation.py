"""A conversation with only the symbolic plugins: detect, admit, retrieve, solve, validate, promote."""

from mrpvm.contracts import (
    DetectInput,
    GoalSolver,
    KBRetriever,
    ResponseValidator,
    RetrieveInput,
    SeedDetector,
    SolveInput,
    ValidateInput,
)
from mrpvm.conversation.answers import answer_text
from mrpvm.kernel.admission import admit_detection
from mrpvm.knowledge.decomposition import decompose, profile_for
from mrpvm.knowledge.units import promotable
from mrpvm.plugins.goal_solvers.symbolic import SymbolicGoalSolver
from mrpvm.plugins.kb_retrievers.fast import FastKBRetriever
from mrpvm.plugins.response_validators.constraints import ConstraintValidator
from mrpvm.plugins.seed_detectors.symbolic import SymbolicSeedDetector
from mrpvm.testing import InMemoryKnowledge, call_context
from mrpvm.values import Answer, AnswerGroup, Evidence


class Conversation:
    """A conversation that keeps told facts from turn to turn, as the machine does."""

    detector: SeedDetector = SymbolicSeedDetector()
    retriever: KBRetriever = FastKBRetriever()
    solver: GoalSolver = SymbolicGoalSolver()
    validator: ResponseValidator = ConstraintValidator()

    def __init__(self, *told: str) -> None:
        self.knowledge = InMemoryKnowledge()
        self._hashes: set[str] = set()
        self._turn_count = 0
        for message in told:
            self.say(message)

    def say(self, message: str) -> Answer:
        """Run one turn and keep its told facts; return the validated answer."""
        self._turn_count += 1
        request_id = f"req-{self._turn_count}"
        context = call_context(self.knowledge, request_id=request_id)
        admitted = admit_detection(self.detector.detect(DetectInput(message=message), context), request_id)
        groups: list[AnswerGroup] = []
        evidence: list[Evidence] = []
        for intent in admitted.intents:
            decomposed = decompose(intent)
            request = RetrieveInput(
                intents=(intent,),
                decomposed=(decomposed,),
                profiles=(profile_for(decomposed),),
                current_turn_units=admitted.units,
            )
            found = self.retriever.retrieve(request, context).evidence
            solution = self.solver.solve(SolveInput(message=message, evidence=found), context)
            assert solution.answer is not None
            groups += solution.answer.groups
            evidence += found
        answer = Answer(groups=tuple(groups))
        verdict = self.validator.validate(
            ValidateInput(message=message, answer=answer, evidence=tuple(evidence)), context
        )
        assert verdict.status == "accepted", verdict.reason
        kept, _ = promotable(admitted.units, message, known_hashes=self._hashes)
        for unit in kept:
            self.knowledge.add(unit)
            self._hashes.add(unit.hash)
        return answer

    def ask(self, question: str) -> str | None:
        """Return the text of the answer, or None if it is no-context."""
        answer = self.say(question)
        return answer_text(answer) if answer.status == "answered" else None
