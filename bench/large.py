"""`python -m bench.large [--units N]`: how the size of a base slows searching, mounting, forking and saving."""

import argparse
from collections.abc import Sequence

from bench.databases import django_on_new_database

UNITS = 1_000_000


def main(arguments: Sequence[str] | None = None) -> None:
    """Build, measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.large", description="Measure a large knowledge base.")
    parser.add_argument("--units", type=int, default=UNITS, help=f"units of the large base ({UNITS:,})")
    given = parser.parse_args(arguments)
    with django_on_new_database() as own:
        # The models can be imported only once Django is set up.
        from bench.large_base import report

        print(f"mrpvm bench: a base of {given.units:,} units, {own.product}", flush=True)
        for line in report(given.units):
            print(line, flush=True)


if __name__ == "__main__":
    main()
