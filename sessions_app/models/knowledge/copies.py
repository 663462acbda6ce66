"""Rows copied within the database, in one statement, however many they are."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection
from django.db.models import Model, QuerySet


def insert_copies(
    model: type[Model], source: QuerySet[Any], columns: Sequence[str], constants: Mapping[str, Any]
) -> None:
    """Insert a row for each row of `source`: the named columns as they are there, the others as given.

    Args:
        constants: by column name; values as the database's driver takes them.
    """
    if source.query.is_empty():
        return
    quote = connection.ops.quote_name
    selected, parameters = source.values_list(*columns).query.sql_with_params()
    names = ", ".join(quote(name) for name in (*constants, *columns))
    marks = ", ".join("%s" for _ in constants)
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {quote(model._meta.db_table)} ({names}) SELECT {marks}, copied.* FROM ({selected}) copied",  # noqa: S608
            [*constants.values(), *parameters],
        )
