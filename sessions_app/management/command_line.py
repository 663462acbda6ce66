"""The console script `mrpvm`: every management command, the server's own first."""

import gc
import os
import sys

from django.conf import settings
from django.core.management import ManagementUtility, get_commands, load_command_class
from django.db import DatabaseError, OperationalError, ProgrammingError

_OF_DJANGO = ("migrate", "changepassword", "shell", "dbshell")
"""Django's commands that the help names too; the others can be called anyway."""


class CommandLine(ManagementUtility):
    """Django's command line under the name `mrpvm`."""

    def __init__(self, argv: list[str]) -> None:
        super().__init__(["mrpvm", *argv[1:]])
        self.prog_name = "mrpvm"

    def execute(self) -> None:
        """Run the command that the arguments name; the version is this program's, not Django's."""
        if self.argv[1:] in (["version"], ["--version"]):
            sys.stdout.write(f"{settings.MRPVM_VERSION}\n")
        else:
            super().execute()

    def main_help_text(self, commands_only: bool = False) -> str:
        """Return one line a command, or the bare names of all."""
        if commands_only:
            return super().main_help_text(commands_only=True)
        apps = get_commands()
        own = sorted(name for name, app in apps.items() if app == "sessions_app")
        lines = [f"  {name:<16}{_first_sentence(apps[name], name)}" for name in (*own, *_OF_DJANGO)]
        return "\n".join(
            [
                "Usage: mrpvm COMMAND [options]",
                "",
                *lines,
                "",
                "mrpvm help COMMAND shows the options of one; mrpvm help --commands lists those of Django too.",
            ]
        )


def _first_sentence(app: str, name: str) -> str:
    command = load_command_class(app, name)
    text = " ".join(command.help.split())
    return text.split(". ")[0].rstrip(".")


def main() -> None:
    """Run the command that the arguments name."""
    run(CommandLine(sys.argv))


def run(utility: ManagementUtility) -> None:
    """Run a command. A database that is not there, not the server's or damaged is one line on standard error.

    A reader of the output that is gone, as after `| head`, ends the command without a message, with exit code 1.
    """
    os.umask(0o077)  # what a command writes holds conversations, which are read through the server
    gc.disable()  # until everything is imported, see sessions_app/apps.py
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mrpvm.settings")
    try:
        utility.execute()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter flushes it again at exit
        raise SystemExit(1) from None
    except DatabaseError as error:
        # These can be imported only once Django is set up.
        from sessions_app.management.server import unusable_database
        from sessions_app.management.versions import unprepared_database

        if "--traceback" in utility.argv or type(error) not in (DatabaseError, OperationalError, ProgrammingError):
            raise
        line = unprepared_database()
        if not line and isinstance(error, ProgrammingError):
            raise
        raise SystemExit(line or unusable_database(error)) from None
