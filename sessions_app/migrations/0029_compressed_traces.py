"""A turn's events, payloads and documents are stored compressed, the payloads with the events they came with."""

import zlib
from typing import Any

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

from sessions_app.models.compression import CompressedJSONField
from sessions_app.models.payload_frames import Payload, framed

_DOCUMENTS = ("response_document", "context_report")


def _compress_documents(apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    turns = apps.get_model("sessions_app", "ExplainabilityTurn").objects
    for turn in turns.only(*(f"plain_{name}" for name in _DOCUMENTS)).iterator(chunk_size=200):
        turns.filter(pk=turn.pk).update(**{name: getattr(turn, f"plain_{name}") for name in _DOCUMENTS})


def _compress_traces(apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    batches, details = (apps.get_model("sessions_app", name).objects for name in ("TurnEvents", "TurnDetail"))
    with_payloads: set[int] = set()
    for batch in batches.order_by("turn_id", "first_sequence").iterator(chunk_size=50):
        changes: dict[str, Any] = {"events": batch.plain_events}
        if batch.turn_id not in with_payloads:  # of each turn the first batch takes all its payloads
            with_payloads.add(batch.turn_id)
            stored = details.filter(turn_id=batch.turn_id).order_by("pk")
            index, column = framed(Payload(row.ref, _text(row), row.size) for row in stored)
            is_removed = any(not row.body for row in stored)
            changes |= {"payload_index": index, "payloads": b"" if is_removed else column}
        batches.filter(pk=batch.pk).update(**changes)


def _text(row: Any) -> bytes:
    """Return a payload's text; as many spaces for one that was removed, whose length still counts."""
    return zlib.decompress(bytes(row.body)) if row.body else b" " * (row.size - row.cut_bytes)


class Migration(migrations.Migration):
    """Columns of JSON become compressed ones, and the rows of payloads a column of their batch."""

    dependencies = [("sessions_app", "0028_session_choices")]

    operations = [
        *(
            operation
            for name in _DOCUMENTS
            for operation in (
                migrations.RenameField("explainabilityturn", name, f"plain_{name}"),
                migrations.AddField("explainabilityturn", name, CompressedJSONField(blank=True, null=True)),
            )
        ),
        migrations.RunPython(_compress_documents, migrations.RunPython.noop, elidable=True),
        *(migrations.RemoveField("explainabilityturn", f"plain_{name}") for name in _DOCUMENTS),
        migrations.RenameField("turnevents", "events", "plain_events"),
        migrations.AddField("turnevents", "events", CompressedJSONField(default=list)),
        migrations.AlterField("turnevents", "events", CompressedJSONField()),
        migrations.AddField("turnevents", "payload_index", CompressedJSONField(default=list)),
        migrations.AddField("turnevents", "payloads", models.BinaryField(default=bytes)),
        migrations.RunPython(_compress_traces, migrations.RunPython.noop, elidable=True),
        migrations.RemoveField("turnevents", "plain_events"),
        migrations.DeleteModel("TurnDetail"),
    ]
