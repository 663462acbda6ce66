"""The role tables: the project's, which new sessions take over, and each session's own [L-2, O-46]."""

from datetime import datetime
from typing import Any

from mrpvm.llm.roles import ModelConfig
from sessions_app.models import ModelRoles, Project


def shared_config(project: Project) -> tuple[dict[str, Any], datetime | None]:
    """Give the project's table and when it was last set, None while the shipped defaults hold."""
    row = ModelRoles.objects.filter(project=project).first()
    return (ModelConfig().as_record(), None) if row is None else (row.config, row.updated_at)
