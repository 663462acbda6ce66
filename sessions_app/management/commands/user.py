"""`user`: adds a person to a project, or gives one a new way in."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.urls import reverse

from mrpvm.errors import MRPError
from sessions_app.actions.settings.projects import add_member, create_login_link
from sessions_app.actions.settings.second_factor import reset_second_factor_of
from sessions_app.management.versions import PreparedCommand
from sessions_app.models.settings.project import MEMBER_ROLES
from sessions_app.public_address import public_address
from sessions_app.queries.settings.projects import project_named


class Command(PreparedCommand):
    """Prints a one-time login link, outside production its path alone."""

    help = "Add a user to a project, or change the role of one, and print a login link that works once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--role", choices=list(MEMBER_ROLES), help="editor for a new user without it")
        parser.add_argument(
            "--reset-second-factor",
            action="store_true",
            help="remove the one that a user has lost, and do nothing else",
        )
        parser.add_argument("--project", help="slug of the project; the default project without it")

    def handle(self, *args: Any, name: str, role: str | None, project: str | None, **options: Any) -> None:
        if options["reset_second_factor"]:
            self._reset_second_factor(name)
            return
        try:
            membership = add_member(project_named(project), name, role)
        except MRPError as refused:
            raise CommandError(refused.message) from None
        link = (public_address() or "") + reverse("login-link", args=[create_login_link(membership.user)])
        self.stdout.write(f"{name} is {membership.role} in {membership.project}. Login link, good once for 12 hours:")
        self.stdout.write(link)

    def _reset_second_factor(self, name: str) -> None:
        try:
            was_there = reset_second_factor_of(name)
        except MRPError as refused:
            raise CommandError(refused.message) from None
        self.stdout.write(f"{name} has no second factor any more." if was_there else f"{name} had no second factor.")
