"""Answers of more than one statement: descriptions, reasons, procedures, comparisons [BP-36 c, d, e, f]."""

import re
from collections import deque
from collections.abc import Sequence

from mrpvm.knowledge.lexicon import AUXILIARIES, BE_FORMS, STOP_WORDS
from mrpvm.plugins.goal_solvers.symbolic.near_misses import changes_by
from mrpvm.plugins.goal_solvers.symbolic.questions import Kind, Question
from mrpvm.plugins.goal_solvers.symbolic.reading import Word, read
from mrpvm.plugins.goal_solvers.symbolic.reasons import next_of, stated_reasons, states
from mrpvm.plugins.goal_solvers.symbolic.statements import Statement

MAX_STATEMENTS = 5
"""Statements of an explanation or description."""
MAX_PATH_FACTS = 6
COMPARED_MAX = 3
"""Statements about each of the things compared."""
_WAY = re.compile(
    r"^to \w+|\b(?:by \w+ing|first|then|using|with the help of|through)\b|\bwith (?!the\b)", re.IGNORECASE
)


def about(question: Question, statements: Sequence[Statement]) -> list[Statement]:
    """Give the statements about the question's subject: all of its words, those with the subject in front first."""
    wanted = question.senses
    if not wanted:
        return []
    statements = _telling(question, statements)
    full = [item for item in statements if wanted <= _senses(item)]
    if not full:
        full = [item for item in statements if wanted <= read(item.entry.unit.title or "").senses]
    leading = [item for item in full if _leads(item, wanted)]
    chosen = leading or full
    return sorted(chosen[:MAX_STATEMENTS], key=lambda item: item.order)


def definition(question: Question, statements: Sequence[Statement]) -> list[Statement]:
    """Give the statement that says what the subject is; of a thing, else the one that introduces it."""
    found = [
        item
        for item in _telling(question, statements)
        if question.senses <= _core_senses(item)
        and not changes_by(question, item.reading)
        and _has_owners(question, item)
        and (_leads(item, question.senses) or "call" in item.reading.senses)
    ]
    defining = [item for item in found if _defines(item, question.senses)]
    if defining or question.kind is Kind.WHO:
        return defining[:1]
    introducing = [item for item in found if _opens_with(item, question.senses)]
    return sorted(introducing, key=lambda item: item.order)[:1]


def _has_owners(question: Question, statement: Statement) -> bool:
    """Tell whether whose the thing is asked of owns something in the statement, and is not just named beside it."""
    own = {word.sense: word.owner for word in question.required if word.is_owned_head}
    if any(word.owner and word.owner != own.get(word.sense, word.owner) for word in statement.reading.words):
        return False
    owners = {word.sense for word in question.required if word.is_owner}
    return owners <= {word.sense for word in statement.reading.words if word.is_owner or word.preposition == "of"}


def _telling(question: Question, statements: Sequence[Statement]) -> list[Statement]:
    """Give the statements that say more than the question does: a heading that only names its thing tells nothing."""
    return [item for item in statements if item.reading.senses - question.senses]


def _opens_with(statement: Statement, wanted: frozenset[str]) -> bool:
    first = next(iter(statement.reading.words), None)
    return first is not None and first.place <= 1 and first.sense in wanted


def _senses(statement: Statement) -> frozenset[str]:
    return statement.reading.senses | {word.sense for word in statement.inherited}


def _core_senses(statement: Statement) -> frozenset[str]:
    """Give what the statement speaks of without a preposition: "behind the motor" does not define the motor."""
    found = (*statement.inherited, *statement.reading.words)
    return frozenset(word.sense for word in found if word.is_core or word.preposition == "of")


def _leads(statement: Statement, wanted: frozenset[str]) -> bool:
    """Tell whether the subject of the statement is the subject asked about."""
    core = [word.sense for word in (*statement.inherited, *statement.reading.words) if word.is_core]
    return bool(core) and bool(set(core[: max(2, len(wanted))]) & wanted)


def _defines(statement: Statement, wanted: frozenset[str]) -> bool:
    tokens = statement.reading.tokens
    places = [word.place for word in statement.reading.words if word.sense in wanted]
    if not places or not any(place < len(tokens) - 1 for place in places):
        return False
    following = tokens[max(places) + 1 : max(places) + 3]
    if not following or following[0] not in BE_FORMS:
        return bool(following) and following[0] in ("means", "denotes", "refers")
    after = statement.reading.word_at(max(places) + 2)
    return following[1:] != () and (
        following[1] in ("a", "an", "the", "one", "my", "our") or (after and after.is_name) or False
    )


def reasons(question: Question, statements: Sequence[Statement]) -> list[Statement]:
    """Give the statements that give a reason for what is asked: a stated one, else a path of facts [BP-36 c]."""
    return stated_reasons(question, statements) or causal_path(question, statements)


