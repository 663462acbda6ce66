"""The demo of the first start: real turns through the real pipeline, one of which fails."""

from mrpvm.errors import MRPError
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.forks import fork_base
from sessions_app.actions.sessions.session import create_session
from sessions_app.commands.messages import answer_message
from sessions_app.ingest.load import Upload, load_source
from sessions_app.models import KnowledgeBase, Project
from sessions_app.queries.knowledge.bases import knowledge_bases
from sessions_app.queries.sessions.demo import (
    FERRY_ANSWERED,
    FERRY_FAILED,
    FERRY_FIRST,
    FERRY_TITLE,
    FERRY_WRONG,
    PETS_TITLE,
)
from sessions_app.queries.sessions.lookups import sessions
from sessions_app.turns.call import TurnCall

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
    FERRY_FIRST,
    "1. How heavy may a bag be?\n2. When does boarding close?\n3. Where do dogs travel?",
    "Why is there a delay?",
    "/persona use analyst",
    "/calc 2*23",
    "Who is the captain?",
    "/skill luggage",
    FERRY_ANSWERED,
    "We take the car. Cars board at gate C.",
    FERRY_WRONG,
    FERRY_FAILED,
)


HANDBOOK_NAME = "Ferry handbook"
FORK_NAME = "Ferry handbook, winter"


def load_demo(project: Project) -> None:
    """Make two sessions with turns and commands, and a knowledge base with a fork.

    An interrupted load is continued. A project with other sessions gets no demo.
    """
    if sessions(project).exclude(title__in=(PETS_TITLE, FERRY_TITLE)).exists():
        return
    bases = knowledge_bases(project)
    handbook = bases.filter(name=HANDBOOK_NAME).first() or create_base(project, HANDBOOK_NAME)
    if handbook.source_count == 0:
        load_source(handbook, Upload(name="ferry-handbook.md", data=HANDBOOK.encode()))
        handbook.refresh_from_db()
    if not bases.filter(name=FORK_NAME).exists():
        fork_base(handbook, FORK_NAME)
    _talk(project, PETS_TITLE, None, PETS)
    _talk(project, FERRY_TITLE, handbook, FERRY)


def _talk(project: Project, title: str, base: KnowledgeBase | None, messages: tuple[str, ...]) -> None:
    session = sessions(project).filter(title=title).first() or create_session(project, base=base, title=title)
    for message in messages[session.turns.exclude(status="interrupted").count() :]:
        try:
            answer_message(session, TurnCall(message=message))
        except MRPError:
            # A turn that fails is part of the demo: its entry shows what a failure looks like.
            continue
