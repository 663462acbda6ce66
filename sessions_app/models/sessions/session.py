"""A conversation and the numbered events that tell browsers what happened to it."""

import hashlib
from datetime import datetime, timedelta
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from sessions_app.identifiers import new_session_id
from sessions_app.models.damage import StoredJSONField
from sessions_app.models.fields import IdField
from sessions_app.models.knowledge.bases import KnowledgeBase, KnowledgeLayer
from sessions_app.models.redacted import RedactedCharField, RedactedJSONField
from sessions_app.models.sessions.frozen_content import FrozenContent
from sessions_app.models.settings.project import ApiKey, Grounding, Project


class ForkReason(models.TextChoices):
    """Why a session began with the messages of another; empty where it did not."""

    EDITED = "edited", "A message was edited or answered again"
    EXPIRED = "expired", "The other had expired"


def expiry_after(activity: datetime) -> datetime | None:
    """Return when a session expires that was last active then; None without a time to live."""
    minutes = settings.MRPVM_SESSION_IDLE_TTL_MINUTES
    return activity + timedelta(minutes=minutes) if minutes else None


class Session(models.Model):
    """The unit of conversation.

    The `*_sequence` columns count what was ever appended and never go back, so that a number is never used twice.
    An expired or imported session is an archive: it takes no more messages.
    """

    session_id = IdField(
        max_length=128,
        default=new_session_id,
        help_text="Id in addresses and requests: the server's own, or one that a client chose.",
    )
    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False, related_name="sessions")
    is_client_named = models.BooleanField(default=False, help_text="Whether a client chose the id.")
    title = RedactedCharField(
        max_length=200,
        null=True,
        blank=True,
        help_text="Chosen by a member or client; empty: the first message is shown.",
    )
    first_message = RedactedCharField(
        max_length=60, default="", blank=True, help_text="Beginning of the first message."
    )
    created_at = models.DateTimeField(default=timezone.now)
    started_with = models.ForeignKey(
        ApiKey,
        on_delete=models.SET_NULL,
        db_index=False,
        null=True,
        blank=True,
        related_name="+",
        help_text="The API key whose request started it; empty: a member or the server did.",
    )
    last_activity_at = models.DateTimeField(default=timezone.now, help_text="When it last had a turn or a change.")
    expires_at = models.DateTimeField(
        null=True, blank=True, help_text="When it expires if nothing happens until then; empty: never."
    )
    expired_at = models.DateTimeField(null=True, blank=True, help_text="When it was found expired.")
    deleted_at = models.DateTimeField(
        null=True, blank=True, help_text="Set when deleted; the session can be restored for some minutes."
    )
    imported_at = models.DateTimeField(
        null=True, blank=True, help_text="Set when it came in a bundle: it is read-only."
    )

    preferred_planner_plugin = models.CharField(
        max_length=100, default="planner-default", help_text="Tried first unless a request names another one."
    )
    preferred_seed_detector_plugin = models.CharField(  # noqa: DJ001
        max_length=100,
        null=True,
        blank=True,
        help_text="Tried first; empty: the planner chooses.",
    )
    preferred_kb_plugin = models.CharField(  # noqa: DJ001
        max_length=100,
        null=True,
        blank=True,
        help_text="Tried first; empty: the planner chooses.",
    )
    preferred_goal_solver_plugin = models.CharField(  # noqa: DJ001
        max_length=100,
        null=True,
        blank=True,
        help_text="Tried first; empty: the planner chooses.",
    )
    preferred_deliberation_level = models.PositiveSmallIntegerField(default=0, help_text="0 to 3.")
    preferred_model = models.CharField(  # noqa: DJ001
        max_length=200,
        null=True,
        blank=True,
        help_text="Empty: the model of the role.",
    )
    model_config = StoredJSONField(
        default=dict, blank=True, help_text="The project's table of model roles when the session was created."
    )
    skills = models.ForeignKey(
        FrozenContent,
        on_delete=models.RESTRICT,
        related_name="+",
        help_text="Skill files as they were when the session was created or last reloaded.",
    )
    snapshot_version = models.PositiveIntegerField(
        default=1, help_text="Number of the skill snapshot; each reload adds 1."
    )
    personas = models.ForeignKey(
        FrozenContent,
        on_delete=models.RESTRICT,
        related_name="+",
        help_text="Persona files as they were when the session was created.",
    )
    agents = models.ForeignKey(
        FrozenContent,
        on_delete=models.RESTRICT,
        related_name="+",
        help_text="Agent files as they were when the session was created.",
    )
    active_agent = models.CharField(max_length=64, default="default", help_text="Id of one of the session's agents.")
    active_persona = models.CharField(
        max_length=64, default="default", help_text="Id of one of the session's personas."
    )
    active_style = models.CharField(  # noqa: DJ001
        max_length=8,
        null=True,
        blank=True,
        help_text="Empty: the style follows from the message and the persona.",
    )
    grounding = models.CharField(
        max_length=6,
        choices=Grounding,
        default="",
        blank=True,
        help_text="Whether a model may answer without evidence; empty: the project's setting.",
    )
    system_prompt = models.TextField(  # noqa: DJ001
        null=True,
        blank=True,
        help_text="Sent with every turn unless the request has its own.",
    )
    metadata = StoredJSONField(default=dict, blank=True, help_text="Written by clients only.")
    flags = StoredJSONField(
        default=dict, blank=True, help_text="Policies chosen for this session; what is missing comes from the project."
    )
    summary = StoredJSONField(null=True, blank=True, help_text="Summary of the messages that left the window.")
    planner_statistics = StoredJSONField(
        null=True,
        blank=True,
        help_text="Plugin utilities frozen at creation; empty: those of the project are used and updated.",
    )
    turn_limits = StoredJSONField(
        default=dict, blank=True, help_text="Below the server's for each turn: limits by name, and max_tokens."
    )

    forked_from = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="forks",
        help_text="The session whose messages it started with.",
    )
    forked_at = models.PositiveIntegerField(
        null=True, blank=True, help_text="Sequence number of the last message taken over."
    )
    fork_reason = models.CharField(
        max_length=12,
        choices=ForkReason,
        default="",
        blank=True,
        help_text="How the session was made from another one.",
    )

    mounted_kb = models.ForeignKey(
        KnowledgeBase,
        on_delete=models.PROTECT,
        related_name="mounted_in",
        help_text="The base that its questions are answered from.",
    )
    mounted_layer = models.ForeignKey(
        KnowledgeLayer, on_delete=models.PROTECT, related_name="+", help_text="Head of the base when it was mounted."
    )
    draft = models.ForeignKey(
        KnowledgeLayer, on_delete=models.PROTECT, related_name="+", help_text="Topmost layer of unsaved changes."
    )
    journal = models.ForeignKey(
        KnowledgeLayer,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Layer of what turns and loaded contexts committed.",
    )

    message_sequence = models.PositiveIntegerField(
        default=0, help_text="Number of the newest message; never goes back."
    )
    turn_sequence = models.PositiveIntegerField(default=0, help_text="Number of the newest turn; never goes back.")
    event_sequence = models.PositiveIntegerField(default=0, help_text="Number of the newest event; never goes back.")
    compacted_sequence = models.PositiveIntegerField(
        default=0, help_text="Events up to this number may have been deleted."
    )
    unit_count = models.PositiveIntegerField(default=0, help_text="Committed units.")
    remembered_count = models.PositiveIntegerField(default=0, help_text="Texts kept by the memory commands.")
    removed_message_count = models.PositiveIntegerField(default=0, help_text="Messages deleted from the conversation.")
    failed_turn_count = models.PositiveIntegerField(
        default=0, help_text="Turns that failed or were interrupted; those that somebody stopped are not counted."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "session_id"], name="session_id_unique_in_project"),
            models.CheckConstraint(
                condition=models.Q(preferred_deliberation_level__lte=3), name="session_level_0_to_3"
            ),
        ]
        indexes = [
            models.Index(fields=["project", "-last_activity_at", "-id"], name="session_by_activity"),
            models.Index(fields=["expires_at"], name="session_by_expiry"),
            models.Index(fields=["session_id"], name="session_by_session_id"),
        ]

    def __str__(self) -> str:
        return self.label

    ACTIVITY_FIELDS: ClassVar = ("last_activity_at", "expires_at")

    def touch(self) -> None:
        """Note activity in `ACTIVITY_FIELDS`, unsaved: expiry moves along with it, where a time to live is set."""
        self.last_activity_at = timezone.now()
        self.expires_at = expiry_after(self.last_activity_at)

    @property
    def label(self) -> str:
        """Return what pages call the session: its title, else how it began, else its id."""
        return self.title or self.first_message or self.session_id

    @property
    def journal_source_id(self) -> str:
        """Return the id of the source that the session's own units are saved as, the same in every base."""
        return f"src-journal-{hashlib.sha256(self.session_id.encode()).hexdigest()[:16]}"

    @property
    def message_count(self) -> int:
        """Return how many messages the conversation has; `message_sequence` counts those taken out of it too."""
        return self.message_sequence - self.removed_message_count

    @property
    def is_dirty(self) -> bool:
        """Return whether the draft holds something that is not saved."""
        return not self.draft.is_empty or self.draft.parent_id != self.mounted_layer_id

    @property
    def is_expired(self) -> bool:
        """Return whether the session's idle time has run out; alive at exactly `expires_at`."""
        return self.expired_at is not None or (self.expires_at is not None and timezone.now() > self.expires_at)

    @property
    def read_only_reason(self) -> str:
        """Return why the session takes no more messages, in words."""
        return "imported, read-only" if self.imported_at is not None else "expired, read-only"


class SessionEvent(models.Model):
    """One thing that happened to a session, written with the state it describes.

    Numbers have no gaps above the session's `compacted_sequence`; up to it events that are not needed were deleted.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, db_index=False, related_name="events")
    sequence = models.PositiveIntegerField(help_text="Number within the session, from 1 without gaps.")
    kind = models.CharField(max_length=40, help_text="Name of the event, such as turn.started.")
    payload = RedactedJSONField(default=dict, help_text="Facts of the event: ids and small values.")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["session_id", "sequence"]
        constraints = [models.UniqueConstraint(fields=["session", "sequence"], name="session_event_sequence")]

    def __str__(self) -> str:
        return f"{self.sequence} {self.kind}"
