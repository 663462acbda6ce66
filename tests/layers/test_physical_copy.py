"""Search over a chain of layers gives the ranks and scores of an index over a copy of its visible units."""

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from math import isclose, log

import pytest

from mrpvm.english.words.text import terms
from mrpvm.values import KnowledgeUnit
from sessions_app.layers import (
    EffectiveView,
    SessionKnowledge,
    create_layer,
    hide_units,
    index_units,
    remove_units,
    seal_layer,
)
from sessions_app.layers.lifecycle import drop_layer
from sessions_app.layers.units import restack_layer
from sessions_app.layers.upkeep import packing
from sessions_app.models import KnowledgeLayer, LayerUnit, PackedLayer
from tests.layers.units import make_unit
from tests.walks import SEEDS

pytestmark = pytest.mark.django_db

WORDS = (
    "pump",
    "valve",
    "seal",
    "rotor",
    "motor",
    "pipe",
    "filter",
    "gauge",
    "tank",
    "boiler",
    "sensor",
    "relay",
    "cable",
    "fuse",
    "panel",
    "switch",
)
KINDS = KnowledgeLayer.Kind


@dataclass
class Copied:
    """The units that a layer adds and removes, as plain Python data."""

    parent: "Copied | None"
    units: dict[int, KnowledgeUnit] = field(default_factory=dict)
    removed: set[int] = field(default_factory=set)

    def chain(self) -> "list[Copied]":
        return [self, *(self.parent.chain() if self.parent else [])]

    def stored(self) -> dict[int, KnowledgeUnit]:
        return {pk: unit for layer in self.chain() for pk, unit in layer.units.items()}

    def visible(self) -> dict[int, KnowledgeUnit]:
        removed = set().union(*(layer.removed for layer in self.chain()))
        by_hash: dict[str, tuple[int, KnowledgeUnit]] = {}
        for layer in self.chain():
            for pk, unit in sorted(layer.units.items()):
                if pk not in removed:
                    by_hash.setdefault(unit.hash, (pk, unit))
        return dict(by_hash.values())


@dataclass
class Stack:
    """A session's two layers in the database, and their copies."""

    draft: KnowledgeLayer
    journal: KnowledgeLayer
    draft_copy: Copied
    journal_copy: Copied


def frequencies(unit: KnowledgeUnit) -> Counter[str]:
    found: Counter[str] = Counter()
    for weight, text in ((1.5, unit.topic), (1.0, unit.claim), (0.6, unit.condition)):
        for term in terms(text or ""):
            found[term] += weight  # type: ignore[assignment]
    return found


def search_copy(units: Mapping[int, KnowledgeUnit], query: Mapping[str, float]) -> list[tuple[str, float]]:
    evidence = {unit.id: frequencies(unit) for unit in units.values() if unit.is_evidence}
    if not evidence:
        return []
    lengths = {name: sum(found.values()) for name, found in evidence.items()}
    average = sum(lengths.values()) / len(evidence)
    scores: Counter[str] = Counter()
    for term, weight in query.items():
        holders = [name for name, found in evidence.items() if term in found]
        idf = log((len(evidence) - len(holders) + 0.5) / (len(holders) + 0.5) + 1)
        for name in holders:
            tf = evidence[name][term]
            norm = 1.2 * (1 - 0.75 + 0.75 * lengths[name] / average)
            scores[name] += weight * idf * tf * 2.2 / (tf + norm)  # type: ignore[assignment]
    return sorted(scores.items(), key=lambda item: (-round(item[1], 9), item[0]))


