"""`manage.py restore FILE`: puts a backup in the place of what the server keeps."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from sessions_app.actions.settings.audit import record
from sessions_app.management.backups import BackupError, restore_backup
from sessions_app.management.claim import DatabaseClaim, DatabaseIsServed
from sessions_app.management.server import CannotStart
from sessions_app.models import AuditKind


class Command(BaseCommand):
    """Restores a backup, unless a server runs."""

    help = (
        "Put the backup FILE in the place of the database and the operator's files. Refused while a server runs, and"
        " for a backup of a newer version. What was there stays beside it (SQLite, files). A backup of SQLite moves to"
        " PostgreSQL if DATABASE_URL names it."
    )
    requires_system_checks = []  # some of them open the database, which may be the reason for this

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--with-secret-key", action="store_true", help="the signing key too, if the backup has it")

    def handle(self, *args: Any, file: Path, with_secret_key: bool, **options: Any) -> None:
        """Restore the backup, migrate the database, and print what was restored."""
        try:
            with DatabaseClaim(shared=False):
                manifest = restore_backup(file, with_secret_key=with_secret_key)
        except DatabaseIsServed as error:
            raise CommandError(f"{error}. Stop the server, with all of its processes, then restore again.") from None
        except CannotStart as error:
            raise CommandError(str(error)) from None
        except BackupError as error:
            raise CommandError(str(error)) from None
        call_command("migrate", interactive=False, verbosity=0)
        record(AuditKind.IMPORTED, None, f"backup {file.resolve()}", made_at=manifest.made_at)
        if with_secret_key and settings.ENVIRONMENT.text("SECRET_KEY"):
            self.stderr.write("The signing key was restored to its file, but the server uses the one in SECRET_KEY.")
        self.stdout.write(f"Restored what mrpvm {manifest.version} had at {manifest.made_at}. Start the server.")
