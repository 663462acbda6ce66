"""Create, name, delete and restore sessions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

from django.db import transaction
from django.utils import timezone
from django.utils.text import Truncator

from mrpvm import registry
from mrpvm.conversation.flags import with_changes
from mrpvm.errors import Conflict, InvalidInput
from mrpvm.llm.redaction import without_secrets
from mrpvm.llm.roles import MODEL_CHARS
from sessions_app import events
from sessions_app.actions.knowledge import bases as knowledge
from sessions_app.actions.knowledge.notifications import kb_loaded, notify_on_commit, session_created
from sessions_app.actions.sessions.frozen_content import freeze_files
from sessions_app.actions.sessions.limit import check_session_limit
from sessions_app.actions.sessions.slots import lock_idle_session, lock_session
from sessions_app.actions.settings.audit import current_actor, record_of_session
from sessions_app.actions.settings.quotas import within_quotas
from sessions_app.layers import initial_layers
from sessions_app.models import (
    AuditKind,
    ExplainabilityTurn,
    KBMount,
    KnowledgeBase,
    Project,
    Session,
)
from sessions_app.models.named_sql import insert_rows
from sessions_app.models.settings.project import Grounding
from sessions_app.queries.settings.model_roles import shared_config
from sessions_app.queries.settings.plugin_statistics import utilities_to_keep

TITLE_CHARS = 200
_FIRST_MESSAGE_CHARS = 60
UNDO_PERIOD = timedelta(minutes=10)
"""How long a deleted session can be restored before it may be purged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Plugins, level, model and grounding of a session or turn; None where nothing was chosen."""

    planner: str | None = None
    seed_detector: str | None = None
    kb: str | None = None
    goal_solver: str | None = None
    deliberation_level: int | None = None
    model: str | None = None
    grounding: str | None = None


_PLUGIN_TYPES = {
    "planner": ("mrp-plan-plugin", "INVALID_PLANNER_PLUGIN"),
    "seed_detector": ("sd-plugin", "INVALID_SEED_DETECTOR_PLUGIN"),
    "kb": ("kb-plugin", "INVALID_KB_PLUGIN"),
    "goal_solver": ("gs-plugin", "INVALID_GOAL_SOLVER_PLUGIN"),
}


def check_choices(choices: Choices) -> None:
    """Raise an error for unknown plugins and groundings, levels outside 0 to 3, and invalid model names.

    Raises:
        InvalidInput: INVALID_*_PLUGIN with the known ids, INVALID_DELIBERATION_LEVEL; another grounding; a
            name that no model has.
    """
    for name, (plugin_type, code) in _PLUGIN_TYPES.items():
        plugin_id = getattr(choices, name)
        if plugin_id is not None and not registry.installed.has(plugin_type, plugin_id):
            known = [item.id for item in registry.installed.descriptors(plugin_type)]
            raise InvalidInput(
                f"There is no {plugin_type} named '{plugin_id}'. Known: {', '.join(known)}.",
                code=code,
                details={"known": known},
            )
    level = choices.deliberation_level
    if level is not None and level not in range(4):
        raise InvalidInput("deliberation_level must be a whole number from 0 to 3.", code="INVALID_DELIBERATION_LEVEL")
    if choices.grounding not in (None, "", *Grounding.values):
        raise InvalidInput(f"grounding must be one of {', '.join(Grounding.values)}.")
    model = choices.model or ""
    if len(model) > MODEL_CHARS or not model.isprintable():
        raise InvalidInput(f"model must be a name of at most {MODEL_CHARS} printable characters.")


@transaction.atomic
def create_session(
    project: Project,
    choices: Choices | None = None,
    *,
    base: KnowledgeBase | None = None,
    title: str | None = None,
    client_name: str | None = None,
    flags: Mapping[str, Any] | None = None,
    freeze_planner_statistics: bool = False,
) -> Session:
    """Return a new session with its base mounted; all or nothing.

    Skills are read and frozen first, then personas; then the model configuration is copied.

    Args:
        base: the knowledge base to mount; the project's default when None.
        client_name: the id under which the client knows the session.
        flags: the policies chosen for it, checked.
        freeze_planner_statistics: keep the present statistics for its planners; its turns do not update them.

    Raises:
        InvalidInput: an unknown plugin, a bad level or title.
        Unavailable: SESSION_LIMIT, SKILLS_ROOT_UNREADABLE.

    Effects: session, mount, layers; `session.created`, `kb.mounted`; then `session-created` and `kb-loaded`.
    """
    choices = choices or Choices()
    check_choices(choices)
    check_session_limit(project)
    files = freeze_files(project)
    model_config, _ = shared_config(project)
    base = base or knowledge.ensure_default_base(project)
    session = _initial(project, choices, base, files, model_config)
    session.title, session.flags = clean_title(title), dict(flags or {})
    if freeze_planner_statistics:
        session.planner_statistics = utilities_to_keep(project.pk)
    if client_name:
        session.session_id, session.is_client_named = client_name, True
    session.started_with_id = current_actor().key_pk
    session.touch()
    mount = KBMount(knowledge_base=base, layer_id=base.head_id, revision=base.revision, reason="session-create")
    news: list[events.News] = [
        ("session.created", events.SessionCreated()), ("kb.mounted", events.mounted_facts(mount))
    ]  # fmt: skip
    session.event_sequence = len(news)
    insert_rows([session], with_keys=True)
    mount.session = session
    insert_rows([mount])
    events.append_counted(session, news)
    _notify_of_creation(session, base)
    return session


def _initial(
    project: Project,
    choices: Choices,
    base: KnowledgeBase,
    files: Mapping[str, str],
    model_config: Mapping[str, Any],
) -> Session:
    """Return the unsaved session with its choices, frozen content and model configuration."""
    draft, journal = initial_layers(base.head)
    return Session(
        **files,
        project=project,
        preferred_planner_plugin=choices.planner or "planner-default",
        preferred_seed_detector_plugin=choices.seed_detector,
        preferred_kb_plugin=choices.kb,
        preferred_goal_solver_plugin=choices.goal_solver,
        preferred_deliberation_level=choices.deliberation_level or 0,
        preferred_model=choices.model,
        model_config=model_config,
        grounding=choices.grounding or "",
        mounted_kb=base,
        mounted_layer_id=base.head_id,
        draft=draft,
        journal=journal,
    )


def _notify_of_creation(session: Session, base: KnowledgeBase) -> None:
    notify_on_commit(session_created(session, base))
    notify_on_commit(kb_loaded(session, base, reason="session-create"))


def beginning_of(message: str) -> str:
    """Return how a session that begins with a message is called until it has a title."""
    # Redacted before it is cut: half a secret is not recognised.
    words = without_secrets(message).split(maxsplit=_FIRST_MESSAGE_CHARS)[:_FIRST_MESSAGE_CHARS]
    return Truncator(" ".join(words)).chars(_FIRST_MESSAGE_CHARS)


def clean_title(title: str | None) -> str | None:
    """Return the trimmed title, None for an empty one.

    Raises:
        InvalidInput: longer than 200 characters.
    """
    title = (title or "").strip()
    if len(title) > TITLE_CHARS:
        raise InvalidInput(f"A title has at most {TITLE_CHARS} characters; this one has {len(title)}.")
    return title or None


@transaction.atomic
def rename_session(session: Session, title: str | None) -> Session:
    """Set the session's title, or clear it.

    Raises:
        InvalidInput: the title is too long.
        Conflict, Expired, NotFound: the session is busy or over.
    """
    locked = lock_idle_session(session.pk)
    locked.title = clean_title(title)
    locked.save(update_fields=["title"])
    events.append(locked, ("session.renamed", events.SessionRenamed(title=locked.title)))
    return locked


@transaction.atomic
def choose_policies(session: Session, chosen: Mapping[str, Any]) -> Session:
    """Choose policies for the session's later turns: flags and `grounding`; null clears a choice.

    Other names are ignored.

    Raises:
        InvalidInput: a value is not one of the policy's.
        Conflict: TURN_IN_PROGRESS.

    Effects: the session's flags and grounding; `preferences.changed`.
    """
    locked = lock_idle_session(session.pk)
    flags = with_changes(locked.flags, chosen)
    grounding = chosen.get("grounding", locked.grounding) or ""
    check_choices(Choices(grounding=grounding))
    if (flags, grounding) != (locked.flags, locked.grounding):
        locked.flags, locked.grounding = flags, grounding
        locked.save(update_fields=["flags", "grounding"])
        changed = events.PreferencesChanged(flags=flags, grounding=grounding or None)
        events.append(locked, ("preferences.changed", changed))
    return locked


@transaction.atomic
def limit_turns(session: Session, limits: Mapping[str, int]) -> None:
    """Limit the session's later turns by names of `mrpvm.values.Limits`, and by `max_tokens` of an answer.

    Raises:
        Conflict: TURN_IN_PROGRESS.

    Effects: the session's row.
    """
    locked = lock_idle_session(session.pk)
    locked.turn_limits = dict(limits)
    locked.save(update_fields=["turn_limits"])


@transaction.atomic
def change_session(session: Session, named: Mapping[str, Any]) -> None:
    """Change the named ones of `flags` and `title`: all of them, or none.

    Raises and effects: those of `choose_policies` and `rename_session`.
    """
    if named.get("flags"):
        choose_policies(session, named["flags"])
    if "title" in named:
        rename_session(session, named["title"])


def choose_guidance(
    session: Session, *, agent: str | None = None, persona: str | None = None, style: str | None = None
) -> None:
    """Set the agent, persona or style before the session's first turn."""
    named = {"active_agent": agent, "active_persona": persona, "active_style": style}
    chosen = {name: value for name, value in named.items() if value is not None}
    for name, value in chosen.items():
        setattr(session, name, value)
    if chosen:
        session.save(update_fields=list(chosen))


