"""What a turn's retrieval and solving did to units lies with its events, in place of a row each."""

from itertools import groupby
from operator import attrgetter

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

from sessions_app.models.compression import CompressedJSONField

_JUDGED = ("offered", "selected", "pruned", "cited")


def _move(apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    batches = apps.get_model("sessions_app", "TurnEvents").objects
    steps = apps.get_model("sessions_app", "UnitEvent").objects.filter(turn__isnull=False, step__in=_JUDGED)
    for turn_pk, rows in groupby(steps.order_by("turn_id", "pk").iterator(chunk_size=500), attrgetter("turn_id")):
        judged = [[row.unit_id, row.step, row.store, row.execution_id, row.rank, row.score, row.reason] for row in rows]
        last = batches.filter(turn_id=turn_pk).order_by("-first_sequence").values_list("pk", flat=True).first()
        batches.filter(pk=last).update(judged=judged)
    steps.filter(turn__event_batches__isnull=False).delete()


class Migration(migrations.Migration):
    """A column more for batches of events; rows of the ledger go there."""

    dependencies = [("sessions_app", "0029_compressed_traces")]

    operations = [
        migrations.AddField("turnevents", "judged", CompressedJSONField(blank=True, null=True)),
        migrations.RunPython(_move, migrations.RunPython.noop, elidable=True),
    ]
