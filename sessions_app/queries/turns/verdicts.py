"""What a turn's verdict is made from, read for one turn or for many of one session."""

from collections.abc import Collection, Sequence

from mrpvm.trace.events import Event
from mrpvm.trace.verdict import MountedBase, Verdict, VerdictInput, verdict_of
from sessions_app.models import ExplainabilityTurn, KBMount, KnowledgeBase
from sessions_app.queries.turns.outcomes import outcome


def verdict(turn: ExplainabilityTurn, events: Sequence[Event]) -> Verdict:
    """Return the line that says how the turn ended and what decided it; one query."""
    return verdict_of(recorded(turn, events, mounted_bases([turn])[turn.pk]))


def recorded(turn: ExplainabilityTurn, events: Sequence[Event], base: MountedBase | None) -> VerdictInput:
    """Return what the turn's verdict is made from."""
    return VerdictInput(
        kind=turn.kind,
        status=turn.status,
        outcome=outcome(turn),
        basis=turn.answer_basis,
        message=turn.user_message,
        error=turn.error,
        groups=tuple((turn.response_document or {}).get("groups", ())),
        report=turn.context_report or {},
        events=events,
        base=base,
    )


def mounted_bases(turns: Collection[ExplainabilityTurn]) -> dict[int, MountedBase | None]:
    """Return what each turn's session had mounted when the turn began, under the turn's key; one query."""
    rows = KBMount.objects.filter(session__in={turn.session_id for turn in turns}).order_by("id")
    mounts = list(
        rows.values_list(
            "session_id", "mounted_at", "knowledge_base__kb_id", "knowledge_base__name", "revision", "layer__unit_count"
        )
    )
    bases_by_turn: dict[int, MountedBase | None] = {}
    for turn in turns:
        seen = [row for row in mounts if row[0] == turn.session_id and row[1] <= turn.created_at]
        bases_by_turn[turn.pk] = _tried_base(turn) or (MountedBase(*seen[-1][2:]) if seen else None)
    return bases_by_turn


def _tried_base(turn: ExplainabilityTurn) -> MountedBase | None:
    """Return the base that a trial mounted in place of the recorded one; None where it mounted no other."""
    changes = turn.trial.changes if turn.is_trial else {}
    if not changes.keys() & {"base", "draft"}:
        return None
    bases = KnowledgeBase.objects.filter(project_id=turn.session.project_id).select_related("head")
    if "draft" in changes:
        base, note = bases.filter(mounted_in__session_id=changes["draft"]).first(), ", as a save would make it"
    else:
        base, note = bases.filter(kb_id=changes["base"]).first(), ""
    if base is None:
        return None
    revision = changes.get("revision") or base.revision
    kept = base.revisions.filter(revision=revision).select_related("layer").first()
    unit_count = kept.layer.unit_count if kept is not None else base.head.unit_count
    return MountedBase(kb_id=base.kb_id, name=f"{base.name}{note}", revision=revision, unit_count=unit_count)
