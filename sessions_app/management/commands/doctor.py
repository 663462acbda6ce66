"""`manage.py doctor`: checks the integrity of what is stored, and repairs it with `--mend`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.template.defaultfilters import filesizeformat

from mrpvm.preview import counted
from sessions_app.background.doctor import findings
from sessions_app.queries.settings.storage import sizes


class Command(BaseCommand):
    """Prints a line for each finding and the size of the database by kind; fails if a finding is left."""

    help = (
        "Check the tables, the files' disk, the clock and the settings. Writes nothing unless --mend is given. Safe"
        " beside a running server, which it slows down."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--mend", action="store_true", help="mend what can be mended")

    def handle(self, *args: Any, mend: bool, **options: Any) -> None:
        """Check, mend, and say how much is left."""
        mended, mendable, left = 0, 0, 0
        for finding in findings():
            done = ""
            if finding.mend is None:
                done = " (cannot be mended here)"
                left += 1
            elif mend:
                count = finding.mend()
                done = f" (mended: {counted(count, 'row')})"
                mended += 1
            else:
                mendable += 1
            self.stdout.write(f"{finding.check}: {finding.text}{done}")
        for size in sorted(sizes(), key=lambda size: -size.byte_count):
            about = "about " if size.is_estimate else ""
            self.stdout.write(f"size: {size.kind.label}: {about}{filesizeformat(size.byte_count)}")
        if left or mendable:
            hint = " Run doctor --mend after a backup to mend what can be mended." if mendable else ""
            raise CommandError(f"{counted(left + mendable, 'finding')} left.{hint}")
        self.stdout.write("Everything that was found is mended." if mended else "No problem was found.")
