"""Conversations in which a person tells facts and then asks about them.

The authors of the messages did not know how statements are parsed. In `told.json` a later message may change what an
earlier one told, or tell a value of the same kind of another thing. Half the questions of `facts.json` are not
answered by the messages: they ask about another thing, another time or another attribute. `messages.json` and
`typed.json` have single messages with what they are: "fact", "question", "request" for text or work, or "talk"; two
where both are defensible. Those of `typed.json` are 100 of each, a third of them hard: facts that look like questions.
`wordings.json` has requests for an answer of several sentences, with their kind, in as many wordings as their authors
could think of; those that are `seen` were looked at while the patterns of requests were written. `cued.json` has facts
that hold the same words.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.answers.asking import basis_of
from bench.evaluation.session import EvaluatedSession
from mrpvm.conversation.answers import UNDONE_TEXT
from mrpvm.english.messages.kinds import kind_of
from mrpvm.english.messages.small_talk import FORGOTTEN_OPENING, NOTED_OPENING, REPLIES, UNDERSTOOD_REPLY
from mrpvm.english.questions.requests import request_of

DIRECTORY = Path(__file__).parent.parent / "data" / "answers"
CHANGING, FACTS = DIRECTORY / "told.json", DIRECTORY / "facts.json"
MESSAGES, TYPED, CUED = DIRECTORY / "messages.json", DIRECTORY / "typed.json", DIRECTORY / "cued.json"
WORDINGS = DIRECTORY / "wordings.json"
_VERDICTS = ("Yes", "No")
KINDS = ("fact", "question", "request", "talk")
_TO_ORDERS = (UNDERSTOOD_REPLY, REPLIES["forgets_unnamed"])
"""Replies to an instruction and to a request to forget what it does not name."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The text of an answer, and whether it is stated."""

    text: str
    is_stated: bool


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages, a question, the right value (None if there is none), and a wrong one: outdated, or of another thing."""

    messages: tuple[str, ...]
    question: str
    right: str | None
    wrong: str | None

    @classmethod
    def of(cls, item: Mapping[str, Any]) -> "Conversation":
        """Return the conversation that an entry of a file describes."""
        return cls((*item["told"], *item.get("later", ())), item["question"], item["right"], item.get("wrong"))

    def shown(self) -> Shown:
        """Return the answer to the question."""
        with EvaluatedSession() as session:
            for message in (*self.messages, self.question):
                answer = session.say(message).answer
        groups = answer.groups if answer else ()
        bases = [basis_of(group) for group in groups]
        text = " ".join(group.answer_markdown for group, basis in zip(groups, bases, strict=True) if basis != "none")
        return Shown(text.lower(), "stated" in bases)

    def holds_right(self, shown: Shown) -> bool:
        """Return whether the shown text contains the right value, or begins with the right verdict."""
        if self.right is None:
            return False
        right = self.right.lower()
        return shown.text.startswith(right) if self.right in _VERDICTS else right in shown.text

    def outcome(self, shown: Shown) -> str:
        """Return "right", "wrong" or "nothing"."""
        if self.holds_right(shown):
            return "right"
        return "wrong" if self.wrong and self.wrong.lower() in shown.text else "nothing"


def read_conversations(path: Path) -> tuple[Conversation, ...]:
    """Return the conversations of a file."""
    return tuple(map(Conversation.of, json.loads(path.read_text(encoding="utf-8"))))


def messages_read(path: Path) -> Counter[tuple[str, str]]:
    """Return how many messages of each kind alone are read as each kind: (what they are, what they are read as)."""
    items = json.loads(path.read_text(encoding="utf-8"))
    return Counter((item["labels"][0], _read_as(item["text"])) for item in items if len(item["labels"]) == 1)


def requests_read(*, seen: bool) -> Counter[str]:
    """Return how many requests are read as their kind, as another, as a question, as work or as a fact."""
    items = json.loads(WORDINGS.read_text(encoding="utf-8"))
    return Counter(
        _request_read_as(item["message"], item["kind"])
        for item in items
        if item["kind"] != "none" and item["seen"] is seen
    )


def _request_read_as(message: str, kind: str) -> str:
    request = request_of(message)
    with EvaluatedSession() as session:
        shown = session.say(message).answer_text or ""
    if shown.startswith(NOTED_OPENING) or UNDONE_TEXT in shown:
        return "a fact" if shown.startswith(NOTED_OPENING) else "work"
    if request is None:
        return "a question"
    return "its kind" if request.kind == kind else "another kind"


def _read_as(message: str) -> str:
    """Return what the reply to a message shows that it was read as."""
    with EvaluatedSession() as session:
        answer = session.say(message).answer
    groups = answer.groups if answer else ()
    replies = [group.answer_markdown for group in groups]
    if any(reply.startswith(NOTED_OPENING) for reply in replies):
        return "fact"
    if any(reply.startswith(FORGOTTEN_OPENING) or reply in _TO_ORDERS for reply in replies):
        return "request"
    if any(reply in REPLIES.values() for reply in replies):
        return "talk"
    kinds = {kind_of(group.intent, is_alone=True) for group in groups}
    return "question" if kinds.isdisjoint(("order", "task")) else "request"
