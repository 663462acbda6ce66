"""A plugin's failure names its session whole: clients' own names may have 128 characters."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """A longer column."""

    dependencies = [("sessions_app", "0024_payload_retention")]

    operations = [
        migrations.AlterField("pluginfailure", "session_id", models.CharField(blank=True, default="", max_length=128)),
    ]
