"""`python -m tests.faults.crashing_compaction N`: report the state after a crash, then die at the Nth edge of a fold.

Prints, as JSON, what readers see of the base, the depth of its chain, and the number of leftover layers. If an earlier
run folded the chain, it is deepened again. SIGKILL ends the fold at the chosen edge of its transactions.
"""

import json
import os
import sys
from typing import Any

import django
from django.conf import settings

DEEP = 5
UNITS = 4
"""Of each source."""


def main(fatal: int) -> None:
    """Print the state, deepen the chain, and die while folding it."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mrpvm.settings")
    django.setup()
    from sessions_app.actions.knowledge.bases import ensure_default_base
    from sessions_app.actions.settings.projects import ensure_default_project
    from sessions_app.layers import staged
    from sessions_app.layers.upkeep import compaction
    from sessions_app.models import KnowledgeBase
    from tests.actions.knowledge_scene import add_text
    from tests.faults.crashing_server import Edges, count_edges
    from tests.faults.reading import ranked
    from tests.layers.units import make_unit

    settings.MRPVM_UNITS_A_TRANSACTION = 3

    def base() -> KnowledgeBase:
        made = ensure_default_base(ensure_default_project())
        return KnowledgeBase.objects.select_related("head").get(pk=made.pk)

    def seen() -> list[list[Any]]:
        return ranked(base())

    found = {"seen": seen(), "depth": base().head.depth, "left_over": staged.sweep_staged(alone=True), "after": seen()}
    print(json.dumps(found), flush=True)
    for number in range(DEEP):
        if base().head.depth < DEEP:
            units = [make_unit(f"s{number}::{place}", f"pump {number} {'x ' * place}") for place in range(UNITS)]
            add_text(base(), f"s{number}", "x", units, source_id=f"s{number}")
    print(json.dumps(seen()), flush=True)
    edges = Edges(fatal)
    count_edges(edges)
    edges.of_thread.in_turn, edges.of_thread.depth = True, 0
    compaction.compact_base(base())


if __name__ == "__main__":
    main(int(sys.argv[1]))
