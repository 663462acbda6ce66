"""Copy one row many times with one statement."""

from collections.abc import Mapping

from django.apps import apps
from django.core.management.color import no_style
from django.db import connection
from django.db.models import Model


def copy_rows(model: type[Model], template: str, count: int, changed: Mapping[str, str]) -> None:
    """Store copies of one row.

    Args:
        template: a condition that only this row meets.
        changed: SQL expressions by column. `n.i` is the number of the copy, from 0.
    """
    columns = [field.column for field in model._meta.local_concrete_fields]
    values = ", ".join(changed.get(column, f"t.{column}") for column in columns)
    names = ", ".join(columns)
    table = model._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {count - 1}) "  # noqa: S608
            f"INSERT INTO {table} ({names}) SELECT {values} FROM n, {table} t WHERE t.{template}"
        )


def analyze() -> None:
    """Update PostgreSQL's statistics, as autovacuum does later, and let new keys follow those of the copies."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(
            no_style(), apps.get_app_config("sessions_app").get_models()
        ):
            cursor.execute(statement)
        if connection.vendor == "postgresql":
            cursor.execute("ANALYZE")
