"""Whether this version of the server may use the database."""

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from sessions_app.management.server import CannotStart, named_database
from sessions_app.queries.versions import database_version, latest_migration, missing_migrations, unknown_migrations


def check_version(*, must_be_prepared: bool) -> None:
    """Refuse a database that a newer version has changed: what it stores there would be read wrongly or lost.

    Args:
        must_be_prepared: this start does not migrate, so an older database is refused too.

    Raises:
        CannotStart: with both versions.
    """
    if unknown := unknown_migrations():
        newer = database_version() or "another version"
        raise CannotStart(
            f"{named_database()}: mrpvm {newer} has changed this database ({unknown[-1]}), and this is mrpvm"
            f" {settings.MRPVM_VERSION}, which knows it up to {latest_migration()}. Install mrpvm {newer} or a later"
            " version, or restore a backup from before it."
        )
    if must_be_prepared and missing_migrations():
        older = database_version()
        tables = f"those of mrpvm {older}" if older else "not complete"
        raise CannotStart(
            f"{named_database()}: its tables are {tables}, and this is mrpvm {settings.MRPVM_VERSION}."
            " Start one process without --no-bootstrap first: it brings the tables up to date."
        )


def unprepared_database() -> str:
    """Return the line for a database whose tables no start of this version has prepared, empty for another."""
    try:
        is_prepared = not missing_migrations()
    except DatabaseError:  # it cannot be opened or read
        return ""
    if is_prepared:
        return ""
    return (
        f"{named_database()}: the tables are not those of mrpvm {settings.MRPVM_VERSION}. Give the command the"
        " environment of the server, MRPVM_DATA_DIR and DATABASE_URL above all, or start the server once."
    )


class PreparedCommand(BaseCommand):
    """A command that is refused on tables which no start of this version has prepared."""

    requires_migrations_checks = True

    def check_migrations(self) -> None:
        """Refuse; Django's own check advises to migrate, which in a wrong directory makes a second database."""
        if line := unprepared_database():
            raise CommandError(line)
