"""`python -m bench.answers [DIRECTORY]`: how well questions about text written by others are answered."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from bench.databases import django_on_new_database

PARTS = (
    "passages", "articles", "documents", "faqs", "conditions", "stories", "requests", "conversations", "pairs",
    "followups", "told", "messages", "suites",
)  # fmt: skip
OWN_DATA = Path(__file__).parent.parent / "data"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print. A collection that the directory does not hold is reported as skipped."""
    parser = argparse.ArgumentParser(prog="python -m bench.answers", description="Measure answers.")
    parser.add_argument(
        "directory",
        nargs="?",
        type=Path,
        help="of squad*.json and locomo*.json (BENCH_DATA, else samples)",
    )
    parser.add_argument("--sample", type=int, default=6, help="paragraphs of an article, and a tenth of its questions")
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--pairs", type=int, default=500, help="how many pairs of unrelated questions")
    parser.add_argument("--mode", choices=("words", "embeddings", "both"), default="both")
    parser.add_argument("--show", choices=("right", "wrong", "refused", "lost"), help="print such questions")
    given = parser.parse_args(arguments)
    directory = given.directory or Path(os.environ.get("BENCH_DATA") or OWN_DATA)
    with django_on_new_database():
        from bench.answers.report import Wanted, report

        modes = ("words", "embeddings") if given.mode == "both" else (given.mode,)
        wanted = Wanted(sample=given.sample, pairs=given.pairs, only=given.only, modes=modes, show=given.show)
        for line in report(directory, wanted):
            print(line, flush=True)


if __name__ == "__main__":
    main()
