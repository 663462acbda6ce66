"""Forms for the actions on a row, and the result of an action."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

from django import forms
from django.contrib.auth.models import User
from django.db.models import Model
from django.http import HttpRequest, QueryDict


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What an action did.

    `message` is for the operator and `log` for the history of the row. `created` is a new row, whose page is shown
    next; `changed` is another row that was changed with it, and whose history says so too. `secret` is shown once, on
    a page of its own, and never in a log or message.
    """

    message: str
    log: str
    created: Model | None = None
    changed: Model | None = None
    secret: str = field(default="", repr=False)


class ActionForm(forms.Form):
    """An action on a row, or one that makes a row; its fields are the action's arguments.

    `slug` is the last part of its address, `label` its button on the row's page and `short` its link beside the row
    in a list, `submit` the button that does it. `{}` in `heading` is the row. All of `permissions` are needed. An
    action `in_steps` has short transactions of its own, and its log entry comes after them; any other is one
    transaction with its entry.
    """

    slug: ClassVar[str] = "add"
    label: ClassVar[str] = ""
    short: ClassVar[str] = ""
    heading: ClassVar[str] = ""
    submit: ClassVar[str] = ""
    explanation: ClassVar[str] = ""
    permissions: ClassVar[tuple[str, ...]] = ()
    in_steps: ClassVar[bool] = False

    def __init__(self, *arguments: Any, row: Any = None, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.row = row
        for entered in self.fields.values():
            if isinstance(entered.widget, forms.TextInput):
                entered.widget.attrs["class"] = "vTextField"

    @classmethod
    def is_allowed(cls, request: HttpRequest) -> bool:
        """Return whether the user may do this."""
        return request.user.has_perms(cls.permissions)

    @classmethod
    def is_offered(cls, row: Any) -> bool:
        """Return whether the action makes sense for the row as it is."""
        return True

    @property
    def warning(self) -> str:
        """Return what the operator should know before, empty for nothing."""
        return ""

    def renew_hidden_fields(self) -> None:
        """Set hidden fields to their present values; a page that was shown before another change sends older ones."""
        sent = cast(QueryDict, self.data).copy()
        for hidden in self.hidden_fields():
            sent[hidden.html_name] = str(hidden.initial)
        self.data = sent

    def perform(self, actor: User) -> Done:
        """Do it.

        Raises:
            MRPError: it was refused; the form then shows why, what was entered stays, and hidden fields are renewed.
        """
        raise NotImplementedError
