"""What a turn needs, tried out: nothing here reports what it has not done."""

import logging
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryFile

from django.conf import settings
from django.core.checks import run_checks
from django.db import connection, transaction

from mrpvm import registry
from mrpvm.errors import StorageUnavailable
from mrpvm.values import PLUGIN_TYPES
from sessions_app import events
from sessions_app.database import outages_told
from sessions_app.models import KnowledgeBase, LayerUnit, Posting, Project, Session
from sessions_app.plugin_threads import on_plugin_thread

_PROBE_BYTES, _ROW_BYTES = 262_144, 8
_THREAD_MS = 2_000

logger = logging.getLogger(__name__)


def checks() -> dict[str, bool]:
    """Return each check's outcome; a check that raises has failed, and the log says why."""
    return {name: _passes(name, check) for name, check in _CHECKS.items()}


def require(name: str, check: Callable[[], bool]) -> None:
    """Add a check of what only a running server has."""
    _CHECKS[name] = check


def _passes(name: str, check: Callable[[], bool]) -> bool:
    try:
        with outages_told():
            return check()
    except StorageUnavailable as error:
        logger.warning("the readiness check %s failed: %s", name, error)
    except Exception:
        logger.exception("the readiness check %s failed", name)
    return False


def _config() -> bool:
    """The settings hold together."""
    return not settings.ENVIRONMENT_PROBLEMS and not any(
        message.is_serious() for message in run_checks(tags=["environment"])
    )


def _database() -> bool:
    """A row can be written; it is rolled back."""
    with transaction.atomic():
        Project.objects.create(name="readiness", slug=f"readiness-{token_hex(16)}")  # taken by no project
        transaction.set_rollback(True)
    return True


def _disk() -> bool:
    """Check that the disk takes more: a row is written and rolled back."""
    if connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL work_mem = '64kB'")  # more rows than that go to a file beside the tables
            cursor.execute("SELECT count(*) FROM generate_series(1, %s)", [_PROBE_BYTES // _ROW_BYTES])
        return True
    with TemporaryFile(dir=Path(connection.settings_dict["NAME"]).resolve().parent) as file:
        file.write(bytes(_PROBE_BYTES))
        file.flush()
    return True


def _plugin_threads() -> bool:
    """The thread of a plugin call can read."""
    return on_plugin_thread(_THREAD_MS, _sessions)


def _kb() -> bool:
    """The default project's default base is there with its head."""
    return KnowledgeBase.objects.filter(is_default=True, project__is_default=True, head__isnull=False).exists()


def _index() -> bool:
    """The newest unit that a search should find has postings."""
    unit = LayerUnit.objects.filter(length__gt=0).order_by("-id").first()
    return unit is None or Posting.objects.filter(unit=unit).exists()


def _sessions() -> bool:
    """Sessions can be read."""
    Session.objects.select_related("mounted_kb", "draft").order_by("-id").first()
    return True


def _plugins() -> bool:
    """Every family has a plugin."""
    return all(registry.installed.descriptors(plugin_type) for plugin_type in PLUGIN_TYPES)


_CHECKS: dict[str, Callable[[], bool]] = {
    "config": _config,
    "database": _database,
    "disk": _disk,
    "kb": _kb,
    "index": _index,
    "sessions": _sessions,
    "plugins": _plugins,
    "plugin_threads": _plugin_threads,
    "channels": events.layer_answers,
}
