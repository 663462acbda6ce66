"""Each layer knows by which rules its units can be found, and postings can be written again beside the old ones."""

import django.db.models.deletion
from django.db import migrations, models

_TERMS = "snowball-english-3.1.0+terms-2"
_WRITTEN = f"{_TERMS}+fields-1"
"""What wrote every row there is so far; spelt out, for the code may have another version when this runs."""


def name_packings(apps, schema_editor):
    """Let what is packed stay valid: it is named by the whole index now."""
    packed = apps.get_model("sessions_app", "PackedLayer").objects
    packed.filter(version=f"2/{_TERMS}").update(version=f"2/{_WRITTEN}")


def undo(apps, schema_editor):
    """Return what is packed its former name, or none, and postings that were written again their layer's key."""
    packed = apps.get_model("sessions_app", "PackedLayer").objects
    packed.exclude(version=f"2/{_WRITTEN}").update(version="")
    packed.filter(version=f"2/{_WRITTEN}").update(version=f"2/{_TERMS}")
    postings = apps.get_model("sessions_app", "Posting").objects
    for layer in apps.get_model("sessions_app", "KnowledgeLayer").objects.exclude(postings_layer=None):
        postings.filter(layer_id=layer.pk).delete()
        postings.filter(layer_id=layer.postings_layer_id).update(layer_id=layer.pk)


class Migration(migrations.Migration):
    """Two columns more for layers; a layer may have several packings."""

    dependencies = [("sessions_app", "0021_source_times_and_derivations")]

    operations = [
        migrations.AddField(
            "knowledgelayer", "index_version", models.CharField(default=_WRITTEN, max_length=80), preserve_default=False
        ),
        migrations.AddField(
            "knowledgelayer",
            "postings_layer",
            models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="sessions_app.knowledgelayer",
            ),
        ),
        migrations.AlterField(
            "knowledgelayer",
            "kind",
            models.CharField(
                choices=[
                    ("base", "Base"),
                    ("draft", "Draft"),
                    ("journal", "Journal"),
                    ("context", "Context"),
                    ("staged", "Staged"),
                    ("index", "Index"),
                ],
                default="base",
                max_length=8,
            ),
        ),
        migrations.AlterField("packedlayer", "version", models.CharField(max_length=100)),
        migrations.RunPython(name_packings, undo),
        migrations.AlterField(
            "packedlayer",
            "layer",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="packings",
                to="sessions_app.knowledgelayer",
            ),
        ),
        migrations.AddConstraint(
            "packedlayer", models.UniqueConstraint(fields=("layer", "version"), name="packed_layer_unique")
        ),
    ]
