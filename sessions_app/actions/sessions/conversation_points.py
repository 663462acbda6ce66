"""Points by which a conversation that a client sends whole is recognised again."""

from mrpvm.conversation.chain import extend_chain
from mrpvm.values import HistoryMessage
from sessions_app.models import ConversationPoint, Session


def mark_conversation(session: Session, chain: str, message: str, answer: str) -> None:
    """Store the point by which a client's next request recognises the conversation."""
    said = (HistoryMessage(role="user", content=message), HistoryMessage(role="assistant", content=answer))
    ConversationPoint.objects.create(
        session=session, chain=extend_chain(chain, said), sequence=session.message_sequence
    )
