"""Points by which the server recognises a conversation that a client sends in full."""

from mrpvm.conversation.conversation_hash import extend_hash
from mrpvm.values import HistoryMessage
from sessions_app.models import ConversationPoint, Session


def mark_conversation(session: Session, conversation_hash: str, message: str, answer: str) -> None:
    """Store the point by which the client's next request is matched to this conversation."""
    said = (HistoryMessage(role="user", content=message), HistoryMessage(role="assistant", content=answer))
    ConversationPoint.objects.create(
        session=session, conversation_hash=extend_hash(conversation_hash, said), sequence=session.message_sequence
    )
