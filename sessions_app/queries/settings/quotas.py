"""What a project uses of what is limited."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import inf

from django.conf import settings
from django.db.models import F, Q, Sum
from django.utils import timezone

from sessions_app.call_rates import seconds_to_wait, used_in_minute
from sessions_app.models import KnowledgeBase, KnowledgeLayer, KnowledgeSource, ModelUse, Project, QuotaKind, Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """How much of what a quota limits is used; `limit` is None where there is none."""

    kind: QuotaKind
    used: float
    limit: float | None

    @property
    def percent(self) -> int:
        """Return the used part of the limit, 100 at most."""
        return 0 if not self.limit else min(100, round(100 * self.used / self.limit))


def uses(project: Project) -> list[Use]:
    """Return what the project uses of each kind."""
    return [Use(kind=kind, used=used(project, kind), limit=project.quotas.get(kind)) for kind in QuotaKind]


def used(project: Project, kind: QuotaKind) -> float:
    """Return how much of a kind the project uses now, today or in this minute."""
    match kind:
        case QuotaKind.SESSIONS:
            return _session_count(project)
        case QuotaKind.UNITS:
            own = KnowledgeLayer.objects.filter(pk__in=_layers(project)).aggregate(total=Sum("own_unit_count"))
            in_sessions = Session.objects.filter(project=project, deleted_at=None).aggregate(total=Sum("unit_count"))
            return (own["total"] or 0) + (in_sessions["total"] or 0)
        case QuotaKind.BYTES:
            sources = KnowledgeSource.objects.filter(layer__in=_layers(project))
            return sources.aggregate(total=Sum("text_byte_count"))["total"] or 0
        case QuotaKind.CALLS:
            # Refused turns are counted too, but did not begin.
            return min(used_in_minute(calls_name(project)), project.quotas.get(kind, inf))
        case QuotaKind.TOKENS:
            return sum(taken + written for _, taken, written in _today(project))
        case QuotaKind.COST:
            return sum(_cost(*use) for use in _today(project))


def calls_name(project: Project) -> str:
    """Return the name under which the project's turns are counted."""
    return f"turns:project-{project.pk}"


def seconds_until_free(kind: QuotaKind) -> int | None:
    """Return in how many seconds a used-up quota is reset, or None if something has to be deleted."""
    if kind == QuotaKind.CALLS:
        return seconds_to_wait()
    if kind in (QuotaKind.TOKENS, QuotaKind.COST):
        now = timezone.now().astimezone(UTC)
        midnight = datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1)
        return int((midnight - now).total_seconds()) + 1
    return None


def _session_count(project: Project) -> int:
    """Return how many sessions the project has that have not expired, or were imported."""
    in_time = Q(expires_at__isnull=True) | Q(expires_at__gte=timezone.now())
    counted = Q(in_time, expired_at=None) | Q(imported_at__isnull=False)
    return Session.objects.filter(counted, project=project, deleted_at=None, suite=None).count()


def _layers(project: Project) -> Collection[int]:
    """Return the keys of the layers that the project's bases and unsaved drafts consist of."""
    layer_keys: set[int] = set()
    heads = KnowledgeBase.objects.filter(project=project, deleted_at=None)
    for head, ancestry in heads.values_list("head_id", "head__ancestry"):
        layer_keys |= {head, *ancestry}
    drafts = Session.objects.filter(project=project, deleted_at=None)
    changed = drafts.exclude(draft__parent=F("mounted_layer"), draft__own_source_count=0)
    columns = ("draft_id", "draft__ancestry", "mounted_layer_id", "mounted_layer__ancestry")
    for draft, ancestry, mounted, below in changed.values_list(*columns):
        layer_keys |= {draft, *ancestry} - {mounted, *below}
    return layer_keys


def _today(project: Project) -> list[tuple[str, int, int]]:
    today = ModelUse.objects.filter(project=project, day=timezone.now().astimezone(UTC).date())
    return list(today.values_list("model", "input_tokens", "output_tokens"))


def _cost(model: str, taken: int, written: int) -> float:
    """Return what tokens cost by `MRPVM_MODEL_PRICES`, 0 for a model without a price."""
    price = settings.MRPVM_MODEL_PRICES.get(model, (0.0, 0.0))
    return (taken * price[0] + written * price[1]) / 1_000_000
