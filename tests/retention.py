"""Turns whose payloads are older than the retention period."""

from datetime import timedelta

from django.db.models import F
from pytest_django import Settings

from sessions_app.actions.upkeep.retention import carry_out_retention
from sessions_app.models import ExplainabilityTurn


def age_payloads(settings: Settings) -> int:
    """Make all turns two days older, and remove payloads older than one day; return the number of turns."""
    ExplainabilityTurn.objects.update(created_at=F("created_at") - timedelta(days=2))
    settings.MRPVM_KEEP_PAYLOADS_DAYS = 1
    return carry_out_retention(rest=timedelta(0))
