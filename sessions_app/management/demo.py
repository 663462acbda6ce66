"""A small world to look at on the first start: real turns through the real pipeline, a failed one among them."""

from typing import TYPE_CHECKING

from mrpvm.errors import MRPError
from sessions_app.actions.forks import fork_base
from sessions_app.actions.knowledge import create_base
from sessions_app.actions.sessions import create_session
from sessions_app.turns.call import TurnCall
from sessions_app.turns.ingest import Upload, load_source
from sessions_app.turns.pipeline import run_turn

if TYPE_CHECKING:
    from sessions_app.models import Project, Session

HANDBOOK = """\
# Ferry handbook

## Boarding

Boarding closes ten minutes before departure. A foot passenger boards at gate A. Vehicles board at gate B, because the
car deck is reached from the quay there. Bicycles are carried free of charge.

## Luggage

A passenger may carry two bags of up to 23 kg each. Luggage over 23 kg is refused at the gate. Dogs travel on the upper
deck and must wear a leash.

## Delays

A storm warning causes a delay. A delay of more than two hours entitles the passenger to a full refund. Refunds are paid
within fourteen days by the ticket office in Lisbon.
"""

PETS = (
    "My dog is called Rex.",
    "My cat is called Tom. My car is red.",
    "What is my dog called?",
    "The answer must not mention Bella. My rabbit is called Bella. What is my rabbit called?",
    "What is my cat called?",
)
FERRY = (
    "Where do vehicles board?",
    "1. How heavy may a bag be?\n2. When does boarding close?\n3. Where do dogs travel?",
    "Why is there a delay?",
    "Who is the captain?",
)


def load_demo(project: "Project") -> None:
    """Make two sessions with turns, and a knowledge base with a fork."""
    handbook = create_base(project, "Ferry handbook")
    load_source(handbook, Upload(name="ferry-handbook.md", data=HANDBOOK.encode()))
    handbook.refresh_from_db()
    fork_base(handbook, "Ferry handbook, winter")
    _talk(create_session(project, title="Pets and a car"), PETS)
    _talk(create_session(project, base=handbook, title="Questions about the ferry"), FERRY)


def _talk(session: "Session", messages: tuple[str, ...]) -> None:
    for message in messages:
        try:
            run_turn(session, TurnCall(message=message))
        except MRPError:
            # A turn that fails is part of the demo: its entry shows what a failure looks like.
            continue
