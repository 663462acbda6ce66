"""A turn says when its payloads became older than what the server keeps; each payload had a column for that, unused."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """One column less for payloads, one more for turns, and an index of the turns that have theirs still."""

    dependencies = [("sessions_app", "0023_source_text_byte_count")]

    operations = [
        migrations.RemoveField("turndetail", "pruned_at"),
        migrations.AddField("explainabilityturn", "payloads_removed_at", models.DateTimeField(blank=True, null=True)),
        migrations.AddIndex(
            "explainabilityturn",
            models.Index(
                condition=models.Q(("payloads_removed_at__isnull", True)),
                fields=["created_at"],
                name="turn_with_payloads",
            ),
        ),
    ]
