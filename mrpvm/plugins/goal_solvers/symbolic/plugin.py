"""The solver: answers each intent separately, from evidence only."""

from mrpvm.contracts import CallContext, Descriptor, PlannerHints, Solution, SolveInput, with_helper
from mrpvm.conversation.rewriting.said import before_repeats
from mrpvm.plugins.goal_solvers.symbolic.answering import answer_intent
from mrpvm.plugins.goal_solvers.symbolic.quoting import answered_or_quoted
from mrpvm.values import Answer

ABOUT = """\
@k1 ku atomic "plugin::gs-symbolic::unit-000"
@a1 set $k1 sourceId "plugin::gs-symbolic"
@a2 set $k1 chunkId "plugin::gs-symbolic"
@a3 set $k1 role Description
@a4 set $k1 topic "gs-symbolic"
@a5 set $k1 claim "gs-symbolic answers by quoting the statements that say what was asked, without a model."
@a6 set $k1 utilityNote "Good for facts, yes or no, lists, steps and forms; says no-context rather than guess."
@a7 set $k1 phaseScopes [gs-plugin mrp-plan-plugin]
"""
"""What planners may know of this plugin, as a control document."""


class SymbolicGoalSolver:
    """Answers by quotation: finds the statement that answers the question and cites its unit."""

    descriptor = Descriptor(
        id="gs-symbolic",
        type="gs-plugin",
        name="Symbolic Goal Solver",
        version="1.0.0",
        description=(
            "Answers from evidence by deterministic rules, quoting and citing it. Needs no model; says no-context "
            "rather than guess."
        ),
        cost_class="cheap",
        is_quick=True,
        tags=("symbolic", "deterministic", "extractive"),
        planner_hints=PlannerHints(
            expected_latency_ms=25,
            expected_llm_calls=0,
            relative_cost=0.05,
            supported_acts=("verify", "define", "identify", "describe", "explain"),
            topic_tags=("symbolic", "technical", "procedural"),
            preferred_depth="shallow",
            fallback_role="cheap-probe",
            confidence_when_matched=0.78,
        ),
        provides=("answer",),
    )
    about = ABOUT

    def solve(self, request: SolveInput, context: CallContext) -> Solution:
        """Return one group per intent; the status is `no-context` if none could be answered."""
        history = before_repeats(request.message, request.history) if request.resolves_references else ()
        groups = (
            with_helper(
                answered_or_quoted(answer_intent(evidence), evidence, history, quotes=request.quotes), request.helpers
            )
            for evidence in request.evidence
        )
        answer = Answer(groups=tuple(groups))
        return Solution(status="success" if answer.status == "answered" else "no-context", answer=answer)
