"""`manage.py replay`: runs recorded turns again and says which come out differently, for use after an upgrade."""

import argparse
from collections import Counter
from datetime import datetime
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from mrpvm.errors import Conflict
from mrpvm.preview import counted
from sessions_app.experiments.replays.replay import replay
from sessions_app.management.versions import PreparedCommand
from sessions_app.pacing import Pacer
from sessions_app.queries.sessions.lookups import present_sessions
from sessions_app.queries.turns.registry import ended_turns


class Command(PreparedCommand):
    """Replays ended turns; nothing is written, and no model is asked."""

    help = (
        "Run ended turns again over what they saw and compare them with their record. Nothing is written, no model is"
        " asked. The exit status is 1 if a turn comes out differently."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add which turns are meant."""
        parser.add_argument("--session", metavar="ID", help="the turns of this session alone")
        parser.add_argument("--since", type=_day, metavar="YYYY-MM-DD", help="turns that began on that day or later")
        parser.add_argument("--until", type=_day, metavar="YYYY-MM-DD", help="turns that began before that day")
        parser.add_argument("--sample", type=_count, metavar="N", help="so many of them, spread evenly")

    def handle(self, *args: Any, **options: Any) -> None:
        """Replay them, with a line for each that differs, and say how many came out how."""
        session_id = options["session"]
        if session_id is not None and not present_sessions().filter(session_id=session_id).exists():
            raise CommandError(f"There is no session '{session_id}'.")
        turns = ended_turns(session_id, options["since"], options["until"])
        keys = list(turns.values_list("pk", flat=True))
        if options["sample"] and options["sample"] < len(keys):
            step = len(keys) / options["sample"]
            keys = [keys[int(place * step)] for place in range(options["sample"])]
        counts: Counter[str] = Counter()
        pacer = Pacer(apart=True)
        for key in keys:
            pacer.pause()
            turn = turns.get(pk=key)
            try:
                result = replay(turn)
            except Conflict as refused:
                counts["not replayable"] += 1
                self.stdout.write(f"{turn.session.session_id} turn {turn.turn_index}: {refused.message}")
                continue
            counts[result.result] += 1
            if result.divergence is not None:
                summary = f"{result.divergence.difference.name}: {result.divergence.detail}"
                self.stdout.write(f"{turn.session.session_id} turn {turn.turn_index}: diverged at {summary}")
        summary = ", ".join(f"{counts[name]} {name}" for name in ("identical", "diverged", "not replayable"))
        self.stdout.write(f"{counted(len(keys), 'turn')}: {summary}.")
        if counts["diverged"]:
            raise CommandError("Turns came out differently.", returncode=1)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number above 0")
    return int(text)


def _day(text: str) -> datetime:
    try:
        return timezone.make_aware(datetime.strptime(text, "%Y-%m-%d"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a day as YYYY-MM-DD") from None
