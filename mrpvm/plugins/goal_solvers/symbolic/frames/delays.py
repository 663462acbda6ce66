"""Questions how long somebody takes to do something, as what is asked of his doing it."""

from dataclasses import replace

from mrpvm.plugins.goal_solvers.symbolic.frames.asking import Asked
from mrpvm.plugins.goal_solvers.symbolic.reading import sense

_TAKING = frozenset((sense("take"), sense("need")))


def latency_asked(asked: Asked) -> Asked | None:
    """Give "how long does he take to answer" as what is asked of his answering, None for other questions."""
    clause = asked.clause
    task = next((item for item in asked.conditions if item.link == "to" and item.outer is clause), None)
    if asked.wants != "duration" or clause.verb not in _TAKING or clause.subject is None or task is None:
        return None
    done = replace(task, link="", outer=None, subject=clause.subject, auxiliaries=clause.auxiliaries)
    others = tuple(item for item in asked.conditions if item is not task)
    return replace(asked, wants="latency", clause=done, conditions=others)
