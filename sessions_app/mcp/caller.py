"""Who calls a tool: the project and role of the request's API key."""

from contextvars import ContextVar
from dataclasses import dataclass

from sessions_app.acting import holder_of
from sessions_app.actions.experiments.experiments import Author
from sessions_app.actions.settings.api_keys import bearer_token, find_key
from sessions_app.actions.settings.audit import Actor
from sessions_app.models import Project


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """What the key may do: everything that a tool sees is in `project`; `name` counts its calls."""

    project: Project
    role: str
    name: str
    actor: Actor
    author: Author


current_caller: ContextVar[Caller] = ContextVar("current_caller")
"""The caller of the request that the running tool serves."""


def caller_of(authorization: str, address: str) -> Caller | None:
    """Return the caller of an `Authorization` header from an address; None without a key that is in force."""
    key = find_key(bearer_token(authorization) or "")
    if key is None:
        return None
    return Caller(
        project=key.project,
        role=key.role,
        name=f"key-{key.pk}",
        actor=holder_of(key, address),
        author=Author(name=f"API key {key.name}"),
    )
