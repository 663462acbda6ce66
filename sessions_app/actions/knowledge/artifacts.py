"""Storage of the artifacts that KB plugins derive from units and sources."""

import logging
from collections.abc import Mapping

from django.db import DatabaseError, transaction

from sessions_app.models import KnowledgeSource, SourceArtifact, UnitArtifact

logger = logging.getLogger(__name__)


def keep_artifacts(plugin_id: str, version: str, contents: Mapping[int, bytes]) -> None:
    """Store artifacts by their units' keys, in place of the plugin's earlier ones for these units.

    If they cannot be stored, because a unit is gone or the database is busy, they are derived again when needed.
    """
    rows = [
        UnitArtifact(plugin_id=plugin_id, unit_id=pk, version=version, content=content)
        for pk, content in contents.items()
    ]
    try:
        with transaction.atomic():
            UnitArtifact.objects.bulk_create(
                rows, update_conflicts=True, unique_fields=["unit", "plugin_id"], update_fields=["version", "content"]
            )
    except DatabaseError as error:
        logger.info("%s artifacts of %s were not kept: %s", len(rows), plugin_id, error)


@transaction.atomic
def keep_source_artifacts(plugin_id: str, source_pk: int, contents: Mapping[str, bytes]) -> None:
    """Store the artifacts that a plugin derived from a new source, by name: all of them, or none.

    A compaction that began meanwhile may have copied the source already. Its copy gets the artifacts too, because they
    would not be derived again.

    Raises:
        DatabaseError: the source is gone or a name is too long.
    """
    stored = KnowledgeSource.objects.select_for_update().only("source_id", "hash", "updated_at").filter(pk=source_pk)
    copies = [
        pk
        for source in stored
        for pk in KnowledgeSource.objects.filter(
            pk__gt=source_pk, source_id=source.source_id, hash=source.hash, updated_at=source.updated_at
        ).values_list("pk", flat=True)
    ]
    SourceArtifact.objects.bulk_create(
        SourceArtifact(plugin_id=plugin_id, source_id=pk, name=name, content=content)
        for pk in (source_pk, *copies)
        for name, content in contents.items()
    )
