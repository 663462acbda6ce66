"""The rows of the table, and how they are printed."""

import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bench.servers import ROOT

NAME_CHARS = 62


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure: the measured value, its limit, and its aim.

    With `is_least` the limit is a minimum. `reason` says why a row could not be measured.
    """

    name: str
    measured: float | None
    must: float | None = None
    aim: float | None = None
    is_least: bool = False
    reason: str = ""

    @property
    def verdict(self) -> str:
        """Return whether the limit is met, empty if there is none."""
        if self.measured is None:
            return f"not measured: {self.reason}"
        if self.must is None:
            return ""
        if not self._reaches(self.must):
            return "not met"
        return "met, and the aim" if self.aim is not None and self._reaches(self.aim) else "met"

    def _reaches(self, bound: float) -> bool:
        measured = self.measured or 0
        return measured >= bound if self.is_least else measured <= bound


def table_lines(product: str, rows: Iterable[Row]) -> Iterator[str]:
    """Yield each line of the table as soon as its row is measured."""
    yield f"costs on {product}, commit {_commit()}"
    yield ""
    yield f"{'':{NAME_CHARS}}{'measured':>10}{'must':>9}{'aim':>9}"
    for row in rows:
        bounds = "".join(f"{'' if bound is None else f'{bound:g}':>9}" for bound in (row.must, row.aim))
        measured = "" if row.measured is None else f"{row.measured:.2f}"
        yield f"{row.name:{NAME_CHARS}}{measured:>10}{bounds}   {row.verdict}".rstrip()


def _commit() -> str:
    try:
        outputs = [
            subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
            for arguments in (("rev-parse", "--short", "HEAD"), ("status", "--porcelain", "--untracked-files=no"))
        ]
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{outputs[0]} with changes" if outputs[1] else outputs[0]
