"""What was said is packed too; where a packed layer's keys lie is asked by nobody any more."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """One kind of piece more, two columns less."""

    dependencies = [("sessions_app", "0018_unit_words")]

    operations = [
        migrations.RemoveField("packedlayer", "first_unit"),
        migrations.RemoveField("packedlayer", "last_unit"),
        migrations.AlterField(
            "packedpart",
            "kind",
            models.CharField(choices=[("term", "Term"), ("said", "Said"), ("units", "Units")], max_length=5),
        ),
    ]
