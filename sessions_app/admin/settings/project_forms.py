"""Forms for projects and their members."""

from typing import Any

from django import forms
from django.contrib.auth.models import User

from mrpvm.conversation.flags import NAMES as FLAGS
from mrpvm.errors import InvalidInput
from sessions_app.actions.settings.projects import (
    PROJECT_NAME_CHARS,
    SLUG_CHARS,
    change_project,
    create_project,
    set_member,
)
from sessions_app.admin.shell.action_forms import ActionForm, Done
from sessions_app.admin.shell.choosers import any_user
from sessions_app.models import Membership, Project, Role
from sessions_app.models.settings.project import MEMBER_ROLES, Grounding
from sessions_app.queries.settings.projects import all_projects

_GROUNDINGS = [("", "As the server is set"), *Grounding.choices]


class _ProjectForm(ActionForm):
    """What a project is called, and how its models answer."""

    name = forms.CharField(max_length=PROJECT_NAME_CHARS)
    short_name = forms.SlugField(
        label="slug", max_length=SLUG_CHARS, help_text="How requests name it, in the header X-Project."
    )
    grounding = forms.ChoiceField(choices=_GROUNDINGS, required=False)

    def entered(self) -> tuple[str, str, str]:
        """Return the action's arguments."""
        return self.cleaned_data["name"], self.cleaned_data["short_name"], self.cleaned_data["grounding"]


class CreateProject(_ProjectForm):
    """Makes a project with its default base."""

    heading = "Add project"
    submit = "Add project"
    permissions = ("sessions_app.add_project",)

    short_name = forms.SlugField(
        label="slug", max_length=SLUG_CHARS, required=False, help_text="Empty: made from the name."
    )
    joins = forms.BooleanField(
        required=False,
        initial=True,
        label="Be an admin of it",
        help_text="The pages show a project to its members alone.",
    )

    def perform(self, actor: User) -> Done:
        project = create_project(*self.entered())
        if self.cleaned_data["joins"]:
            set_member(project, actor, Role.ADMIN)
        return Done(message="The project was created:", log="Created.", created=project)


class ChangeProject(_ProjectForm):
    """Names a project anew, and sets its grounding."""

    slug = "edit"
    label = "Change…"
    heading = "Change “{}”"
    submit = "Save"
    permissions = ("sessions_app.change_project",)
    row: Project

    flags = forms.JSONField(
        required=False,
        help_text=f"What its sessions do unless they say otherwise, as an object of {', '.join(FLAGS)}.",
    )

    session_memory_limit = forms.IntegerField(
        required=False,
        min_value=1,
        help_text="How many of its sessions remember their turns, those used last. Empty: all.",
    )

    redacts_conversations = forms.BooleanField(
        required=False,
        label="Black out secrets in conversations too",
        help_text="Keys, tokens and passwords in messages and sources are replaced before anything is made of them,"
        " from now on. They can then not be asked for. Traces, logs and exports never hold them.",
    )

    def get_initial_for_field(self, field: forms.Field, field_name: str) -> Any:
        """Start from what there is."""
        return getattr(self.row, "slug" if field_name == "short_name" else field_name)

    def perform(self, actor: User) -> Done:
        flags = self.cleaned_data["flags"] or {}
        if not isinstance(flags, dict):
            raise InvalidInput("The flags are an object.")
        limit = self.cleaned_data["session_memory_limit"]
        project = change_project(
            self.row,
            *self.entered(),
            flags=flags,
            session_memory_limit=limit,
            redacts_conversations=self.cleaned_data["redacts_conversations"],
        )
        return Done(message=f"“{project.name}” is saved.", log=f"Changed to “{project.name}” ({project.slug}).")


class AddMember(ActionForm):
    """Adds a user to a project in a role."""

    heading = "Add membership"
    submit = "Add"
    permissions = ("sessions_app.add_membership",)

    project = forms.ModelChoiceField(all_projects())
    user = any_user()
    role = forms.ChoiceField(choices=MEMBER_ROLES, initial=Role.EDITOR)

    def perform(self, actor: User) -> Done:
        """Assign the role and return the admin message."""
        membership = set_member(**self.cleaned_data)
        return Done(message="Saved:", log=f"Role {membership.role}.", created=membership)


class ChangeRole(ActionForm):
    """Changes the role of a member."""

    slug = "role"
    label = "Change the role…"
    heading = "Change the role of {}"
    submit = "Save"
    permissions = ("sessions_app.change_membership",)
    row: Membership

    role = forms.ChoiceField(choices=MEMBER_ROLES)

    def get_initial_for_field(self, field: forms.Field, field_name: str) -> str:
        """Start from the role there is."""
        return self.row.role

    def perform(self, actor: User) -> Done:
        membership = set_member(self.row.project, self.row.user, self.cleaned_data["role"])
        return Done(message=f"{membership}.", log=f"Role {membership.role}.")
