"""Points by which the server recognises a conversation that a client sends in full."""

from mrpvm.conversation.chain import extend_chain
from mrpvm.values import HistoryMessage
from sessions_app.models import ConversationPoint, Session


def mark_conversation(session: Session, chain: str, message: str, answer: str) -> None:
    """Store the point by which the client's next request is matched to this conversation."""
    said = (HistoryMessage(role="user", content=message), HistoryMessage(role="assistant", content=answer))
    ConversationPoint.objects.create(
        session=session, chain=extend_chain(chain, said), sequence=session.message_sequence
    )