class Walk:
    """Random actions of several sessions over one growing tree of layers."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.numbers = count()
        root = create_layer(KINDS.BASE, None)
        seal_layer(root)
        self.sealed: list[tuple[KnowledgeLayer, Copied]] = [(root, Copied(None))]
        self.stacks = [self.new_stack() for _ in range(2)]
        self.search_count = 0

    def new_stack(self) -> Stack:
        base, base_copy = self.random.choice(self.sealed)
        draft = create_layer(KINDS.DRAFT, base)
        draft_copy = Copied(base_copy)
        return Stack(draft, create_layer(KINDS.JOURNAL, draft), draft_copy, Copied(draft_copy))

    def new_units(self) -> list[KnowledgeUnit]:
        # Few words, short texts and unordered ids give equal hashes, equal scores and every kind of neighbour.
        return [
            make_unit(
                f"{self.random.randrange(1000):03}-{next(self.numbers)}",
                " ".join(self.random.choices(WORDS[: self.random.choice([3, 16])], k=self.random.randint(1, 3))),
                topic=self.random.choice(["", "", "", *WORDS[:2]]),
                condition=self.random.choice([None, None, *WORDS[:3]]),
                phase_scopes=self.random.choice([("kb-plugin",)] * 8 + [("gs-plugin",), ("kb-plugin", "frame")]),
            )
            for _ in range(self.random.randint(1, 5))
        ]

    def add(self, stack: Stack) -> None:
        layer, copied = self.random.choice([(stack.draft, stack.draft_copy), (stack.journal, stack.journal_copy)])
        keys = index_units(KnowledgeLayer.objects.get(pk=layer.pk), units := self.new_units())
        copied.units.update(zip(keys, units, strict=True))

    def hide(self, stack: Stack) -> None:
        inherited = sorted(set(stack.draft_copy.stored()) - set(stack.draft_copy.units))
        chosen = self.random.sample(inherited, min(len(inherited), self.random.randint(1, 6)))
        hide_units(KnowledgeLayer.objects.get(pk=stack.draft.pk), LayerUnit.objects.filter(pk__in=chosen))
        stack.draft_copy.removed.update(chosen)

    def remove(self, stack: Stack) -> None:
        layer, copied = self.random.choice([(stack.draft, stack.draft_copy), (stack.journal, stack.journal_copy)])
        chosen = self.random.sample(sorted(copied.units), min(len(copied.units), 2))
        remove_units(KnowledgeLayer.objects.get(pk=layer.pk), [copied.units.pop(pk).id for pk in chosen])

    def save(self, stack: Stack) -> None:
        seal_layer(stack.draft)
        seal_layer(stack.journal)
        tip = KnowledgeLayer.objects.get(pk=stack.journal.pk)
        self.sealed.append((tip, stack.journal_copy))
        stack.draft, stack.draft_copy = create_layer(KINDS.DRAFT, tip), Copied(stack.journal_copy)
        stack.journal, stack.journal_copy = create_layer(KINDS.JOURNAL, stack.draft), Copied(stack.draft_copy)

    def remount(self, stack: Stack) -> None:
        base, base_copy = self.random.choice(self.sealed)
        old, stack.draft, stack.draft_copy = stack.draft, create_layer(KINDS.DRAFT, base), Copied(base_copy)
        stack.journal_copy.parent = stack.draft_copy
        restack_layer(KnowledgeLayer.objects.get(pk=stack.journal.pk), stack.draft)
        drop_layer(old.pk)

    def pack(self, stack: Stack) -> None:
        layer, _ = self.random.choice(self.sealed)
        for pk in self.random.sample(layer.chain, (len(layer.chain) + 1) // 2):
            packing.pack_layer(pk)

    def open_session(self, stack: Stack) -> None:
        if len(self.stacks) < 8:
            self.stacks.append(self.new_stack())

    def step(self) -> None:
        action = self.random.choices(
            [self.add, self.hide, self.remove, self.save, self.remount, self.open_session, self.pack],
            [10, 3, 3, 2, 1, 1, 4],
        )[0]
        stack = self.random.choice(self.stacks)
        action(stack)
        self.check(stack)
        self.check(self.random.choice(self.stacks))

    def check(self, stack: Stack) -> None:
        top = KnowledgeLayer.objects.get(pk=stack.journal.pk)
        visible = stack.journal_copy.visible()
        assert top.unit_count == len(visible)
        assert top.evidence_count == sum(unit.is_evidence for unit in visible.values())
        found = SessionKnowledge(EffectiveView.of_layer(top))
        for _ in range(4):
            query = {word: self.random.choice([1.0, 0.3]) for word in self.random.sample(WORDS, 3)}
            stemmed = {terms(word)[0]: weight for word, weight in query.items()}
            limit = self.random.choice([1, 3, 10, 1000])
            hits, expected = found.search(stemmed, limit), search_copy(visible, stemmed)[:limit]
            self.search_count += 1
            assert [hit.unit.id for hit in hits] == [name for name, _ in expected]
            assert all(isclose(hit.score, score, abs_tol=1e-9) for hit, (_, score) in zip(hits, expected, strict=True))
            assert all(isclose(hit.score, sum(hit.term_scores.values()), abs_tol=1e-9) for hit in hits)


@pytest.mark.rule("DECISION-2", "DECISION-10", "PLUGIN-45")
@pytest.mark.parametrize("seed", SEEDS)
def test_search_equals_a_physical_copy(seed: int) -> None:
    walk = Walk(seed)
    for _ in range(80):
        walk.step()
    assert walk.search_count == 640
    assert PackedLayer.objects.filter(is_complete=True, unit_count__gt=0).count() >= 2
    assert max(layer.depth for layer in KnowledgeLayer.objects.all()) >= 4
