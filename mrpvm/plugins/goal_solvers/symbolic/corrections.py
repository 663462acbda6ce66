"""Statements that a later one of the same voice sets right are no evidence any more [BP-36 b]."""

import re
from collections.abc import Sequence

from mrpvm.plugins.goal_solvers.symbolic.statements import Statement

_ENDED = re.compile(r"\b(?:no longer|not any ?more|anymore|any longer)\b", re.IGNORECASE)
_INSTEAD = re.compile(r"\binstead[.!]?$", re.IGNORECASE)
_NEW_WORDS_MAX = 2
"""How much a correction may say that what it corrects does not: more makes it a statement of its own."""
_SHARED_WORDS_MIN = 2


def without_corrected(statements: Sequence[Statement]) -> list[Statement]:
    """Give the statements that nothing later takes back; two sources that differ correct nothing."""
    corrections = [
        item
        for item in statements
        if item.voiced.is_correction or _ENDED.search(item.text) or (item.speaker and _INSTEAD.search(item.text))
    ]
    if not corrections:
        return list(statements)
    return [item for item in statements if not any(_corrects(later, item) for later in corrections)]


def _corrects(later: Statement, earlier: Statement) -> bool:
    if later is earlier or later.order <= earlier.order:
        return False
    if _is_replaced(later, earlier):
        return True
    if not _same_voice(later, earlier):
        return False
    if _is_over(later, earlier):
        return True
    said, before = later.reading.senses, earlier.reading.senses
    shared, new = said & before, said - before
    if not later.voiced.is_correction:
        return False
    if later.voiced.denied:
        return later.voiced.denied <= before and bool(shared) and len(new) <= _NEW_WORDS_MAX
    return 0 < len(new) <= _NEW_WORDS_MAX and len(shared) >= _SHARED_WORDS_MIN


def _is_replaced(later: Statement, earlier: Statement) -> bool:
    """Tell whether somebody in the dialogue asks for something else "instead" of what has just been offered."""
    if not (_INSTEAD.search(later.text) and later.speaker and earlier.speaker):
        return False
    left, right = later.entry.unit, earlier.entry.unit
    near = left.chunk_id == right.chunk_id and 0 <= (left.unit_index or 0) - (right.unit_index or 0) <= 1
    verb = next(iter(later.reading.words), None)
    return near and verb is not None and verb.sense in earlier.reading.senses


def _is_over(later: Statement, earlier: Statement) -> bool:
    """Tell whether the later statement says that what the earlier one says holds no longer."""
    return any(
        _ENDED.search(reading.text) is not None and earlier.reading.senses <= reading.senses
        for reading in later.readings
    )


def _same_voice(later: Statement, earlier: Statement) -> bool:
    if later.entry.unit.source_id != earlier.entry.unit.source_id or later.speaker != earlier.speaker:
        return False
    new, old = later.voiced.voice, earlier.voiced.voice
    return new == old or ((bool(new) == bool(old) or later.voiced.is_marked) and (new <= old or old <= new))
