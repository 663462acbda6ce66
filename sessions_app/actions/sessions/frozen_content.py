"""Store the skills, personas and agents that a session is created with, and replace them on request."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from mrpvm.assistants.agents import AgentCatalogue
from mrpvm.assistants.personas import PersonaCatalogue
from mrpvm.assistants.skills import SkillSnapshot
from sessions_app import events
from sessions_app.actions.sessions.slots import lock_idle_session
from sessions_app.models import FrozenContent, Project, Session
from sessions_app.models.named_sql import look_up
from sessions_app.models.sessions.frozen_content import content_key
from sessions_app.queries.sessions.skill_files import current_agents, current_personas, current_skills

Kind = FrozenContent.Kind
UNUSED_PERIOD = timedelta(hours=1)
"""How long unused content is kept; far longer than the creation of a session takes."""


type Content = SkillSnapshot | PersonaCatalogue | AgentCatalogue


def freeze_files(project: Project) -> dict[str, str]:
    """Return the columns of a new session that point to its frozen content; skills are read first.

    New content is stored. Must run inside a transaction.

    Raises:
        SkillRootError: skills cannot be read; nothing is stored.

    Effects: up to three rows.
    """
    skills = current_skills(project)
    personas, agents = current_personas(project), current_agents(project)
    keys = store(project.pk, [(Kind.SKILLS, skills), (Kind.PERSONAS, personas), (Kind.AGENTS, agents)])
    return dict(zip(("skills_id", "personas_id", "agents_id"), keys, strict=True))


def store(project_pk: int, contents: Sequence[tuple[Kind, Content]]) -> list[str]:
    """Store the contents that are new in the project; return the keys of all, in the same order.

    One query if all of them are stored already, the usual case.
    """
    keys = [content_key(project_pk, content.content_hash) for _, content in contents]
    known = _use_again(keys)
    new = [
        FrozenContent(key=key, project_id=project_pk, kind=kind, content=asdict(content))
        for key, (kind, content) in zip(keys, contents, strict=True)
        if key not in known
    ]
    FrozenContent.objects.bulk_create(new, ignore_conflicts=True)  # another session may freeze the same at this moment
    return keys


def _use_again(keys: Sequence[str]) -> set[str]:
    """Return the keys that are stored, after clearing their marks for removal.

    If a sweep is removing a row, the update waits for it and does not find the row.
    """
    unused_since = dict(look_up(FrozenContent, ("key", "unused_since"), {"key": keys}))
    if any(unused_since.values()):
        rows = FrozenContent.objects.filter(pk__in=keys)
        rows.filter(unused_since__isnull=False).update(unused_since=None)
        return set(rows.values_list("pk", flat=True))
    return set(unused_since)


@transaction.atomic
def remove_unused_content() -> int:
    """Remove contents that no session has used for `UNUSED_PERIOD`; return how many.

    Unused content is marked first and removed by a later sweep. A session that is created meanwhile clears the mark or
    stores the content again.

    Effects: marks set and cleared; rows deleted.
    """
    now = timezone.now()
    held = Exists(
        Session.objects.filter(
            Q(skills_id=OuterRef("pk")) | Q(personas_id=OuterRef("pk")) | Q(agents_id=OuterRef("pk"))
        )
    )
    contents = FrozenContent.objects.all()
    contents.filter(held, unused_since__isnull=False).update(unused_since=None)
    contents.filter(~held, unused_since__isnull=True).update(unused_since=now)
    over = contents.select_for_update().filter(~held, unused_since__lte=now - UNUSED_PERIOD)
    removed, _ = contents.filter(pk__in=list(over.values_list("pk", flat=True))).delete()
    return removed


@transaction.atomic
def reload_skills(session: Session) -> Session:
    """Replace the session's skills by the present ones of the files; other sessions keep theirs.

    Raises:
        SkillRootError: they cannot be read; the session keeps what it has.
        Conflict, Expired, NotFound: the session is busy or over.

    Effects: the session's pointer and version; `snapshot.reloaded`.
    """
    locked = lock_idle_session(session.pk)
    point_to_skills(locked, current_skills(locked.project), locked.snapshot_version + 1)
    locked.save(update_fields=["skills", "snapshot_version"])
    events.append(locked, reloaded(locked))
    return locked


def point_to_skills(session: Session, skills: SkillSnapshot, version: int) -> None:
    """Store the skills and point the unsaved session to them."""
    session.skills_id = store(session.project_id, [(Kind.SKILLS, skills)])[0]
    session.snapshot_version = version


def point_to_personas(session: Session, personas: PersonaCatalogue) -> None:
    """Store the personas and point the unsaved session to them."""
    session.personas_id = store(session.project_id, [(Kind.PERSONAS, personas)])[0]


def reloaded(session: Session) -> events.News:
    """Return the news of a reload of skills."""
    return (
        "snapshot.reloaded",
        events.SnapshotReloaded(version=session.snapshot_version, hash=hash_of(session.skills_id)),
    )


def hash_of(key: str) -> str:
    """Return the content's hash from its key."""
    return key.partition("-")[2]
