"""`manage.py backup FILE`: everything that the server keeps, as one file, while it runs."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import Error

from mrpvm.preview import counted
from sessions_app.actions.settings.audit import record
from sessions_app.management.backups import BackupError, make_backup, verified
from sessions_app.models import AuditKind


class Command(BaseCommand):
    """Makes a backup, or checks one."""

    help = "Write a backup of the database and the operator's files to FILE, beside a running server or without one."
    requires_system_checks = []  # they are the server's; a backup is made whatever is wrong with it

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the file and the flags."""
        parser.add_argument("file", type=Path)
        parser.add_argument("--with-secret-key", action="store_true", help="the signing key too: who has it can log in")
        parser.add_argument("--verify", action="store_true", help="write nothing: read FILE and compare its checksums")

    def handle(self, *args: Any, file: Path, with_secret_key: bool, verify: bool, **options: Any) -> None:
        """Write or check the backup, and print what it holds."""
        try:
            manifest = verified(file) if verify else make_backup(file, with_secret_key=with_secret_key)
        except BackupError as error:
            raise CommandError(str(error)) from None
        key = "with" if manifest.has_secret_key else "without"
        count = len(manifest.checksums)
        self.stdout.write(
            f"{file}: {manifest.database} of mrpvm {manifest.version}, {counted(count, 'file')},"
            f" {key} the signing key, made at {manifest.made_at}."
        )
        if not verify:
            self._record(file, has_secret_key=with_secret_key)

    def _record(self, file: Path, *, has_secret_key: bool) -> None:
        """Add an entry to the audit log; a database that takes none, as on a full disk, is backed up anyway."""
        try:
            record(AuditKind.EXPORTED, None, f"backup {file.resolve()}", has_secret_key=has_secret_key)
        except Error as error:
            self.stderr.write(f"The audit log has no entry of this backup: {error}")
