"""Whether the database's tables fit this version of the server."""

from collections.abc import Sequence

from django.db import connection
from django.db.migrations.loader import MigrationLoader

from sessions_app.models import DatabaseVersion

_APP = "sessions_app"


def latest_migration() -> str:
    """Return the newest migration that this version of the server has."""
    (leaf,) = MigrationLoader(None).graph.leaf_nodes(_APP)
    return leaf[1]


def is_known_migration(name: str) -> bool:
    """Return whether this version of the server has the migration."""
    return (_APP, name) in MigrationLoader(None).disk_migrations


def unknown_migrations() -> Sequence[str]:
    """Return what was applied to the database and is no part of this version, as `app.name`; the newest last."""
    loader = MigrationLoader(connection)
    known = {*loader.disk_migrations, *(key for item in loader.replacements.values() for key in item.replaces)}
    apps = {app for app, _ in known}  # the tables of an application that was taken away are in nobody's way
    return [f"{app}.{name}" for app, name in loader.applied_migrations if app in apps and (app, name) not in known]


def missing_migrations() -> Sequence[str]:
    """Return the migrations of this version that the database still lacks, as `app.name`."""
    loader = MigrationLoader(connection)
    return [f"{app}.{name}" for app, name in loader.graph.nodes if (app, name) not in loader.applied_migrations]


def database_version() -> str | None:
    """Return the version of the server that last prepared the database; None where that was never noted."""
    if DatabaseVersion._meta.db_table not in connection.introspection.table_names():
        return None
    return DatabaseVersion.objects.values_list("version", flat=True).order_by("-id").first()
