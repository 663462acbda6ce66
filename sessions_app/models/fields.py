"""Fields that migrations see as those of Django, so that a migration imports nothing of this project."""

from typing import Any

from django.db import models


class PlainInMigrations:
    """Deconstruct a field as its base of Django, without a default that this project computes."""

    def deconstruct(self) -> Any:
        name, _, arguments, options = super().deconstruct()  # type: ignore[misc]
        base = next(base for base in type(self).__mro__ if base.__module__.startswith("django."))
        if getattr(options.get("default"), "__module__", "").startswith("sessions_app."):
            del options["default"]
        return name, f"django.db.models.{base.__name__}", arguments, options


class IdField(PlainInMigrations, models.CharField):
    """A random id that `default` makes."""

    def __init__(
        self,
        max_length: int = 64,
        editable: bool = False,
        help_text: str = "Id in addresses and requests.",
        **options: Any,
    ) -> None:
        super().__init__(max_length=max_length, editable=editable, help_text=help_text, **options)
