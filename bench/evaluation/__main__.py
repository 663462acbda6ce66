"""`python -m bench.evaluation`: ask the suites, and print what was right, wrong and refused."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.evaluation.runs import SuiteRun, Tally, by_variant, run_all, tally
from bench.evaluation.suites import DEVELOPMENT, FURTHER, HELD_OUT, load_suites

_HEAD = (
    f"{'suite':<14} {'variant':<9} {'count':>5} {'right':>5} {'wrong':>5} {'refused':>7} {'passed':>6} {'recall':>6} "
    f"{'precision':>9} {'F1':>5}"
)


def main() -> None:
    """Print a table for each set of suites, and the failures of the visible ones.

    Failures of the held-out suites are printed only on request, so that rules are not written for them.
    """
    parser = argparse.ArgumentParser(prog="python -m bench.evaluation", description="Ask the evaluation suites.")
    parser.add_argument("--set", choices=("development", "further", "heldout", "all"), default="all")
    parser.add_argument("--suites", type=Path, help="another directory of suites instead")
    parser.add_argument("--show-heldout", action="store_true", help="print the failures of held-out suites too")
    parser.add_argument("--all", action="store_true", help="print every answer, not only failures")
    given = parser.parse_args()
    if given.suites:
        _run("given", given.suites, show=True, every=given.all)
        return
    if given.set in ("development", "all"):
        _run("development", DEVELOPMENT, show=True, every=given.all)
    if given.set in ("further", "all"):
        _run("further", FURTHER, show=True, every=given.all)
    if given.set in ("heldout", "all"):
        _run("held out", HELD_OUT, show=given.show_heldout, every=given.all)


def _run(name: str, directory: Path, *, show: bool, every: bool) -> None:
    runs = run_all(load_suites(directory))
    print(f"\n=== {name}\n{_HEAD}")
    for run in runs:
        print(_row(run.suite_id, run.variant, tally(run.judgements)))
    for variant, counts in by_variant(runs).items():
        print(_row("all", variant, counts))
    print(_row("all", "all", tally(item for run in runs for item in run.judgements)))
    if show:
        print("\n".join(_failures(runs, every=every)))


def _row(name: str, variant: str, counts: Tally) -> str:
    return (
        f"{name:<14} {variant:<9} {counts.count:>5} {counts.right:>5} {counts.wrong:>5} {counts.refused:>7} "
        f"{counts.passed:>6} {counts.recall:>6.2f} {counts.precision:>9.2f} {counts.f1:>5.2f}"
    )


def _failures(runs: Sequence[SuiteRun], *, every: bool) -> Iterator[str]:
    for run in runs:
        for item in run.judgements:
            if item.outcome == "right" and not every:
                continue
            reasons = f" ({'; '.join(item.reasons)})" if item.reasons else ""
            yield f"\n{item.outcome.upper()} {run.suite_id}/{item.question.id} {run.variant}{reasons}"
            yield f"  asked: {item.question.input}"
            yield f"  said:  {' / '.join(item.text.splitlines())}"


if __name__ == "__main__":
    main()
