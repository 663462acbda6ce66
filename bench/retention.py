"""`python -m bench.retention [--turns N]`: the longest transaction of each kind of retention over many turns."""

import argparse
from collections.abc import Sequence

from bench.databases import django_on_new_database

TURNS = 1_000_000


def main(arguments: Sequence[str] | None = None) -> None:
    """Build, remove and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.retention", description="Measure what removing costs.")
    parser.add_argument("--turns", type=int, default=TURNS, help=f"turns that are stored ({TURNS:,})")
    given = parser.parse_args(arguments)
    with django_on_new_database() as own:
        # The models can be imported only once Django is set up.
        from bench.removal import report

        print(f"mrpvm bench: retention over {given.turns:,} turns, {own.product}", flush=True)
        for line in report(given.turns):
            print(line, flush=True)


if __name__ == "__main__":
    main()
