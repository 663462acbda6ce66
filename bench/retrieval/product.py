"""Retrieval as the product does it: a base of layers, a KB plugin, its ledger."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from bench.retrieval.collections import Corpus, Question
from mrpvm.contracts import CallContext, KBRetriever, RetrieveInput
from mrpvm.conversation.preparation import meant_texts
from mrpvm.conversation.rewriting import refers_back, rewrite
from mrpvm.knowledge.decomposition import decompose, profile_for
from mrpvm.testing import call_context
from mrpvm.values import Intent, Recall
from sessions_app.actions.knowledge.artifacts import keep_artifacts
from sessions_app.actions.knowledge.bases import add_source, create_base
from sessions_app.actions.knowledge.source_rows import NewSource
from sessions_app.actions.settings.projects import ensure_default_project
from sessions_app.layers import EffectiveView, SessionKnowledge
from sessions_app.models import KnowledgeLayer

DEPTH = 20
"""Results asked for, so that a ranking can be judged to rank 10 and beyond whatever a question's own limit is."""
_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Unit names, best first: all that a plugin ranked for a question, and those that it returned as evidence."""

    ranked: Sequence[str]
    returned: Sequence[str]


def stored(corpus: Corpus) -> KnowledgeLayer:
    """Return the head of a new base that holds the corpus."""
    base = create_base(ensure_default_project(), f"bench {next(_numbers)}")
    add_source(base, NewSource(name="bench", source_id="bench", units=corpus.units))
    base.refresh_from_db()
    return base.head


def opened(head: KnowledgeLayer, plugin_id: str) -> CallContext:
    """Return the context of a plugin call over the base."""
    return call_context(SessionKnowledge(EffectiveView.of_layer(head), keep_artifacts).for_plugin(plugin_id))


def ranking_of(plugin: KBRetriever, question: Question, context: CallContext) -> Ranking:
    """Return what the plugin found for a question."""
    intent = Intent(id="i1", group_number=1, act="identify", target=question.text, output="answer")
    decomposed = decompose(intent)
    request = RetrieveInput(
        intents=(intent,),
        decomposed=(decomposed,),
        profiles=(profile_for(decomposed, max_results=DEPTH),),
        current_turn_units=(),
        recall=_recall(question),
    )
    retrieval = plugin.retrieve(request, context)
    offered = [row for row in retrieval.ledger if row.step == "offered"]
    return Ranking(
        [row.unit_id for row in sorted(offered, key=lambda row: row.rank or 0)],
        [entry.unit.id for entry in retrieval.evidence[0].entries],
    )


def _recall(question: Question) -> Recall | None:
    """Return what a turn's preparation recalls from the messages before the question."""
    rewriting = rewrite(question.text, question.history)
    texts = meant_texts(rewriting, question.history) if rewriting.weights else ()
    if not question.history:
        return None
    return Recall(terms=rewriting.weights, texts=texts, is_needed=refers_back(question.text))
