"""The signals that a planner reads from the turn; rendered history is not used, because it has words of answers."""

from msgspec import Struct

from mrpvm.contracts import PlanInput
from mrpvm.english.words.lexicon import listed, pattern
from mrpvm.english.words.text import words
from mrpvm.values import EvidenceEntry, KnowledgeUnit

_DEPTH = listed("depth")
_DEPTH_PHRASES = pattern("planning.depth")
_SPEED = listed("speed")
_SPEED_PHRASES = pattern("planning.speed")
_SYMBOLIC = listed("symbolic")
_RETRIEVAL = listed("retrieval")
_TOPICS: dict[str, frozenset[str]] = {
    "legal": listed("topics_legal"),
    "literature": listed("topics_literature"),
    "procedural": listed("topics_procedural"),
    "technical": listed("topics_technical"),
    "symbolic": listed("topics_symbolic"),
}
_SOLVER = pattern("planning.solver")
_NO_SPLIT, _SPLIT = pattern("planning.no_split"), pattern("planning.split")


class Signals(Struct, frozen=True, kw_only=True):
    """The signals of one turn."""

    acts: frozenset[str]
    topics: frozenset[str]
    query_words: frozenset[str]
    wants_depth: bool
    wants_speed: bool
    is_symbolic: bool
    is_retrieval_heavy: bool
    has_constraint_guidance: bool
    has_procedure_guidance: bool
    has_evaluation_guidance: bool
    has_solver_guidance: bool
    forbids_split: bool
    asks_split: bool


def _guidance(request: PlanInput) -> list[KnowledgeUnit]:
    entries: list[EvidenceEntry] = [
        *request.guidance.planner,
        *request.guidance.decomposition,
        *request.guidance.validation,
    ]
    turn = [unit for unit in request.current_turn_units if unit.is_guidance and unit.phase_scopes != ("gs-plugin",)]
    return list({unit.id: unit for unit in (*(entry.unit for entry in entries), *turn)}.values())


def signals_of(request: PlanInput) -> Signals:
    """Return the signals of the message, the admitted intents, pending units and guidance."""
    guidance = _guidance(request)
    said = " ".join([request.current_message, *(intent.target for intent in request.intents)])
    turn_text = " ".join(unit.text for unit in request.current_turn_units if unit.is_evidence)
    method = " ".join(unit.text for unit in guidance)
    words_said = frozenset(words(f"{said} {method}"))
    roles = {unit.role for unit in guidance if unit.topic != "how to answer"}
    return Signals(
        acts=frozenset(intent.act for intent in request.intents),
        topics=frozenset(topic for topic, cues in _TOPICS.items() if cues & (words_said | set(words(turn_text)))),
        query_words=frozenset(word for word in words(said) if len(word) > 3),
        wants_depth=bool(words_said & _DEPTH or _DEPTH_PHRASES.search(said)),
        wants_speed=bool(words_said & _SPEED or _SPEED_PHRASES.search(said)),
        is_symbolic=bool(words_said & _SYMBOLIC),
        is_retrieval_heavy=bool(words_said & _RETRIEVAL) or len(request.intents) > 1,
        has_constraint_guidance="Constraint" in roles,
        has_procedure_guidance="Procedure" in roles,
        has_evaluation_guidance="Evaluation" in roles,
        has_solver_guidance=bool(_SOLVER.search(method)),
        forbids_split=bool(_NO_SPLIT.search(method)),
        asks_split=bool(_SPLIT.search(method)) and not _NO_SPLIT.search(method),
    )
