"""`manage.py reindex`: brings what an earlier version has indexed up to date."""

import time
from typing import Any

from django.core.management.base import CommandError

from mrpvm.errors import Conflict
from mrpvm.preview import counted
from sessions_app.layers import is_anything_left, reindex
from sessions_app.management.versions import PreparedCommand
from sessions_app.pacing import Pacer


class Command(PreparedCommand):
    """Writes the index again, layer by layer, while the server runs or not."""

    help = (
        "Write the index of knowledge again where an earlier version has written it. Safe beside a running server;"
        " what is broken off goes on with the layer that it was at. Does nothing where all is up to date."
    )
    seconds_between_lines = 2.0

    def handle(self, *args: Any, **options: Any) -> None:
        """Reindex, with progress lines, and print how much was done."""
        if not is_anything_left():
            self.stdout.write("The index is up to date: there was nothing to do.")
            return
        self._told_at, self._pacer = 0.0, Pacer(apart=True)
        try:
            count = reindex(self._tell)
        except Conflict as refused:
            raise CommandError(refused.message) from None
        self.stdout.write(f"The index is up to date: {counted(count, 'layer')} written again.")

    def _tell(self, what: str, done_count: int, of_count: int) -> None:
        self._pacer.pause()
        if time.monotonic() - self._told_at >= self.seconds_between_lines:
            self._told_at = time.monotonic()
            self.stdout.write(f"{what}: {done_count} of {of_count}")
            self.stdout.flush()
