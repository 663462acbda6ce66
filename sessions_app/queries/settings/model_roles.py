"""The role tables: the project's, which new sessions take over, and each session's own."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

from mrpvm.llm.roles import ModelConfig, ModelTable
from sessions_app.models import ModelRoles, Project, Session


class SessionModelTable(ModelTable):
    """The session's model configuration."""

    model: str | None


def shared_config(project: Project) -> tuple[ModelTable, datetime | None]:
    """Return the project's table and when it was last set, None while the shipped defaults hold."""
    row = ModelRoles.objects.filter(project=project).first()
    return (whole_config({}), None) if row is None else (whole_config(row.config), row.updated_at)


def session_config(session: Session) -> SessionModelTable:
    """Return the session's own configuration: the model it was asked to use, and its table."""
    return {"model": session.preferred_model, **whole_config(session.model_config)}


def whole_config(stored: Mapping[str, Any]) -> ModelTable:
    """Return a stored table with the defaults of what did not exist when it was stored."""
    return cast("ModelTable", {**ModelConfig().as_record(), **stored})
