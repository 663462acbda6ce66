"""The plugins that a stage tries, and their order."""

import pytest

from mrpvm.kernel.backtracking import candidates


@pytest.mark.parametrize(
    ("pin", "expected"),
    [("gs-b", ("gs-b",)), ("gs-gone", ()), (None, ("gs-a", "gs-b"))],
    ids=["pinned", "gone", "none"],
)
def test_a_pin_is_tried_alone_and_only_if_registered(pin: str | None, expected: tuple[str, ...]) -> None:
    assert candidates(pin, "gs-a", ["gs-gone"], ["gs-a", "gs-b"], 4) == expected
