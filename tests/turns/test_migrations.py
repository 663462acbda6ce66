"""The tables match the models."""

from typing import Any

import pytest
from django.apps import apps
from django.apps.registry import Apps
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ModelState
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


def test_the_first_migration_makes_no_model_class_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Made anew for each table, they took four of the six seconds of a first start."""
    loader = MigrationLoader(None)
    state = loader.project_state(loader.graph.leaf_nodes("auth"))
    assert state.apps is not None  # made, as the migrations before it leave it
    made: list[str] = []
    render = ModelState.render

    def noted(self: ModelState, apps: Apps) -> Any:
        made.append(self.name)
        return render(self, apps)

    monkeypatch.setattr(ModelState, "render", noted)
    loader.get_migration("sessions_app", "0001_initial").mutate_state(state, preserve=False)
    assert state.apps.get_model("sessions_app", "session")
    assert sorted(set(made)) == sorted(made)
