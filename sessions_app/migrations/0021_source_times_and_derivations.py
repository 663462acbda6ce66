import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


def date_existing_sources(apps, schema_editor):
    """A source that is there was last updated when its row came in."""
    apps.get_model("sessions_app", "KnowledgeSource").objects.update(updated_at=models.F("added_at"))


class Migration(migrations.Migration):
    dependencies = [
        ("sessions_app", "0020_plugin_failure"),
    ]

    operations = [
        migrations.AddField(
            model_name="knowledgesource",
            name="updated_at",
            field=models.DateTimeField(default=django.utils.timezone.now),
        ),
        migrations.RunPython(date_existing_sources, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="hiddenunit",
            name="change",
            field=models.CharField(
                choices=[
                    ("removed", "Removed: its source is gone"),
                    ("duplicate", "Duplicate: a unit with the same hash is shown in its place"),
                    ("revealed", "Revealed: the unit that was shown in its place is gone"),
                    ("stale", "Stale: what it was derived from is gone"),
                ],
                default="removed",
                max_length=9,
            ),
        ),
        migrations.CreateModel(
            name="Derivation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("origin_unit_id", models.CharField(max_length=400)),
                (
                    "layer",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="derivations",
                        to="sessions_app.knowledgelayer",
                    ),
                ),
                (
                    "unit",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="derivations",
                        to="sessions_app.layerunit",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(fields=("layer", "origin_unit_id", "unit"), name="derivation_unique")
                ],
            },
        ),
    ]
