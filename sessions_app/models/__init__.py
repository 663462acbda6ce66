"""The models, each in a module of its own name."""

from sessions_app.models.damage import DamagedValue
from sessions_app.models.database_version import DatabaseVersion
from sessions_app.models.experiments.experiment import Experiment, Trial
from sessions_app.models.experiments.forgetting import Forgetting
from sessions_app.models.experiments.suite import Suite, SuiteRun, TestCase, TestResult
from sessions_app.models.knowledge.bases import (
    HiddenUnit,
    KnowledgeBase,
    KnowledgeLayer,
    KnowledgeSource,
    LayerUnit,
    Posting,
)
from sessions_app.models.knowledge.derivation import Derivation
from sessions_app.models.knowledge.kb_mount import KBMount
from sessions_app.models.knowledge.kb_revision import KBRevision
from sessions_app.models.knowledge.packed_layer import PackedLayer, PackedPart
from sessions_app.models.knowledge.quarantine import QuarantinedChunk
from sessions_app.models.knowledge.source_artifact import SourceArtifact
from sessions_app.models.knowledge.unit_artifact import UnitArtifact
from sessions_app.models.sessions.context_unit import ContextUnit, UnitEvent
from sessions_app.models.sessions.conversation_point import ConversationPoint
from sessions_app.models.sessions.frozen_content import FrozenContent
from sessions_app.models.sessions.message import Message
from sessions_app.models.sessions.remembered_text import RememberedText
from sessions_app.models.sessions.session import Session, SessionEvent
from sessions_app.models.sessions.session_memory import SessionMemory
from sessions_app.models.settings.audit_entry import AuditEntry, AuditKind
from sessions_app.models.settings.invitation import Invitation
from sessions_app.models.settings.kept_answer import KeptAnswer
from sessions_app.models.settings.model_roles import ModelRoles
from sessions_app.models.settings.plugin_failure import PluginFailure
from sessions_app.models.settings.plugin_statistics import PluginStatistics
from sessions_app.models.settings.project import ApiKey, LoginLink, Membership, Project, Role
from sessions_app.models.settings.quota import ModelUse, QuotaKind
from sessions_app.models.settings.retention import Retention, RetentionKind
from sessions_app.models.settings.storage_sample import StorageKind, StorageSample
from sessions_app.models.turns.alert import Alert, AlertCrossing
from sessions_app.models.turns.explainability_turn import ExplainabilityTurn, TurnEvents
from sessions_app.models.turns.imported_span import ImportedSpan
from sessions_app.models.turns.queued_turn import QueuedTurn
from sessions_app.models.turns.saved_filter import SavedFilter
from sessions_app.models.turns.turn_conditions import TurnConditions
from sessions_app.models.turns.turn_counts import CountedTurns, TurnCounts
from sessions_app.models.turns.turn_rating import TurnRating
from sessions_app.models.turns.turn_score import TurnScore

__all__ = [
    "Alert",
    "AlertCrossing",
    "ApiKey",
    "AuditEntry",
    "AuditKind",
    "ContextUnit",
    "ConversationPoint",
    "CountedTurns",
    "DamagedValue",
    "DatabaseVersion",
    "Derivation",
    "Experiment",
    "ExplainabilityTurn",
    "Forgetting",
    "FrozenContent",
    "HiddenUnit",
    "ImportedSpan",
    "Invitation",
    "KBMount",
    "KBRevision",
    "KeptAnswer",
    "KnowledgeBase",
    "KnowledgeLayer",
    "KnowledgeSource",
    "LayerUnit",
    "LoginLink",
    "Membership",
    "Message",
    "ModelRoles",
    "ModelUse",
    "PackedLayer",
    "PackedPart",
    "PluginFailure",
    "PluginStatistics",
    "Posting",
    "Project",
    "QuarantinedChunk",
    "QueuedTurn",
    "QuotaKind",
    "RememberedText",
    "Retention",
    "RetentionKind",
    "Role",
    "SavedFilter",
    "Session",
    "SessionEvent",
    "SessionMemory",
    "SourceArtifact",
    "StorageKind",
    "StorageSample",
    "Suite",
    "SuiteRun",
    "TestCase",
    "TestResult",
    "Trial",
    "TurnConditions",
    "TurnCounts",
    "TurnEvents",
    "TurnRating",
    "TurnScore",
    "UnitArtifact",
    "UnitEvent",
]
