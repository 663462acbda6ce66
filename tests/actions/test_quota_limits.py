"""Quotas are exact: what reaches the limit is stored, one more is refused."""

import pytest

from mrpvm.errors import MRPError
from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.settings.quotas import choose_quotas, take_turn
from sessions_app.models import KnowledgeBase, KnowledgeSource, Project, QuotaKind
from sessions_app.queries.settings.quotas import used
from tests.actions.knowledge_scene import add_text
from tests.layers.units import make_unit

pytestmark = pytest.mark.django_db(transaction=True)


def add(base: KnowledgeBase, name: str) -> None:
    """Add a source of one unit."""
    base.refresh_from_db()
    add_text(base, name, "", [make_unit(f"{name}-1", f"The {name} is red.", source_id=name)], source_id=name)


@pytest.mark.parametrize("kind", [QuotaKind.UNITS, QuotaKind.BYTES])
def test_one_above_the_quota_is_refused(project: Project, base: KnowledgeBase, kind: QuotaKind) -> None:
    add(base, "pump")
    one = used(project, kind)
    choose_quotas(project, {kind: 3 * one - 1})
    base.project.refresh_from_db()
    add(base, "lamp")
    with pytest.raises(MRPError) as refused:
        add(base, "bolt")
    assert refused.value.details == {"quota": kind, "limit": 3 * one - 1}
    choose_quotas(project, {kind: 3 * one})
    add(base, "bolt")
    assert used(project, kind) == 3 * one
    assert KnowledgeSource.objects.count() == 3


def test_a_turn_begins_up_to_the_quota_of_units_and_not_above(project: Project, base: KnowledgeBase) -> None:
    add(base, "pump")
    add(base, "lamp")
    take_turn(choose_quotas(project, {"units": 2}))
    with pytest.raises(MRPError):
        take_turn(choose_quotas(project, {"units": 1}))


def test_one_session_above_the_quota_is_refused(project: Project) -> None:
    choose_quotas(project, {"sessions": 1})
    project.refresh_from_db()
    create_session(project)
    with pytest.raises(MRPError):
        create_session(project)
