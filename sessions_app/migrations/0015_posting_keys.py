"""Postings get a key of their own, so that the admin can show them; their rows are carried over."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("sessions_app", "0014_source_artifacts"),
    ]

    operations = [
        migrations.CreateModel(
            name="KeyedPosting",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("term", models.BigIntegerField()),
                ("frequency", models.PositiveIntegerField()),
                ("length", models.PositiveIntegerField()),
                (
                    "layer",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="sessions_app.knowledgelayer",
                    ),
                ),
                (
                    "unit",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="sessions_app.layerunit",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [models.UniqueConstraint(fields=("layer", "term", "unit"), name="posting_unique")],
            },
        ),
        migrations.RunSQL(
            "INSERT INTO sessions_app_keyedposting (layer_id, term, unit_id, frequency, length)"
            " SELECT layer_id, term, unit_id, frequency, length FROM sessions_app_posting",
            "INSERT INTO sessions_app_posting (layer_id, term, unit_id, frequency, length)"
            " SELECT layer_id, term, unit_id, frequency, length FROM sessions_app_keyedposting",
        ),
        migrations.DeleteModel(name="Posting"),
        migrations.RenameModel(old_name="KeyedPosting", new_name="Posting"),
        migrations.AlterField(
            model_name="posting",
            name="layer",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="postings",
                to="sessions_app.knowledgelayer",
            ),
        ),
        migrations.AlterField(
            model_name="posting",
            name="unit",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="postings",
                to="sessions_app.layerunit",
            ),
        ),
    ]
