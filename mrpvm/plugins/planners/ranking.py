"""Scores candidates in separate parts, so that the choice can be explained."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from mrpvm.contracts import Descriptor
from mrpvm.english.words.text import words
from mrpvm.learning import PluginKey, untried, utility
from mrpvm.plugins.planners.signals import Signals
from mrpvm.values import CandidateScore

_DECIMALS = 4


class RankedCandidate(Struct, frozen=True, kw_only=True):
    """A candidate with its score and the parts that made it."""

    descriptor: Descriptor
    score: float
    parts: tuple[tuple[str, float], ...]

    @property
    def as_score(self) -> CandidateScore:
        """Return the score for the plan; parts of 0 are left out."""
        parts = {name: round(value, _DECIMALS) for name, value in self.parts if abs(value) >= 10**-_DECIMALS}
        return CandidateScore(plugin_id=self.descriptor.id, score=round(self.score, _DECIMALS), parts=parts)


def rank(
    descriptors: Sequence[Descriptor], plan: Sequence[str], signals: Signals, utilities: Mapping[PluginKey, float]
) -> list[RankedCandidate]:
    """Return the candidates by score, then plan position, then id.

    Args:
        utilities: the learned utilities; a plugin without one counts as untried.
    """
    ranked = [_scored(descriptor, plan, signals, utilities) for descriptor in descriptors]
    return sorted(ranked, key=lambda item: (-item.score, _position(item.descriptor.id, plan), item.descriptor.id))


def _position(plugin_id: str, plan: Sequence[str]) -> int:
    return list(plan).index(plugin_id) if plugin_id in plan else len(plan)


def _scored(
    descriptor: Descriptor, plan: Sequence[str], signals: Signals, utilities: Mapping[PluginKey, float]
) -> RankedCandidate:
    known = descriptor.id in plan
    learned = utilities.get((descriptor.type, descriptor.id))
    parts = [
        ("history", utility(descriptor.type, untried(descriptor.type)) if learned is None else learned),
        ("plan", max(0.0, 0.18 - 0.04 * _position(descriptor.id, plan)) if known else -0.02),
        *_hint_parts(descriptor, signals),
        ("description", _description_share(descriptor, signals)),
    ]
    return RankedCandidate(descriptor=descriptor, score=round(sum(value for _, value in parts), 6), parts=tuple(parts))


def _hint_parts(descriptor: Descriptor, signals: Signals) -> list[tuple[str, float]]:
    hints = descriptor.planner_hints
    if hints is None:
        return []
    parts = [
        ("act", 0.24 if signals.acts & set(hints.supported_acts) else -0.04 if hints.supported_acts else 0.0),
        ("topics", 0.08 * len(signals.topics & set(hints.topic_tags))),
        ("confidence", 0.1 * hints.confidence_when_matched),
        ("calls", -0.03 * hints.expected_llm_calls),
    ]
    if signals.wants_depth:
        deep = (0.16 if hints.preferred_depth == "deep" else 0.0) + (
            0.08 if hints.fallback_role == "heavy-recovery" else 0.0
        )
        parts.append(("depth", deep))
    if signals.wants_speed:
        quick = 0.12 if hints.fallback_role == "cheap-probe" else 0.0
        parts.append(("speed", quick - 0.25 * hints.relative_cost - min(hints.expected_latency_ms / 5_000, 0.15)))
    symbolic = "symbolic" in hints.topic_tags or "symbolic-facts" in hints.evidence_style
    if (signals.is_symbolic or signals.has_constraint_guidance) and symbolic:
        parts.append(("symbolic", 0.12))
    return parts + _family_parts(descriptor, signals)


def _family_parts(descriptor: Descriptor, signals: Signals) -> list[tuple[str, float]]:
    hints = descriptor.planner_hints
    if hints is None:
        return []
    parts: list[tuple[str, float]] = []
    if descriptor.type == "kb-plugin":
        styles = set(hints.evidence_style)
        if signals.is_retrieval_heavy:
            parts.append(("retrieval", 0.10 * ("hybrid" in styles) + 0.08 * ("symbolic-facts" in styles)))
        if signals.has_evaluation_guidance:
            parts.append(("evaluation", 0.05 * ("hybrid" in styles)))
    elif descriptor.type == "gs-plugin" and signals.has_procedure_guidance:
        fits = "implement" in hints.supported_acts or "procedural" in hints.topic_tags
        parts.append(("procedure", 0.08 * fits))
    return parts


@lru_cache(maxsize=256)
def _words_of(description: str) -> frozenset[str]:
    return frozenset(words(description))


def _description_share(descriptor: Descriptor, signals: Signals) -> float:
    return min(0.03 * len(signals.query_words & _words_of(descriptor.description)), 0.15)
