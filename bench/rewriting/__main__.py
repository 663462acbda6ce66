"""`python -m bench.rewriting [DIRECTORY]`: how well follow-ups are recognised and rewritten."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from bench.rewriting.report import report

OWN_DATA = Path(__file__).parent.parent / "data" / "rewriting"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.rewriting", description="Measure query rewriting.")
    parser.add_argument(
        "directory", nargs="?", type=Path, help="where rewrite*.json files lie (BENCH_DATA, else our own)"
    )
    given = parser.parse_args(arguments)
    directory = given.directory or Path(os.environ.get("BENCH_DATA") or OWN_DATA)
    for line in report(directory):
        print(line, flush=True)


if __name__ == "__main__":
    main()
