"""Passes every stored source to the KB plugins: the last step of an ingest.

The source stays whatever they do: one that fails or is late is recorded and skipped, and nothing of what it
made is kept.
"""

from functools import partial

from mrpvm import registry
from mrpvm.contracts import Descriptor, SourceReader, SourceText
from sessions_app.actions.knowledge.artifacts import keep_source_artifacts
from sessions_app.actions.settings.plugin_failures import record_failure
from sessions_app.database import outages_told
from sessions_app.plugin_threads import call_in_time


def tell_readers(source: SourceText, source_pk: int | None = None) -> None:
    """Pass the source to every KB plugin that reads sources, in registry order, each within its time.

    Args:
        source_pk: the row to keep with what they make of it; None where nothing is kept.

    Effects: their artifacts, a transaction a plugin. Must not run inside a transaction.
    """
    for plugin in registry.installed.kb_retrievers():
        if isinstance(plugin, SourceReader):
            try:
                _tell(plugin.descriptor, plugin, source, source_pk)
            except Exception as error:
                _record(plugin.descriptor, source, error)


def _tell(descriptor: Descriptor, reader: SourceReader, source: SourceText, source_pk: int | None) -> None:
    reply = call_in_time(descriptor, partial(reader.on_source_text, source))
    if reply.status == "error":
        _record(descriptor, source, reply.error or "it gave no reason")
    if reply.status == "accepted" and source_pk is not None:
        with outages_told():  # no defect of the plugin
            keep_source_artifacts(descriptor.id, source_pk, reply.artifacts)


def _record(descriptor: Descriptor, source: SourceText, error: BaseException | str) -> None:
    record_failure(descriptor.id, "source-text", error, session_id=source.session_id or "", source_id=source.source_id)
