"""Helpers for tests of knowledge actions: a session that mounts a base, and a plugin that records its events."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from django.db.models import F
from django.test import TestCase

from mrpvm.contracts import CallContext, Descriptor, LifecycleEvent, PlannerHints, Retrieval, RetrieveInput
from mrpvm.english.words.text import terms
from mrpvm.values import KnowledgeUnit
from sessions_app.actions.knowledge.bases import add_source, free_source_id
from sessions_app.actions.knowledge.source_rows import NewSource
from sessions_app.actions.sessions.context_units import known_hashes
from sessions_app.layers import EffectiveView, SessionKnowledge, index_units, take_out_units
from sessions_app.layers.staged import OnBatch, unwatched
from sessions_app.models import (
    ContextUnit,
    KnowledgeBase,
    KnowledgeLayer,
    KnowledgeSource,
    Session,
    SessionEvent,
)
from tests.layers.units import make_unit


@dataclass
class ListeningRetriever:
    """A KB plugin that keeps every life-cycle event."""

    heard: list[LifecycleEvent] = field(default_factory=list)
    descriptor: Descriptor = Descriptor(  # noqa: RUF009 (frozen)
        id="kb-listening",
        type="kb-plugin",
        name="Listening",
        version="1",
        description="Keeps what it hears.",
        cost_class="cheap",
        planner_hints=PlannerHints(
            expected_latency_ms=1,
            expected_llm_calls=0,
            relative_cost=0,
            supported_acts=(),
            topic_tags=(),
            preferred_depth="shallow",
            fallback_role="default",
            confidence_when_matched=1,
        ),
    )

    def retrieve(self, request: RetrieveInput, context: CallContext) -> Retrieval:
        return Retrieval(status="success")

    def on_session_event(self, event: LifecycleEvent) -> Literal["accepted", "skipped"]:
        self.heard.append(event)
        return "accepted"


def add_text(
    base: KnowledgeBase, name: str, content: str, units: Sequence[KnowledgeUnit], *, source_id: str | None = None,
    replaces: bool = True, watch: OnBatch = unwatched, **fields: Any,
) -> KnowledgeSource:  # fmt: skip
    """Add a source to a base, under a free id of its name if none is given; `fields` are those of `NewSource`."""
    if source_id is None:
        head = KnowledgeLayer.objects.filter(headed_bases=base).first()
        source_id = free_source_id(head, name) if head else name
    new = NewSource(name=name, source_id=source_id, content=content, units=units, **fields)
    return add_source(base, new, replaces=replaces, watch=watch)


@contextmanager
def committing() -> Iterator[None]:
    """Run the `on_commit` callbacks at the end of the block, as a real commit does."""
    with TestCase.captureOnCommitCallbacks(execute=True):
        yield


def tell(session: Session, *claims: str) -> None:
    """Add units to the session's memory, as a turn's commit does."""
    units = [make_unit(f"session::{claim}", claim, source_id="session") for claim in claims]
    known = known_hashes(session, units)
    new = [unit for unit in units if unit.hash not in known]
    state = ContextUnit.State.COMMITTED
    ContextUnit.objects.bulk_create(ContextUnit.from_value(unit, session=session, state=state) for unit in new)
    Session.objects.filter(pk=session.pk).update(unit_count=F("unit_count") + len(new))
    index_units(KnowledgeLayer.objects.get(pk=Session.objects.get(pk=session.pk).journal_id), new)


def forget(session: Session, claim: str) -> None:
    """Remove a unit from the session's memory, as a turn does at the limit."""
    known = Session.objects.get(pk=session.pk)
    unit = known.context_units.get(claim=claim)
    take_out_units(known, [unit.unit_id])
    unit.delete()
    Session.objects.filter(pk=session.pk).update(unit_count=F("unit_count") - 1)


def stage(session: Session, source_id: str, *claims: str) -> None:
    """Stage a source in the session's draft."""
    draft = KnowledgeLayer.objects.get(pk=Session.objects.get(pk=session.pk).draft_id)
    source = KnowledgeSource.objects.create(layer=draft, source_id=source_id, name=source_id, content="", hash="")
    index_units(draft, [make_unit(f"{source_id}::{claim}", claim) for claim in claims], origin=source)
    draft.own_source_count += 1
    draft.source_count += 1
    draft.save(update_fields=["own_source_count", "source_count"])


def seen(session: Session, words: str) -> list[tuple[str, str]]:
    """Return the claim and the store of each unit that the session finds, sorted."""
    knowledge = SessionKnowledge.of(Session.objects.get(pk=session.pk))
    hits = knowledge.search(dict.fromkeys(terms(words), 1.0), 100)
    return sorted((hit.unit.text, hit.store) for hit in hits)


def held(base: KnowledgeBase, words: str) -> list[str]:
    """Return the claims that a search of the base's head finds, sorted."""
    head = KnowledgeBase.objects.select_related("head").get(pk=base.pk).head
    hits = SessionKnowledge(EffectiveView.of_layer(head)).search(dict.fromkeys(terms(words), 1.0), 100)
    return sorted(hit.unit.text for hit in hits)


def event_kinds(session: Session, after: int = 0) -> list[str]:
    return list(SessionEvent.objects.filter(session=session, sequence__gt=after).values_list("kind", flat=True))


def last_payload(session: Session, kind: str) -> dict[str, Any]:
    event = SessionEvent.objects.filter(session=session, kind=kind).order_by("-sequence").first()
    assert event is not None
    return event.payload
