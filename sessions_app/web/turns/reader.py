"""What a reader of a turn page chose."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """The reader's choices as the address gives them."""

    view: str = "graph"
    tab: str = "run"
    selected: str = ""
    opened: tuple[str, ...] = ()
    shut: tuple[str, ...] = ()
