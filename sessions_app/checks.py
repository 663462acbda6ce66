"""System checks: what must be right before the server starts. Each message is one line for an operator."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

from mrpvm.wrappers.manifest import admit_wrappers

ENVIRONMENT_TAG = "environment"
_PREFIX = "MRPVM_"
_ALIKE = 0.9
"""How alike a misspelt name is at least, from 0 to 1."""


@register(ENVIRONMENT_TAG)
def check_environment(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Return one error for each environment variable that cannot be used."""
    return [Error(str(problem), id="mrpvm.E001") for problem in settings.ENVIRONMENT_PROBLEMS]


@register(ENVIRONMENT_TAG)
def check_names(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Warn of each variable with the server's prefix that is no setting, and name the one that may be meant."""
    known = settings.ENVIRONMENT.names_read
    unknown = sorted(name for name in settings.ENVIRONMENT.variables if name.startswith(_PREFIX) and name not in known)
    meant = {name: get_close_matches(name, sorted(known), n=1, cutoff=_ALIKE) for name in unknown}
    return [
        Warning(f"{name} is no setting{''.join(f'; {setting} is one' for setting in meant[name])}.", id="mrpvm.W002")
        for name in unknown
    ]


@register(ENVIRONMENT_TAG)
def check_wrappers(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Warn of each external program that is skipped, and why."""
    admission = admit_wrappers(settings.MRPVM_WRAPPERS_DIR, settings.MRPVM_WRAPPERS)
    return [Warning(problem, id="mrpvm.W001") for problem in admission.problems]


@register(ENVIRONMENT_TAG)
def check_processes(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Refuse several worker processes over the in-process channel layer: each would see its own events only."""
    count = settings.MRPVM_WORKER_COUNT
    if count == 1 or settings.ENVIRONMENT.text("REDIS_URL"):  # a bad address is a problem of its own
        return []
    return [Error(f"WEB_CONCURRENCY is {count}: several processes need REDIS_URL to share events.", id="mrpvm.E002")]
