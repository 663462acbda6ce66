"""Forms that create, rename, fork, restore, compact and mount knowledge bases."""

from django import forms
from django.contrib.auth.models import User

from sessions_app.actions.knowledge.bases import create_base, rename_base
from sessions_app.actions.knowledge.forks import fork_base
from sessions_app.actions.knowledge.mounts import mount_base
from sessions_app.actions.knowledge.revisions import ask_for_compaction, restore_revision
from sessions_app.admin.sessions.forms import MOUNT_REASON, MountBase, mounted
from sessions_app.admin.shell.action_forms import ActionForm, Done
from sessions_app.admin.shell.choosers import any_base, any_session, session_of_project
from sessions_app.models import KnowledgeBase
from sessions_app.models.knowledge.bases import MAX_NAME_CHARS
from sessions_app.queries.settings.projects import all_projects

REVISIONS_SHOWN = 20


def _discard_draft() -> forms.BooleanField:
    return forms.BooleanField(
        required=False,
        label="Discard the draft",
        help_text="Discard the session's unsaved changes; otherwise the mount is refused while there are any.",
    )


class CreateBase(ActionForm):
    """Makes an empty base."""

    heading = "Add knowledge base"
    submit = "Add knowledge base"
    permissions = ("sessions_app.add_knowledgebase",)

    project = forms.ModelChoiceField(all_projects())
    name = forms.CharField(max_length=MAX_NAME_CHARS)

    def perform(self, actor: User) -> Done:
        base = create_base(self.cleaned_data["project"], self.cleaned_data["name"])
        return Done(message="The knowledge base was created:", log="Created.", created=base)


class RenameBase(ActionForm):
    slug = "rename"
    label = "Rename…"
    heading = "Rename “{}”"
    submit = "Rename"
    explanation = "Names are for people: the id stays, and so does what the base holds."
    permissions = ("sessions_app.change_knowledgebase",)
    row: KnowledgeBase

    name = forms.CharField(max_length=MAX_NAME_CHARS)

    def get_initial_for_field(self, field: forms.Field, field_name: str) -> str:
        """Start from the name there is."""
        return self.row.name

    def perform(self, actor: User) -> Done:
        base = rename_base(self.row, self.cleaned_data["name"])
        return Done(message=f"The base is now called “{base.name}”.", log=f"Renamed to “{base.name}”.")


class ForkBase(ActionForm):
    """Makes a base that starts with what another one holds."""

    slug = "fork"
    label = short = "Fork…"
    heading = "Fork “{}”"
    submit = "Fork"
    explanation = "The new base starts with what this one holds now. Nothing is copied, and nothing is mounted."
    permissions = ("sessions_app.add_knowledgebase",)
    row: KnowledgeBase

    name = forms.CharField(max_length=MAX_NAME_CHARS, required=False, help_text="Empty: called after this base.")

    def perform(self, actor: User) -> Done:
        fork = fork_base(self.row, self.cleaned_data["name"] or None, actor=actor)
        return Done(
            message="The base was forked:", log=f"Forked “{self.row.name}” into “{fork.name}” ({fork.kb_id}).",
            created=fork,
        )  # fmt: skip


class RestoreBase(ActionForm):
    """Brings an earlier revision of a base back."""

    slug = "restore"
    label = "Restore…"
    heading = "Restore an earlier revision of “{}”"
    submit = "Restore"
    explanation = (
        "The base gets a new revision that shows what the chosen one showed. Nothing is lost, and sessions go on "
        "seeing what they have mounted."
    )
    permissions = ("sessions_app.change_knowledgebase",)
    row: KnowledgeBase

    revision = forms.IntegerField(min_value=1)
    expected = forms.IntegerField(widget=forms.HiddenInput)

    def get_initial_for_field(self, field: forms.Field, field_name: str) -> int | None:
        """Start from the revision that is being looked at; the one to restore is the operator's to choose."""
        return self.row.revision if field_name == "expected" else None

    @classmethod
    def is_offered(cls, row: KnowledgeBase) -> bool:
        """Only a base that was changed has something to go back to."""
        return row.revision > 1

    @property
    def warning(self) -> str:
        """Return the list of revisions, the newest first."""
        kept = self.row.revisions.exclude(revision=self.row.revision).values_list("revision", "reason", "created_at")
        rows = list(kept[: REVISIONS_SHOWN + 1])
        named = [f"{revision} ({reason}, {at:%Y-%m-%d %H:%M} UTC)" for revision, reason, at in rows[:REVISIONS_SHOWN]]
        more = " and earlier ones" if len(rows) > REVISIONS_SHOWN else ""
        return f"Now at revision {self.row.revision}. There are: {', '.join(named)}{more}."

    def perform(self, actor: User) -> Done:
        chosen = self.cleaned_data["revision"]
        base = restore_revision(self.row, chosen, actor=actor, expected=self.cleaned_data["expected"])
        return Done(
            message=f"The base shows revision {chosen} again, as revision {base.revision}.",
            log=f"Restored revision {chosen} as revision {base.revision}.",
        )


class CompactBase(ActionForm):
    """Requests compaction of a base's layers."""

    slug = "compact"
    label = "Compact…"
    heading = "Compact “{}”"
    submit = "Compact"
    explanation = (
        "The upper layers of the base are written once more as one, in the background and within minutes. Units, ranks "
        "and revision stay as they are; long chains are compacted without being asked."
    )
    permissions = ("sessions_app.change_knowledgebase",)
    row: KnowledgeBase

    @classmethod
    def is_offered(cls, row: KnowledgeBase) -> bool:
        """Two layers and more can be folded."""
        return row.head.depth > 0 and row.compaction_asked_at is None

    def perform(self, actor: User) -> Done:
        ask_for_compaction(self.row)
        return Done(message="The base will be compacted in the background.", log="Asked for its compaction.")


class MountInSession(ActionForm):
    """Mounts the base in a session: the same as on the session's page."""

    slug = "mount"
    label = "Mount in a session…"
    short = "Mount…"
    heading = "Mount “{}” in a session"
    submit = "Mount"
    explanation = MountBase.explanation
    permissions = MountBase.permissions
    in_steps = True
    row: KnowledgeBase

    discard_draft = _discard_draft()

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)
        self.fields = {"session": session_of_project(self.row.project_id), **self.fields}

    def perform(self, actor: User) -> Done:
        entered = self.cleaned_data
        mount = mount_base(
            entered["session"], self.row, actor=actor, reason=MOUNT_REASON, discard_draft=entered["discard_draft"]
        )
        return mounted(mount, created=mount)


class AddMount(ActionForm):
    """Mounts a base in a session: the same as on the session's page."""

    heading = "Mount a knowledge base"
    submit = "Mount"
    explanation = MountBase.explanation
    permissions = MountBase.permissions
    in_steps = True

    session = any_session()
    knowledge_base = any_base()
    discard_draft = _discard_draft()

    def clean(self) -> None:
        """Refuse a base of another project."""
        session, base = self.cleaned_data.get("session"), self.cleaned_data.get("knowledge_base")
        if session and base and base.project_id != session.project_id:
            self.add_error("knowledge_base", "This base belongs to another project than the session.")

    def perform(self, actor: User) -> Done:
        entered = self.cleaned_data
        mount = mount_base(
            entered["session"],
            entered["knowledge_base"],
            actor=actor,
            reason=MOUNT_REASON,
            discard_draft=entered["discard_draft"],
        )
        return mounted(mount, created=mount)
