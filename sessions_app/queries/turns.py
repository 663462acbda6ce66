"""The registry of turns, their graphs and payloads."""

import json
import zlib
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from mrpvm.errors import NotFound
from mrpvm.trace.graph import Graph, Record, fold_graph
from mrpvm.trace.record import execution_trace
from sessions_app.models import ExplainabilityTurn, Project, Session, UnitEvent

INLINE_BYTES = 65_536


def turns(session: Session) -> QuerySet[ExplainabilityTurn]:
    """Give the registry's entries without their documents, oldest first [UI-1]."""
    return session.turns.defer("response_document").order_by("turn_index")


def turn(project: Project, session_id: str, request_id: str) -> ExplainabilityTurn:
    """Give one turn with its session.

    Raises:
        NotFound: TURN_NOT_FOUND.
    """
    found = (
        ExplainabilityTurn.objects.filter(
            request_id=request_id,
            session__session_id=session_id,
            session__project=project,
            session__deleted_at__isnull=True,
        )
        .select_related("session__mounted_kb", "session__draft", "session__project")
        .first()
    )
    if found is None:
        raise NotFound(f"There is no turn '{request_id}' in this session.", code="TURN_NOT_FOUND")
    return found


def records(turn: ExplainabilityTurn) -> list[Record]:
    """Give the turn's machine events as far as they are stored."""
    batches = turn.event_batches.order_by("first_sequence").values_list("events", flat=True)
    return [record for batch in batches for record in batch]


def graph(turn: ExplainabilityTurn) -> Graph:
    """Give the structure of the turn's graph, live or finished [G-8]."""
    return fold_graph(records(turn))


def trace(turn: ExplainabilityTurn) -> dict[str, Any]:
    """Give the execution trace [G-1]."""
    return execution_trace(records(turn))


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """A node's payload [G-13]; `text` is its JSON, `size` its bytes, `cut_bytes` what a limit took away."""

    ref: str
    text: str
    size: int
    cut_bytes: int
    is_pruned: bool = False

    @property
    def payload(self) -> dict[str, Any] | None:
        """Give the payload as data; None when it was cut and is no longer whole JSON."""
        return json.loads(self.text) if not self.cut_bytes and not self.is_pruned else None


def detail(turn: ExplainabilityTurn, ref: str) -> Detail:
    """Give the payload behind one node: stored, or for control nodes and running ones taken from the events.

    Raises:
        NotFound: DETAIL_NOT_FOUND, the turn has no such node.
    """
    row = turn.details.filter(ref=ref).first()
    if row is not None:
        text = "" if row.pruned_at else zlib.decompress(bytes(row.body)).decode("utf-8", "replace")
        return Detail(ref=ref, text=text, size=row.size, cut_bytes=row.cut_bytes, is_pruned=row.pruned_at is not None)
    meta: dict[str, Any] = {}
    for _, _, data in records(turn):
        if ref in _own_ids(data):
            meta.update(data)
    if not meta:
        raise NotFound(f"The turn has no node '{ref}'.", code="DETAIL_NOT_FOUND")
    text = json.dumps({"input": None, "output": None, "error": meta.pop("error", None), "meta": meta})
    return Detail(ref=ref, text=text, size=len(text), cut_bytes=0)


_ID_KEYS = ("failureId", "candidateId", "resultId", "branchId", "policyId", "seedId", "executionId", "frameId")


def _own_ids(data: Any) -> list[str]:
    """Give the id an event is about: the most specific it carries, a branch's failure naming both."""
    own = next((data[key] for key in _ID_KEYS if data.get(key)), None)
    return [own] if own else []


def unit_events(turn: ExplainabilityTurn) -> QuerySet[UnitEvent]:
    """Give the ledger rows of the turn in order."""
    return turn.unit_events.order_by("id")
