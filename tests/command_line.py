"""The server's command line in the process of the tests, since each start of a process imports everything again."""

import runpy
import sys
from pathlib import Path

import pytest
from django.db import connections
from pytest_django import Settings

from sessions_app.environment import Environment
from sessions_app.management.command_line import main


class CommandRunner:
    """Runs commands with a data directory and the variables of a database; `program` is `manage.py` or `mrpvm`."""

    def __init__(
        self,
        settings: Settings,
        patch: pytest.MonkeyPatch,
        captured: pytest.CaptureFixture[str],
        program: str = "mrpvm",
    ) -> None:
        self.program = program
        self._settings, self._patch, self._captured = settings, patch, captured

    def use(self, data: Path, **variables: str) -> None:
        """Use the database that the server would use with these variables."""
        self._settings.MRPVM_DATA_DIR, self._settings.ENVIRONMENT = data, Environment(variables)
        found = self._settings.ENVIRONMENT.database("DATABASE_URL", data / "db.sqlite3")
        if found["ENGINE"].endswith("sqlite3"):
            found["OPTIONS"] = {"init_command": "PRAGMA journal_mode=WAL"}
        connections["default"].close()
        self._patch.setitem(
            connections.settings, "default", connections.configure_settings({"default": found})["default"]
        )
        connections["default"] = connections.create_connection("default")

    def run(self, *arguments: str) -> tuple[int, str]:
        """Run a command; return what it would give as a process: the exit code and the output."""
        self._captured.readouterr()
        self._patch.setattr(sys, "argv", [self.program, *arguments])
        code = 0
        try:
            if self.program == "manage.py":
                runpy.run_path("manage.py", run_name="__main__")
            else:
                main()
        except SystemExit as end:
            if isinstance(end.code, str):  # printed by the interpreter, which then ends with 1
                print(end.code, file=sys.stderr)
            code = 1 if isinstance(end.code, str) else end.code or 0
        return code, "".join(self._captured.readouterr())
