"""Forms that create, rename and restore sessions, and mount, unmount, save and fork their bases."""

from django import forms
from django.contrib.auth.models import User

from sessions_app.actions.knowledge.forks import fork_session_kb, save_session_kb
from sessions_app.actions.knowledge.mounts import mount_base, unmount_base
from sessions_app.actions.sessions.session import TITLE_CHARS, create_session, rename_session, restore_session
from sessions_app.admin.shell.action_forms import ActionForm, Done
from sessions_app.admin.shell.choosers import any_base, base_of_project
from sessions_app.models import KBMount, Session
from sessions_app.models.knowledge.bases import MAX_NAME_CHARS
from sessions_app.queries.knowledge.bases import unsaved
from sessions_app.queries.settings.projects import all_projects

MOUNT_REASON, UNMOUNT_REASON = "mount-admin", "unmount-admin"
"""Why a session has its base, when an operator mounted it, or unmounted another."""


class CreateSession(ActionForm):
    heading = "Add session"
    submit = "Add session"
    permissions = ("sessions_app.add_session",)

    project = forms.ModelChoiceField(all_projects())
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
        return Done(message="The session was created:", log="Created.", created=session)


class _LiveSessionForm(ActionForm):
    """An action on a session that can still change."""

    row: Session

    @classmethod
    def is_offered(cls, row: Session) -> bool:
        return row.deleted_at is None and not row.is_expired


class RenameSession(_LiveSessionForm):
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
        session = rename_session(self.row, self.cleaned_data["title"])
        return Done(message=f"The session is now called “{session.label}”.", log=f"Renamed to “{session.label}”.")


class MountBase(_LiveSessionForm):
    """Mounts another base in a session."""

    slug = "mount"
    label = "Mount another base…"
    short = "Mount…"
    heading = "Mount a knowledge base in “{}”"
    submit = "Mount"
    explanation = "The session keeps its messages, units and preferences, and sees the base as it is now."
    permissions = ("sessions_app.change_session", "sessions_app.add_kbmount")
    in_steps = True

    discard_draft = forms.BooleanField(required=False, label="Discard the draft", help_text="This cannot be undone.")

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)
        self.fields = {"knowledge_base": base_of_project(self.row.project_id), **self.fields}

    @property
    def warning(self) -> str:
        """Return a warning about the unsaved draft."""
        if not self.row.is_dirty:
            return ""
        draft = unsaved(self.row)
        return (
            f"The draft on “{self.row.mounted_kb.name}” has unsaved changes (sources changed: "
            f"{draft['own_source_count']}, units added: {draft['own_unit_count']}, units removed: "
            f"{draft['removed_unit_count']}). This is refused unless the draft is saved or forked first, or discarded."
        )

    def perform(self, actor: User) -> Done:
        return mounted(
            mount_base(
                self.row,
                self.cleaned_data["knowledge_base"],
                actor=actor,
                reason=MOUNT_REASON,
                discard_draft=self.cleaned_data["discard_draft"],
            )
        )


class UnmountBase(MountBase):
    """Takes a session's base away: it then has the project's default one."""

    slug = "unmount"
    label = "Unmount its base…"
    heading = "Unmount the base of “{}”"
    submit = "Unmount"
    explanation = (
        "The session keeps its messages, units and preferences, and sees the project's default base: there is none "
        "without a base."
    )

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)
        del self.fields["knowledge_base"]

    @classmethod
    def is_offered(cls, row: Session) -> bool:
        """The default base is what is left when another one is unmounted."""
        return super().is_offered(row) and not row.mounted_kb.is_default

    def perform(self, actor: User) -> Done:
        before = self.row.mounted_kb
        mount = unmount_base(
            self.row, actor=actor, reason=UNMOUNT_REASON, discard_draft=self.cleaned_data["discard_draft"]
        )
        return Done(
            message=f"“{before.name}” is unmounted; the session sees “{mount.knowledge_base.name}”.",
            log=f"Unmounted “{before.name}” ({before.kb_id}).",
        )


