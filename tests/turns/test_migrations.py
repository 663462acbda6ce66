"""The tables match the models."""

import pytest
from django.apps import apps
from django.db import connection
from django.db.models import Model


@pytest.mark.django_db
@pytest.mark.parametrize(
    "model", list(apps.get_app_config("sessions_app").get_models()), ids=lambda model: model.__name__
)
def test_the_tables_have_what_the_models_declare(model: type[Model]) -> None:
    """Only this test would notice a constraint that a migration lost on one kind of database."""
    with connection.cursor() as cursor:
        there = connection.introspection.get_constraints(cursor, model._meta.db_table)
    declared = {item.name for item in (*model._meta.constraints, *model._meta.indexes)}
    assert declared <= set(there)
