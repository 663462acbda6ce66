"""Who changed what: rows that are added and never changed."""

from collections.abc import Sequence
from typing import Any, Never

from django.db import models
from django.utils import timezone

from sessions_app.models.redacted import RedactedCharField, RedactedJSONField
from sessions_app.models.settings.project import Project


class AuditKind(models.TextChoices):
    """What was done: the noun that it was done to, and how a page says it."""

    ALERT_CREATED = "alert.created", "created an alert"
    ALERT_DELETED = "alert.deleted", "deleted an alert"
    BASE_COMPACTED = "base.compaction-asked", "asked to fold a base"
    BASE_CREATED = "base.created", "created a base"
    BASE_DELETED = "base.deleted", "deleted a base"
    BASE_FORKED = "base.forked", "forked a base"
    BASE_RENAMED = "base.renamed", "renamed a base"
    BASE_REVERTED = "base.revision-restored", "restored an earlier revision of a base"
    BASE_SAVED = "base.saved", "saved a session into a base"
    BASE_SOURCE_ADDED = "base.source-added", "added a source to a base"
    BASE_SOURCE_REMOVED = "base.source-removed", "removed a source from a base"
    BASE_UNDELETED = "base.restored", "restored a base"
    EXPERIMENT_DELETED = "experiment.deleted", "deleted an experiment"
    EXPORTED = "export.made", "exported data"
    FILTER_CHANGED = "filter.changed", "changed a saved filter"
    FILTER_DELETED = "filter.deleted", "deleted a saved filter"
    FILTER_SAVED = "filter.saved", "saved a filter"
    FORGETTING_STOPPED = "forgetting.stopped", "stopped an act of forgetting"
    FORGOTTEN = "forgetting.begun", "forgot something"
    IMPORTED = "import.made", "imported data"
    INVITATION_USED = "invitation.used", "accepted an invitation"
    INVITATION_WITHDRAWN = "invitation.withdrawn", "withdrew an invitation"
    KEY_CREATED = "key.created", "created an API key"
    KEY_REVOKED = "key.revoked", "revoked an API key"
    LINK_CREATED = "login-link.created", "created a login link"
    LINK_ENDED = "login-link.ended", "revoked a login link"
    LOGIN_FAILED = "login.failed", "could not log in"
    LOGIN_SUCCEEDED = "login.succeeded", "logged in"
    LOGOUT = "login.ended", "logged out"
    MEMBER_ADDED = "member.added", "added a member"
    MEMBER_CHANGED = "member.role-changed", "changed a member's role"
    INVITED = "invitation.created", "invited somebody"
    MEMBER_REMOVED = "member.removed", "removed a member"
    MEMORY_CLEARED = "memory.cleared", "cleared a session's memory"
    MESSAGE_REMOVED = "message.removed", "removed a message"
    MODELS_CHANGED = "models.changed", "changed which models answer"
    PROJECT_CHANGED = "project.changed", "changed a project"
    PROJECT_CREATED = "project.created", "created a project"
    RECOVERY_CODE_USED = "second-factor.recovery-code-used", "used up a recovery code"
    RECOVERY_CODES_RENEWED = "second-factor.codes-renewed", "created recovery codes"
    RESPONSE_FORGOTTEN = "response.forgotten", "forgot a response"
    QUOTAS_CHANGED = "quotas.changed", "changed what the project may use"
    RETENTION_CHANGED = "retention.changed", "changed the retention rules"
    RETENTION_FINISHED = "retention.finished", "removed what was too old"
    RETENTION_STARTED = "retention.started", "had what is too old removed"
    RETENTION_STOPPED = "retention.stopped", "stopped the removal of what is old"
    REVIEW_QUEUED = "review.queued", "added turns to the review queue"
    REVIEW_UNQUEUED = "review.unqueued", "removed turns from the review queue"
    SECOND_FACTOR_ADDED = "second-factor.added", "set up a second factor"
    SECOND_FACTOR_REMOVED = "second-factor.removed", "removed a second factor"
    SESSION_DELETED = "session.deleted", "deleted a session"
    SESSION_PURGED = "session.purged", "removed a deleted session for good"
    SESSION_UNDELETED = "session.restored", "restored a session"
    SUITE_CREATED = "suite.created", "created a suite"
    SUITE_DELETED = "suite.deleted", "deleted a suite of tests"
    SUITE_RENAMED = "suite.renamed", "renamed a suite of tests"
    TEST_CHANGED = "test.changed", "changed a test"
    TEST_REMOVED = "test.removed", "removed a test"
    TESTS_ADDED = "test.added", "added tests to a suite"
    TESTS_ORDERED = "test.ordered", "put the tests of a suite in another order"
    TRIMMED = "audit.trimmed", "removed entries that were too old"
    UNIT_CORRECTED = "unit.corrected", "corrected a unit"
    UNIT_RESTORED = "unit.restored", "restored a unit"
    UNIT_RETRACTED = "unit.retracted", "retracted a unit"
    USER_CHANGED = "user.changed", "changed a user"
    USER_CREATED = "user.created", "created a user"
    USER_DELETED = "user.deleted", "deleted a user"


class AddedOnly(models.QuerySet["AuditEntry"]):
    """Rows that can be read and added."""

    def update(self, **kwargs: Any) -> Never:
        raise _unchangeable()

    def bulk_update(self, objs: Any, fields: Any, batch_size: int | None = None) -> Never:
        raise _unchangeable()

    def delete(self) -> Never:
        raise _unchangeable()

    def without(self, keys: Sequence[int]) -> None:
        """Remove the entries with these keys, which retention has found too old; nothing else may."""
        models.QuerySet(self.model, using=self.db).filter(pk__in=keys)._raw_delete(self.db)


class AuditEntry(models.Model):
    """One change and who made it. Names are stored as text, so that the entry outlives what it names.

    `project` is None for what belongs to none. `facts` are small and hold no secrets.
    """

    at = models.DateTimeField(default=timezone.now, db_index=True, help_text="When it was done.")
    project = models.ForeignKey(
        Project,
        on_delete=models.DO_NOTHING,
        null=True,
        db_constraint=False,
        db_index=False,
        related_name="+",
        help_text="Empty for what concerns the whole server.",
    )
    kind = models.CharField(max_length=40, help_text="What was done, such as base.saved.")
    actor_kind = models.CharField(max_length=10, help_text="user, key, stranger or server.")
    actor = RedactedCharField(max_length=200, help_text="Name at that time.")
    address = models.CharField(max_length=45, help_text="Client address; empty for the server itself.")
    request_id = models.CharField(max_length=128, help_text="Id of the request in the log; empty outside of requests.")
    subject = RedactedCharField(max_length=300, help_text="Name or id of what was changed.")
    facts = RedactedJSONField(default=dict, help_text="What was changed, by field.")

    objects = AddedOnly.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "audit entries"
        indexes = [models.Index(fields=["project", "id"], name="audit_entry_project")]

    def __str__(self) -> str:
        return f"{self.actor or 'somebody'} {self.words}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store a new entry; one that is stored stays as it is."""
        if not self._state.adding:
            raise _unchangeable()
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> Never:
        raise _unchangeable()

    @property
    def words(self) -> str:
        """Return the predicate of a sentence whose subject is the actor."""
        return AuditKind(self.kind).label if self.kind in AuditKind.values else self.kind


def _unchangeable() -> TypeError:
    return TypeError("Entries of the audit log are never changed or removed.")
