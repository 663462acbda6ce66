"""`python -m tests.faults.crashing_ingest N`: report the state after a crash, then die at the Nth edge of an ingest.

Prints, as JSON, what readers see of the session and of the base, and the number of leftover layers. Then it loads the
old text into both, and then the new one. SIGKILL ends that at the chosen edge of its transactions.
"""

import json
import os
import sys

import django
from django.conf import settings

BATCH = 3


def main(fatal: int) -> None:
    """Print the state, load the old text, and die while loading the new one."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mrpvm.settings")
    django.setup()
    from sessions_app.actions.sessions.session import create_session
    from sessions_app.actions.settings.projects import ensure_default_project
    from sessions_app.ingest.load import Upload, load_context, load_source
    from sessions_app.layers import staged
    from sessions_app.models import Session
    from tests.faults.crashing_server import Edges, count_edges
    from tests.faults.reading import seen

    settings.MRPVM_UNITS_AT_ONCE = settings.MRPVM_UNITS_A_TRANSACTION = BATCH
    session = Session.objects.first() or create_session(ensure_default_project())
    found = {"seen": seen(session), "left_over": staged.sweep_staged(alone=True), "after": seen(session)}
    print(json.dumps(found), flush=True)

    def load(text: str) -> None:
        upload = Upload(name="pumps.md", data=text.encode(), source_id="pumps")
        load_context(session, upload)
        load_source(session.mounted_kb, upload)

    load("\n\n".join(f"# Old {part}\n\nThe old pump {part} is blue." for part in range(4)))
    edges = Edges(fatal)
    count_edges(edges)
    edges.of_thread.in_turn, edges.of_thread.depth = True, 0
    load("\n\n".join(f"# New {part}\n\nThe new pump {part} is red." for part in range(6)))


if __name__ == "__main__":
    main(int(sys.argv[1]))
