"""Record which version of the server has migrated the database."""

from sessions_app.models import DatabaseVersion
from sessions_app.queries.versions import latest_migration


def record_version(version: str) -> None:
    """Record that this version has migrated the database.

    Effects: a row, once for each version and state of the tables.
    """
    DatabaseVersion.objects.get_or_create(version=version, latest_migration=latest_migration())
