"""How many bytes a database holds."""

from django.apps import apps
from django.db import connection


def database_bytes() -> int:
    """Return the size of the whole database, with indexes and without free pages."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            pages, free, page_bytes = (int(cursor.execute(f"PRAGMA {name}").fetchone()[0]) for name in _SQLITE_PAGES)
            return (pages - free) * page_bytes
        cursor.execute("SELECT pg_database_size(current_database())")
        return int(cursor.fetchone()[0])


_SQLITE_PAGES = ("page_count", "freelist_count", "page_size")


def row_bytes() -> dict[str, int]:
    """Return the bytes of the values in each table of the product, without indexes and free space."""
    models = apps.get_app_config("sessions_app").get_models()
    return {model.__name__: _bytes_of(model._meta.db_table) for model in models}


def _bytes_of(table: str) -> int:
    quoted = connection.ops.quote_name(table)
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            columns = [item.name for item in connection.introspection.get_table_description(cursor, table)]
            # Numbers count by their digits: SQLite does not tell the size of a stored number.
            parts = [f"COALESCE(LENGTH(CAST({connection.ops.quote_name(name)} AS BLOB)), 0)" for name in columns]
            size = f"SUM({' + '.join(parts)})"
        else:
            size = "SUM(pg_column_size(stored))"
        cursor.execute(f"SELECT {size} FROM {quoted} stored")  # noqa: S608 (names of our own tables)
        return int(cursor.fetchone()[0] or 0)
