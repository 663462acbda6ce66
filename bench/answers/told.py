"""What somebody tells in messages, of which a later one may change something, and what is asked of it then.

The messages of `told.json` were written without knowledge of how statements are read: some say that something
has changed, some speak of another thing with a value of the same kind, some of nothing that matters.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from bench.answers.asking import basis_of
from bench.evaluation.session import EvaluatedSession

CONVERSATIONS = Path(__file__).parent.parent / "data" / "answers" / "told.json"


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages, a question, what a right answer holds, and the value that is outdated or another thing's, if any."""

    told: tuple[str, ...]
    later: tuple[str, ...]
    question: str
    right: str
    wrong: str | None

    def outcome(self) -> str:
        """Return what an answer to the question shows: "right", "wrong" or "nothing"."""
        with EvaluatedSession() as session:
            for message in (*self.told, *self.later, self.question):
                answer = session.say(message).answer
        groups = answer.groups if answer else ()
        shown = " ".join(group.answer_markdown for group in groups if basis_of(group) != "none").lower()
        if self.right.lower() in shown:
            return "right"
        return "wrong" if self.wrong and self.wrong.lower() in shown else "nothing"


def read_conversations(path: Path = CONVERSATIONS) -> tuple[Conversation, ...]:
    """Return the conversations of a file."""
    return tuple(
        Conversation(tuple(item["told"]), tuple(item["later"]), item["question"], item["right"], item["wrong"])
        for item in json.loads(path.read_text(encoding="utf-8"))
    )
