"""`python -m bench.large [--units N]`: what a base's size costs who searches, mounts, forks and saves."""

import argparse
import os
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, batched
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

import django

from bench.databases import new_database

if TYPE_CHECKING:
    from mrpvm.values import KnowledgeUnit
    from sessions_app.models import KnowledgeBase, Project, Session

UNITS = 1_000_000
SMALL = 100
SEARCHED, MIDDLE = 1_000, 100_000
"""Units of the bases beside the large one that are searched too; the middle one where the large one is larger."""
WORDS_A_UNIT, TERMS_A_QUERY = 30, 4
QUERIES, ROUNDS = 200, 25
SESSIONS_MOUNTED = 50
_BATCH = 2_000
_VOCABULARY = 30_000


def main(arguments: Sequence[str] | None = None) -> None:
    """Build, measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.large", description="Measure a large knowledge base.")
    parser.add_argument("--units", type=int, default=UNITS, help=f"units of the large base ({UNITS:,})")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="mrpvm-bench-") as directory, new_database(Path(directory, "rows")) as own:
        os.environ |= {"DJANGO_SETTINGS_MODULE": "mrpvm.settings", "DATABASE_URL": own.url}
        os.environ["MRPVM_DATA_DIR"] = str(own.directory)
        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        print(f"mrpvm bench: a base of {given.units:,} units, {own.product}", flush=True)
        for line in _report(given.units):
            print(line, flush=True)


def _report(unit_count: int) -> Iterator[str]:
    from sessions_app.actions.projects import ensure_default_project

    project = ensure_default_project()
    began = time.perf_counter()
    large = _base(project, "large", unit_count)
    yield f"{'units indexed in a second':44}{unit_count / (time.perf_counter() - began):10,.0f}"
    small = _base(project, "small", SMALL)
    searched = [("1,000 units beside it", _base(project, "searched", SEARCHED), 2)]
    if unit_count > MIDDLE:
        searched.append((f"{MIDDLE:,} units beside it", _base(project, "middle", MIDDLE), 25))
    searched.append(("the large base", large, 60 if unit_count > MIDDLE else 25))
    yield _packed()
    yield f"\n{'ms':44}{'p50':>10}{'p95':>10}{'CPU':>10}"
    for name, base, most in searched:
        times, cpu_ms = _search_times(base)
        row = f"{f'search, {name}':44}{median(times):10.2f}{_p95(times):10.2f}{cpu_ms:10.2f}"
        yield f"{row}   p95 {_verdict(_p95(times), most)}"
    for name, begin, action in (("mount", _opened, _mount), ("fork", _opened, _fork), ("save", _told, _save)):
        few, many = _alternately(begin, action, project, small, large)
        ratio = median(many) / median(few)
        yield f"{f'{name}, {SMALL} units':44}{median(few):10.2f}{_p95(few):10.2f}"
        row = f"{f'{name}, {unit_count:,} units':44}{median(many):10.2f}{_p95(many):10.2f}"
        yield f"{row}   ratio {ratio:.2f} {_verdict(ratio, 1.5)}"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    held = [_opened(project, large) for _ in range(SESSIONS_MOUNTED)]
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    yield f"{f'MiB that {len(held)} sessions with it mounted add':44}{grown:10.1f}"


def _packed() -> str:
    """Do what the sweeper does after an ingest."""
    from sessions_app.actions.packing import pack_large_layers
    from sessions_app.models import PackedLayer

    began = time.perf_counter()
    pack_large_layers()
    spent = time.perf_counter() - began
    count = sum(PackedLayer.objects.values_list("unit_count", flat=True))
    return f"{'units packed in a second, in the background':44}{count / spent:10,.0f}"


def _base(project: "Project", name: str, unit_count: int) -> "KnowledgeBase":
    """Give a base whose one layer holds so many units, written as an ingest writes them but without its limits."""
    from sessions_app.actions.knowledge import create_base, lock_base, move_head
    from sessions_app.models import KnowledgeLayer
    from sessions_app.search.index import index_units
    from sessions_app.search.layers import create_layer, seal_layer

    base = create_base(project, name)
    layer = create_layer(KnowledgeLayer.Kind.BASE, base.head)
    for batch in batched(_units(name, unit_count), _BATCH, strict=False):
        index_units(layer, batch)
    from django.db import transaction

    with transaction.atomic():
        seal_layer(layer)
        locked = lock_base(base)
        move_head(locked, layer, reason="bench")
    return locked


def _units(name: str, count: int) -> "Iterator[KnowledgeUnit]":
    from dataclasses import replace

    from mrpvm.knowledge.units import content_hash
    from mrpvm.values import KnowledgeUnit

    chance, weights = random.Random(name), _weights()
    for number in range(count):
        claim = " ".join(_words(chance, weights, WORDS_A_UNIT))
        unit = KnowledgeUnit(id=f"{name}-{number}", role="Description", topic="", claim=claim)
        yield replace(unit, hash=content_hash(unit))


def _weights() -> list[float]:
    """Give how often each word of the vocabulary comes, summed up: as in texts, few come often and most seldom."""
    return list(accumulate(1 / (place + 10) for place in range(_VOCABULARY)))


def _words(chance: random.Random, weights: list[float], count: int) -> list[str]:
    return [f"w{place}x" for place in chance.choices(range(_VOCABULARY), cum_weights=weights, k=count)]


def _search_times(base: "KnowledgeBase") -> tuple[list[float], float]:
    """Give the time of each search, and the processor's of one in the mean; both in ms."""
    from mrpvm.knowledge.text import terms
    from sessions_app.search.knowledge import EffectiveView, SessionKnowledge

    chance, weights, times, began = random.Random(0), _weights(), list[float](), time.process_time()
    for _ in range(QUERIES + 10):
        asked = {terms(word)[0]: 1.0 for word in _words(chance, weights, TERMS_A_QUERY)}
        knowledge = SessionKnowledge(EffectiveView.of_layer(base.head))
        spent = _timed(lambda: knowledge.search(asked, 10))  # noqa: B023 (called at once)
        times.append(spent)
    return times[10:], (time.process_time() - began) / len(times) * 1000


