"""After any sequence of actions, a session finds its own units as its own."""

import random
from dataclasses import dataclass, field

import pytest

from sessions_app.actions.knowledge.drafts import remove_source, stage_source
from sessions_app.actions.knowledge.forks import save_session_kb
from sessions_app.actions.knowledge.mounts import mount_base
from sessions_app.layers.upkeep.compaction import compact_base
from sessions_app.models import KnowledgeBase, KnowledgeLayer, KnowledgeSource, Session
from sessions_app.queries.knowledge.bases import told_units
from tests.actions.knowledge_scene import held, seen, tell
from tests.actions.test_own_units import fresh, load, now, source
from tests.walks import SEEDS

CLAIMS = [f"pump {name}" for name in ("a1", "b2", "c3", "d4", "e5", "f6")]
LOADS, SOURCES = ("ctx-1", "ctx-2"), ("src-1", "src-2", "src-3")
ACTIONS = ["load"] * 2 + ["tell"] + ["stage"] * 3 + ["remove"] + ["save"] * 3 + ["choose"] * 2 + ["mount", "fold"]


@dataclass
class Model:
    """The expected results: the session's units by load, and the units of two bases by source.

    A unit that is both in a source and in the session's memory counts as the session's.
    """

    known: dict[str, set[str]] = field(default_factory=dict)
    draft: dict[str, set[str]] = field(default_factory=dict)
    bases: list[dict[str, set[str]]] = field(default_factory=lambda: [{}, {}])
    mounted: int = 0

    @property
    def own(self) -> set[str]:
        return {claim for claims in self.known.values() for claim in claims}

    def learn(self, source_id: str, claims: set[str]) -> None:
        self.known[source_id] = claims - {claim for name, others in self.known.items() if name != source_id
                                          for claim in others}  # fmt: skip


@pytest.mark.rule("BASE-9")
@pytest.mark.usefixtures("any_size")
@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_a_session_does_it_finds_what_it_knows(
    session: Session, base: KnowledgeBase, other: KnowledgeBase, seed: int
) -> None:
    chance, model, bases = random.Random(seed), Model(), [base, other]
    for number in range(30):
        action = chance.choice(ACTIONS)
        claims = set(chance.sample(CLAIMS, chance.randint(1, 3)))
        if action == "load":
            source_id = chance.choice(LOADS)
            load(session, *sorted(claims), source_id=source_id)
            model.learn(source_id, claims)
        elif action == "tell":
            tell(session, *sorted(claims))
            model.learn("told", claims | model.known.get("told", set()))
        elif action == "stage":
            source_id = chance.choice(SOURCES)
            stage_source(fresh(session), source(source_id, *sorted(claims)))
            model.draft[source_id] = claims
        elif action == "remove" and (listed := sorted(model.draft.keys() - {"own"})):
            source_id = chance.choice(listed)
            remove_source(fresh(session), source_id)
            del model.draft[source_id]
        elif action == "save":
            save_session_kb(fresh(session))
            model.draft["own"] = model.own
            model.bases[model.mounted] = dict(model.draft)
        elif action == "choose" and (told := list(told_units(fresh(session)))):
            chosen = chance.sample(told, chance.randint(1, len(told)))
            save_session_kb(fresh(session), conversation_unit_ids=[unit.unit_id for unit in chosen])
            model.draft["own"] = model.draft.get("own", set()) | {unit.claim for unit in chosen}
            model.bases[model.mounted] = dict(model.draft)
        elif action == "mount":
            model.mounted = 1 - model.mounted
            mount_base(session, bases[model.mounted], reason="load-api", discard_draft=True)
            model.draft = dict(model.bases[model.mounted])
        elif action == "fold":
            compact_base(now(chance.choice(bases)))
        check(session, bases, model, f"{seed}: step {number}, {action}")


def check(session: Session, bases: list[KnowledgeBase], model: Model, where: str) -> None:
    sources = {claim for name, claims in model.draft.items() if name != "own" for claim in claims}
    hits = seen(session, "pump")
    assert [claim for claim, _ in hits] == sorted(sources | model.own), where
    assert {claim for claim, store in hits if store == "session"} == model.own, where  #
    assert fresh(session).unit_count == len(model.own), where
    for target, content in zip(bases, model.bases, strict=True):
        assert held(target, "pump") == sorted({claim for claims in content.values() for claim in claims}), where
        head = now(target).head
        assert head.unit_count == len(held(target, "pump")), where
        assert head.source_count == len(content.keys() - {"own"}), where
    journal = KnowledgeLayer.objects.get(pk=fresh(session).journal_id)
    assert journal.unit_count == len(hits), where
    assert not KnowledgeSource.objects.filter(kind="source", source_id__startswith="src-journal").exists()
