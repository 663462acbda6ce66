"""`python -m bench.retrieval [DIRECTORY]`: how well questions find the units that answer them."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from bench.databases import django_on_new_database

OWN_DATA = Path(__file__).parent.parent / "data" / "retrieval"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print. A collection that the directory does not hold is reported as skipped."""
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval", description="Measure retrieval.")
    parser.add_argument(
        "directory", nargs="?", type=Path, help="where the collections' JSON files lie (BENCH_DATA, else our own)"
    )
    parser.add_argument("--only", help="one collection by its name")
    given = parser.parse_args(arguments)
    named = given.directory or Path(os.environ.get("BENCH_DATA") or OWN_DATA)
    with django_on_new_database():
        from bench.retrieval.report import report

        for line in report(named, given.only):
            print(line, flush=True)


if __name__ == "__main__":
    main()
