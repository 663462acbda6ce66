"""`python -m bench.ingest`: how the ingest of a large source slows turns down, and how fast it is."""

import argparse
import itertools
import json
import random
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.databases import new_database
from bench.measurements import Beside, Requests, Sizes, TakenIn, Talk, talk
from bench.report import ingest_lines
from bench.servers import Client, MeasuredServer

_THINGS = "engine valve river stone council letter market bridge window garden harbour winter forest castle"
_KINDS = "ancient modern quiet heavy light narrow broad simple rapid gentle strange common empty copper"
_TURNS_ASIDE, _TURNS_A_SESSION = 60, 20
_PATIENCE_SECONDS = 300


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    default = Sizes()
    parser = argparse.ArgumentParser(prog="python -m bench.ingest", description="Measure chat beside an ingest.")
    parser.add_argument("--rounds", type=int, default=default.ingest_rounds, help=f"({default.ingest_rounds})")
    parser.add_argument(
        "--paragraphs", type=int, default=default.ingest_paragraphs,
        help=f"of a source, some four units each ({default.ingest_paragraphs:,})",
    )  # fmt: skip
    given = parser.parse_args(arguments)
    with (
        tempfile.TemporaryDirectory(prefix="mrpvm-bench-") as directory,
        new_database(Path(directory, "rows")) as own,
        MeasuredServer(own) as server,
    ):
        talk(server, default.turns_a_round, seed=0, requests=Requests())
        beside = chat_beside_ingest(server, given.rounds, given.paragraphs)
        print(f"mrpvm bench: chat beside an ingest, {own.product}, {given.rounds} rounds", flush=True)
    print("\n".join(ingest_lines(beside, own.product)))


def chat_beside_ingest(server: MeasuredServer, rounds: int, paragraph_count: int) -> Beside:
    """Return rounds: turns before, during and after an ingest, and an ingest alone.

    The sources go into bases that no measured session has mounted, so that all turns find the same units.
    """
    measured = Beside()
    for number in range(rounds):
        with server.client() as client:
            said = _sessions(client, number)
            _chat_alone(server, said, measured)
            sent = (server, 2 * number, paragraph_count, measured.taken_beside)
            ingest = threading.Thread(target=_take_in, args=sent)
            ingest.start()
            while ingest.is_alive():
                measured.busy.send(server, *next(said).next_request())
            ingest.join()
            _chat_alone(server, said, measured)
        _take_in(server, 2 * number + 1, paragraph_count, measured.taken_alone)
    return measured


def _chat_alone(server: MeasuredServer, said: Iterator[Talk], measured: Beside) -> None:
    for _ in range(_TURNS_ASIDE):
        measured.quiet.send(server, *next(said).next_request())


def _sessions(client: Client, number: int) -> Iterator[Talk]:
    """Yield the session for each turn. Long sessions are slower, so a new one begins after some turns."""
    for seed in itertools.count(2_000_000 + 1_000 * number):
        yield from itertools.repeat(Talk(client, seed), _TURNS_A_SESSION)


def _take_in(server: MeasuredServer, number: int, paragraph_count: int, taken: TakenIn) -> None:
    text = _text(number, paragraph_count)
    with server.client(timeout_seconds=_PATIENCE_SECONDS) as client:
        kb_id = json.loads(client.post("/api/kbs", {"name": f"Source {number}"}))["kb_id"]
        began = time.perf_counter()
        made = json.loads(client.post(f"/api/kbs/{kb_id}/sources", {"name": "source.txt", "content": text}))
        taken.seconds += time.perf_counter() - began
        taken.unit_counts.append(made["unitCount"])


def _text(seed: int, paragraph_count: int) -> str:
    """Return paragraphs of distinct plain statements. The same seed gives the same text."""
    chosen = random.Random(seed)

    def statement(number: int) -> str:
        first, second = chosen.sample(_THINGS.split(), 2)
        kind, other = chosen.sample(_KINDS.split(), 2)
        return f"The {kind} {first} of Place{seed}n{number} stood near the {other} {second} in {1800 + number % 200}."

    return "\n\n".join(
        " ".join(statement(4 * paragraph + place) for place in range(4)) for paragraph in range(paragraph_count)
    )


if __name__ == "__main__":
    main()
