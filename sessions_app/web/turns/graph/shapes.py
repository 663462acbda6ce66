"""Geometry that the layout passes to the routes."""

from copy import replace
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle; x and y are its top left corner, in px."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Return the x of the right side."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Return the y of the lower side."""
        return self.y + self.height

    def moved(self, dx: float, dy: float) -> "Box":
        """Return the same box moved."""
        return Box(self.x + dx, self.y + dy, self.width, self.height)


@dataclass(frozen=True, slots=True)
class Band:
    """A row of items from left to right; there is free space above and below it."""

    top: float
    bottom: float
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stack:
    """Rows from top to bottom; there is free space left and right of them."""

    left: float
    right: float
    rows: tuple[Band, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """The inside of a frame between header and lower border: stacks from left to right."""

    top: float
    bottom: float
    stacks: tuple[Stack, ...]

    def moved(self, dx: float, dy: float) -> "Grid":
        """Return the same grid moved."""
        stacks = tuple(
            Stack(
                stack.left + dx,
                stack.right + dx,
                tuple(replace(row, top=row.top + dy, bottom=row.bottom + dy) for row in stack.rows),
            )
            for stack in self.stacks
        )
        return Grid(self.top + dy, self.bottom + dy, stacks)
