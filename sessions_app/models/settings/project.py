"""Who owns what: projects, their members and their API keys."""

import hashlib

from django.conf import settings
from django.db import models
from django.utils import timezone

from mrpvm.llm.redaction import redacted
from sessions_app.models.damage import StoredJSONField
from sessions_app.models.redacted import RedactedCharField


class Role(models.TextChoices):
    """What a member or key may do; viewer, editor and admin each may all that the one before may.

    Only keys have the role chat. It reads nothing of the project but its own conversations, and runs no commands.
    """

    CHAT = "chat", "Chat: runs turns in conversations that the key started"
    VIEWER = "viewer", "Viewer: reads"
    EDITOR = "editor", "Editor: runs turns and writes"
    ADMIN = "admin", "Admin: manages keys, members and settings"

    @property
    def rank(self) -> int:
        """Return the role's place in the order chat, viewer, editor, admin."""
        return list(Role).index(self)


MEMBER_ROLES = {role.value: role.label for role in Role if role != Role.CHAT}
"""The roles of members, each with what it may do, in words."""


def digest(secret: str) -> str:
    """Return the form in which a secret of 128 or more random bits is stored: its SHA-256."""
    return hashlib.sha256(secret.encode()).hexdigest()


class Grounding(models.TextChoices):
    """Whether model-backed solvers may answer without evidence; empty where nobody has chosen."""

    OPEN = "open", "Open: the model may answer without evidence, and the answer says so"
    STRICT = "strict", "Strict: evidence or no answer"


class Project(models.Model):
    """The owner of sessions, knowledge bases and API keys."""

    name = RedactedCharField(max_length=200)
    slug = models.SlugField(max_length=80, unique=True, help_text="Name of the project in addresses and requests.")
    is_default = models.BooleanField(default=False, help_text="Used where a request names no project.")
    grounding = models.CharField(
        max_length=6,
        choices=Grounding,
        default="",
        blank=True,
        help_text="Whether a model may answer without evidence; empty: the server's setting.",
    )
    flags = StoredJSONField(
        default=dict, blank=True, help_text="Policies of the project by name; what is missing has the server's setting."
    )
    redacts_conversations = models.BooleanField(
        default=False, help_text="Replace secrets in messages and sources before they are stored."
    )
    session_memory_limit = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Session memories kept at most; the least recently used go first. Empty: no limit.",
    )
    quotas = StoredJSONField(
        default=dict, blank=True, help_text="Limits by `QuotaKind`; what is missing is not limited."
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["is_default"], condition=models.Q(is_default=True), name="project_one_default"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def kept[Value](self, value: Value) -> Value:
        """Return what the project's conversations keep of a text or JSON value."""
        return redacted(value) if self.redacts_conversations else value


class Membership(models.Model):
    """One user's role in one project."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(
        max_length=10,
        choices=MEMBER_ROLES,
        default=Role.EDITOR,
        help_text="Each role may all that the ones before it may: viewer, editor, admin.",
    )
    shown_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="When the user last switched to the project."
    )

    class Meta:
        ordering = ["project_id", "user_id"]
        constraints = [models.UniqueConstraint(fields=["project", "user"], name="membership_unique")]

    def __str__(self) -> str:
        return f"{self.user} in {self.project}: {self.role}"


class ApiKey(models.Model):
    """A client's credential: shown once, stored as a digest."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="api_keys")
    name = RedactedCharField(max_length=120, help_text="What the key is for; requests made with it carry the name.")
    role = models.CharField(
        max_length=10, choices=Role, default=Role.EDITOR, help_text="What requests with the key may do."
    )
    prefix = models.CharField(max_length=16, help_text="First characters of the key, for telling keys apart.")
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the key, which is not stored.")
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        help_text="Empty: created by a command of the server, or the user was deleted.",
    )
    last_used_at = models.DateTimeField(null=True, blank=True, help_text="Empty: never used.")
    revoked_at = models.DateTimeField(null=True, blank=True, help_text="Empty while the key is valid.")

    class Meta:
        ordering = ["-created_at", "-id"]
        verbose_name = "API key"

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class LoginLink(models.Model):
    """A link that logs a user in once, printed by the server at its start."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="login_links")
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the link's secret.")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(help_text="The link cannot be used after this time.")
    used_at = models.DateTimeField(null=True, blank=True, help_text="Empty: not used yet. A link works once.")

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"login link for {self.user}"
