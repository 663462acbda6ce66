"""A long fold is not disturbed by the sweepers of other processes."""

from datetime import timedelta

import pytest
from django.db.models import F
from pytest_django import Settings

from sessions_app.actions.knowledge.revisions import ask_for_compaction
from sessions_app.layers import compact_long_chains, sweep_staged
from sessions_app.layers.upkeep.compaction import compact_base
from sessions_app.models import KnowledgeBase, KnowledgeLayer
from tests.actions.knowledge_scene import add_text, held
from tests.layers.units import make_unit

STAGED = KnowledgeLayer.Kind.STAGED
BATCH_TAKES = timedelta(minutes=6)


@pytest.fixture
def deep(base: KnowledgeBase, settings: Settings) -> KnowledgeBase:
    """Return a base of four layers, which is folded unit by unit."""
    settings.MRPVM_UNITS_A_TRANSACTION = 1
    for number in range(4):
        unit = make_unit(f"s{number}::1", f"pump {number}")
        add_text(now(base), f"s{number}", "x", [unit], source_id=f"s{number}")
    return now(base)


def now(base: KnowledgeBase) -> KnowledgeBase:
    return KnowledgeBase.objects.select_related("head").get(pk=base.pk)


def test_a_long_fold_is_not_swept_while_it_runs(deep: KnowledgeBase) -> None:
    everything, swept = held(deep, "pump"), []

    def pass_time_and_sweep() -> None:
        staged = KnowledgeLayer.objects.filter(kind=STAGED)
        staged.update(created_at=F("created_at") - BATCH_TAKES, worked_at=F("worked_at") - BATCH_TAKES)
        swept.append(sweep_staged())

    assert compact_base(deep, pass_time_and_sweep)
    assert swept == [0, 0, 0, 0]
    assert now(deep).head.depth == 0
    assert held(deep, "pump") == everything


def test_only_one_process_folds(deep: KnowledgeBase) -> None:
    others: list[int] = []
    ask_for_compaction(deep)
    assert compact_long_chains(lambda: others.append(compact_long_chains())) == 1
    assert others == [0, 0, 0, 0]
    assert not KnowledgeLayer.objects.filter(kind=STAGED).exists()
    assert compact_long_chains() == 0