def causal_path(question: Question, statements: Sequence[Statement]) -> list[Statement]:
    """Give the shortest chain of facts between two things the question names, each fact once, in path order."""
    edges: dict[frozenset[str], list[tuple[frozenset[str], Statement]]] = {}
    for item in statements:
        unit = item.entry.unit
        if unit.relation and unit.subject and unit.object:
            edges.setdefault(read(unit.subject).senses, []).append((read(unit.object).senses, item))
    named = [node for node in _nodes(edges) if node and node <= question.senses]
    for start in named:
        path = _search(edges, start, [node for node in named if node != start])
        if path:
            return path[:MAX_PATH_FACTS]
    return []


def _nodes(edges: dict[frozenset[str], list[tuple[frozenset[str], Statement]]]) -> list[frozenset[str]]:
    found = {*edges, *(target for targets in edges.values() for target, _ in targets)}
    return sorted(found, key=sorted)


def _search(
    edges: dict[frozenset[str], list[tuple[frozenset[str], Statement]]],
    start: frozenset[str],
    goals: Sequence[frozenset[str]],
) -> list[Statement]:
    queue: deque[tuple[frozenset[str], list[Statement]]] = deque([(start, [])])
    seen = {start}
    while queue:
        node, path = queue.popleft()
        if path and node in goals:
            return path
        for target, item in edges.get(node, ()):
            if target not in seen:
                seen.add(target)
                queue.append((target, [*path, item]))
    return []


def procedure(question: Question, statements: Sequence[Statement]) -> list[Statement]:
    """Give the steps of the procedure that is about what is asked, in their order; else the way that is stated."""
    wanted = question.senses
    units: dict[str, list[Statement]] = {}
    for item in statements:
        units.setdefault(item.unit_id, []).append(item)
    for found in units.values():
        unit = found[0].entry.unit
        named = read(f"{unit.topic}. {unit.title or ''}. {_lead_of(unit.text)}").senses
        if unit.procedure and wanted and wanted <= named:
            steps = [item for item in found if not item.text.endswith(":")]
            return sorted(steps, key=lambda item: item.order)
    told = [item for item in statements if wanted and _WAY.search(item.text) and states(question, item)][:2]
    return told + _following_orders(told[0], statements) if len(told) == 1 else told


def _lead_of(procedure: str) -> str:
    """Give what introduces the steps of a procedure, nothing if it begins with a step."""
    lead, colon, _ = procedure.partition(":")
    return lead if colon and not re.match(r"\d", lead) else ""


def _following_orders(first: Statement, statements: Sequence[Statement]) -> list[Statement]:
    """Give the orders that follow the first step in its unit: sentences that begin with a verb and have no subject."""
    found: list[Statement] = []
    current = next_of(first, statements) if first.text.lower().startswith("to ") else None
    while current and _is_order(current):
        found.append(current)
        current = next_of(current, statements)
    return found


def _is_order(statement: Statement) -> bool:
    tokens = statement.reading.tokens
    return bool(tokens) and tokens[0] not in STOP_WORDS | {"to"} and not AUXILIARIES & set(tokens)


def comparison(question: Question, statements: Sequence[Statement]) -> dict[str, list[Statement]]:
    """Give for each compared thing what is said of it; empty unless every one of them is spoken of [BP-36 e]."""
    groups: dict[str, list[Statement]] = {}
    for name in compared(question):
        wanted = read(name).senses
        spoken_of = [item for item in statements if wanted and wanted <= _senses(item)]
        leading = [item for item in spoken_of if wanted <= frozenset(word.sense for word in leading_words(item))]
        groups[name] = sorted((leading or spoken_of)[:COMPARED_MAX], key=lambda item: item.order)
    return groups if len(groups) >= 2 and all(groups.values()) else {}


def leading_words(statement: Statement) -> list[Word]:
    """Give the first words of a statement or of one of its clauses, where its subject stands."""
    return [word for reading in (*statement.clauses, statement.reading) for word in reading.words[:3] if word.is_core]


def compared(question: Question) -> list[str]:
    """Give the names that a comparison sets side by side."""
    text = re.sub(r"^(?:and|the|of)\s+|\s+(?:in terms of|regarding|by|for)\s+.*$", "", question.reading.text.strip())
    parts = re.split(r",\s*(?:and\s+)?|\s+(?:and|with|to|versus|vs\.?|or|from)\s+", text)
    return [part.strip(" .?:") for part in parts if part.strip(" .?:")]


def listing(question: Question, statements: Sequence[Statement]) -> list[Statement]:
    """Give the items of the list whose introduction or heading names what is asked."""
    wanted = question.senses
    units: dict[str, list[Statement]] = {}
    for item in statements:
        if item.lead is not None:
            units.setdefault(item.unit_id, []).append(item)
    for items in units.values():
        unit = items[0].entry.unit
        if wanted and wanted <= read(f"{items[0].lead}. {unit.title or ''}").senses:
            return sorted(items, key=lambda item: item.order)
    return []
