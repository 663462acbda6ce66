"""The conversations of the first start, marked as a demo by their titles."""

from collections.abc import Sequence

from sessions_app.models import ExplainabilityTurn, Project
from sessions_app.queries.sessions.lookups import sessions

PETS_TITLE = "Demo: pets and a car"
FERRY_TITLE = "Demo: questions about the ferry"
FERRY_FIRST = "Where do vehicles board?"
FERRY_ANSWERED = "When does boarding close?"
FERRY_WRONG = "Where do cars board?"
FERRY_FAILED = "The answer must not mention gate A. Where does a foot passenger board?"
DEMO_SHOWN = 20


def demo_turns(project: Project) -> Sequence[ExplainabilityTurn]:
    """Return the turns of the demo about the ferry, the oldest first; none where it was deleted. Two queries."""
    session = sessions(project).filter(title=FERRY_TITLE).order_by("pk").first()
    if session is None:
        return []
    return list(session.turns.select_related("session").defer("response_document").order_by("turn_index")[:DEMO_SHOWN])