def _alternately(
    begin: Callable[["Project", "KnowledgeBase"], "Session"], action: Callable[["Session", "KnowledgeBase"], object],
    project: "Project", small: "KnowledgeBase", large: "KnowledgeBase",
) -> tuple[list[float], list[float]]:  # fmt: skip
    """Give the times of an action on both bases, each in a session of its own, by turns."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for base, spent in zip((small, large), times, strict=True):
            session = begin(project, base)
            spent.append(_timed(lambda: action(session, base)))  # noqa: B023 (called at once)
    return times


def _opened(project: "Project", base: "KnowledgeBase") -> "Session":
    from sessions_app.actions.sessions import create_session
    from sessions_app.models import KnowledgeBase

    return create_session(project, base=KnowledgeBase.objects.select_related("head").get(pk=base.pk))


def _told(project: "Project", base: "KnowledgeBase") -> "Session":
    """Give a session with news to save."""
    from sessions_app.search.index import index_units

    session = _opened(project, base)
    index_units(session.journal, list(_units(f"told-{session.session_id}", 3)))
    return session


def _mount(session: "Session", base: "KnowledgeBase") -> object:
    from sessions_app.actions.kb_mounts import mount_base

    return mount_base(session, base, reason="mount-api")


def _fork(session: "Session", base: "KnowledgeBase") -> object:
    from sessions_app.actions.forks import fork_base

    return fork_base(base)


def _save(session: "Session", base: "KnowledgeBase") -> object:
    from sessions_app.actions.forks import save_session_kb

    return save_session_kb(session, fork=True)


def _timed(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


def _p95(times: Sequence[float]) -> float:
    return quantiles(times, n=20)[-1]


def _verdict(value: float, most: float) -> str:
    return f"at most {most:g}: {'met' if value <= most else 'not met'}"


if __name__ == "__main__":
    main()
