"""Normalising a source's chunks on threads: the watcher is called even if they return at once."""

import pytest

from mrpvm import registry
from mrpvm.errors import ModelTimeout, TooLarge
from mrpvm.llm.absent import AbsentModel
from mrpvm.sources.limits import IngestLimits
from mrpvm.sources.source import SourceFile, read_source
from sessions_app.ingest.normalise import Normaliser, normalise_chunks
from sessions_app.plugin_threads import workers
from sessions_app.turns.machine import install_plugins

PARTS = SourceFile(
    source_id="s",
    name="s.md",
    data="\n\n".join(f"# Part {number}\n\n" + f"The pump {number} hums. " * 80 for number in range(12)).encode(),
)


# Threads of earlier tests check their connections before they work.
@pytest.mark.django_db
def test_fast_chunks_do_not_keep_the_watch_from_ending_the_work() -> None:
    install_plugins()
    read = read_source(PARTS)
    assert len(read.chunks) >= 12
    done: list[int] = []

    def watch() -> None:
        if len(done) > 3:
            raise ModelTimeout("The time for this source is over.")

    work = Normaliser(
        detector=registry.installed.seed_detector("sd-symbolic"),
        models=AbsentModel(),
        watch=watch,
        progress=lambda count, total: done.append(count),
    )
    try:
        with pytest.raises(ModelTimeout):
            normalise_chunks(work, read, IngestLimits())
    finally:
        workers.close()
    assert len(done) == 4


@pytest.mark.rule("INGEST-4")
@pytest.mark.django_db
def test_a_source_of_too_many_units_is_refused_early() -> None:
    install_plugins()
    read, done = read_source(PARTS), []
    work = Normaliser(
        detector=registry.installed.seed_detector("sd-symbolic"),
        models=AbsentModel(),
        watch=lambda: None,
        progress=lambda count, total: done.append(count),
    )
    try:
        with pytest.raises(TooLarge):
            normalise_chunks(work, read, IngestLimits(units_per_source=100))
    finally:
        workers.close()
    assert len(done) == 2
