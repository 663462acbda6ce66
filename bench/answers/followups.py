"""Conversations whose later questions depend on the earlier ones, in real turns, each in a new session.

The author of `followups.json` did not know how questions are read. A message without `answers` is a statement; one with
no accepted answer asks for what neither the messages nor the text of the conversation tell.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.test import override_settings

from bench.answers.asking import Reply, loaded
from bench.answers.collections import Question
from sessions_app.actions.sessions.session import Choices, create_session
from sessions_app.actions.settings.projects import ensure_default_project
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import run_turn

FOLLOW_UPS = Path(__file__).parent.parent / "data" / "answers" / "followups.json"


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A text, which may be empty, and messages; those that state something have no question."""

    text: str
    messages: tuple[tuple[str, Question | None], ...]

    def replies(self, name: str, kb: str | None) -> Iterator[tuple[Question, Reply]]:
        """Yield each question with its reply; what is not measured of a reply is 0.

        Args:
            name: of the base that holds the text.
            kb: the KB plugin of every turn. None leaves the choice to planner and session.
        """
        base = loaded(name, {"text.txt": self.text}) if self.text else None
        session = create_session(ensure_default_project(), Choices(kb=kb), base=base)
        with override_settings(MRPVM_LEARN=False):
            for message, question in self.messages:
                answer = run_turn(session, TurnCall(message=message)).outcome.answer
                if question is not None:
                    yield question, Reply(answer.groups if answer else (), 0.0, 0.0)


def read_dialogues() -> Iterator[Dialogue]:
    """Yield the conversations of the file."""
    for item in json.loads(FOLLOW_UPS.read_text(encoding="utf-8")):
        messages = (
            (said["q"], Question(said["q"], tuple(said["answers"])) if "answers" in said else None)
            for said in item["messages"]
        )
        yield Dialogue(item["text"], tuple(messages))
