"""`python -m tests.soak [--minutes 10] [--on SQLite] [--fault "process killed"] [--rounds 5]`: run work with faults.

Prints a table, and the broken promises, if any.
"""

import argparse
import sys

from tests.soak.run import Outcome, soak
from tests.soak.sites import SITES


def main() -> int:
    """Test each site for its share of the time; return the exit code."""
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="altogether")
    parser.add_argument("--on", choices=list(SITES), action="append", help="one kind of site alone")
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--fault", action="append", default=[], help="this kind of fault alone; may be repeated")
    parser.add_argument(
        "--rounds", type=int, default=1, help="parts of the time after each of which everything is looked for"
    )
    given = parser.parse_args()
    names = given.on or list(SITES)
    seconds = given.minutes * 60 / len(names)
    outcomes = {name: soak(SITES[name], seconds, given.sessions, given.fault, given.rounds) for name in names}
    print(table(outcomes))
    broken = [f"{name}: {text}" for name, outcome in outcomes.items() for text in outcome.broken]
    print("\n".join(broken) or "Nothing was broken.")
    return 1 if broken else 0


def table(outcomes: dict[str, Outcome]) -> str:
    """Return the outcomes as a Markdown table with a column for each."""
    rows = [outcome.rows() for outcome in outcomes.values()]
    names = list(dict.fromkeys(name for found in rows for name in found))
    lines = [f"| | {' | '.join(outcomes)} |", "|---|" + "---:|" * len(outcomes)]
    lines += [f"| {name} | {' | '.join(found.get(name, '-') for found in rows)} |" for name in names]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
