"""Storage of the chunks that could not become units."""

from collections.abc import Sequence
from dataclasses import asdict

from mrpvm.sources.source import Rejection
from sessions_app.models import KnowledgeSource, QuarantinedChunk, Session


def keep_rejections(rejections: Sequence[Rejection], *, source: KnowledgeSource) -> None:
    """Store the rejected chunks of a base's source; they are deleted with its row."""
    _keep(rejections, source.source_id, source.name, origin=source)


def replace_rejections(rejections: Sequence[Rejection], session: Session, source_id: str, name: str) -> None:
    """Store the rejected chunks of a session's context load in place of those of the earlier load.

    Must run in the transaction that makes the load visible.
    """
    session.quarantined.filter(source_id=source_id).delete()
    _keep(rejections, source_id, name, session=session)


def _keep(
    rejections: Sequence[Rejection],
    source_id: str,
    name: str,
    *,
    origin: KnowledgeSource | None = None,
    session: Session | None = None,
) -> None:
    QuarantinedChunk.objects.bulk_create(
        [
            QuarantinedChunk(
                origin=origin,
                session=session,
                source_id=source_id,
                source_name=name,
                **asdict(item) | {"diagnostics": list(item.diagnostics)},
            )
            for item in rejections
        ],
        batch_size=500,
    )
