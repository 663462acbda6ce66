"""The units that a turn's answer depends on, as searches for causes have shown."""

from collections.abc import Mapping, Sequence
from typing import Literal

from sessions_app.models import Experiment, ExplainabilityTurn, Trial
from sessions_app.queries.turns.registry import answer_of

type Dependence = Literal["needed", "interchangeable", "no effect"]


def dependences(turn: ExplainabilityTurn) -> Mapping[str, Dependence]:
    """Return the dependence on each unit that was tried, by unit id. At most two queries.

    Needed: the answer changes without the unit. Interchangeable: it changes only without this unit and others, each of
    which suffices. Later searches override earlier ones.
    """
    dependences_by_unit: dict[str, Dependence] = {}
    trials = Trial.objects.filter(
        experiment__turn=turn, experiment__kind=Experiment.Kind.DIAGNOSIS, status=Trial.Status.SUCCEEDED
    )
    rows = list(trials.order_by("pk").values_list("changes", "answer", "findings"))
    if not rows:
        return dependences_by_unit
    recorded = answer_of(turn)
    together: set[str] = set()
    for changes, answer, findings in rows:
        unit_ids: Sequence[str] = changes.get("withoutUnits", ()) if changes.keys() == {"withoutUnits"} else ()
        if len(unit_ids) == 1:
            dependences_by_unit[unit_ids[0]] = "needed" if answer != recorded else "no effect"
        elif any(finding["kind"] == "unit" for finding in findings):
            together.update(unit_ids)
    for unit_id in together:
        if dependences_by_unit.get(unit_id) != "needed":
            dependences_by_unit[unit_id] = "interchangeable"
    return dependences_by_unit
