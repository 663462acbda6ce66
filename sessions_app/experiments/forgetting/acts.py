"""Acts of forgetting as an admin begins and confirms them."""

from concurrent.futures import wait

from mrpvm.errors import InvalidInput
from sessions_app.actions.experiments.experiments import Author
from sessions_app.actions.experiments.forgetting.acts import begin_removal, create_act, not_planned
from sessions_app.experiments.forgetting.work import carry_out, plan
from sessions_app.experiments.running.pool import pool
from sessions_app.models import Forgetting, Project
from sessions_app.queries.experiments.forgetting.origins import Subject, check_subject

Status = Forgetting.Status


def start_plan(project: Project, subject: Subject, author: Author, *, wait_ms: int = 0) -> Forgetting:
    """Begin to look for everything that came from a subject; nothing is removed.

    Args:
        wait_ms: how long to wait for the end of the search.

    Raises:
        NotFound, InvalidInput: as for `check_subject`.
        Unavailable: SERVER_BUSY, SERVER_SHUTTING_DOWN.
    """
    check_subject(project, subject)
    pool.refuse_if_full()
    act = create_act(project, subject, author)
    wait([pool.start(plan, act, subject)], timeout=wait_ms / 1000)
    act.refresh_from_db()
    return act


def start_removal(act: Forgetting, confirm: str, *, wait_ms: int = 0) -> Forgetting:
    """Carry out a plan. It cannot be undone, so the plan's name has to be given again.

    Raises:
        InvalidInput: `confirm` is not that name.
        Conflict: FORGETTING_NOT_PLANNED; it runs or has ended already.
        Unavailable: SERVER_BUSY, SERVER_SHUTTING_DOWN.
    """
    if act.status != Status.PLANNED:
        raise not_planned()
    if " ".join(confirm.split()) != name_of(act):
        raise InvalidInput("What was typed is not the name that the plan shows. Nothing was forgotten.")
    pool.refuse_if_full()
    begin_removal(act)
    act.refresh_from_db()
    wait([pool.start(carry_out, act)], timeout=wait_ms / 1000)
    act.refresh_from_db()
    return act


def name_of(act: Forgetting) -> str:
    """Return what has to be typed in to have a plan carried out; empty once it was."""
    return " ".join(act.work["name"].split()) if act.work else ""
