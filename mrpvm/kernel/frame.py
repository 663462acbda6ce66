"""Frames: local execution contexts; their ids are paths, so that they do not depend on the order of parallel work."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce

from mrpvm.kernel.budget import Calls
from mrpvm.values import ContextProfile, DecomposedIntent, Intent, KnowledgeUnit, Seed

ROOT_PATH = (0,)


@dataclass(slots=True, kw_only=True)
class Frame:
    """An open frame.

    `units` are the units staged by this frame and its ancestors; `goals` are the admitted subproblems, by intent id.
    `covered_families` were tried so far, and the results of `suspended_branch_ids` may still be selected.
    """

    calls: Calls
    path: tuple[int, ...] = ROOT_PATH
    purpose: str = "chat-turn"
    parent: "Frame | None" = None
    intents: tuple[Intent, ...] = ()
    seeds: tuple[Seed, ...] = ()
    units: tuple[KnowledgeUnit, ...] = ()
    goals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    decomposed: tuple[DecomposedIntent, ...] = ()
    profiles: tuple[ContextProfile, ...] = ()
    covered_families: tuple[str, ...] = ()
    suspended_branch_ids: tuple[str, ...] = ()
    last_execution_id: str | None = None
    _slot_count: int = 0
    _child_count: int = 0
    _control_counts: dict[str, int] = field(default_factory=dict)
    _dotted: str = field(init=False)
    id: str = field(init=False)
    """The frame's path id, `frame-0` for the root."""

    def __post_init__(self) -> None:
        self._dotted = ".".join(str(step) for step in self.path)
        self.id = f"frame-{self._dotted}"

    @property
    def depth(self) -> int:
        """Return the number of levels below the root."""
        return len(self.path) - 1

    @property
    def label(self) -> str:
        """Return the purpose, and for a child frame its ordinal."""
        return self.purpose if self.parent is None else f"{self.purpose} {self.path[-1]}"

    @property
    def first_unit_number(self) -> int:
        """Return the number of the frame's next unit; each frame has its own range of numbers."""
        block = reduce(lambda number, step: number * 100 + step, self.path[1:], 0)
        return block * 1_000 + len(self.units) - (len(self.parent.units) if self.parent else 0)

    def next_slot(self) -> int:
        """Return the number of the frame's next stage run; all tries of the run have this number."""
        self._slot_count += 1
        return self._slot_count

    def execution_id(self, slot: int, attempt: int) -> str:
        """Return the id of one try within a slot, such as `exec-0.2.1~1`."""
        return f"exec-{self._dotted}.{slot}~{attempt}"

    def control_id(self, kind: str) -> str:
        """Return the next id of a control object of this frame, such as `branch-0.1`."""
        self._control_counts[kind] = self._control_counts.get(kind, 0) + 1
        return f"{kind}-{self._dotted}.{self._control_counts[kind]}"

    def child(self, purpose: str, intents: tuple[Intent, ...], seeds: tuple[Seed, ...]) -> "Frame":
        """Return a new frame below this one with the same staged units."""
        self._child_count += 1
        return Frame(
            calls=self.calls,
            path=(*self.path, self._child_count),
            purpose=purpose,
            parent=self,
            intents=intents,
            seeds=seeds,
            units=self.units,
        )
