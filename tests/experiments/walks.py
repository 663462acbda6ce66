"""A random sequence of actions in a session."""

import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from unittest.mock import patch

from mrpvm import registry
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.drafts import remove_source, stage_source
from sessions_app.actions.knowledge.forks import fork_session_kb, save_session_kb
from sessions_app.actions.knowledge.mounts import mount_base
from sessions_app.actions.sessions.forks import fork_session
from sessions_app.actions.sessions.session import Choices, choose_policies, create_session
from sessions_app.commands.messages import answer_message
from sessions_app.layers import reindex
from sessions_app.layers.upkeep.compaction import compact_base
from sessions_app.layers.upkeep.packing import pack_layer
from sessions_app.models import KnowledgeLayer, Project
from sessions_app.models.sessions.session import ForkReason
from sessions_app.plugin_threads import workers
from sessions_app.turns.call import TurnCall
from sessions_app.turns.close import TurnError
from sessions_app.turns.view import stored_conditions
from tests.actions.test_own_units import fresh, load, now, source
from tests.kernel.scripted import plugin

SAID = (
    "My dog is called Rex.", "Rex is seven years old.", "The ferry to Nore leaves from gate B.",
    "The ferry to Nore costs 12 euros.", "The kitchen opens at 7 am.", "I moved to Lisbon in 2019.",
)  # fmt: skip
ASKED = (
    "What is my dog called?", "How old is Rex?", "Where does the ferry to Nore leave?", "And how much does it cost?",
    "When does the kitchen open? And where do I live?", "How old is he?", "What is the capital of Mars?",
    "Compare Rex and the ferry.", "pump a1?",
)  # fmt: skip
SKILLS = ("/summarise The ferry to Nore costs 12 euros.", "/calc 6*7", "/checklist Pack for Nore.", "/compare Rex, Tom")
GUIDES = ("/persona use coach", "/persona use analyst", "/style focus", "/agent use reader", "/agent use default")
COMMANDS = (
    "/help", "/help calc", "/skills", "/nothing", "/", "/new", "/reload_skills", "/reload_persona", "/persona list",
    "/remember The boat leaves at 9.", "/remember my password is x", "/memory long show --include-archived",
    "/memory show boat", "/memory long consolidate", "/memory evidence ingest notes.txt", "/forget 1",
)  # fmt: skip
CLAIMS = tuple(f"The pump {name} needs {name} bars." for name in ("a1", "b2", "c3", "d4"))
ACTIONS = (
    "tell", "tell", "ask", "ask", "ask", "ask", "level", "pin", "load", "stage", "stage", "remove", "save", "fork",
    "mount", "fold", "branch", "flags", "fail", "policy", "restart", "pack", "reindex", "command", "skill", "guide",
)  # fmt: skip


@contextmanager
def broken_solver_installed() -> Iterator[None]:
    """Register a solver that always fails for the block."""
    broken = plugin("gs-plugin", "gs-broken", RuntimeError("It broke."))
    added = {("gs-plugin", "gs-broken"): broken}
    with patch.object(registry.installed, "_plugins", {**registry.installed._plugins, **added}):
        yield
    workers.close()


class Walk:
    """A session, and the random actions in it."""

    def __init__(self, project: Project, seed: int) -> None:
        self.chance = random.Random(seed)
        self.session = create_session(project)
        self.bases = [create_base(project, f"Pumps {seed}"), create_base(project, f"Harbour {seed}")]
        self.staged: set[str] = set()

    def step(self) -> None:
        action = self.chance.choice(ACTIONS)
        getattr(self, action)()

    def turn(self, message: str, **call: object) -> None:
        with suppress(TurnError):
            answer_message(fresh(self.session), TurnCall(message=message, **call))  # type: ignore[arg-type]

    def tell(self) -> None:
        self.turn(self.chance.choice(SAID))

    def ask(self) -> None:
        self.turn(self.chance.choice(ASKED))

    def level(self) -> None:
        self.turn(self.chance.choice(ASKED), choices=Choices(deliberation_level=self.chance.randint(0, 3)))

    def pin(self) -> None:
        kb = self.chance.choice(("kb-fast", "kb-balanced", "kb-thinkingdb"))
        self.turn(self.chance.choice(ASKED), choices=Choices(kb=kb))

    def flags(self) -> None:
        self.turn(
            self.chance.choice(ASKED),
            flags={
                "enable_query_rewriting": self.chance.random() < 0.5,
                "history_max_turns": self.chance.randint(1, 4),
            },
        )

    def load(self) -> None:
        load(fresh(self.session), self.chance.choice(CLAIMS), source_id=f"ctx-{self.chance.randint(1, 2)}")

    def stage(self) -> None:
        name = f"src-{self.chance.randint(1, 3)}"
        stage_source(fresh(self.session), source(name, *self.chance.sample(CLAIMS, 2)))
        self.staged.add(name)

    def remove(self) -> None:
        if self.staged:
            name = self.chance.choice(sorted(self.staged))
            self.staged.remove(name)
            remove_source(fresh(self.session), name)

    def save(self) -> None:
        save_session_kb(fresh(self.session))

    def fork(self) -> None:
        fork_session_kb(fresh(self.session))

    def mount(self) -> None:
        self.staged.clear()
        mount_base(fresh(self.session), self.chance.choice(self.bases), reason="load-api", discard_draft=True)

    def fold(self) -> None:
        compact_base(now(self.chance.choice(self.bases)))

    def fail(self) -> None:
        self.turn(self.chance.choice(ASKED), choices=Choices(goal_solver="gs-broken"))

    def policy(self) -> None:
        chosen = self.chance.choice(
            ("enable_session_memory", "enable_query_rewriting", "enable_history_summarization", "grounding")
        )
        value = self.chance.choice(("strict", "open")) if chosen == "grounding" else self.chance.random() < 0.5
        choose_policies(fresh(self.session), {chosen: value})

    def skill(self) -> None:
        self.turn(self.chance.choice(SKILLS))

    def guide(self) -> None:
        self.turn(self.chance.choice(GUIDES))

    def command(self) -> None:
        self.turn(self.chance.choice(COMMANDS))

    def restart(self) -> None:
        """Clear the process's caches and end its worker threads."""
        stored_conditions.forget()
        workers.close()

    def pack(self) -> None:
        pack_layer(now(self.chance.choice(self.bases)).head_id)

    def reindex(self) -> None:
        KnowledgeLayer.objects.filter(pk=now(self.chance.choice(self.bases)).head_id).update(index_version="earlier")
        reindex()

    def branch(self) -> None:
        session = fresh(self.session)
        if session.message_sequence > 4:
            self.session = fork_session(session, session.message_sequence - 2, ForkReason.EDITED)
            self.staged.clear()
