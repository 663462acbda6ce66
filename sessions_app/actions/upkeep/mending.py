"""What the doctor mends; values that cannot be read are mended by `actions/damage.py`."""

from collections.abc import Sequence
from typing import Literal

from django.db import transaction

from sessions_app.actions.upkeep.staging import abandon
from sessions_app.models import KnowledgeLayer, Session
from sessions_app.queries.integrity import Counter, Sequencer, WrongCounter


@transaction.atomic
def set_counters(name: Sequencer | Counter | Literal["compacted_sequence"], wrong: Sequence[WrongCounter]) -> int:
    """Set a counter of these sessions to the value that fits their rows; return how many."""
    for counter in wrong:
        Session.objects.filter(pk=counter.pk).update(**{name: counter.value})
    return len(wrong)


@transaction.atomic
def leave_to_sweeper(layers: Sequence[int]) -> int:
    """Make layers that nothing points at ones that the sweeper removes; return how many."""
    abandon(KnowledgeLayer.objects.filter(pk__in=layers))
    return len(layers)


def mark_index_outdated(layers: Sequence[int]) -> int:
    """Have the layers indexed again by the next reindexing; return how many."""
    return KnowledgeLayer.objects.filter(pk__in=layers).update(index_version="")
