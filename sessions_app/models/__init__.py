"""The rows behind the product: one noun a module."""

from sessions_app.models.context_unit import ContextUnit, UnitEvent
from sessions_app.models.conversation_point import ConversationPoint
from sessions_app.models.damage import DamagedValue
from sessions_app.models.database_version import DatabaseVersion
from sessions_app.models.derivation import Derivation
from sessions_app.models.explainability_turn import ExplainabilityTurn, TurnEvents
from sessions_app.models.frozen_content import FrozenContent
from sessions_app.models.kb_mount import KBMount
from sessions_app.models.kb_revision import KBRevision
from sessions_app.models.knowledge import (
    HiddenUnit,
    KnowledgeBase,
    KnowledgeLayer,
    KnowledgeSource,
    LayerUnit,
    Posting,
)
from sessions_app.models.message import Message
from sessions_app.models.model_roles import ModelRoles
from sessions_app.models.packed_layer import PACKED_FROM, PackedLayer, PackedPart
from sessions_app.models.plugin_failure import PluginFailure
from sessions_app.models.plugin_statistics import PluginStatistics
from sessions_app.models.project import ApiKey, LoginLink, Membership, Project, Role
from sessions_app.models.quarantine import QuarantinedChunk
from sessions_app.models.remembered_text import RememberedText
from sessions_app.models.session import Session, SessionEvent
from sessions_app.models.session_memory import SessionMemory
from sessions_app.models.source_artifact import SourceArtifact
from sessions_app.models.turn_rating import TurnRating
from sessions_app.models.unit_artifact import UnitArtifact

__all__ = [
    "PACKED_FROM",
    "ApiKey",
    "ContextUnit",
    "ConversationPoint",
    "DamagedValue",
    "DatabaseVersion",
    "Derivation",
    "ExplainabilityTurn",
    "FrozenContent",
    "HiddenUnit",
    "KBMount",
    "KBRevision",
    "KnowledgeBase",
    "KnowledgeLayer",
    "KnowledgeSource",
    "LayerUnit",
    "LoginLink",
    "Membership",
    "Message",
    "ModelRoles",
    "PackedLayer",
    "PackedPart",
    "PluginFailure",
    "PluginStatistics",
    "Posting",
    "Project",
    "QuarantinedChunk",
    "RememberedText",
    "Role",
    "Session",
    "SessionEvent",
    "SessionMemory",
    "SourceArtifact",
    "TurnEvents",
    "TurnRating",
    "UnitArtifact",
    "UnitEvent",
]
