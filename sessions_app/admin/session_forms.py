"""What an operator does with a session: make it, name it, bring it back, mount and fork knowledge in it."""

from django import forms
from django.contrib.auth.models import User

from sessions_app.actions.forks import fork_session_kb
from sessions_app.actions.kb_mounts import mount_base
from sessions_app.actions.knowledge import MAX_NAME_CHARS
from sessions_app.actions.sessions import TITLE_CHARS, create_session, rename_session, restore_session
from sessions_app.admin.action_forms import ActionForm, Done
from sessions_app.admin.choosers import any_base, base_of_project
from sessions_app.models import KBMount, Project, Session

MOUNT_REASON = "mount-admin"
"""Why a session has its base, when an operator mounted it [PL-43]."""


class CreateSession(ActionForm):
    """Makes a session [S-7]."""

    heading = "Add session"
    submit = "Add session"
    permissions = ("sessions_app.add_session",)

    project = forms.ModelChoiceField(Project.objects.all())
    title = forms.CharField(max_length=TITLE_CHARS, required=False)
    knowledge_base = any_base(required=False, help_text="The project's default base, if none is chosen.")

    def clean(self) -> None:
        """Refuse a base of another project."""
        project, base = self.cleaned_data.get("project"), self.cleaned_data.get("knowledge_base")
        if project and base and base.project_id != project.pk:
            self.add_error("knowledge_base", "This base belongs to another project.")

    def perform(self, actor: User) -> Done:
        """Make it and mount its base."""
        entered = self.cleaned_data
        session = create_session(entered["project"], base=entered["knowledge_base"], title=entered["title"])
        return Done(message="The session was made:", log="Made.", created=session)


class _LiveSessionForm(ActionForm):
    """An action on a session that can still change."""

    row: Session

    @classmethod
    def is_offered(cls, row: Session) -> bool:
        return row.deleted_at is None and not row.is_expired


class RenameSession(_LiveSessionForm):
    """Gives a session its title [O-16]."""

    slug = "rename"
    label = "Rename…"
    heading = "Rename “{}”"
    submit = "Rename"
    permissions = ("sessions_app.change_session",)

    title = forms.CharField(
        max_length=TITLE_CHARS, required=False, help_text="Empty: the session is called after its first message."
    )

    def get_initial_for_field(self, field: forms.Field, field_name: str) -> str | None:
        """Start from the title there is."""
        return self.row.title

    def perform(self, actor: User) -> Done:
        """Rename it."""
        session = rename_session(self.row, self.cleaned_data["title"])
        return Done(message=f"The session is now called “{session.label}”.", log=f"Renamed to “{session.label}”.")


class MountBase(_LiveSessionForm):
    """Mounts another base in a session [KB-8]."""

    slug = "mount"
    label = "Mount another base…"
    heading = "Mount a knowledge base in “{}”"
    submit = "Mount"
    explanation = "The session keeps its messages, units and preferences, and sees the base as it is now."
    permissions = ("sessions_app.change_session", "sessions_app.add_kbmount")

    discard_draft = forms.BooleanField(required=False, label="Discard the draft", help_text="It cannot be got back.")

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)
        self.fields = {"knowledge_base": base_of_project(self.row.project_id), **self.fields}

    @property
    def warning(self) -> str:
        """Say what the draft holds, if that is not saved."""
        draft = self.row.draft
        if not draft.is_dirty:
            return ""
        return (
            f"The draft on “{self.row.mounted_kb.name}” has unsaved changes (sources added: {draft.own_source_count}, "
            f"units added: {draft.own_unit_count}, units removed: {draft.removed_unit_count}). Mounting is refused "
            "unless the draft is forked first or discarded."
        )

    def perform(self, actor: User) -> Done:
        """Mount it."""
        return mounted(
            mount_base(
                self.row,
                self.cleaned_data["knowledge_base"],
                actor=actor,
                reason=MOUNT_REASON,
                discard_draft=self.cleaned_data["discard_draft"],
            )
        )


class ForkSessionBase(_LiveSessionForm):
    """Makes a base of what a session sees, and mounts it there [KB-12]."""

    slug = "fork"
    label = "Fork its base…"
    heading = "Fork what “{}” sees"
    submit = "Fork"
    explanation = (
        "The new base holds the mounted base, the draft and what the conversation taught the session, and is mounted "
        "in the session. The base it comes from stays as it is."
    )
    permissions = ("sessions_app.change_session", "sessions_app.add_knowledgebase")

    name = forms.CharField(
        max_length=MAX_NAME_CHARS, required=False, help_text="Empty: called after the base that is mounted now."
    )

    def perform(self, actor: User) -> Done:
        """Fork it."""
        fork = fork_session_kb(self.row, self.cleaned_data["name"] or None, actor=actor)
        return Done(
            message="The session now uses its own base:",
            log=f"Forked into “{fork.name}” ({fork.kb_id}) and mounted it.",
            created=fork,
        )


class RestoreSession(ActionForm):
    """Brings a deleted session back."""

    slug = "restore"
    label = "Bring back…"
    heading = "Bring back “{}”"
    submit = "Bring back"
    permissions = ("sessions_app.delete_session",)
    row: Session

    @classmethod
    def is_offered(cls, row: Session) -> bool:
        """Only what was deleted comes back."""
        return row.deleted_at is not None

    def perform(self, actor: User) -> Done:
        """Bring it back."""
        restore_session(self.row)
        return Done(message="The session is back.", log="Brought back.")


def mounted(mount: KBMount, *, created: KBMount | None = None) -> Done:
    """Tell of a mount."""
    base = mount.knowledge_base
    return Done(
        message=f"“{base.name}” is mounted, revision {mount.revision}.",
        log=f"Mounted “{base.name}” ({base.kb_id}), revision {mount.revision}.",
        created=created,
    )
