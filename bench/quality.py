"""The quality of retrieval, rewriting and summaries, over the available collections."""

import os
from collections.abc import Iterator
from pathlib import Path

from bench import digest
from bench.retrieval.__main__ import OWN_DATA as RETRIEVAL_DATA
from bench.rewriting import report as rewriting
from bench.rewriting.__main__ import OWN_DATA as REWRITING_DATA


def quality_lines() -> Iterator[str]:
    """Yield the figures for the collections in `BENCH_DATA`, otherwise for our own small ones.

    Effects: creates knowledge bases in the database that Django is set up for.
    """
    from bench.retrieval import report as retrieval  # knows the models

    given = os.environ.get("BENCH_DATA")
    yield ""
    yield from retrieval.report(Path(given or RETRIEVAL_DATA))
    yield ""
    yield from rewriting.report(Path(given or REWRITING_DATA))
    yield ""
    yield from digest.report(Path(given or digest.OWN_DATA))
