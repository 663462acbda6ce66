"""`python -m tests.faults.crashing_save VERB N`: report the state after a crash, then die at the Nth edge.

VERB is save, fork or stage. Prints, as JSON, what readers see of the newest session and of its base after the crash.
Then it creates a session with a told fact and a staged source. SIGKILL ends the process at the chosen edge of the
verb's transactions.
"""

import json
import os
import sys
from collections.abc import Callable

import django
from django.conf import settings

STAGED = [f"The pump {number} is blue" for number in range(5)]


def main(verb: str, fatal: int) -> None:
    """Print the state, create a session, and die while changing it."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mrpvm.settings")
    django.setup()
    from sessions_app.actions.knowledge import bases as knowledge
    from sessions_app.actions.knowledge import drafts, forks
    from sessions_app.actions.knowledge.source_rows import NewSource
    from sessions_app.actions.sessions import session as sessions
    from sessions_app.actions.settings import projects
    from sessions_app.layers import staged
    from sessions_app.models import Session
    from tests.actions.knowledge_scene import held, seen, tell
    from tests.faults.crashing_server import Edges, count_edges
    from tests.layers.units import make_unit

    settings.MRPVM_UNITS_AT_ONCE = settings.MRPVM_UNITS_A_TRANSACTION = 2

    def look() -> dict[str, object]:
        staged.sweep_staged(alone=True)
        found = Session.objects.order_by("-pk").first()
        if found is None:
            return {}
        mounted = found.mounted_kb
        origin = mounted.parent or mounted
        told = [claim for claim, _ in seen(found, "pump")]
        return {"seen": told, "mounted": held(mounted, "pump"), "origin": held(origin, "pump"), "dirty": found.is_dirty}

    print(json.dumps(look()), flush=True)
    project = projects.ensure_default_project()
    session = sessions.create_session(project, base=knowledge.create_base(project, "Pumps"))
    tell(session, "The pump is loud")
    source = NewSource(name="a", source_id="a", units=[make_unit(f"a::{claim}", claim) for claim in STAGED])
    verbs: dict[str, Callable[[], object]] = {
        "save": lambda: forks.save_session_kb(session),
        "fork": lambda: forks.fork_session_kb(session),
        "stage": lambda: drafts.stage_source(session, source),
    }
    if verb != "stage":
        verbs["stage"]()
    edges = Edges(fatal)
    count_edges(edges)
    edges.of_thread.in_turn, edges.of_thread.depth = True, 0
    verbs[verb]()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
