"""A session may keep what planners had learned when it was made."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """One column more for sessions."""

    dependencies = [("sessions_app", "0027_revision_origin")]

    operations = [
        migrations.AddField("session", "planner_statistics", models.JSONField(blank=True, null=True)),
    ]
