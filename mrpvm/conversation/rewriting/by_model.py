"""The rewrite by a language model: the prompt, and how the answer is read."""

from collections.abc import Callable, Sequence

from mrpvm.conversation.asking import PreparationModel
from mrpvm.conversation.rewriting.said import is_same, spoken
from mrpvm.values import HistoryMessage

SHOWN_MESSAGES, SHOWN_CHARS = 6, 500
FEWEST_CHARS = 3
PLUGIN_ID, ROLE, TIMEOUT_MS = "conversation-rewriting", "conversation", 10_000
EMPTY = "LLM returned empty rewrite"
IDENTICAL = "Rewrite identical to original"
SYSTEM = (
    "You make the last message of a conversation understandable by itself. Write only the standalone query: put what "
    "pronouns and other references mean in their place, and add nothing that was not said. A short reply such as "
    '"Yes" or "The second one" answers the last question of the assistant: say what it decides. If the message is '
    "understandable already, repeat it unchanged."
)


type AskModel = Callable[[str, Sequence[HistoryMessage]], str]
"""Returns a model's answer to a message and what was said before it; may raise."""


def model_asker(model: PreparationModel) -> AskModel:
    """Return the turn's model as one that may be asked for a rewrite."""

    def ask(message: str, history: Sequence[HistoryMessage]) -> str:
        return model.ask(PLUGIN_ID, ROLE, SYSTEM, request_for_model(message, history), timeout_ms=TIMEOUT_MS)

    return ask


def request_for_model(message: str, history: Sequence[HistoryMessage]) -> str:
    """Return what a model is asked: the newest six messages, each cut to 500 characters, and the query."""
    lines = [
        f"{'Assistant' if item.role == 'assistant' else 'User'}: {item.content[:SHOWN_CHARS]}"
        for item in spoken(history)[-SHOWN_MESSAGES:]
    ]
    return "\n".join(["Conversation:", *lines, "", f"Message: {message}", "Standalone query:"])


def taken_from(message: str, reply: str) -> tuple[str, str | None]:
    """Return the model's rewrite, or the message itself and why."""
    text = " ".join(reply.split()).strip("\"'\u201c\u201d ")
    if len(text) < FEWEST_CHARS:
        return message, EMPTY
    return (message, IDENTICAL) if is_same(text, message) else (text, None)
