"""A layer that is being filled says when somebody last wrote to it: how old it is told nothing of a long fold."""

from django.db import migrations, models
from django.utils import timezone


class Migration(migrations.Migration):
    """One column more for layers."""

    dependencies = [("sessions_app", "0024_payload_retention")]

    operations = [
        migrations.AddField(
            "knowledgelayer",
            "worked_at",
            models.DateTimeField(blank=True, default=timezone.now, null=True),
        ),
    ]
