"""The figures of every collection, beside plain BM25 in the same run and the targets."""

from collections.abc import Callable, Iterator, Mapping
from copy import replace
from dataclasses import dataclass, field
from pathlib import Path

from bench.retrieval.collections import Collection, Question, read_collections
from bench.retrieval.product import opened, ranking_of, stored
from bench.retrieval.scores import PlainBM25, Tally
from mrpvm.contracts import CallContext, KBRetriever
from mrpvm.knowledge.embedding.encoder import installed_encoder
from mrpvm.plugins.kb_retrievers.balanced import BalancedKBRetriever
from mrpvm.plugins.kb_retrievers.fast import FastKBRetriever

WITHOUT = "balanced, words"
PLUGINS: Mapping[str, KBRetriever] = {
    "kb-fast": FastKBRetriever(),
    WITHOUT: BalancedKBRetriever(encoder=lambda: None),
    "kb-balanced": BalancedKBRetriever(),
}
RETURNED = "returned"
"""What is left of a ranking as evidence: without what scores too little, doubles, and what is much like better hits."""
REWRITTEN = "rewritten by people"
"""The same questions, put so that they stand alone: what could be found if nothing said before had to be understood."""
NAMES = ("memory", "passages", "personal", "cranfield", "cisi")


@dataclass(frozen=True, slots=True)
class Figure:
    """One number: how a tally gives it, what each plugin must reach, and what would be excellent."""

    name: str
    read: Callable[[Tally, Collection], float]
    goals: Mapping[str, tuple[float, float]] = field(default_factory=dict)


FIGURES: Mapping[str, tuple[Figure, ...]] = {
    "memory": (
        Figure(
            "R@10",
            lambda tally, of: tally.mean("R@10", of.counted),
            {"kb-fast": (0.76, 0.83), "kb-balanced": (0.78, 0.84)},
        ),
        Figure("MRR", lambda tally, of: tally.mean("MRR", of.counted), {"kb-balanced": (0.60, 0.68)}),
        Figure("multi-hop R@10", lambda tally, of: tally.mean("R@10", {"1"}), {"kb-balanced": (0.50, 0.62)}),
    ),
    "passages": (
        Figure(
            "macro nDCG@10",
            lambda tally, of: tally.macro("nDCG@10"),
            {"kb-fast": (0.61, 0.67), "kb-balanced": (0.71, 0.76)},
        ),
    ),
    "personal": (
        Figure("nDCG@3", lambda tally, of: tally.mean("nDCG@3"), {"kb-balanced": (0.70, 0.78)}),
        Figure("nDCG@3, each conversation once", lambda tally, of: tally.macro("nDCG@3")),
    ),
    "cranfield": (Figure("nDCG@10", lambda tally, of: tally.mean("nDCG@10"), {"kb-balanced": (0.43, 0.48)}),),
    "cisi": (Figure("nDCG@10", lambda tally, of: tally.mean("nDCG@10"), {"kb-balanced": (0.45, 0.49)}),),
}


@dataclass(frozen=True, slots=True)
class Tallies:
    """The tallies of one form of the questions: of plain BM25, and of what each plugin ranked and returned."""

    plain: Tally = field(default_factory=Tally)
    ranked: Mapping[str, Tally] = field(default_factory=lambda: {name: Tally() for name in PLUGINS})
    returned: Mapping[str, Tally] = field(default_factory=lambda: {name: Tally() for name in PLUGINS})

    def add(self, question: Question, baseline: PlainBM25, contexts: Mapping[str, CallContext]) -> None:
        """Ask plain BM25 and each plugin."""
        self.plain.add(question.group, baseline.ranked(question.text), question.gold)
        for name, plugin in PLUGINS.items():
            ranking = ranking_of(plugin, question, contexts[name])
            self.ranked[name].add(question.group, ranking.ranked, question.gold)
            self.returned[name].add(question.group, ranking.returned, question.gold)

    def rows(self, figure: Figure, collection: Collection) -> Iterator[str]:
        """Return the report's lines for a figure. Goals stand beside the ranked units."""
        row = f"  {figure.name:38}{figure.read(self.plain, collection):8.3f}"
        for name, tally in self.ranked.items():
            value = figure.read(tally, collection)
            verdicts = [f"{'>=' if value >= goal else '<'} {goal:.2f}" for goal in figure.goals.get(name, ())]
            row += f"{value:9.3f} {', '.join(verdicts):17}"
        yield row.rstrip()
        row = f"  {f'{figure.name}, {RETURNED}':46}"
        for tally in self.returned.values():
            row += f"{figure.read(tally, collection):9.3f}{'':18}"
        yield row.rstrip()


def report(directory: Path, only: str | None = None) -> Iterator[str]:
    """Yield each line of the report as soon as it is measured."""
    yield f"retrieval over {directory.name}: plain BM25 and the product's plugins"
    yield "beside a figure: what must be reached, and what would be excellent"
    encoder = installed_encoder()
    yield f"kb-balanced by {encoder.name if encoder else 'words alone: the embedding extra is not installed'}"
    yield f"{'':40}{'plain':>8}" + "".join(f"{name:>16}{'':11}" for name in PLUGINS).rstrip()
    seen: set[str] = set()
    for collection in read_collections(directory):
        seen.add(collection.name)
        if only in (None, collection.name):
            yield from _measured(collection)
    for name in NAMES:
        if name not in seen and only in (None, name):
            yield f"{name}: skipped, the directory holds no such collection"


def _measured(collection: Collection) -> Iterator[str]:
    as_asked, rewritten = Tallies(), Tallies()
    for corpus in collection.corpora:
        head, baseline = stored(corpus), PlainBM25(corpus.plain)
        contexts = {name: opened(head, plugin.descriptor.id) for name, plugin in PLUGINS.items()}
        for question in corpus.questions:
            as_asked.add(question, baseline, contexts)
            if question.rewritten:
                rewritten.add(replace(question, text=question.rewritten, history=()), baseline, contexts)
    count = sum(len(corpus.questions) for corpus in collection.corpora)
    yield f"{collection.name}, {count} questions"
    for figure in FIGURES[collection.name]:
        yield from as_asked.rows(figure, collection)
        if rewritten.plain.by_group:
            yield next(rewritten.rows(replace(figure, name=f"{figure.name}, {REWRITTEN}", goals={}), collection))
