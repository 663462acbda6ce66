"""API keys: made, shown once, revoked."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.utils.safestring import SafeString

from sessions_app.actions.settings.api_keys import NAME_CHARS, create_key, revoke_key
from sessions_app.admin.shell.action_forms import ActionForm, Done
from sessions_app.admin.shell.object_actions import ActionAdmin
from sessions_app.models import ApiKey, Role
from sessions_app.queries.settings.projects import all_projects


class CreateKey(ActionForm):
    """Makes a key and shows it once."""

    heading = "Add API key"
    submit = "Make the key"
    explanation = "The key is shown once, on the next page. It is stored as a digest and cannot be shown again."
    permissions = ("sessions_app.add_apikey",)

    project = forms.ModelChoiceField(all_projects())
    name = forms.CharField(max_length=NAME_CHARS, help_text="Who or what uses it.")
    role = forms.ChoiceField(choices=Role.choices, initial=Role.EDITOR)

    def perform(self, actor: User) -> Done:
        entered = self.cleaned_data
        key, plain = create_key(entered["project"], entered["name"], Role(entered["role"]), actor)
        return Done(message="The key was created", log=f"Created, role {key.role}.", created=key, secret=plain)


class RevokeKey(ActionForm):
    """Makes a key useless, at once and for good."""

    slug = "revoke"
    label = "Revoke…"
    heading = "Revoke {}"
    submit = "Revoke the key"
    explanation = "Whoever uses the key is refused from now on. A revoked key does not come back."
    permissions = ("sessions_app.change_apikey",)
    row: ApiKey

    @classmethod
    def is_offered(cls, row: ApiKey) -> bool:
        """Return whether the key is not revoked yet."""
        return row.revoked_at is None

    def perform(self, actor: User) -> Done:
        revoke_key(self.row)
        return Done(message="The key is revoked.", log="Revoked.")


@admin.register(ApiKey)
class ApiKeyAdmin(ActionAdmin):
    """Keys by their beginnings: nothing here shows or finds a whole one."""

    add_action = CreateKey
    object_actions = (RevokeKey,)
    list_display = (
        "name", "beginning", "project", "role", "is_valid", "created_by", "created_at", "last_used_at",
    )  # fmt: skip
    list_filter = (("revoked_at", admin.EmptyFieldListFilter), "role", "project")
    list_select_related = ("project", "created_by")
    deferred = ("digest",)
    search_fields = ("name", "prefix")
    date_hierarchy = "created_at"
    ordering = ("-created_at", "-id")
    fields = (
        "name", "beginning", "project", "role", "is_valid", "created_by", "created_at", "last_used_at", "revoked_at",
    )  # fmt: skip

    @admin.display(description="key", ordering="prefix")
    def beginning(self, key: ApiKey) -> SafeString | str:
        """Return how the key begins."""
        return f"{key.prefix}…"

    @admin.display(description="valid", boolean=True)
    def is_valid(self, key: Any) -> bool:
        """Return whether the key still opens anything."""
        return key.revoked_at is None
