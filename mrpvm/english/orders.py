"""Steps: how something is done, and what comes before or after what."""

import re
from collections.abc import Iterator

from mrpvm.english.asking import Asked
from mrpvm.english.discourse import Discourse, Told
from mrpvm.english.matching import Pair, is_generic
from mrpvm.english.reading import read, sense_class

STEPS_MAX = 7
_FOLLOWING = sense_class("come happen follow do be")


def ways(asked: Asked, discourse: Discourse) -> list[Told]:
    """Return the steps under a heading that names the task, else the order that says "to do this, do that"."""
    return _procedure(asked, discourse) or _stated_way(asked, discourse)


def _procedure(asked: Asked, discourse: Discourse) -> list[Told]:
    question = asked.clause
    if not is_generic(question.agent) and not question.is_passive:
        return []
    wanted = frozenset().union(*(phrase.senses for phrase in question.patient))
    for steps in _units(discourse):
        unit = steps[0].statement.entry.unit
        named = read(f"{unit.topic}. {unit.title or ''}").senses
        spoken = frozenset().union(*(item.statement.reading.senses for item in steps))
        if _is_other_case(asked, unit.title or unit.topic):
            continue
        if question.verb in named and (wanted <= named or (wanted <= spoken and not named - {question.verb})):
            return [*steps, *_going_on(steps[-1], discourse)][:STEPS_MAX]
    return []


def _is_other_case(asked: Asked, task: str) -> bool:
    """Return whether a task is named for one case and asked for in another: on Linux and on Windows."""
    named = read(task)
    asked_in = {sense for _, phrase in asked.clause.modifiers for sense in phrase.senses}
    asked_of = {sense for phrase in asked.clause.patient for sense in phrase.senses}
    named_in = {word.sense for word in named.words if word.preposition}
    return bool(asked_in - named.senses) and bool(named_in - asked_in - asked_of)


def _going_on(last: Told, discourse: Discourse) -> list[Told]:
    """Return the orders behind a procedure told in plain sentences: they go on in the next unit of its section."""
    unit = last.statement.entry.unit
    if re.search(r"(?:^|\s)1\.\s", unit.text):
        return []
    found: list[Told] = []
    for told in discourse.told[discourse.told.index(last) + 1 :]:
        is_order = any(item.is_order for item in told.parsed.clauses)
        if told.statement.entry.unit.chunk_id != unit.chunk_id or not is_order:
            break
        found.append(told)
    return found


def _units(discourse: Discourse) -> Iterator[list[Told]]:
    """Return the statements of each unit that is a procedure."""
    found: dict[str, list[Told]] = {}
    for told in discourse.told:
        if told.statement.entry.unit.procedure:
            found.setdefault(told.statement.unit_id, []).append(told)
    yield from ([item for item in steps if not item.statement.text.endswith(":")] for steps in found.values())


def _stated_way(asked: Asked, discourse: Discourse) -> list[Told]:
    for told in discourse.told:
        for clause in told.parsed.clauses:
            purpose = clause.link == "to" and clause.outer is not None and clause.outer.is_order
            conditional = [item for item in told.parsed.clauses if item.link == "if" and item.outer is clause]
            reached = bool(conditional) and not clause.is_negated and is_generic(conditional[0].subject)
            reached = reached and is_generic(asked.clause.agent) and not conditional[0].is_negated
            is_asked = (purpose or reached) and _is_task(Pair(asked, asked.clause, clause, told, discourse))
            if is_asked and not _is_other_case(asked, told.statement.plain):
                return [told]
    return []


def _is_task(pair: Pair) -> bool:
    return pair.same_verb() and pair.same_patients()


def neighbours(asked: Asked, discourse: Discourse) -> list[Told]:
    """Return the step behind or before the one the question names: "what comes after closing the lid?"."""
    if asked.wants != "thing" or asked.clause.verb not in _FOLLOWING or len(asked.conditions) != 1:
        return []
    step = asked.conditions[0]
    link = step.link if step.link in ("after", "before") else asked.preposition
    if link not in ("after", "before"):
        return []
    for steps in _units(discourse):
        for place, told in enumerate(steps):
            if any(_is_task(Pair(asked, step, clause, told, discourse)) for clause in told.parsed.clauses):
                beside = place + (1 if link == "after" else -1)
                return [steps[beside]] if 0 <= beside < len(steps) else []
    return []
