"""Knowledge bases indexed by an earlier version, and their comparison with a new index."""

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from math import isclose
from typing import Any

import pytest

from mrpvm.english.sentences.dialogue import UTTERANCE
from mrpvm.english.words import text
from mrpvm.english.words.text import terms
from mrpvm.errors import Conflict
from mrpvm.knowledge import indexing
from mrpvm.knowledge.indexing import index_entry
from mrpvm.values import KnowledgeUnit
from sessions_app.actions.knowledge.forks import fork_base, fork_session_kb, save_session_kb
from sessions_app.actions.knowledge.mounts import mount_base
from sessions_app.actions.sessions.session import create_session
from sessions_app.layers import EffectiveView, SessionKnowledge, create_layer, index_units
from sessions_app.layers.lifecycle import drop_layer
from sessions_app.layers.retrieval.chains import resolve_chain
from sessions_app.models import (
    KnowledgeBase,
    KnowledgeLayer,
    LayerUnit,
    Posting,
    Session,
)
from tests.actions.knowledge_scene import add_text, stage, tell
from tests.layers.units import make_unit

WORDS = ("pumps", "valves", "sealing", "rotors", "motor", "of the pipes", "well-sealed", "Ann")
ASKED = ("pumps", "valve", "sealed", "rotor", "motors", "ann", "the")
OLD = "an-earlier-version"
Kind = KnowledgeLayer.Kind
type Hit = tuple[str, float]


@contextmanager
def earlier_version() -> Iterator[None]:
    """Index as an earlier version: words are cut to three letters, stop words are kept, compounds are not split."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "stem", lambda word: word[:3])
        patch.setattr(text, "_content_words", text.words)
        patch.setattr(indexing, "INDEX_VERSION", OLD)
        text.terms.cache_clear()
        try:
            yield
        finally:
            text.terms.cache_clear()


class Life:
    """Random changes that two sessions make to a base and its forks, with utterances, hidden and replaced units."""

    def __init__(self, seed: int, base: KnowledgeBase) -> None:
        self.random, self.number = random.Random(seed), 0
        self.bases = [base]
        self.sessions = [create_session(base.project, base=base) for _ in range(2)]

    def live(self, steps: int) -> None:
        for _ in range(steps):
            self.random.choice([self.add, self.add, self.say, self.stage, self.tell, self.save, self.fork, self.move])()

    def claims(self, count: int) -> list[str]:
        return [" ".join(self.random.choices(WORDS, k=self.random.randint(1, 4))) for _ in range(count)]

    def base(self) -> KnowledgeBase:
        return KnowledgeBase.objects.get(pk=self.random.choice(self.bases).pk)

    def session(self) -> Session:
        return Session.objects.get(pk=self.random.choice(self.sessions).pk)

    def name(self) -> str:
        self.number += 1
        return f"{self.random.randrange(100):02}-{self.number}"

    def add(self) -> None:
        source = f"src-{self.random.randrange(4)}"  # often an existing source, which is replaced
        units = [make_unit(f"{source}::{self.name()}", claim) for claim in self.claims(self.random.randint(1, 9))]
        add_text(self.base(), source, "", units, source_id=source)

    def say(self) -> None:
        talk = f"talk-{self.name()}"
        units = [
            make_unit(f"{talk}-{place}", f"{claim} {talk} {place}", topic=self.random.choice(("Ann", "Ben")),
                      unit_type=UTTERANCE, source_id=talk, chunk_id=talk, unit_index=place)
            for place, claim in enumerate(self.claims(6))
        ]  # fmt: skip
        add_text(self.base(), talk, "", units, source_id=talk)

    def stage(self) -> None:
        stage(self.session(), f"staged-{self.name()}", *dict.fromkeys(self.claims(3)))

    def tell(self) -> None:
        tell(self.session(), *dict.fromkeys(self.claims(2)))

    def save(self) -> None:
        try:
            save_session_kb(self.session())
        except Conflict:
            self.move()

    def fork(self) -> None:
        if len(self.bases) < 4:
            self.bases.append(fork_base(self.base()) if self.random.random() < 0.5 else fork_session_kb(self.session()))

    def move(self) -> None:
        mount_base(self.session(), self.base(), reason="load-api", discard_draft=True)

    def tops(self) -> list[KnowledgeLayer]:
        """Return the top layer of each chain that can be searched."""
        heads = KnowledgeBase.objects.values_list("head_id", flat=True)
        journals = Session.objects.values_list("journal_id", flat=True)
        return list(KnowledgeLayer.objects.filter(pk__in=[*heads, *journals]).order_by("pk"))


def visible(layer: KnowledgeLayer) -> list[LayerUnit]:
    hidden = resolve_chain(layer.chain).hidden
    rows = LayerUnit.objects.filter(layer_id__in=layer.chain).order_by("pk")
    return [row for row in rows if row.pk not in hidden]


def answers(layer: KnowledgeLayer) -> list[list[Hit]]:
    found = SessionKnowledge(EffectiveView.of_layer(layer))
    asked = [({word: 1.0}, 3) for word in ASKED] + [(dict.fromkeys(ASKED, 1.0), 500), ({"pump": 1.0, "ann": 0.5}, 500)]
    return [
        [(hit.unit.id, hit.score) for hit in found.search(_stemmed(words), limit)]
        for words, limit in asked
    ]  # fmt: skip


def _stemmed(words: dict[str, float]) -> dict[str, float]:
    return {term: weight for word, weight in words.items() for term in terms(word)}


def of_a_copy(layer: KnowledgeLayer) -> list[list[Hit]]:
    """Return the search results of a new layer that holds the units visible in this one."""
    units: dict[str, KnowledgeUnit] = {row.unit_id: row.to_value() for row in visible(layer)}
    copied = create_layer(Kind.BASE, None)
    index_units(copied, list(units.values()))
    found = answers(KnowledgeLayer.objects.get(pk=copied.pk))
    drop_layer(copied.pk)
    return found


def same(left: list[list[Hit]], right: list[list[Hit]]) -> bool:
    return [[name for name, _ in hits] for hits in left] == [[name for name, _ in hits] for hits in right] and all(
        isclose(one, other, abs_tol=1e-9)
        for hits, others in zip(left, right, strict=True)
        for (_, one), (_, other) in zip(hits, others, strict=True)
    )


def postings_of(layer: KnowledgeLayer) -> Counter[Any]:
    """Return the postings that a search of the layer reads."""
    rows = Posting.objects.filter(layer_id=layer.postings_layer_id or layer.pk)
    return Counter(rows.values_list("unit_id", "term", "frequency", "length"))


def expected_postings(layer: KnowledgeLayer) -> Counter[Any]:
    entries = [(row, index_entry(row.to_value())) for row in layer.units.all()]
    return Counter((row.pk, term, count, row.length) for row, entry in entries for term, count in entry.postings)


def check_that_nothing_is_mixed() -> None:
    """Assert that each layer's index has one version, and that its counts equal those of its visible units."""
    for layer in KnowledgeLayer.objects.exclude(kind__in=(Kind.INDEX, Kind.STAGED)):  # are never searched
        if layer.index_version == OLD:
            with earlier_version():
                assert postings_of(layer) == expected_postings(layer)
        else:
            assert postings_of(layer) == expected_postings(layer)
        if layer.kind == Kind.REMOVED:  # shows no units by itself
            continue
        seen = [row for row in visible(layer) if row.is_evidence]
        assert (layer.evidence_count, layer.term_count) == (len(seen), sum(row.length for row in seen))
