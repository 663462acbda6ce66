"""Vectors as bytes: whole numbers, so that they are small, and equal products on every machine."""

from array import array
from collections.abc import Sequence
from itertools import combinations
from math import sqrt, sumprod
from typing import Self

from msgspec import Struct

_LARGEST = 127


def packed(values: Sequence[float]) -> bytes:
    """Return a vector as one signed byte a dimension, the largest of them 127 or -127; its length is lost."""
    largest = max(map(abs, values), default=0.0)
    scale = _LARGEST / largest if largest else 0.0
    return array("b", [round(value * scale) for value in values]).tobytes()


class Vector(Struct, frozen=True):
    """A direction in whole numbers, and the length of these."""

    values: Sequence[int]
    length: float

    @classmethod
    def of(cls, content: bytes) -> Self:
        """Read what `packed` gave."""
        values = memoryview(content).cast("b").tolist()
        return cls(values, sqrt(sumprod(values, values)))

    def similarity(self, other: "Vector") -> float:
        """Return the cosine of the angle between two directions; 0 where one has none."""
        lengths = self.length * other.length
        return sumprod(self.values, other.values) / lengths if lengths else 0.0


def combined(shared: Sequence[tuple[float, Vector]]) -> Vector:
    """Return the direction of the sum of vectors, each as one unit long times its share; there must be one."""
    scaled = [[share * value / (vector.length or 1.0) for value in vector.values] for share, vector in shared]
    return Vector.of(packed([sum(values) for values in zip(*scaled, strict=True)]))


def mean_similarity(question: Vector, shared: Sequence[tuple[float, Vector]]) -> float:
    """Return the cosine between a direction and the mean of others, each as one unit long times its share."""
    length_squared = sum(share * share for share, _ in shared) + 2 * sum(
        share * part * one.similarity(two) for (share, one), (part, two) in combinations(shared, 2)
    )
    along = sum(share * question.similarity(vector) for share, vector in shared)
    return along / sqrt(length_squared) if length_squared > 0 else 0.0
