"""Helpers for tests of the admin: an operator's client, and rows of every kind."""

import secrets
from datetime import timedelta
from itertools import count

from django.contrib.auth.models import User
from django.utils import timezone

from mrpvm.learning import Experience
from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.turns.payloads import batch, payload
from sessions_app.layers import index_units
from sessions_app.models import (
    Alert,
    AlertCrossing,
    ApiKey,
    AuditEntry,
    ContextUnit,
    ConversationPoint,
    CountedTurns,
    DamagedValue,
    DatabaseVersion,
    Derivation,
    Experiment,
    ExplainabilityTurn,
    Forgetting,
    HiddenUnit,
    ImportedSpan,
    Invitation,
    KBRevision,
    KeptAnswer,
    KnowledgeBase,
    KnowledgeLayer,
    KnowledgeSource,
    LayerUnit,
    LoginLink,
    Membership,
    Message,
    ModelRoles,
    ModelUse,
    PackedLayer,
    PackedPart,
    PluginFailure,
    PluginStatistics,
    Project,
    QuarantinedChunk,
    QueuedTurn,
    RememberedText,
    Retention,
    SavedFilter,
    Session,
    SessionMemory,
    SourceArtifact,
    StorageSample,
    Suite,
    SuiteRun,
    TestCase,
    TestResult,
    Trial,
    TurnConditions,
    TurnCounts,
    TurnRating,
    TurnScore,
    UnitArtifact,
    UnitEvent,
)
from tests.layers.units import make_unit

HOSTILE = "<script>alert(1)</script>"
_numbers = count(1)


def add_rows_of_every_kind(how_many: int) -> None:
    """Create this number of sessions, each with a project, a base, a fork, a turn, a user and their related rows."""
    for number in [next(_numbers) for _ in range(how_many)]:
        project = Project.objects.create(name=f"{HOSTILE} {number}", slug=f"project-{number}")
        ModelRoles.objects.create(project=project, config={"roles": {"goal-fast": {"model": HOSTILE}}})
        ModelUse.objects.create(project=project, day=timezone.now().date(), model=HOSTILE)
        Retention.objects.create(project=project, days={"traces": 30}, removed={HOSTILE: number})
        AuditEntry.objects.create(
            project=project,
            kind="base.renamed",
            actor_kind="user",
            actor=HOSTILE,
            subject=HOSTILE,
            facts={"a": HOSTILE},
        )
        session = create_session(project, title=f"{HOSTILE} {number}")
        _add_knowledge(session.mounted_kb)
        _add_people(project, number)
        DamagedValue.objects.create(table="t", column="c", row_key=str(number), raw=HOSTILE.encode())
        DatabaseVersion.objects.create(version=f"1.{number}", latest_migration=HOSTILE)
        PluginFailure.objects.create(plugin_id="kb-x", event="kb-loaded", error=HOSTILE, session_id=session.session_id)
        KeptAnswer.objects.create(project=project, caller="key-1", key=HOSTILE, fingerprint="0" * 64)
        CountedTurns.objects.create(newest_turn=number)
        day = timezone.now().date() - timedelta(days=number)
        StorageSample.objects.create(day=day, kind="traces", byte_count=number)
        TurnCounts.objects.create(
            project=project, hour=timezone.now(), kb_id=HOSTILE, model=HOSTILE, agent=HOSTILE, turn_count=1,
            unanswered_count=0, failed_count=0, up_count=0, down_count=0, durations={}, tokens={},
        )  # fmt: skip
        row = PluginStatistics(project=project, plugin_type="kb-plugin", plugin_id=f"{HOSTILE} {number}")
        row.experience = Experience()
        row.save()
        _add_conversation(session)


def _add_knowledge(base: KnowledgeBase) -> None:
    KnowledgeBase.objects.create(project=base.project, name=f"{HOSTILE} fork", parent=base, head=base.head)
    layer = KnowledgeLayer.objects.create(parent=base.head, ancestry=[base.head_id])
    source = KnowledgeSource.objects.create(layer=layer, source_id="src-1", name=HOSTILE, content=HOSTILE, hash="0")
    index_units(layer, [make_unit("src-1::1", f"The pump {HOSTILE} is blue")], origin=source)
    stored = LayerUnit.objects.get(layer=layer)
    HiddenUnit.objects.create(layer=layer, unit=stored)
    Derivation.objects.create(layer=layer, unit=stored, origin_unit_id=HOSTILE)
    UnitArtifact.objects.create(plugin_id=HOSTILE, unit=stored, version=HOSTILE, content=b"0")
    SourceArtifact.objects.create(plugin_id=HOSTILE, source=source, name=HOSTILE, content=b"0")
    packed = PackedLayer.objects.create(layer=layer, version=HOSTILE)
    PackedPart.objects.create(packed=packed, kind=PackedPart.Kind.UNITS, key=0, content=b"0")
    KBRevision.objects.create(knowledge_base=base, revision=99, layer=layer, reason=HOSTILE)
    QuarantinedChunk.objects.create(
        origin=source, source_id="src-1", source_name=HOSTILE, chunk_index=0, text=HOSTILE, control_text=HOSTILE,
        message=HOSTILE, diagnostics=[HOSTILE],
    )  # fmt: skip


