"""The knowledge port of plugins' tests gives what the server's port gives."""

from mrpvm.testing import InMemoryKnowledge, unit

FACTS = (unit("a", "The gate is open."), unit("b", "The pier is closed."))
GUIDANCE = unit("c", "Name the gate in one word.", phase_scopes=("gs-plugin",))


def test_a_search_gives_no_guidance_and_does_not_count_it() -> None:
    """The index of the server has no postings of units that are no evidence."""
    found, alone = (
        [(hit.unit.id, hit.score) for hit in InMemoryKnowledge(units).search({"gate": 1.0}, 5)]
        for units in ((*FACTS, GUIDANCE), FACTS)
    )
    assert found == alone
    assert [unit_id for unit_id, _ in found] == ["a"]
