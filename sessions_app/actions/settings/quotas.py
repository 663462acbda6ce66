"""Quotas of a project: set them, and enforce them where something is started or stored."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from mrpvm.errors import InvalidInput, Unavailable
from mrpvm.preview import size_words
from sessions_app.actions.settings.audit import record
from sessions_app.call_rates import is_allowed
from sessions_app.exclusive import wait_for_turn
from sessions_app.models import AuditKind, ModelUse, Project, QuotaKind
from sessions_app.queries.settings.quotas import calls_name, seconds_until_free, used

MOST = 10**15
_STORED = (QuotaKind.SESSIONS, QuotaKind.UNITS, QuotaKind.BYTES)
_UNITS_OF_USE = {
    QuotaKind.SESSIONS: "session{s}",
    QuotaKind.UNITS: "unit{s}",
    QuotaKind.BYTES: "of sources",
    QuotaKind.CALLS: "turn{s} a minute",
    QuotaKind.TOKENS: "token{s} a day",
    QuotaKind.COST: "a day for models",
}


@transaction.atomic
def choose_quotas(project: Project, chosen: Mapping[str, float | None]) -> Project:
    """Set quotas of the project; None removes a limit, and kinds that are not named keep theirs.

    Nothing is deleted if the project is above a new limit; nothing can be added until it is below.

    Raises:
        InvalidInput: an unknown kind, or a number that cannot be a limit.
    """
    for kind, limit in chosen.items():
        if kind not in QuotaKind.values:
            raise InvalidInput(f"There is no quota of '{kind}'. Known: {', '.join(QuotaKind.values)}.")
        is_whole = limit is None or kind == QuotaKind.COST or limit == int(limit)
        if limit is not None and not (0 < limit <= MOST and is_whole):
            raise InvalidInput(f"{kind}: a quota is a whole number above 0; a cost may have a fraction.")
    locked = Project.objects.select_for_update().get(pk=project.pk)
    after = {kind: limit for kind, limit in {**locked.quotas, **chosen}.items() if limit is not None}
    changed = {
        kind: {"from": locked.quotas.get(kind), "to": after.get(kind)}
        for kind in chosen
        if locked.quotas.get(kind) != after.get(kind)
    }
    if changed:
        locked.quotas = after
        locked.save(update_fields=["quotas"])
        record(AuditKind.QUOTAS_CHANGED, locked.pk, "quotas", **changed)
    return locked


def take_turn(project: Project) -> None:
    """Count a turn that is about to begin; raise an error if the project has reached a quota.

    Running turns may exceed a day's limit and store their units.

    Raises:
        Unavailable: QUOTA_REACHED, with the seconds until the quota is reset; QUOTA_FULL, no turn may store a unit.
    """
    quotas = project.quotas
    units = quotas.get(QuotaKind.UNITS)
    if units is not None and used(project, QuotaKind.UNITS) > units:
        raise _reached(QuotaKind.UNITS, units)
    calls = quotas.get(QuotaKind.CALLS)
    if calls is not None and not is_allowed(calls_name(project), int(calls)):
        raise _reached(QuotaKind.CALLS, calls)
    check_model_use(project)


def check_model_use(project: Project) -> None:
    """Raise an error if the project has reached today's limit of tokens or cost; for work that may call a model.

    Raises:
        Unavailable: QUOTA_REACHED.
    """
    for kind in (QuotaKind.TOKENS, QuotaKind.COST):
        limit = project.quotas.get(kind)
        if limit is not None and used(project, kind) >= limit:
            raise _reached(kind, limit)


def check_sessions(project: Project) -> None:
    """Raise an error if the project may have no more sessions; must run in the transaction that creates the session.

    Raises:
        Unavailable: QUOTA_FULL.
    """
    limit = project.quotas.get(QuotaKind.SESSIONS)
    if limit is not None:
        wait_for_turn(f"quota-{project.pk}")
        if used(project, QuotaKind.SESSIONS) >= limit:
            raise _reached(QuotaKind.SESSIONS, limit)


@contextmanager
def within_quotas(project: Project) -> Iterator[None]:
    """Within a transaction, raise an error if the block has stored more and the project is then above a quota.

    Raises:
        Unavailable: QUOTA_FULL.
    """
    before = {kind: used(project, kind) for kind in _STORED if kind in project.quotas}
    yield
    if before:
        wait_for_turn(f"quota-{project.pk}")
    for kind, amount in before.items():
        if used(project, kind) > max(project.quotas[kind], amount):
            raise _reached(kind, project.quotas[kind])


def _reached(kind: QuotaKind, limit: float) -> Unavailable:
    seconds = seconds_until_free(kind)
    amount = size_words(int(limit)) if kind == QuotaKind.BYTES else f"{limit:,.10g}"
    words = f"This project may use {amount} {_UNITS_OF_USE[kind].format(s='' if limit == 1 else 's')}"
    details = {"quota": kind.value, "limit": limit}
    if seconds is None:
        return Unavailable(f"{words}; there is no room for more.", code="QUOTA_FULL", details=details)
    when = f"in {seconds} s" if kind == QuotaKind.CALLS else "after midnight UTC"
    return Unavailable(
        f"{words}. Try again {when}.",
        code="QUOTA_REACHED",
        details={**details, "retry_after_seconds": seconds},
    )


def count_model_use(project_pk: int, used_tokens: Sequence[Sequence[int | str]]) -> None:
    """Add `[model, input tokens, output tokens]` each to what was used today, in the caller's transaction."""
    today = timezone.now().astimezone(UTC).date()
    for model, taken, written in used_tokens:
        row = ModelUse.objects.filter(project_id=project_pk, day=today, model=str(model)[:200])
        added = {"input_tokens": F("input_tokens") + taken, "output_tokens": F("output_tokens") + written}
        if row.update(**added):
            continue
        try:
            with transaction.atomic():
                ModelUse.objects.create(
                    project_id=project_pk, day=today, model=str(model)[:200], input_tokens=taken, output_tokens=written
                )
        except IntegrityError:  # a concurrent call has created today's row
            row.update(**added)
