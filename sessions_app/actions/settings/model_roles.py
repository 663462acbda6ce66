"""Change the table of model roles of a project, or a session's copy of it."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from mrpvm.errors import InvalidInput
from mrpvm.llm.roles import model_config_of
from sessions_app import events
from sessions_app.actions.sessions.slots import lock_idle_session
from sessions_app.actions.settings.audit import record
from sessions_app.models import AuditKind, ModelRoles, Project, Session
from sessions_app.queries.settings.model_roles import shared_config

TABLE = ("roles", "pluginOverrides", "temperature", "thinkingLevel", "verbosity")


@transaction.atomic
def set_model_roles(project: Project, body: Any) -> None:
    """Replace the project's table; sessions created later copy it.

    Raises:
        InvalidInput: INVALID_SETTINGS; nothing changes.
    """
    config = model_config_of(body).as_record()
    ModelRoles.objects.update_or_create(project=project, defaults={"config": config, "updated_at": timezone.now()})
    record(AuditKind.MODELS_CHANGED, project.pk, f"models of {project}", **config)


@transaction.atomic
def change_model_config(session: Session, body: Any) -> Session:
    """Replace the maps of the session's own table that `body` names; the others stay.

    With `take_current_roles` the project's table is copied first.

    Raises:
        InvalidInput: INVALID_SETTINGS; nothing changes.
        Conflict, Expired, NotFound: the session is busy or over.

    Effects: the session's table; `model-config.changed`.
    """
    locked = lock_idle_session(session.pk)
    takes_current = body.get("take_current_roles", False)
    if not isinstance(takes_current, bool):
        raise InvalidInput("take_current_roles must be true or false.", code="INVALID_SETTINGS")
    base = shared_config(locked.project)[0] if takes_current or not locked.model_config else locked.model_config
    named = {name: body[name] for name in TABLE if name in body}
    locked.model_config = model_config_of({**base, **named}).as_record()
    locked.save(update_fields=["model_config"])
    events.append(locked, ("model-config.changed", events.ModelConfigChanged(took_current_roles=takes_current)))
    return locked
