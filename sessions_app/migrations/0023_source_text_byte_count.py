"""How much the units of each source say, for the limit of a base [IN-4]."""

from django.db import migrations, models

_TEXTS = ("topic", "title", "claim", "procedure", "condition", "text_body", "subject", "relation", "object")
_BYTES = {"sqlite": "LENGTH(CAST({} AS BLOB))", "postgresql": "OCTET_LENGTH({})"}


def count(apps, schema_editor):
    """Count what is there already, in the database."""
    connection = schema_editor.connection
    size = _BYTES[connection.vendor]
    said = " + ".join(f"COALESCE({size.format(connection.ops.quote_name(name))}, 0)" for name in _TEXTS)
    total = f"SELECT SUM({said}) FROM sessions_app_layerunit WHERE origin_id = sessions_app_knowledgesource.id"  # noqa: S608
    schema_editor.execute(f"UPDATE sessions_app_knowledgesource SET text_byte_count = COALESCE(({total}), 0)")  # noqa: S608


class Migration(migrations.Migration):
    """One column more for sources."""

    dependencies = [("sessions_app", "0022_index_version")]

    operations = [
        migrations.AddField("knowledgesource", "text_byte_count", models.PositiveBigIntegerField(default=0)),
        migrations.RunPython(count, migrations.RunPython.noop),
    ]
