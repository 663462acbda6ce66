"""What the searches for causes of a turn have shown of its answer's dependence on single units."""

from collections.abc import Mapping, Sequence
from typing import Literal

from sessions_app.models import Experiment, ExplainabilityTurn, Trial
from sessions_app.queries.turns.registry import answer_of

type Dependence = Literal["needed", "interchangeable", "no effect"]


def dependences(turn: ExplainabilityTurn) -> Mapping[str, Dependence]:
    """Return what is known of units by their ids; a unit that was not tried is not there. At most two queries.

    Needed: without it the answer is another. Interchangeable: only without it and others, any of which suffices. What a
    later search has shown counts more.
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
