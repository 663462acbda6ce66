"""How the size of a base slows searching, mounting, forking and saving."""

import gc
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from copy import replace
from itertools import accumulate, batched
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from django.db import transaction

from mrpvm.english.words.text import terms
from mrpvm.knowledge.units import content_hash
from mrpvm.values import KnowledgeUnit
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.forks import fork_base, save_session_kb
from sessions_app.actions.knowledge.mounts import mount_base
from sessions_app.actions.sessions.context_loads import Material, add_context
from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.settings.projects import ensure_default_project
from sessions_app.layers import (
    EffectiveView,
    SessionKnowledge,
    create_layer,
    index_units,
    lock_base,
    move_head,
    pack_large_layers,
    seal_layer,
)
from sessions_app.models import KnowledgeBase, KnowledgeLayer, PackedLayer, Project, Session

SMALL = 100
SEARCHED, MIDDLE = 1_000, 100_000
"""Units of the bases beside the large one that are searched too; the middle one where the large one is larger."""
WORDS_A_UNIT, TERMS_A_QUERY = 30, 4
QUERIES, ROUNDS = 200, 25
SESSIONS_MOUNTED = 50
AIM_MS = 20
_BATCH = 2_000
_VOCABULARY = 30_000


def report(unit_count: int) -> Iterator[str]:
    """Yield the lines of the report while it is measured."""
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
        resolved, times, cpu_ms = _search_times(base)
        row = f"{f'search, {name}':44}{median(times):10.2f}{_p95(times):10.2f}{cpu_ms:10.2f}"
        yield f"{row}   p95 {_verdict(_p95(times), most)}"
        yield f"{'  its view, resolved once a turn':44}{median(resolved):10.2f}{_p95(resolved):10.2f}"
    for name, begin, action in _CHANGES:
        few, many = _alternately(begin, action, project, small, large)
        ratio = median(many) / median(few)
        yield f"{f'{name}, {SMALL} units':44}{median(few):10.2f}{_p95(few):10.2f}"
        row = f"{f'{name}, {unit_count:,} units':44}{median(many):10.2f}{_p95(many):10.2f}"
        yield f"{row}   ratio {ratio:.2f} {_verdict(ratio, 1.5)}, p50 {_verdict(median(many), AIM_MS)}"
    for name, base in ((f"{SMALL} units", small), (f"{unit_count:,} units", large)):
        added = _mebibytes_of_sessions(project, base)
        yield f"{f'MiB, {SESSIONS_MOUNTED} sessions that searched {name}':44}{added:10.1f}"


def _packed() -> str:
    """Pack the base's layers, as the sweeper does after an ingest."""
    began = time.perf_counter()
    pack_large_layers()
    spent = time.perf_counter() - began
    count = sum(PackedLayer.objects.values_list("unit_count", flat=True))
    return f"{'units packed in a second, in the background':44}{count / spent:10,.0f}"


def _base(project: Project, name: str, unit_count: int) -> KnowledgeBase:
    """Return a base with this many units in one layer, written as an ingest writes them but without its limits."""
    base = create_base(project, name)
    layer = create_layer(KnowledgeLayer.Kind.BASE, base.head)
    for batch in batched(_units(name, unit_count), _BATCH, strict=False):
        index_units(layer, batch)
    with transaction.atomic():
        seal_layer(layer)
        locked = lock_base(base)
        move_head(locked, layer, reason="bench")
    return locked


def _units(name: str, count: int) -> Iterator[KnowledgeUnit]:
    chance, weights = random.Random(name), _weights()
    for number in range(count):
        claim = " ".join(_words(chance, weights, WORDS_A_UNIT))
        unit = KnowledgeUnit(id=f"{name}-{number}", role="Description", topic="", claim=claim)
        yield replace(unit, hash=content_hash(unit))


def _weights() -> list[float]:
    """Return the cumulative frequencies of the vocabulary. As in real text, few words are frequent, most are rare."""
    return list(accumulate(1 / (place + 10) for place in range(_VOCABULARY)))


def _words(chance: random.Random, weights: list[float], count: int) -> list[str]:
    return [f"w{place}x" for place in chance.choices(range(_VOCABULARY), cum_weights=weights, k=count)]


def _search_times(base: KnowledgeBase) -> tuple[list[float], list[float], float]:
    """Return in ms the times of resolving and of searching each view, and the mean CPU time of both together."""
    chance, weights, began = random.Random(0), _weights(), time.process_time()
    resolved, times = list[float](), list[float]()
    for _ in range(QUERIES + 10):
        query = {terms(word)[0]: 1.0 for word in _words(chance, weights, TERMS_A_QUERY)}
        start = time.perf_counter()
        knowledge = SessionKnowledge(EffectiveView.of_layer(base.head))
        resolved.append((time.perf_counter() - start) * 1000)
        times.append(_timed(lambda: knowledge.search(query, 10)))  # noqa: B023 (called at once)
    return resolved[10:], times[10:], (time.process_time() - began) / len(times) * 1000


def _mebibytes_of_sessions(project: Project, base: KnowledgeBase) -> float:
    """Return the memory that sessions with the base mounted use after each has searched it."""

    def in_use() -> float:
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    EffectiveView.of_layer(base.head)
    before = in_use()
    held = [SessionKnowledge(EffectiveView.of_session(_opened(project, base))) for _ in range(SESSIONS_MOUNTED)]
    for knowledge in held:
        knowledge.guidance(40)
        knowledge.newest(200)
        knowledge.search({f"w{number}x": 1.0 for number in range(TERMS_A_QUERY)}, 10)
    return in_use() - before


def _alternately(
    begin: Callable[[Project, KnowledgeBase], Session], action: Callable[[Session, KnowledgeBase], object],
    project: Project, small: KnowledgeBase, large: KnowledgeBase,
) -> tuple[list[float], list[float]]:  # fmt: skip
    """Return the times of an action on both bases, alternately and each in a new session."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for base, spent in zip((small, large), times, strict=True):
            session = begin(project, base)
            spent.append(_timed(lambda: action(session, base)))  # noqa: B023 (called at once)
    return times


def _opened(project: Project, base: KnowledgeBase) -> Session:
    return create_session(project, base=KnowledgeBase.objects.select_related("head").get(pk=base.pk))


def _told(project: Project, base: KnowledgeBase) -> Session:
    """Return a session with unsaved units."""
    session = _opened(project, base)
    units = list(_units(f"told-{session.session_id}", 3))
    return add_context(session, Material(units=units, name="told", source_id="told")).session


def _mount(session: Session, base: KnowledgeBase) -> object:
    return mount_base(session, base, reason="mount-api")


def _fork(session: Session, base: KnowledgeBase) -> object:
    return fork_base(base)


def _save(session: Session, base: KnowledgeBase) -> object:
    return save_session_kb(session)


def _save_as_fork(session: Session, base: KnowledgeBase) -> object:
    return save_session_kb(session, fork=True)


_CHANGES: Sequence[tuple[str, Callable[..., Session], Callable[..., object]]] = (
    ("mount", _opened, _mount),
    ("fork of the base", _opened, _fork),
    ("save as a fork", _told, _save_as_fork),
    ("save", _told, _save),
)


def _timed(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


def _p95(times: Sequence[float]) -> float:
    return quantiles(times, n=20)[-1]


def _verdict(value: float, most: float) -> str:
    return f"at most {most:g}: {'met' if value <= most else 'not met'}"
