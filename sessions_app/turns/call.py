"""What somebody asks of a session."""

from dataclasses import dataclass, field

from mrpvm.conversation.commands import Orchestration
from sessions_app.actions.sessions import Choices
from sessions_app.models import KnowledgeBase


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCall:
    """What somebody asks of a session: the message and this turn's own choices, which are hard pins [S-20].

    `is_streamed`: the answer is read while it is written [O-1]. `typed` is what the user really typed where that was
    a command for a `skill`; the message is then its payload, so that no model ever sees a command [L-70].
    """

    message: str
    typed: str | None = None
    skill: Orchestration | None = None
    system_prompt: str | None = None
    choices: Choices = field(default_factory=Choices)
    base: KnowledgeBase | None = None
    is_streamed: bool = False
