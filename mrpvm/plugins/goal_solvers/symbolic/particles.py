"""Particles that turn a verb into its contrary: what is switched off is not switched on."""

from collections.abc import Collection

from mrpvm.plugins.goal_solvers.symbolic.reading import Reading

_CONTRARY = {"on": "off", "off": "on", "up": "down", "down": "up", "in": "out", "out": "in"}
_EITHER_OR = frozenset(("on", "off"))


def turns_contrary(asked: Reading, said: Reading) -> bool:
    """Tell whether a word that both have goes with one particle in the question, its contrary in the statement."""
    return any(sense in _with(said, _CONTRARY[particle]) for sense, particle in _turned(asked, _CONTRARY))


def denies_contrary(asked: Reading, said: Reading) -> bool:
    """Tell whether what the statement says also denies what is asked: what is off is not on."""
    return any(sense in _with(said, _CONTRARY[particle]) for sense, particle in _turned(asked, _EITHER_OR))


def _turned(reading: Reading, particles: Collection[str]) -> list[tuple[str, str]]:
    return [
        (word.sense, particle)
        for word in reading.words
        if (particle := next(iter(reading.tokens[word.place + 1 : word.place + 2]), "")) in particles
    ]


def _with(reading: Reading, particle: str) -> frozenset[str]:
    return frozenset(sense for sense, _ in _turned(reading, (particle,)))
