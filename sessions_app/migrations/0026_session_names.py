"""A plugin's failure names its session whole, and a session counts the messages that were taken out of it."""

from django.db import migrations, models

_TAKEN_OUT = """
UPDATE sessions_app_session SET removed_message_count = message_sequence - (
    SELECT COUNT(*) FROM sessions_app_message WHERE session_id = sessions_app_session.id
)
"""
"""Places are never used twice, so those without a message are of messages that are gone."""


class Migration(migrations.Migration):
    """Clients' own names may have 128 characters; one column more for sessions."""

    dependencies = [("sessions_app", "0025_fold_heartbeat")]

    operations = [
        migrations.AlterField("pluginfailure", "session_id", models.CharField(blank=True, default="", max_length=128)),
        migrations.AddField("session", "removed_message_count", models.PositiveIntegerField(default=0)),
        migrations.RunSQL(_TAKEN_OUT, migrations.RunSQL.noop),
    ]
