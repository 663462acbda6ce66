"""`manage.py serve`: from an empty directory to a server with a login link, in one command."""

import signal
import sys
from argparse import ArgumentParser
from typing import Any, NoReturn

from django.conf import settings
from django.core import checks
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import DatabaseError, connections

from mrpvm.llm.local_model import LocalModel, LocalModelFailed
from mrpvm.preview import counted
from sessions_app.actions.versions import record_version
from sessions_app.checks import ENVIRONMENT_TAG
from sessions_app.language_model import use_local_model
from sessions_app.layers import outdated_layers
from sessions_app.management.announcement import announcement
from sessions_app.management.bootstrap import bootstrap
from sessions_app.management.claim import DatabaseClaim, DatabaseIsServed
from sessions_app.management.server import (
    CannotStart,
    check_connections,
    check_layer,
    limit_arenas,
    listening_socket,
    run_server,
    starting_local_model,
    unusable_database,
)
from sessions_app.management.static_files import collect_static_files
from sessions_app.management.versions import check_version


class Command(BaseCommand):
    """Checks, migrates, sets up the first project, says where to go, and serves."""

    help = "Start the server: checks the settings, migrates, prints a login link, serves until Ctrl-C."
    requires_system_checks = []  # run by handle(), which prints one line for each problem

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the address, and whether another process has prepared the database."""
        parser.add_argument("--host", default=settings.HOST, help="address to listen on (over HOST)")
        parser.add_argument("--port", default=settings.PORT, type=int, help="port to listen on, 0 for any (over PORT)")
        parser.add_argument(
            "--no-bootstrap", action="store_true", help="a further process: migrate nothing, create and print nothing"
        )

    def handle(self, *args: Any, host: str, port: int, no_bootstrap: bool, **options: Any) -> None:
        """Start, or say in one line why not.

        Effects: the database's tables; on the first start the default project, an admin, a key and the demo.
        """
        # As the first process of a container it would not be ended by a signal without a handler.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            self._serve(host, port, no_bootstrap=no_bootstrap)
        except KeyboardInterrupt:
            self._refuse("Stopped before it was ready; the next start goes on from here.")

    def _serve(self, host: str, port: int, *, no_bootstrap: bool) -> None:
        limit_arenas()
        self._check(ENVIRONMENT_TAG)
        local_model: LocalModel | None = None
        try:
            local_model = starting_local_model()
            check_connections()
            claim = DatabaseClaim(shared=bool(settings.REDIS_URL))
            bound = listening_socket(host, port)
            if settings.REDIS_URL:
                check_layer()
            self._check()
            bound_port = bound.getsockname()[1]
            check_version(must_be_prepared=no_bootstrap)
            if settings.STATIC_ROOT:
                collect_static_files(settings.STATIC_ROOT)
            further = f"mrpvm serves {host}:{bound_port}."
            lines = further if no_bootstrap else self._prepare(host, bound_port, claim)
            self._warn_of_old_index()
            if local_model is not None:
                self._use_local_model(local_model)
        except DatabaseIsServed as problem:
            self._refuse(f"{problem}; several processes need REDIS_URL, each the same.")
        except CannotStart as problem:
            self._refuse(str(problem))
        except DatabaseError as error:
            self._refuse(unusable_database(error))
        connections.close_all()
        grace_seconds = settings.MRPVM_SHUTDOWN_GRACE_MS / 1000
        run_server(
            bound,
            grace_seconds=grace_seconds,
            on_started=lambda: self._say(lines),
            holds_database=lambda: claim.holds,
        )
        claim.close()
        if local_model is not None:
            local_model.close()

    def _check(self, *tags: str) -> None:
        """Stop at errors that the system checks find, and print warnings of those with tags.

        Without tags all of them run, some of which open the database.
        """
        messages = checks.run_checks(tags=tags or None)
        errors = [message for message in messages if message.is_serious()]
        for warning in messages if tags and not errors else ():
            self.stderr.write(f"Warning: {warning.msg}")
        if errors:
            self._refuse("\n".join(error.msg for error in errors))

    def _prepare(self, host: str, port: int, claim: DatabaseClaim) -> str:
        call_command("migrate", interactive=False, verbosity=0)
        record_version(settings.MRPVM_VERSION)
        started = bootstrap(settings.MRPVM_API_KEY or None, settings.MRPVM_DEMO, alone=claim.is_alone())
        return announcement(started, host, port)

    def _warn_of_old_index(self) -> None:
        count = outdated_layers().count()
        if count:
            self.stderr.write(
                f"Warning: another version has indexed {counted(count, 'layer')} of knowledge; searches"
                " miss words there. Run the command `reindex`, now or while the server runs."
            )

    def _use_local_model(self, model: LocalModel) -> None:
        try:
            model.wait()
        except LocalModelFailed as problem:
            self.stderr.write(f"Warning: the local model is not used: {problem}.")
        else:
            use_local_model(model)

    def _say(self, lines: str) -> None:
        self.stdout.write(lines)
        self.stdout.flush()

    def _refuse(self, line: str) -> NoReturn:
        self.stderr.write(line)
        sys.exit(1)
