"""Answers of several statements: comparisons, lists, accounts and steps, in their order [BP-36 c to f]."""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from mrpvm.english.reading import read, sense
from mrpvm.english.statements import Statement
from mrpvm.knowledge.lexicon import word_class

_STATEMENTS_MAX = 5
_PATH_MAX = 6
_COMPARED_MAX = 3
"""Statements about each of the things compared."""
_COMPARE = re.compile(
    r"^(?:compare|contrast|how (?:do|does|did) (?=.+ compare\b))\s*(?P<things>.+)$"
    r"|\bdifferences? between (?P<between>.+)$|^(?P<versus>.+ (?:versus|vs\.?) .+)$",
    re.IGNORECASE,
)
_STEPS = re.compile(
    r"^(?:what (?:is|are) |list |give |describe |explain )?(?:the )?(?:(?:right|correct|exact) )?"
    r"(?:steps?|procedure|process|instructions?|way|order of steps) (?:to|for|of|when) (?P<task>.+)$"
    r"|^(?:explain |describe |show me )?how (?:to|do (?:i|we|you)|can (?:i|we|you)) (?P<how>.+)$",
    re.IGNORECASE,
)
_TOPIC = re.compile(
    r"^(?P<verb>list|enumerate|name|what are|which are|explain|describe|summari[sz]e|analy[sz]e|characteri[sz]e"
    r"|diagnose|evaluate|assess|tell (?:me|us) (?:(?:more|everything|something) )?about|what about)\s+(?P<topic>.+)$",
    re.IGNORECASE,
)
_LISTING = frozenset(("list", "enumerate", "name", "what are", "which are"))
_LEAD = re.compile(r"^(?:(?:please|now|then|and)\b[\s,]*|(?:can|could|would|will) you (?:please )?)+", re.IGNORECASE)
_PARTS = re.compile(r",\s*(?:and\s+)?|\s+(?:and|with|to|versus|vs\.?|or|from)\s+", re.IGNORECASE)
_ASIDE = re.compile(r"^(?:and|the|of)\s+|\s+(?:in terms of|regarding|by|for)\s+.*$", re.IGNORECASE)
_EMPTY = frozenset(sense(word) for word in word_class("kind type sort thing work happen way difference"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """Statements that belong together, each group under its name; only a comparison has more than one."""

    form: Literal["comparison", "list", "steps", "account"]
    groups: dict[str, list[Statement]]

    @property
    def statements(self) -> list[Statement]:
        """Return the statements of all groups."""
        return [item for items in self.groups.values() for item in items]


def composed(request: str, statements: Sequence[Statement]) -> Composed | None:
    """Return the statements that a request to compare, list, tell the steps or explain is answered with."""
    asked = _LEAD.sub("", " ".join(request.split())).rstrip("?.! ")
    if compared := _COMPARE.search(asked):
        groups = _comparison(compared["things"] or compared["between"] or compared["versus"], statements)
        return Composed(form="comparison", groups=groups) if groups else None
    if asked_steps := _STEPS.match(asked):
        found = _steps(_senses_of(asked_steps["task"] or asked_steps["how"]), statements)
        return Composed(form="steps", groups={"": found}) if found else None
    if asked_path := re.match(r"^(?:explain )?why\b", asked, re.IGNORECASE):
        found = _path(_senses_of(asked[asked_path.end() :]), statements)
        return Composed(form="account", groups={"": found}) if found else None
    topic = _TOPIC.match(asked)
    if topic is None:
        return None
    wanted = _senses_of(topic["topic"])
    listed = _list(wanted, statements)
    if listed or topic["verb"].lower() in _LISTING:
        return Composed(form="list", groups={"": listed}) if listed else None
    told = _account(wanted, statements)
    return Composed(form="account", groups={"": told}) if told else None


def _senses_of(text: str) -> frozenset[str]:
    return frozenset(word.sense for word in read(text).words if not word.is_pronoun) - _EMPTY


def _comparison(things: str, statements: Sequence[Statement]) -> dict[str, list[Statement]]:
    """Return what is said of each compared thing; nothing unless every one of them is spoken of."""
    parts = [part.strip(" .?:") for part in _PARTS.split(_ASIDE.sub("", things.strip()))]
    groups: dict[str, list[Statement]] = {}
    for name in filter(None, parts):
        wanted = read(name).senses
        spoken_of = [item for item in statements if wanted and wanted <= _said(item)]
        leading = [item for item in spoken_of if wanted <= _first_words(item)]
        groups[name] = sorted((leading or spoken_of)[:_COMPARED_MAX], key=lambda item: item.order)
    return groups if len(groups) >= 2 and all(groups.values()) else {}


def _said(statement: Statement) -> frozenset[str]:
    return statement.reading.senses | (read(statement.lead).senses if statement.lead else frozenset())


def _first_words(statement: Statement) -> frozenset[str]:
    """Return the senses of the words a statement begins with, where its subject stands."""
    return frozenset(word.sense for word in statement.reading.words[:3] if word.is_core)


def _account(wanted: frozenset[str], statements: Sequence[Statement]) -> list[Statement]:
    """Return what is said of a thing, statements whose subject it is alone where there are such."""
    telling = [item for item in statements if wanted and item.reading.senses - wanted]
    full = [item for item in telling if wanted <= _said(item)]
    full = full or [item for item in telling if wanted <= read(item.entry.unit.title or "").senses]
    leading = [item for item in full if _first_words(item) & wanted]
    return sorted((leading or full)[:_STATEMENTS_MAX], key=lambda item: item.order)


def _list(wanted: frozenset[str], statements: Sequence[Statement]) -> list[Statement]:
    """Return the items of the list whose introduction or heading names what is asked."""
    for items in _by_unit(item for item in statements if item.lead is not None):
        if wanted and wanted <= read(f"{items[0].lead}. {items[0].entry.unit.title or ''}").senses:
            return items
    return []


def _steps(wanted: frozenset[str], statements: Sequence[Statement]) -> list[Statement]:
    """Return the steps of the procedure whose heading or introduction names what is asked."""
    for items in _by_unit(item for item in statements if item.entry.unit.procedure):
        unit = items[0].entry.unit
        lead, colon, _ = unit.text.partition(":")
        introduced = lead if colon and not lead[:1].isdigit() else ""
        if wanted and wanted <= read(f"{unit.topic}. {unit.title or ''}. {introduced}").senses:
            return [item for item in items if not item.text.endswith(":")]
    return []


def _by_unit(statements: Iterator[Statement]) -> Iterator[list[Statement]]:
    units: dict[str, list[Statement]] = {}
    for item in statements:
        units.setdefault(item.unit_id, []).append(item)
    return (sorted(items, key=lambda item: item.order) for items in units.values())


def _path(wanted: frozenset[str], statements: Sequence[Statement]) -> list[Statement]:
    """Return the shortest chain of facts between two things a request names, each fact once, in path order."""
    edges: dict[frozenset[str], list[tuple[frozenset[str], Statement]]] = {}
    for item in statements:
        unit = item.entry.unit
        if unit.relation and unit.subject and unit.object:
            edges.setdefault(read(unit.subject).senses, []).append((read(unit.object).senses, item))
    nodes = {*edges, *(target for targets in edges.values() for target, _ in targets)}
    named = [node for node in sorted(nodes, key=sorted) if node and node <= wanted]
    for start in named:
        queue: deque[tuple[frozenset[str], list[Statement]]] = deque([(start, [])])
        seen = {start}
        while queue:
            node, path = queue.popleft()
            if path and node in named:
                return path[:_PATH_MAX]
            for target, item in edges.get(node, ()):
                if target not in seen:
                    seen.add(target)
                    queue.append((target, [*path, item]))
    return []