def _add_people(project: Project, number: int) -> None:
    user = User.objects.create_user(f"user-{number}")
    Membership.objects.create(project=project, user=user)
    ApiKey.objects.create(
        project=project, name=HOSTILE, prefix="mrp_abcdefgh", digest=f"secret-digest-key-{number}", created_by=user
    )
    Invitation.objects.create(
        project=project, note=HOSTILE, digest=f"secret-digest-invitation-{number}", created_by_name=HOSTILE,
        expires_at=timezone.now(),
    )  # fmt: skip
    LoginLink.objects.create(user=user, digest=f"secret-digest-link-{number}", expires_at=timezone.now())


def _add_conversation(session: Session) -> None:
    turn = ExplainabilityTurn.objects.create(
        session=session, turn_index=1, user_message=HOSTILE, error={"message": HOSTILE}, status="failed"
    )
    Message.objects.create(session=session, sequence=1, role="user", content=HOSTILE, turn=turn)
    TurnConditions.objects.create(project=session.project, digest=secrets.token_hex(32), content={"state": HOSTILE})
    TurnRating.objects.create(turn=turn, value="down", note=HOSTILE)
    TurnScore.objects.create(turn=turn, person=HOSTILE, value="down", note=HOSTILE)
    QueuedTurn.objects.create(project=session.project, turn=turn, added_by_name=HOSTILE)
    experiment = Experiment.objects.create(
        project=turn.session.project, session=turn.session, turn=turn, kind="trials", created_by_name=HOSTILE
    )
    Forgetting.objects.create(project=session.project, kind="text", work={"name": HOSTILE}, created_by_name=HOSTILE)
    trial = Trial.objects.create(experiment=experiment, position=1, turn=turn, answer=HOSTILE)
    saved = SavedFilter.objects.create(
        project=session.project, name=f"{turn.pk} {HOSTILE}"[:80], text=HOSTILE, created_by_name=HOSTILE
    )
    alert = Alert.objects.create(
        project=session.project, saved_filter=saved, limit_percent=5, window_minutes=60, least_turns=1, channel="hook",
        target="https://hooks.example/secret-digest-hook", created_by_name=HOSTILE,
    )  # fmt: skip
    AlertCrossing.objects.create(alert=alert, matched_count=1, turn_count=2, problem=HOSTILE)
    suite = Suite.objects.create(project=session.project, name=f"{HOSTILE} {turn.pk}", created_by_name=HOSTILE)
    test = TestCase.objects.create(suite=suite, position=1, name=HOSTILE, message=HOSTILE, tags=[HOSTILE], turn=turn)
    run = SuiteRun.objects.create(suite=suite, experiment=experiment, target={"base": HOSTILE})
    TestResult.objects.create(run=run, test=test, trial=trial, position=1, name=HOSTILE, failures=[HOSTILE])
    ImportedSpan.objects.create(
        project=session.project, turn=turn, trace_id="0" * 32, span_id=secrets.token_hex(8), span={"name": HOSTILE}
    )
    RememberedText.objects.create(session=session, content=HOSTILE)
    ConversationPoint.objects.create(session=session, sequence=1, conversation_hash="0" * 64)
    SessionMemory.objects.create(
        project=session.project, owner=session.session_id, record={"sections": [HOSTILE]}, expires_at=timezone.now()
    )
    value = make_unit("session::1", HOSTILE)
    ContextUnit.from_value(value, session=session, turn=turn, state="committed").save()
    UnitEvent.objects.create(session=session, turn=turn, unit_id="session::1", step="staged", text=HOSTILE)
    batch(turn, 0, [[0, "frame.opened", {"name": HOSTILE}]], [payload("exec-0", {"input": HOSTILE})]).save()
