"""The figures of every collection, beside plain BM25 of the same run and what they should reach."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.retrieval.collections import Collection, read_collections
from bench.retrieval.product import opened, ranked, stored
from bench.retrieval.scores import PlainBM25, Tally
from mrpvm.contracts import KBRetriever
from mrpvm.knowledge.embedding.encoder import installed_encoder
from mrpvm.plugins.kb_retrievers.balanced import BalancedKBRetriever
from mrpvm.plugins.kb_retrievers.fast import FastKBRetriever

WITHOUT = "balanced, words"
PLUGINS: Mapping[str, KBRetriever] = {
    "kb-fast": FastKBRetriever(),
    WITHOUT: BalancedKBRetriever(encoder=lambda: None),
    "kb-balanced": BalancedKBRetriever(),
}
NAMES = ("memory", "passages", "personal", "cranfield", "cisi")


@dataclass(frozen=True, slots=True)
class Figure:
    """One number: how it is read off a tally, and what each plugin should reach."""

    name: str
    read: Callable[[Tally, Collection], float]
    least: Mapping[str, float] = field(default_factory=dict)


FIGURES: Mapping[str, tuple[Figure, ...]] = {
    "memory": (
        Figure("R@10", lambda tally, of: tally.mean("R@10", of.counted), {"kb-fast": 0.76, "kb-balanced": 0.78}),
        Figure("MRR", lambda tally, of: tally.mean("MRR", of.counted), {"kb-balanced": 0.60}),
        Figure("multi-hop R@10", lambda tally, of: tally.mean("R@10", {"1"}), {"kb-balanced": 0.50}),
    ),
    "passages": (
        Figure("macro nDCG@10", lambda tally, of: tally.macro("nDCG@10"), {"kb-fast": 0.61, "kb-balanced": 0.71}),
    ),
    "personal": (Figure("nDCG@3", lambda tally, of: tally.mean("nDCG@3"), {"kb-balanced": 0.70}),),
    "cranfield": (Figure("nDCG@10", lambda tally, of: tally.mean("nDCG@10"), {"kb-balanced": 0.43}),),
    "cisi": (Figure("nDCG@10", lambda tally, of: tally.mean("nDCG@10"), {"kb-balanced": 0.45}),),
}


def report(directory: Path, only: str | None = None) -> Iterator[str]:
    """Give the lines of the report as they are measured."""
    yield f"retrieval over {directory.name}: plain BM25 and the product's plugins"
    encoder = installed_encoder()
    yield f"kb-balanced by {encoder.name if encoder else 'words alone: the embedding extra is not installed'}"
    yield f"{'':32}{'plain':>8}" + "".join(f"{name:>16}" for name in PLUGINS)
    seen: set[str] = set()
    for collection in read_collections(directory):
        seen.add(collection.name)
        if only in (None, collection.name):
            yield from _measured(collection)
    for name in NAMES:
        if name not in seen and only in (None, name):
            yield f"{name}: skipped, the directory holds no such collection"


def _measured(collection: Collection) -> Iterator[str]:
    plain, tallies = Tally(), {name: Tally() for name in PLUGINS}
    for corpus in collection.corpora:
        head, baseline = stored(corpus), PlainBM25(corpus.plain)
        contexts = {name: opened(head, plugin.descriptor.id) for name, plugin in PLUGINS.items()}
        for question in corpus.questions:
            plain.add(question.group, baseline.ranked(question.text), question.gold)
            for name, plugin in PLUGINS.items():
                tallies[name].add(question.group, ranked(plugin, question, contexts[name]), question.gold)
    count = sum(len(corpus.questions) for corpus in collection.corpora)
    yield f"{collection.name}, {count} questions"
    for figure in FIGURES[collection.name]:
        row = f"  {figure.name:30}{figure.read(plain, collection):8.3f}"
        for name, tally in tallies.items():
            value = figure.read(tally, collection)
            least = figure.least.get(name)
            verdict = "" if least is None else f" {'>=' if value >= least else '<'} {least:.2f}"
            row += f"{value:9.3f}{verdict:7}"
        yield row.rstrip()
