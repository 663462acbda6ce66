"""Readiness checks: each tries out something that a turn needs."""

import logging
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile

from django.conf import settings
from django.core.checks import run_checks
from django.db import connection, transaction

from mrpvm import registry
from mrpvm.values import PLUGIN_TYPES
from sessions_app import events
from sessions_app.actions.upkeep.probing import try_to_write
from sessions_app.database import outages_told
from sessions_app.plugin_threads import on_plugin_thread
from sessions_app.queries.readiness import has_default_base, newest_unit_is_indexed, read_newest_session

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
    except TimeoutError:
        logger.warning("the readiness check %s failed: no answer in time", name)
    except Exception:
        logger.exception("the readiness check %s failed", name)
    return False


def _config() -> bool:
    """Check that the settings are valid together."""
    return not settings.ENVIRONMENT_PROBLEMS and not any(
        message.is_serious() for message in run_checks(tags=["environment"])
    )


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
    """Check that the thread of a plugin call can read from the database."""
    return on_plugin_thread(_THREAD_MS, read_newest_session)


def _plugins() -> bool:
    """Check that every family has a plugin, except validators: without any, answers are not validated."""
    needed = (plugin_type for plugin_type in PLUGIN_TYPES if plugin_type != "val-plugin")
    return all(registry.installed.descriptors(plugin_type) for plugin_type in needed)


_CHECKS: dict[str, Callable[[], bool]] = {
    "config": _config,
    "database": try_to_write,
    "disk": _disk,
    "kb": has_default_base,
    "index": newest_unit_is_indexed,
    "sessions": read_newest_session,
    "plugins": _plugins,
    "plugin_threads": _plugin_threads,
    "channels": events.layer_answers,
}
