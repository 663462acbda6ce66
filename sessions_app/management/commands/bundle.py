"""`manage.py bundle`: a session as one file, that file checked, and stored again."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from mrpvm.errors import MRPError
from mrpvm.preview import counted
from sessions_app.actions.settings.audit import record_export
from sessions_app.interchange.bundle.checking import checked_bundle
from sessions_app.interchange.bundle.form import BundleManifest
from sessions_app.interchange.bundle.importing import import_bundle
from sessions_app.interchange.bundle.writing import write_bundle
from sessions_app.management.files import open_whole_file
from sessions_app.queries.sessions import lookups as sessions
from sessions_app.queries.settings.projects import project_named


class Command(BaseCommand):
    """Writes, checks or stores a bundle."""

    help = "Write a session with what its turns need to FILE, check such a file, or store it as a read-only session."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the verb and the file."""
        what = parser.add_subparsers(dest="what", required=True)
        export = what.add_parser("export", help="write a session to FILE")
        export.add_argument("session")
        verify = what.add_parser("verify", help="check FILE; no row is read or written")
        store = what.add_parser("import", help="store FILE as a session to read and to run again")
        for action in (export, verify, store):
            action.add_argument("file", type=Path)
        for action in (export, store):
            action.add_argument("--project", help="slug of the project; the default project without it")

    def handle(self, *args: Any, what: str, file: Path, **options: Any) -> None:
        """Write, check or import the bundle, and print what it holds."""
        try:
            if what == "export":
                session = sessions.session(project_named(options["project"]), options["session"])
                with open_whole_file(file) as target:
                    manifest = write_bundle(session, target)
                self._tell(file, manifest)
                record_export(session, "bundle")
                return
            with file.open("rb") as source:
                if what == "verify":
                    self._tell(file, checked_bundle(source).manifest)
                    return
                imported = import_bundle(project_named(options["project"]), source)
        except MRPError as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            done = "written" if what == "export" else "read"
            raise CommandError(f"{file} cannot be {done}: {error.strerror}.") from None
        turns = counted(imported.turn_count, "turn")
        self.stdout.write(f"Session {imported.session.session_id}: {turns}, read-only.")
        for left_out in imported.left_out:
            self.stdout.write(left_out)

    def _tell(self, file: Path, manifest: BundleManifest) -> None:
        size = sum(item.size for item in manifest.files)
        self.stdout.write(
            f"{file}: session {manifest.session_id} of mrpvm {manifest.product}, {size} bytes in"
            f" {len(manifest.files)} files, SHA-256 {manifest.root}."
        )
        for left_out in manifest.left_out:
            self.stdout.write(left_out)
