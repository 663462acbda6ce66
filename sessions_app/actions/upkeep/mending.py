"""Repairs of the command `doctor`; `actions/damage.py` repairs values that cannot be read."""

from collections.abc import Sequence

from django.db import connection, transaction

from sessions_app.layers import abandon
from sessions_app.models import KnowledgeLayer, PluginStatistics, Session
from sessions_app.queries.integrity import SessionCounter, WrongCounter, lost_pointers


@transaction.atomic
def set_counters(name: SessionCounter, wrong: Sequence[WrongCounter]) -> int:
    """Set a counter of these sessions to the value that matches their rows; return how many."""
    for counter in wrong:
        Session.objects.filter(pk=counter.pk).update(**{name: counter.value})
    return len(wrong)


@transaction.atomic
def set_unit_counts(wrong: Sequence[tuple[int, int]]) -> int:
    """Set the unit counts of layers by their keys; return how many layers."""
    for key, count in wrong:
        KnowledgeLayer.objects.filter(pk=key).update(own_unit_count=count)
    return len(wrong)


@transaction.atomic
def drop_lost_pointers() -> int:
    """Clear dangling foreign keys, and delete rows that require one; return how many rows changed.

    Rows that pointed at a deleted row are treated in the same way.
    """
    changed_count, quote = 0, connection.ops.quote_name
    while pointers := lost_pointers():
        with connection.cursor() as cursor:
            for pointer in pointers:
                table, column = quote(pointer.table), quote(pointer.column)
                change = f"DELETE FROM {table}" if pointer.is_required else f"UPDATE {table} SET {column} = NULL"  # noqa: S608
                cursor.execute(f"{change} WHERE rowid = %s", [pointer.row])
                changed_count += cursor.rowcount
    return changed_count


@transaction.atomic
def leave_to_sweeper(layers: Sequence[int]) -> int:
    """Mark unreferenced layers for removal by the sweeper; return how many."""
    abandon(KnowledgeLayer.objects.filter(pk__in=layers))
    return len(layers)


def mark_index_outdated(layers: Sequence[int]) -> int:
    """Mark the layers for the next reindexing; return how many."""
    return KnowledgeLayer.objects.filter(pk__in=layers).update(index_version="")


def forget_statistics(keys: Sequence[int]) -> int:
    """Delete these plugin statistics, so that the plugins count as untried; return how many."""
    gone, _ = PluginStatistics.objects.filter(pk__in=keys).delete()
    return gone
