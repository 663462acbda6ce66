"""A revision says which revision of another base it goes on from; of those before, nobody kept that."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Two columns for revisions, empty in the rows that are there."""

    dependencies = [("sessions_app", "0026_session_names")]

    operations = [
        migrations.AddField(
            "kbrevision",
            "origin_base",
            models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="descendants",
                to="sessions_app.knowledgebase",
            ),
        ),
        migrations.AddField("kbrevision", "origin_revision", models.PositiveIntegerField(blank=True, null=True)),
    ]
