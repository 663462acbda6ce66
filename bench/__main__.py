"""`python -m bench`: start servers of its own, measure them, print the figures."""

import argparse
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from statistics import mean

import django
from django.db import connections

from bench.bases import turns_on_bases
from bench.databases import Database, copied, new_database, product_of_new_databases
from bench.ingest import chat_beside_ingest
from bench.machine import machine_cost
from bench.measurements import QUICK, Requests, Sizes, deep_session, talk, turn_and_floor
from bench.policies import PolicyCosts, context_sizes, policy_requests
from bench.quality import quality_lines
from bench.report import FLOOR_AIM, FLOOR_TARGETS, Report, floor_ratio
from bench.servers import MeasuredServer
from bench.table.parts import PARTS, QUICK_TABLE, TableSizes, measured_rows
from bench.table.rows import Row, table_lines

_FLOOR = "floor"
"""The part that `turn_and_floor` measures; in a whole run the report has measured it."""
_PART_NAMES = (*PARTS, _FLOOR)


def main() -> None:
    """Measure and print the parts that were asked for, or everything: the report, then the table of costs."""
    given = _arguments()
    sizes, table_sizes = _sizes(given), QUICK_TABLE if given.quick else TableSizes()
    floor_rows = []
    if given.only is None:
        floor_rows.append(_report(sizes))
        print(flush=True)
    elif _FLOOR in given.only:
        floor_rows.append(_floor(sizes))
    chosen = [name for name in PARTS if given.only is None or name in given.only]
    for line in table_lines(product_of_new_databases(), chain(measured_rows(chosen, table_sizes), floor_rows)):
        print(line, flush=True)


def _report(sizes: Sizes) -> Row:
    """Measure and print the report, and return what a turn costs as a multiple of its floor.

    1. measure the machine alone, in this process
    2. hold one conversation, whose rows the floor then writes
    3. alternate rounds of turns and rounds of the floor, each on its own copy of that database
    4. chat during the ingest of a large source
    5. make one session long, and alternate its last turns with turns of short sessions
    6. hold conversations under each choice of policies, and build the context of one as it grows
    7. ask the same questions of a small and of a large base, alternately
    8. search collections, rewrite follow-ups and summarize conversations
    """
    machine = machine_cost(sizes.rounds)
    with _turn_and_floor_servers(sizes) as (own, row_count, server, floor):
        turns, written = turn_and_floor(server, floor, sizes)
        beside = chat_beside_ingest(server, sizes.ingest_rounds, sizes.ingest_paragraphs)
        deep, shallow, stored = deep_session(server, sizes)
        requests = policy_requests(server, sizes.policy_rounds, sizes.turns_a_round)
        policies = PolicyCosts(requests=requests, sizes=context_sizes(sizes.exchanges))
        bases = turns_on_bases(server, sizes.base_statements, sizes.base_turns)
        report = Report(
            product=own.product, sizes=sizes, turns=turns, floor=written, deep=deep, shallow=shallow, stored=stored,
            rows_a_turn=row_count, machine=machine, beside=beside, policies=policies, bases=bases,
        )  # fmt: skip
        print("\n".join(report.lines()))
        for line in quality_lines():
            print(line, flush=True)
        connections.close_all()
    return _floor_row(own, turns, written)


def _floor(sizes: Sizes) -> Row:
    """Measure turns and their floor alone."""
    with _turn_and_floor_servers(sizes) as (own, _, server, floor):
        return _floor_row(own, *turn_and_floor(server, floor, sizes))


def _floor_row(own: Database, turns: Requests, floor: Requests) -> Row:
    return Row(
        name="a turn / its floor", measured=floor_ratio(turns, floor), must=FLOOR_TARGETS[own.product], aim=FLOOR_AIM
    )


@contextmanager
def _turn_and_floor_servers(sizes: Sizes) -> Iterator[tuple[Database, float, MeasuredServer, MeasuredServer]]:
    """Return the database of the turns, how many rows a turn has, and the servers of turns and of their floor."""
    with tempfile.TemporaryDirectory(prefix="mrpvm-bench-") as directory, new_database(Path(directory, "turn")) as own:
        with MeasuredServer(own) as server:
            talk(server, sizes.turns_a_round, seed=0, requests=Requests())
        row_count = _rows_a_turn(own)
        with (
            copied(own, Path(directory, "floor")) as floors,
            MeasuredServer(own) as server,
            MeasuredServer(floors, "--no-bootstrap", DJANGO_SETTINGS_MODULE="bench.floor.settings") as floor,
        ):
            yield own, row_count, server, floor


def _rows_a_turn(database: Database) -> float:
    """Return how many rows a turn of the newest session stored, and close the database so that it can be copied."""
    os.environ |= {"DJANGO_SETTINGS_MODULE": "mrpvm.settings", "DATABASE_URL": database.url}
    os.environ["MRPVM_DATA_DIR"] = str(database.directory)
    django.setup()
    from bench.floor.rows import RecordedConversation

    counted = mean(turn.row_count for turn in RecordedConversation.newest().turns)
    connections.close_all()
    return counted


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure what turns and requests cost.")
    parser.add_argument("--quick", action="store_true", help="a few requests of each kind: shows that it runs")
    parser.add_argument("--only", type=_part_names, metavar="PARTS", help=f"of the table: {','.join(_PART_NAMES)}")
    parser.add_argument("--rounds", type=int, help="rounds of turns and floor (20)")
    parser.add_argument("--deep-turns", type=int, help="length of the long session (1000)")
    return parser.parse_args()


def _part_names(text: str) -> list[str]:
    names = text.split(",")
    if unknown := set(names) - set(_PART_NAMES):
        raise argparse.ArgumentTypeError(f"no part is called {', '.join(sorted(unknown))}")
    return names


def _sizes(given: argparse.Namespace) -> Sizes:
    default = QUICK if given.quick else Sizes()
    return Sizes(
        rounds=given.rounds or default.rounds,
        turns_a_round=default.turns_a_round,
        deep_turns=given.deep_turns or default.deep_turns,
        pairs=default.pairs,
        ingest_rounds=default.ingest_rounds,
        ingest_paragraphs=default.ingest_paragraphs,
        policy_rounds=default.policy_rounds,
        exchanges=default.exchanges,
        base_statements=default.base_statements,
        base_turns=default.base_turns,
    )


if __name__ == "__main__":
    main()