@transaction.atomic
def note_metadata(session: Session, metadata: Mapping[str, str]) -> Session:
    """Replace the client's metadata of the session, which no turn reads."""
    locked = lock_session(session.pk)
    locked.metadata = locked.project.kept(dict(metadata))
    locked.save(update_fields=["metadata"])
    return locked


@transaction.atomic
def delete_session(session: Session) -> None:
    """Soft-delete the session; deleting again changes nothing. A running turn is cancelled and may not commit.

    It can be restored for `UNDO_PERIOD`; afterwards the sweep removes it permanently.
    """
    now = timezone.now()
    if Session.objects.filter(pk=session.pk, deleted_at__isnull=True).update(deleted_at=now):
        session.turns.filter(status=ExplainabilityTurn.Status.RUNNING).update(cancel_requested_at=now)
        session.refresh_from_db()
        events.append(session, ("session.deleted", events.NoFacts()))
        record_of_session(AuditKind.SESSION_DELETED, session)


@transaction.atomic
def restore_session(session: Session) -> Session:
    """Restore a deleted session.

    Raises:
        Conflict: it was deleted too long ago.
        Unavailable: SESSION_LIMIT, QUOTA_FULL; others have taken its place.
    """
    locked = Session.objects.select_for_update().get(pk=session.pk)
    if locked.deleted_at is None:
        return locked
    if timezone.now() > locked.deleted_at + UNDO_PERIOD:
        raise Conflict("The session was deleted too long ago to be brought back.")
    if not locked.is_expired:
        check_session_limit(locked.project)
    with within_quotas(locked.project):
        locked.deleted_at = None
        locked.save(update_fields=["deleted_at"])
    events.append(locked, ("session.restored", events.NoFacts()))
    record_of_session(AuditKind.SESSION_UNDELETED, locked)
    return locked


