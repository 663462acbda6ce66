"""A turn's graph in reading order, for all its views."""

from functools import lru_cache

from sessions_app.models import ExplainabilityTurn
from sessions_app.queries.turns.registry import ended_graph, graph
from sessions_app.web.turns.graph import GraphStructure, read_structure
from sessions_app.web.turns.graph.preparation import with_preparation


def structure_of(turn: ExplainabilityTurn) -> GraphStructure:
    """Return the turn's graph; that of an ended turn is cached."""
    return read_structure(graph(turn)) if turn.is_running else ended_structure(*turn.record_key)


def whole_structure_of(turn: ExplainabilityTurn) -> GraphStructure:
    """Return the turn's graph, with the model calls that prepared the turn in front."""
    return with_preparation(structure_of(turn), (turn.context_report or {}).get("requests", ()))


@lru_cache(maxsize=4)
def ended_structure(turn_pk: int, *version: object) -> GraphStructure:
    """Return the graph of an ended turn, by its `record_key`."""
    return read_structure(ended_graph(turn_pk, *version))
