"""`createkey`: makes an API key from the command line."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from mrpvm.errors import MRPError
from sessions_app.actions.settings.api_keys import create_key
from sessions_app.management.versions import PreparedCommand
from sessions_app.models import Role
from sessions_app.queries.settings.projects import project_named


class Command(PreparedCommand):
    """Prints the key alone on standard output, so that a script can take it."""

    help = "Make an API key and print it; it is shown this once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="what the key is for, as the API keys page lists it")
        parser.add_argument("--role", default="editor", choices=Role.values)
        parser.add_argument("--project", help="slug of the project; the default project without it")

    def handle(self, *args: Any, name: str, role: str, project: str | None, **options: Any) -> None:
        try:
            _, plain = create_key(project_named(project), name, role)
        except MRPError as refused:
            raise CommandError(refused.message) from None
        self.stdout.write(plain)
