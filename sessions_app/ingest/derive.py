"""What a model derives from a source's units when a model reads the source: its summaries."""

import functools
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from copy import replace
from itertools import batched
from queue import Empty, SimpleQueue
from threading import Event

from django.conf import settings

from mrpvm.english.words.text import collapse, sentences
from mrpvm.errors import MRPError
from mrpvm.knowledge.indexing import index_entry
from mrpvm.knowledge.units import content_hash
from mrpvm.llm.port import CallScope, ModelSource, Prompt, Reply
from mrpvm.llm.recorder import Recorder
from mrpvm.sources.source import IngestedSource
from mrpvm.sources.units import SUMMARY_CHARS
from mrpvm.values import HistoryMessage, KnowledgeUnit
from sessions_app.plugin_threads import workers

PLUGIN_ID = "kb-summary"
ROLE = "kb-derive"
_AT_ONCE = 4
_PATIENCE_SECONDS = 0.1
_SYSTEM = (
    "You summarise a part of a document for people who search it. Write one or two plain sentences of at most "
    f"{SUMMARY_CHARS} characters in the language of the text. Say nothing that the text does not say, and keep "
    "numbers, dates and names exactly as they are written. Give the sentences alone."
)

logger = logging.getLogger(__name__)


def derive_summaries(ingested: IngestedSource, models: ModelSource, watch: Callable[[], object]) -> IngestedSource:
    """Return the source with its section summaries, then its own, in a model's words.

    A summary that the model does not give stays as the rules wrote it: it only repeats what the leaves say.

    Args:
        watch: raises when the ingest must not continue.
    """
    units = {unit.id: unit for unit in ingested.units}
    for kind in ("composite", "aggregate"):
        summaries = [unit for unit in units.values() if unit.ku_type == kind and unit.child_unit_ids]
        for some in batched(summaries, _AT_ONCE, strict=False):
            children = [[units[child] for child in unit.child_unit_ids] for unit in some]
            claims = _claims(some, children, models, watch)
            if not any(claims.values()):
                return _changed(ingested, units)  # the model does not answer
            units |= {unit.id: _with_claim(unit, claims[unit.id]) for unit in some if claims.get(unit.id)}
    return _changed(ingested, units)


def _changed(ingested: IngestedSource, units: Mapping[str, KnowledgeUnit]) -> IngestedSource:
    written = {unit.id for unit in ingested.units if units[unit.id] is not unit}
    entries = {**ingested.entries, **{unit_id: index_entry(units[unit_id]) for unit_id in written}}
    return replace(ingested, units=tuple(units.values()), entries=entries)


def _with_claim(unit: KnowledgeUnit, claim: str) -> KnowledgeUnit:
    changed = replace(unit, claim=claim)
    return replace(changed, hash=content_hash(changed))


def _claims(
    units: Sequence[KnowledgeUnit],
    groups: Sequence[Sequence[KnowledgeUnit]],
    models: ModelSource,
    watch: Callable[[], object],
) -> Mapping[str, str]:
    """Ask for all of them at once; return what came in time, by unit id."""
    given_up, returned = Event(), SimpleQueue[tuple[str, "Future[Reply]"]]()
    until = time.monotonic() + settings.MRPVM_PLUGIN_TIMEOUT_MS / 1000
    running: dict[str, Callable[[], None]] = {}
    claims: dict[str, str] = {}
    try:
        for unit, children in zip(units, groups, strict=True):
            call = functools.partial(_asked, unit, children, models, given_up)
            running[unit.id] = workers.submit(call, functools.partial(_put, returned, unit.id))
        while running and time.monotonic() < until:
            watch()
            try:
                key, future = returned.get(timeout=_PATIENCE_SECONDS)
            except Empty:
                continue
            del running[key]
            claims[key] = _claim_of(key, future)
    finally:
        given_up.set()
        for give_up in running.values():
            give_up()
    return claims


def _put(returned: SimpleQueue[tuple[str, "Future[Reply]"]], unit_id: str, future: "Future[Reply]") -> None:
    returned.put((unit_id, future))


def _asked(unit: KnowledgeUnit, children: Sequence[KnowledgeUnit], models: ModelSource, given_up: Event) -> Reply:
    scope = CallScope(
        timeout_ms=settings.MRPVM_PLUGIN_TIMEOUT_MS, max_calls=1, stopped=given_up.is_set, recorder=Recorder()
    )
    title = f"Title: {unit.title}\n\n" if unit.title else ""
    message = HistoryMessage(role="user", content=title + _material("\n".join(child.text for child in children)))
    return models.bind(scope).call(Prompt(plugin_id=PLUGIN_ID, role=ROLE, system=_SYSTEM, messages=(message,)))


def _material(text: str) -> str:
    """Return the text, or its beginning with a note for the model that it is not the whole."""
    limit = settings.MRPVM_DERIVED_FROM_CHARS
    if len(text) <= limit:
        return text
    return f"Only the first {limit:,} of {len(text):,} characters:\n\n{text[:limit]}"


def _claim_of(unit_id: str, future: "Future[Reply]") -> str:
    """Return what the model wrote, its whole sentences within the length of a summary; empty if it failed."""
    try:
        reply = future.result()
    except MRPError as error:
        logger.warning("no model summary of %s: %s", unit_id, error.code)
        return ""
    claim = ""
    for sentence in sentences(collapse(reply.text)):
        longer = f"{claim} {sentence}".strip()
        if len(longer) > SUMMARY_CHARS:
            break
        claim = longer
    return claim
