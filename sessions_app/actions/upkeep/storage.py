"""Daily samples of the size of the database."""

from datetime import UTC, datetime, timedelta

from django.db import transaction

from sessions_app.exclusive import alone_at
from sessions_app.models import StorageSample
from sessions_app.queries.settings.storage import sizes

_KEPT = timedelta(days=400)


def sample_storage() -> int:
    """Store today's (UTC) size of the database unless another call has or does; return the number of rows.

    Effects: a row for each kind; rows of more than 400 days ago are removed.
    """
    today = datetime.now(UTC).date()
    if StorageSample.objects.filter(day=today).exists():
        return 0
    with alone_at("storage") as hold:
        if hold is None or StorageSample.objects.filter(day=today).exists():
            return 0
        measured = sizes()
        with transaction.atomic():
            StorageSample.objects.filter(day__lt=today - _KEPT).delete()
            StorageSample.objects.bulk_create(
                StorageSample(day=today, kind=size.kind, byte_count=size.byte_count, is_estimate=size.is_estimate)
                for size in measured
            )
        return len(measured)
