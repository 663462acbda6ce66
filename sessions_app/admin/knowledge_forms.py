"""What an operator does with knowledge bases: make, name and fork them, and mount one in a session."""

from django import forms
from django.contrib.auth.models import User

from sessions_app.actions.forks import fork_base
from sessions_app.actions.kb_mounts import mount_base
from sessions_app.actions.knowledge import MAX_NAME_CHARS, create_base, rename_base
from sessions_app.admin.action_forms import ActionForm, Done
from sessions_app.admin.choosers import any_base, any_session
from sessions_app.admin.session_forms import MOUNT_REASON, mounted
from sessions_app.models import KnowledgeBase, Project


class CreateBase(ActionForm):
    """Makes an empty base [KB-1]."""

    heading = "Add knowledge base"
    submit = "Add knowledge base"
    permissions = ("sessions_app.add_knowledgebase",)

    project = forms.ModelChoiceField(Project.objects.all())
    name = forms.CharField(max_length=MAX_NAME_CHARS)

    def perform(self, actor: User) -> Done:
        """Make it."""
        base = create_base(self.cleaned_data["project"], self.cleaned_data["name"])
        return Done(message="The knowledge base was made:", log="Made.", created=base)


class RenameBase(ActionForm):
    """Gives a base another name."""

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
        """Rename it."""
        base = rename_base(self.row, self.cleaned_data["name"])
        return Done(message=f"The base is now called “{base.name}”.", log=f"Renamed to “{base.name}”.")


class ForkBase(ActionForm):
    """Makes a base that starts with what another one holds [O-51]."""

    slug = "fork"
    label = "Fork…"
    heading = "Fork “{}”"
    submit = "Fork"
    explanation = "The new base starts with what this one holds now. Nothing is copied, and nothing is mounted."
    permissions = ("sessions_app.add_knowledgebase",)
    row: KnowledgeBase

    name = forms.CharField(max_length=MAX_NAME_CHARS, required=False, help_text="Empty: called after this base.")

    def perform(self, actor: User) -> Done:
        """Fork it."""
        fork = fork_base(self.row, self.cleaned_data["name"] or None, actor=actor)
        return Done(
            message="The base was forked:", log=f"Forked “{self.row.name}” into “{fork.name}” ({fork.kb_id}).",
            created=fork,
        )  # fmt: skip


class AddMount(ActionForm):
    """Mounts a base in a session: the same as on the session's page [KB-8]."""

    heading = "Mount a knowledge base"
    submit = "Mount"
    explanation = "The session keeps its messages, units and preferences, and sees the base as it is now."
    permissions = ("sessions_app.add_kbmount",)

    session = any_session()
    knowledge_base = any_base()
    discard_draft = forms.BooleanField(
        required=False,
        label="Discard the draft",
        help_text="Unsaved changes of the session are thrown away; without this they refuse the mount.",
    )

    def clean(self) -> None:
        """Refuse a base of another project."""
        session, base = self.cleaned_data.get("session"), self.cleaned_data.get("knowledge_base")
        if session and base and base.project_id != session.project_id:
            self.add_error("knowledge_base", "This base belongs to another project than the session.")

    def perform(self, actor: User) -> Done:
        """Mount it."""
        entered = self.cleaned_data
        mount = mount_base(
            entered["session"],
            entered["knowledge_base"],
            actor=actor,
            reason=MOUNT_REASON,
            discard_draft=entered["discard_draft"],
        )
        return mounted(mount, created=mount)