class SaveSessionBase(_LiveSessionForm):
    """Saves what a session has into a base."""

    slug = "save"
    label = "Save into a base…"
    heading = "Save what “{}” has"
    submit = "Save"
    explanation = (
        "The draft becomes part of the base, which is mounted in the session; what the conversation told only if you "
        "say so, because everybody sees what is in a base. A base that was changed since the session mounted it, or "
        "holds something and was never mounted there, refuses; the draft then stays as it is."
    )
    permissions = (
        "sessions_app.change_session",
        "sessions_app.change_knowledgebase",
        "sessions_app.add_knowledgebase",
    )
    in_steps = True

    name = forms.CharField(
        max_length=MAX_NAME_CHARS,
        required=False,
        help_text="Renames the base; with the default base mounted, and no other chosen, it names a new one.",
    )
    fork = forms.BooleanField(required=False, label="Into a new base")
    include_conversation_units = forms.BooleanField(required=False, label="With the facts told in the conversation")
    expected_revision = forms.IntegerField(
        required=False,
        min_value=1,
        label="Revision to replace",
        help_text="The revision of a base that may be replaced although the session never mounted it.",
    )

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)
        target = base_of_project(
            self.row.project_id,
            required=False,
            help_text="Empty: the mounted base. Another one then shows what the session sees, in place of what it "
            "shows now; its earlier revisions can be restored.",
        )
        self.fields = {"target": target, **self.fields}

    def clean(self) -> None:
        """Refuse two places for one save."""
        if self.cleaned_data.get("target") and self.cleaned_data.get("fork"):
            self.add_error("fork", "Save into the chosen base or into a new one, not both.")

    def perform(self, actor: User) -> Done:
        entered = self.cleaned_data
        known = self.row.mounts.filter(until=None).values_list("knowledge_base_id", "revision").first()
        base = save_session_kb(
            self.row,
            target=entered["target"],
            name=entered["name"] or None,
            fork=entered["fork"],
            include_conversation_units=entered["include_conversation_units"],
            expected_revision=entered["expected_revision"],
            actor=actor,
        )
        if (base.pk, base.revision) == known:
            nothing = f"There was nothing to save: “{base.name}” stays at revision {base.revision}."
            return Done(message=nothing, log=nothing)
        is_new = base.revision == 1
        return Done(
            message=f"Saved into “{base.name}”, revision {base.revision}.",
            log=f"Saved from session “{self.row.label}” ({self.row.session_id}) into “{base.name}” ({base.kb_id}), "
            f"revision {base.revision}.",
            created=base if is_new else None,
            changed=None if is_new else base,
        )


class ForkSessionBase(_LiveSessionForm):
    """Makes a base of what a session sees, and mounts it there."""

    slug = "fork"
    label = "Fork its base…"
    short = "Fork…"
    heading = "Fork what “{}” sees"
    submit = "Fork"
    explanation = (
        "The new base holds the mounted base and the draft, what the conversation told only if you say so, and is "
        "mounted in the session. The base it comes from stays as it is."
    )
    permissions = ("sessions_app.change_session", "sessions_app.add_knowledgebase")
    in_steps = True

    name = forms.CharField(
        max_length=MAX_NAME_CHARS,
        required=False,
        help_text="Empty: called after the base that is mounted now.",
    )
    include_conversation_units = forms.BooleanField(required=False, label="With the facts told in the conversation")

    def perform(self, actor: User) -> Done:
        entered = self.cleaned_data
        fork = fork_session_kb(
            self.row,
            entered["name"] or None,
            actor,
            include_conversation_units=entered["include_conversation_units"],
        )
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
        restore_session(self.row)
        return Done(message="The session is back.", log="Brought back.")


def mounted(mount: KBMount, *, created: KBMount | None = None) -> Done:
    """Return the admin message after a mount."""
    base = mount.knowledge_base
    return Done(
        message=f"“{base.name}” is mounted, revision {mount.revision}.",
        log=f"Mounted “{base.name}” ({base.kb_id}), revision {mount.revision}.",
        created=created,
    )
