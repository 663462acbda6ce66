"""The rows of a SQLite database in the tables of PostgreSQL: how a server that has outgrown SQLite moves.

Both have the same tables, and what SQLite holds as text or number PostgreSQL reads as the column's type, so rows are
copied as they are.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import batched
from pathlib import Path

from django.apps import apps
from django.core.management.color import no_style
from django.db import connection, models, transaction

from sessions_app.layers import note_words
from sessions_app.models import LayerUnit

_ROWS = 500


def copy_rows(file: Path) -> None:
    """Replace every row of this PostgreSQL database by the rows of a SQLite file with the same tables, or none."""
    tables = [model for model in apps.get_models(include_auto_created=True) if model._meta.managed]
    with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as source, transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(f"TRUNCATE {', '.join(_quoted(model._meta.db_table) for model in tables)}")
        for model in tables:
            _copy(source, model)
        for keys in batched(_rows(source, "SELECT rowid FROM sessions_app_unitwords"), _ROWS, strict=False):
            note_words(list(LayerUnit.objects.filter(pk__in=[key for (key,) in keys])))
        with connection.cursor() as cursor:
            for statement in connection.ops.sequence_reset_sql(no_style(), tables):
                cursor.execute(statement)


def _copy(source: sqlite3.Connection, model: type[models.Model]) -> None:
    columns = ", ".join(_quoted(str(field.column)) for field in model._meta.local_concrete_fields)
    table = _quoted(model._meta.db_table)
    with (
        connection.cursor() as cursor,
        connection.wrap_database_errors,
        cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as target,
    ):
        for row in _rows(source, f"SELECT {columns} FROM {table}"):  # noqa: S608
            target.write_row(row)


def _rows(source: sqlite3.Connection, statement: str) -> Iterator[tuple[object, ...]]:
    return iter(source.execute(statement))


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)
