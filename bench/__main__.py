"""`python -m bench`: starts its own servers, measures them, prints what it found."""

import argparse
import os
import tempfile
from pathlib import Path
from statistics import mean

import django
from django.db import connections

from bench.bases import turns_on_bases
from bench.databases import Database, copied, new_database
from bench.ingest import chat_beside_ingest
from bench.machine import machine_cost
from bench.measurements import QUICK, Requests, Sizes, deep_session, talk, turn_and_floor
from bench.policies import PolicyCosts, context_sizes, policy_requests
from bench.quality import quality_lines
from bench.report import Report
from bench.servers import MeasuredServer


def main() -> None:
    """Measure and print.

    1. the machine is measured alone, in this process
    2. one conversation is held, and its rows are what the floor writes
    3. rounds of turns and of the floor alternate, each on a database that began as a copy of that one
    4. chat goes on beside the ingest of a large source
    5. one session is made long, and its last turns alternate with those of short ones
    6. conversations are held under each choice of policies, and one grows while its context is built
    7. the same questions are put on a small and on a large base by turns
    8. collections are searched, follow-ups rewritten and conversations summed up
    """
    sizes = _sizes()
    machine = machine_cost(sizes.rounds)
    with tempfile.TemporaryDirectory(prefix="mrpvm-bench-") as directory, new_database(Path(directory, "turn")) as own:
        with MeasuredServer(own) as server:
            talk(server, sizes.turns_a_round, seed=0, requests=Requests())
        row_count = _rows_a_turn(own)
        with (
            copied(own, Path(directory, "floor")) as floors,
            MeasuredServer(own) as server,
            MeasuredServer(floors, "--no-bootstrap", DJANGO_SETTINGS_MODULE="bench.floor.settings") as floor,
        ):
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


def _rows_a_turn(database: Database) -> float:
    """Give how many rows a turn of the newest session left, and leave the database unused for its copy."""
    os.environ |= {"DJANGO_SETTINGS_MODULE": "mrpvm.settings", "DATABASE_URL": database.url}
    os.environ["MRPVM_DATA_DIR"] = str(database.directory)
    django.setup()
    from bench.floor.rows import RecordedConversation

    counted = mean(turn.row_count for turn in RecordedConversation.newest().turns)
    connections.close_all()
    return counted


def _sizes() -> Sizes:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure a turn against its floor.")
    parser.add_argument("--quick", action="store_true", help="a few requests of each kind: shows that it runs")
    parser.add_argument("--rounds", type=int, help="rounds of turns and floor (20)")
    parser.add_argument("--deep-turns", type=int, help="length of the long session (1000)")
    given = parser.parse_args()
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