def set_preferences(session: Session, chosen: Sequence[tuple[str, Any]]) -> events.PreferencesChanged:
    """Set preference columns on the unsaved session; return those that changed."""
    changed = {name: value for name, value in chosen if value is not None and getattr(session, name) != value}
    for name, value in changed.items():
        setattr(session, name, value)
    return cast(events.PreferencesChanged, changed)


PREFERENCES: Mapping[str, str | int | None] = {
    "preferred_planner_plugin": "planner-default",
    "preferred_seed_detector_plugin": None,
    "preferred_kb_plugin": None,
    "preferred_goal_solver_plugin": None,
    "preferred_deliberation_level": 0,
    "preferred_model": None,
}
"""The preferences of a session, and their default values."""


@transaction.atomic
def clear_preference(session: Session, name: str) -> None:
    """Clear a preference.

    Raises:
        InvalidInput: there is no such preference.
        Conflict, Expired, NotFound: the session is busy or over.

    Effects: the column; `preferences.changed`.
    """
    if name not in PREFERENCES:
        raise InvalidInput(f"There is no preference '{name}'.")
    locked = lock_idle_session(session.pk)
    setattr(locked, name, PREFERENCES[name])
    locked.save(update_fields=[name])
    changed = cast(events.PreferencesChanged, {name: PREFERENCES[name]})
    events.append(locked, ("preferences.changed", changed))
