"""`manage.py forget`: finds what came from a text, message, unit, source or session, and removes it with proof."""

import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from mrpvm.errors import MRPError
from sessions_app.actions.experiments.experiments import Author
from sessions_app.actions.experiments.forgetting.acts import cancel_act
from sessions_app.experiments.forgetting.acts import name_of, start_plan, start_removal
from sessions_app.experiments.forgetting.certificate import places_of
from sessions_app.management.versions import PreparedCommand
from sessions_app.models import Forgetting
from sessions_app.queries.experiments.forgetting.acts import forgetting
from sessions_app.queries.experiments.forgetting.origins import Subject
from sessions_app.queries.settings.projects import project_named

_LOOK_SECONDS = 0.1
_TOLD_EVERY_SECONDS = 5.0


class Command(PreparedCommand):
    """Plans, asks for the plan's name, carries out, prints the certificate."""

    help = (
        "Forget a text, message, unit, source or session: show where it is, remove it everywhere once its name is"
        " typed, and search everything again. The exit status is 1 unless nothing is found at the end."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options that name what to forget."""
        what = parser.add_subparsers(dest="kind", required=True)
        text = what.add_parser("text", help="a text as it stands, whatever its case")
        words = what.add_parser("words", help="every sentence that holds all these words, such as a person's name")
        message = what.add_parser("message", help="a message with its answer and all that was derived from it")
        unit = what.add_parser("unit", help="a unit of a session or of a base")
        source = what.add_parser("source", help="a source of a base or of a session")
        session = what.add_parser("session", help="a whole session")
        for each in (text, words):
            each.add_argument("text")
        for each in (message, session):
            each.add_argument("session_id", metavar="session")
        message.add_argument("sequence", type=int, metavar="number", help="its place in the session")
        for each, name in ((unit, "unit_id"), (source, "source_id")):
            holder = each.add_mutually_exclusive_group(required=True)
            holder.add_argument("--session", dest="session_id", default="", metavar="ID")
            holder.add_argument("--base", dest="kb_id", default="", metavar="ID")
            each.add_argument(name, metavar=each.prog.rpartition(" ")[2])
        for each in (text, words, message, unit, source, session):
            each.add_argument("--project", help="slug of the project; the default project without it")
            each.add_argument("--plan", action="store_true", help="only show where it is")
            each.add_argument("--confirm", metavar="NAME", help="the plan's name, in place of typing it")

    def handle(self, *args: Any, kind: str, **options: Any) -> None:
        """Forget, and print what was found before and after."""
        named_ids = {name: options[name] for name in _IDS if options.get(name)}
        try:
            project = project_named(options["project"])
            act = self._await_end(start_plan(project, Subject(kind=kind, **named_ids), Author(name="command line")))
            if act.status != Forgetting.Status.PLANNED:
                raise CommandError(act.error["message"] if act.error else "The plan was stopped.")
            self._tell(act)
            if options["plan"]:
                cancel_act(act)
                return
            confirm = options["confirm"]
            try:
                if confirm is None:
                    confirm = input(f"Nothing brings it back. Type “{name_of(act)}” to forget it: ")
                act = self._await_end(start_removal(act, confirm))
            except (EOFError, KeyboardInterrupt):
                cancel_act(act)
                message = f"Nothing was forgotten. Type the name, or add --confirm “{name_of(act)}”."
                raise CommandError(message) from None
            except MRPError:
                cancel_act(act)
                raise
        except MRPError as error:
            raise CommandError(error.message) from None
        self._tell(act)
        if act.status != Forgetting.Status.FINISHED:
            raise CommandError(f"Forgetting ended as {act.status}.", returncode=1)

    def _await_end(self, act: Forgetting) -> Forgetting:
        """Return the act when its work has ended; print progress meanwhile, and stop the act on an interruption."""
        told_at = time.monotonic()
        try:
            while act.is_running:
                time.sleep(_LOOK_SECONDS)
                act = forgetting(act.project, act.forgetting_id)
                if time.monotonic() - told_at >= _TOLD_EVERY_SECONDS:
                    told_at = time.monotonic()
                    self.stdout.write(f"{act.stage}: {act.row_count} rows looked at")
        except KeyboardInterrupt:
            cancel_act(act)
            raise CommandError("Stopped. What was removed by then stays removed.") from None
        return act

    def _tell(self, act: Forgetting) -> None:
        for place in places_of(act):
            after = "" if place.after is None else f"; {place.after} at the end"
            self.stdout.write(f"{place.before:>8}  {place.name}: {place.afterwards}{after}")
        for note in act.notes:
            self.stdout.write(note)
        self.stdout.write(f"{act.found_count} rows found; {act.forgetting_id} is {act.status}.")


_IDS = ("session_id", "sequence", "unit_id", "kb_id", "source_id", "text")
