"""Other bases with units on a question that the mounted base does not answer."""

from dataclasses import dataclass

from mrpvm.english.words.text import unique_terms
from sessions_app.layers import EffectiveView, SessionKnowledge
from sessions_app.models import ExplainabilityTurn, KnowledgeBase
from sessions_app.queries.knowledge.bases import knowledge_bases
from sessions_app.queries.turns.verdicts import mounted_bases

BASES_SEARCHED = 20
BASES_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowingBase:
    """A base, its unit closest to the question, and the number of the question's words in that unit."""

    base: KnowledgeBase
    text: str
    matched_count: int
    score: float


def bases_that_know(turn: ExplainabilityTurn) -> list[KnowingBase]:
    """Return the project's other bases whose best unit shares the most words with the turn's question."""
    terms = dict.fromkeys(unique_terms(turn.user_message), 1.0)
    if not terms:
        return []
    mounted = mounted_bases([turn])[turn.pk]
    others = knowledge_bases(turn.session.project).exclude(kb_id=mounted.kb_id if mounted else "")
    bases: list[KnowingBase] = []
    for base in others[:BASES_SEARCHED]:
        hits = SessionKnowledge(EffectiveView.of_layer(base.head)).search(terms, 3)
        hit = next((each for each in hits if not each.unit.child_unit_ids), None)
        if hit is not None:
            matched = len(hit.term_scores)
            bases.append(KnowingBase(base=base, text=hit.unit.text, matched_count=matched, score=hit.score))
    return sorted(bases, key=lambda each: (-each.matched_count, -each.score, each.base.pk))[:BASES_SHOWN]
