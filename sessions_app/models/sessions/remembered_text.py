"""Texts that commands told a session to remember."""

import secrets

from django.db import models
from django.utils import timezone

from sessions_app.models.fields import IdField
from sessions_app.models.sessions.session import Session


def new_memory_id() -> str:
    """Return `mem_` and 32 hex digits."""
    return f"mem_{secrets.token_hex(16)}"


class RememberedText(models.Model):
    """One text that a session keeps until it is told to forget it.

    A text that was inferred from messages needs verification. In a `conflict_group` all texts but the newest or the
    verified one are conflicted. Conflicted, archived and expired texts are not used.
    """

    class Domain(models.TextChoices):
        """What the text is about."""

        USER_PROFILE = "user_profile"
        PERSONA_CORE = "persona_core"
        WORKING_RULES = "working_rules"
        TASK = "task_memory"
        EVIDENCE = "evidence"

    class Status(models.TextChoices):
        """How far the text is to be trusted."""

        ACTIVE = "active"
        NEEDS_VERIFICATION = "needs_verification"
        VERIFIED = "verified"
        CONFLICTED = "conflicted"
        ARCHIVED = "archived"

    class Source(models.TextChoices):
        """Who said that it shall be kept."""

        COMMAND = "command"
        INFERENCE = "inference"
        IMPORT = "import"

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="remembered_texts")
    record_id = IdField(unique=True, max_length=40, default=new_memory_id, help_text="Id in addresses and commands.")
    content = models.TextField(help_text="What is remembered, as it is told to a model.")
    domain = models.CharField(
        max_length=16, choices=Domain, default=Domain.USER_PROFILE, help_text="What the text is about."
    )
    namespace = models.CharField(
        max_length=300,
        default="",
        blank=True,
        help_text="The task of task memory, the citation of evidence; empty for others.",
    )
    status = models.CharField(max_length=20, choices=Status, default=Status.ACTIVE)
    source = models.CharField(
        max_length=9, choices=Source, default=Source.COMMAND, help_text="Who asked for it to be kept."
    )
    confidence = models.FloatField(default=1.0, help_text="0 to 1.")
    conflict_group = models.CharField(
        max_length=80, default="", blank=True, help_text="Texts of one group contradict each other; empty: none."
    )
    verified_at = models.DateTimeField(null=True, blank=True, help_text="Empty: nobody has verified it.")
    expires_at = models.DateTimeField(null=True, blank=True, help_text="Empty: kept until it is deleted.")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["session_id", "-id"]

    def __str__(self) -> str:
        return self.content[:60]

    @property
    def is_expired(self) -> bool:
        """Return whether the text has expired; at exactly `expires_at` it has not."""
        return self.expires_at is not None and timezone.now() > self.expires_at


def copy_of(row: RememberedText, session: Session) -> RememberedText:
    """Return an unsaved copy of a text for another session, under an id of its own."""
    kept = ("content", "domain", "namespace", "status", "source", "confidence", "conflict_group", "verified_at",
            "expires_at", "created_at")  # fmt: skip
    return RememberedText(session=session, **{name: getattr(row, name) for name in kept})
