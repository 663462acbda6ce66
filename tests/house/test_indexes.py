"""No index repeats another, and a turn's queries on a long session use one."""

import pytest
from django.apps import apps
from django.db import connection
from django.db.models import ForeignKey, Model, UniqueConstraint

from sessions_app.actions.sessions.context_units import known_hashes
from sessions_app.models import LayerUnit, Session
from sessions_app.models.named_sql import look_up
from tests.layers.units import make_unit

SQLITE_ONLY = "how the database would read is asked of SQLite"


def leading_columns(model: type[Model]) -> set[str]:
    """Return the first column of each index and unique constraint that covers every row."""
    unique = [item for item in model._meta.constraints if isinstance(item, UniqueConstraint)]
    return {str(item.fields[0]) for item in (*model._meta.indexes, *unique) if item.fields and item.condition is None}


def test_no_foreign_key_index_repeats_a_longer_one() -> None:
    keys = [
        (model, field)
        for model in apps.get_app_config("sessions_app").get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, ForeignKey)
    ]
    indexed = [(model, key.name) for model, key in keys if key.db_index and not key.unique]
    assert indexed
    assert [(model, name) for model, name in indexed if name in leading_columns(model)] == []


@pytest.mark.skipif(connection.vendor != "sqlite", reason=SQLITE_ONLY)
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("ask", "index"),
    [
        (lambda: list(LayerUnit.objects.filter(layer_id__in=[1, 2], is_guidance=True)), "layer_unit_guidance"),
        (lambda: look_up(LayerUnit, ["pk"], {"stretch": [1, 2]}, layer_id=[1, 2]), "layer_unit_by_stretch"),
        (lambda: known_hashes(Session(pk=1), [make_unit("a", "A pump")]), "context_unit_hash_unique"),
    ],
    ids=["guidance", "utterances", "known hashes"],
)
def test_a_turns_queries_of_a_long_session_use_an_index(ask, index):
    plans: list[str] = []

    def explain(execute, sql, params, many, context):
        plans.append(str(execute(f"EXPLAIN QUERY PLAN {sql}", params, many, context).fetchall()))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(explain):
        ask()
    assert len(plans) == 1
    assert index in plans[0]
