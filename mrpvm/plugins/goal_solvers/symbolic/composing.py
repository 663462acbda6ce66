"""Answers of several statements: comparisons, lists, accounts, chains and steps, in the order of their sources.

Statements are linked if they share a rare word, or if one continues the one before it.
"""

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import log

from mrpvm.english.discourse import Discourse, Told
from mrpvm.english.lexicon import pattern
from mrpvm.english.parsing import read
from mrpvm.english.requests import SENTENCES_MAX, Kind, Request, senses_of
from mrpvm.english.statements import Statement

_FACTS_MAX = 6
"""The most facts in a chain of relations."""
_LEAST_COVERED = 0.55
"""The share of a request's words, weighted by rarity, that the statement it is about must have."""
_LINK_REACH = 3
"""The largest distance of two linked statements."""
_COMMON = 0.25
"""A word does not link statements if more than this share of them, and more than two, have it."""
_NEARBY = 0.5
"""The weight of a word that only the statement before has."""
_ON_TOPIC = 2.0
"""The factor for statements on the topic of a summary."""
_NEXT, _LINKED = 0.7, 0.9
"""The strength of links between neighbours, and between statements that share a rare word or continue one another."""
_LOOKING_AHEAD = 0.7
_TITLE_WORDS = 6
_LEAST_STRENGTH = 0.2
_ROOT_CHARS = 5
_LOOKING_BACK_REACH = 6
_LOOKS_BACK = re.compile(r"\bhad (?:\w+ )?(?:\w+(?:ed|en|ne|wn|ught|ost|eft|ade)|been|become|come)\b", re.IGNORECASE)
"""A pluperfect clause after an event tells something earlier, and mostly explains it (Lascarides and Asher)."""
_GOES_ON = pattern("composing.goes_on")
"""The beginning of a statement that continues the one before it."""
_FIRST_PERSON = pattern("composing.first_person")


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """Statements of one answer in named groups; only a comparison has more than one group."""

    kind: Kind
    groups: dict[str, list[Statement]]

    @property
    def statements(self) -> list[Statement]:
        """Return the statements of all groups."""
        return [item for items in self.groups.values() for item in items]


def composed(request: Request, discourse: Discourse) -> Composed | None:
    """Return the statements that answer a request to compare, list, give steps, summarise or explain."""
    text = _Text(discourse)
    if request.kind == "comparison":
        groups = _comparison(request, text)
        return Composed(kind="comparison", groups=groups) if groups else None
    found = _found(request, text)
    return Composed(kind=request.kind, groups={"": found}) if found else None


class _Text:
    """Statements in the order of their sources, and the rarity of their words."""

    def __init__(self, discourse: Discourse) -> None:
        self.items = [told.statement for told in discourse.told]
        self.said = [_said(told) for told in discourse.told]
        self._parsed = [told.parsed for told in discourse.told]
        self._counts = Counter(word for said in self.said for word in said)

    def weight(self, word: str) -> float:
        """Return the weight of a word: highest if at most one statement has it."""
        return log((len(self.items) + 1) / (max(self._counts[word], 1) + 0.5))

    def coverage(self, wanted: frozenset[str], place: int) -> float:
        """Return the share of the wanted words that a statement has, in any part of speech."""
        total = sum(map(self.weight, wanted))
        return sum(self.weight(word) * self._names(word, place) for word in wanted) / total if total > 0 else 0.0

    def _names(self, word: str, place: int) -> float:
        """Return 1 if a statement has a word, less if only the statement before it has the word."""
        if word in self.said[place] or self._derives(word, place):
            return 1.0
        is_next = place > 0 and _is_one_source(self.items[place - 1], self.items[place])
        return _NEARBY if is_next and word in self.said[place - 1] else 0.0

    def _derives(self, word: str, place: int) -> bool:
        """Return whether a statement has a word of the same root: "destruction" and "destroyed"."""
        if self._counts[word] or len(word) < _ROOT_CHARS:
            return False
        return any(said.startswith(word[:_ROOT_CHARS]) for said in self.said[place])

    def closest(self, wanted: frozenset[str], places: Sequence[int], names: frozenset[str] = frozenset()) -> int | None:
        """Return the place of the statement with most of the wanted words, the first of several.

        Words that are nowhere in the text are ignored if a statement has a wanted name and another wanted word.
        """
        named = [place for place in places if names and names <= self.said[place]]
        best = max(named or places, key=lambda place: self.coverage(wanted, place), default=None)
        if best is None:
            return None
        held = wanted & self.said[best]
        if names and names < held:
            wanted = held.union(word for word in wanted if self._counts[word])
        return best if self.coverage(wanted, best) >= _LEAST_COVERED else None

    def are_linked(self, one: int, other: int) -> bool:
        """Return whether a statement is linked to a later one."""
        if not _is_one_source(self.items[one], self.items[other]):
            return False
        if other == one + 1 and self.goes_on(other):
            return True
        rare = max(_COMMON * len(self.items), 2)
        shared = self.said[one] & self.said[other]
        return other - one <= _LINK_REACH and any(self._counts[word] <= rare for word in shared)

    def is_title(self, place: int) -> bool:
        """Return whether a statement is a title within the text: a few words without a verb."""
        parsed = self._parsed[place]
        return len(parsed.tokens) <= _TITLE_WORDS and not any(clause.verb for clause in parsed.clauses)

    def contrasts(self, place: int, things: Sequence[frozenset[str]]) -> bool:
        """Return whether each thing is the subject of its own clause: "Tomas grinds rye and Vera grinds spelt"."""
        subjects = [clause.subject.senses for clause in self._parsed[place].clauses if clause.subject]
        found = [next((at for at, senses in enumerate(subjects) if thing <= senses), -1) for thing in things]
        return -1 not in found and len(set(found)) == len(things)

    def goes_on(self, place: int) -> bool:
        """Return whether a statement continues the one before it."""
        is_next = 0 < place < len(self.items) and _is_one_source(self.items[place - 1], self.items[place])
        return is_next and _GOES_ON.match(self.items[place].text) is not None

    def link(self, one: int, other: int) -> float:
        """Return the strength of the link between a statement and a later one, in [0, 1]."""
        if not _is_one_source(self.items[one], self.items[other]):
            return 0.0
        return max(_NEXT * (other - one == 1), _LINKED * self.are_linked(one, other))

    def news(self, place: int, covered: frozenset[str]) -> float:
        """Return how much a statement adds to the covered words; words that other statements have too count more."""
        return sum(1 + log(self._counts[word]) for word in self.said[place] - covered)

    def nearness(self, wanted: frozenset[str], place: int) -> float:
        """Return 1 for a statement with all wanted words, less for one that is linked to such a statement."""
        if not wanted or wanted <= self.said[place]:
            return 1.0
        naming = (other for other, said in enumerate(self.said) if wanted <= said)
        return _NEARBY * any(self.are_linked(*sorted((place, other))) for other in naming)

    def told(self, places: Iterable[int]) -> list[Statement]:
        """Return the statements at these places in the order of the text."""
        return [self.items[place] for place in sorted(set(places))]

    def naming(self, wanted: frozenset[str]) -> list[int]:
        """Return the places of the statements that have all wanted words, or are under a title that has them."""
        full = [place for place, said in enumerate(self.said) if wanted <= said and said - wanted]
        return full or [
            place
            for place, item in enumerate(self.items)
            if wanted and wanted <= read(item.entry.unit.title or "").senses
        ]


def _said(told: Told) -> frozenset[str]:
    """Return the senses of a statement's words, of its pronouns' antecedents, and of its introduction."""
    meant = (phrase.senses for phrase in told.meant.values())
    lead = told.statement.lead
    return told.statement.reading.senses.union(*meant, read(lead).senses if lead else ())


def _first_words(statement: Statement) -> frozenset[str]:
    """Return the senses of the first words of a statement, which contain its subject."""
    return frozenset(word.sense for word in statement.reading.words[:3] if word.is_core)


def _is_one_source(one: Statement, other: Statement) -> bool:
    return one.entry.unit.source_id == other.entry.unit.source_id


def _found(request: Request, text: _Text) -> list[Statement]:
    if request.kind == "steps":
        return _steps(request.wanted, text)
    if request.kind == "list":
        return _list(request, text)
    if request.kind == "summary":
        return _summary(request, text)
    if request.kind == "reason":
        return _path(request.wanted, text) or (_explained(request, text) if request.is_ordered else [])
    if request.kind == "chain":
        return _path(request.wanted.union(*map(senses_of, request.things)), text) or _chain(request, text)
    if request.kind == "manner":
        return _explained(request, text)
    return _account(request, text)


def _comparison(request: Request, text: _Text) -> dict[str, list[Statement]]:
    """Return the statements about each compared thing; nothing if one of them has none."""
    limit = max(1, request.sentences // max(len(request.things), 1))
    groups: dict[str, list[Statement]] = {}
    readings = {name: read(name) for name in request.things}
    named = {name: reading.senses for name, reading in readings.items()}
    shared = frozenset.intersection(*named.values()) if named else frozenset()
    contrasting = [place for place in range(len(text.items)) if text.contrasts(place, list(named.values()))][:limit]
    for name, wanted in named.items():
        others = [own - shared for other, own in named.items() if other != name]
        spoken_of = [place for place in text.naming(wanted) if wanted]
        alone = [place for place in spoken_of if not any(own and own <= text.said[place] for own in others)]
        is_named = any(word.is_name or word.text.isdigit() for word in readings[name].words)
        if not alone and wanted & shared and not is_named:  # beside "the new bell" the old one may be called "the bell"
            alone = [
                place for place in text.naming(wanted & shared) if not any(own & text.said[place] for own in others)
            ]
        leading = [place for place in alone if wanted & _first_words(text.items[place])]
        going_on = [place + 1 for place in alone if text.goes_on(place + 1) and place + 1 not in spoken_of]
        ranked = dict.fromkeys((*contrasting, *leading, *alone, *going_on, *spoken_of))
        groups[name] = text.told(list(ranked)[:limit])
    return groups if len(groups) >= 2 and all(groups.values()) else {}


def _account(request: Request, text: _Text) -> list[Statement]:
    """Return the statements about a thing; if there are too many, those with it as subject come first."""
    naming = text.naming(request.wanted) if request.wanted else []
    leading = [place for place in naming if _first_words(text.items[place]) & request.wanted]
    return text.told(list(dict.fromkeys((*leading, *naming)))[: request.sentences])


def _list(request: Request, text: _Text) -> list[Statement]:
    """Return the items of a list whose introduction or heading has the wanted words, else statements with these."""
    wanted = request.wanted
    for items in _by_unit(item for item in text.items if item.lead is not None):
        if wanted and wanted <= read(f"{items[0].lead}. {items[0].entry.unit.title or ''}").senses:
            return items
    if not request.is_ordered or not wanted:
        return []
    limit = max(request.sentences, SENTENCES_MAX)
    full = [place for place, said in enumerate(text.said) if wanted <= said]
    if len(full) > 1 or any(not any(word in said for said in text.said) for word in wanted):
        return text.told(full[:limit])
    ranked = sorted(range(len(text.items)), key=lambda place: -text.coverage(wanted, place))
    best = text.items[ranked[0]]
    same = [place for place in ranked if _is_one_source(text.items[place], best)]
    heads = [word for word in wanted if sum(word in text.said[place] for place in same) > 1]
    head = max(heads, key=lambda word: sum(word in text.said[place] for place in same), default="")
    near = [place for place in same if head in text.said[place]] if head and not full else []
    return text.told((full or near or ranked[:1])[:limit])


def _summary(request: Request, text: _Text) -> list[Statement]:
    """Return the most important sentences of a text in its order: its beginning, and sentences that others refer to.

    Of several texts the one with the wanted words is summarised; without wanted words there must be only one text.
    """
    wanted = request.wanted
    places = range(len(text.items))
    if request.is_of_told:
        told = _told_of(request, text)
        return text.told(_digest(told, request, text)) if told else []
    sources = {item.entry.unit.source_id for item in text.items if item.is_of_document}
    if wanted:
        naming = [place for place in places if text.coverage(request.names or wanted, place) >= _LEAST_COVERED]
        named = Counter(text.items[place].entry.unit.source_id for place in naming)
        sources = {source for source, _ in named.most_common(1)}
    own = [place for place in places if text.items[place].entry.unit.source_id in sources]
    if len(sources) != 1 or not own:
        return []
    return text.told(_digest([place for place in own if not text.is_title(place)] or own, request, text))


def _told_of(request: Request, text: _Text) -> list[int]:
    """Return the places of statements from the conversation: all, those about a thing, or those of the asker about
    himself with their continuations.
    """
    found: list[int] = []
    for place, item in enumerate(text.items):
        is_meant = request.wanted <= text.said[place] and (
            not request.is_of_asker or _FIRST_PERSON.search(item.text) is not None
        )
        goes_on = place - 1 in found and text.goes_on(place)
        if not item.is_of_document and (is_meant or goes_on):
            found.append(place)
    return found


def _digest(places: Sequence[int], request: Request, text: _Text) -> list[int]:
    """Return the first and the last place, and those between that add the most new words."""
    chosen = [places[0], places[-1]][: min(request.sentences, len(places))]
    covered = frozenset[str]().union(*(text.said[place] for place in chosen))
    while len(chosen) < min(request.sentences, len(places)):
        left = [place for place in places if place not in chosen]
        best = max(
            left,
            key=lambda place: text.news(place, covered) * (1 + _ON_TOPIC * text.nearness(request.wanted, place)),
        )
        chosen.append(best)
        covered |= text.said[best]
    return chosen


def _explained(request: Request, text: _Text) -> list[Statement]:
    """Return the statement that a request to explain is about, with the statements linked to it.

    For a reason these are its causes and statements looking back on it, else other statements about it.
    """
    is_reason, places = request.kind == "reason", range(len(text.items))
    middle = text.closest(request.wanted, places[::-1] if is_reason else places, request.names)
    if middle is None or _names_nothing_else(request, middle, text):
        return []
    looking_back = (
        place
        for place in places[middle + 1 : middle + 1 + _LOOKING_BACK_REACH]
        if _LOOKS_BACK.search(text.items[place].text) and _is_one_source(text.items[middle], text.items[place])
    )
    beside = looking_back if is_reason else text.naming(request.wanted)
    connected = _connected(middle, text, request.sentences, ahead=_LOOKING_AHEAD if is_reason else 1.0)
    return text.told(list(dict.fromkeys((middle, *beside, *connected)))[: request.sentences])


def _names_nothing_else(request: Request, place: int, text: _Text) -> bool:
    """Return whether a statement names the person of the request, but nothing else of the request."""
    plain = request.wanted - request.names
    return bool(plain) and text.coverage(plain, place) == 0


def _connected(start: int, text: _Text, limit: int, *, back: float = 1.0, ahead: float = 1.0) -> list[int]:
    """Return a place and those most strongly linked to it, directly or over other places.

    The weights say how much links backwards and forwards count.
    """
    strengths = {start: 1.0}
    found: list[int] = []
    while len(found) < limit and (left := [place for place in strengths if place not in found]):
        place = max(left, key=lambda place: (strengths[place], place))
        found.append(place)
        for other in range(max(0, place - _LINK_REACH), min(len(text.items), place + _LINK_REACH + 1)):
            way = back if other < place else ahead
            strength = strengths[place] * way * text.link(*sorted((place, other)))
            if other != place and strength >= _LEAST_STRENGTH:
                strengths[other] = max(strengths.get(other, 0.0), strength)
    return found


def _chain(request: Request, text: _Text) -> list[Statement]:
    """Return the chain from one end to the other; each statement is linked to the one before and the one after it."""
    if not request.things:
        return _history(request, text)
    first, last = (senses_of(thing) for thing in request.things)
    places = range(len(text.items))
    if last and not first:
        end = text.closest(last, places[::-1], request.names)
        return text.told(_connected(end, text, request.sentences, ahead=0.0)) if end is not None else []
    naming = text.naming(request.wanted)
    if not naming and not (first and last):
        return []
    start = text.closest(first, places) if first else naming[0]
    later = places[start + 1 :] if start is not None else places
    end = text.closest(last, later) if last else naming[-1]
    if start is None or end is None or start > end or not _is_one_source(text.items[start], text.items[end]):
        return []
    return text.told(_digest(range(start, end + 1), request, text))


def _history(request: Request, text: _Text) -> list[Statement]:
    """Return the statements from the first that names a thing to those linked to the last one."""
    if not request.wanted:
        return _summary(request, text)
    naming = text.naming(request.wanted)
    if not naming:
        return []
    first = naming[0]
    own = [place for place in range(first, len(text.items)) if _is_one_source(text.items[first], text.items[place])]
    last = max((place for place in own if request.wanted & text.said[place]), default=first)
    end = max(_connected(last, text, request.sentences, back=0.0, ahead=_LOOKING_AHEAD))
    sentences = [place for place in own if place <= end and not text.is_title(place)]
    return text.told(_digest(sentences or [first], request, text))


def _steps(wanted: frozenset[str], text: _Text) -> list[Statement]:
    """Return the steps of the procedure that has the wanted words, some of them in its heading or introduction."""
    for items in _by_unit(item for item in text.items if item.entry.unit.procedure):
        unit = items[0].entry.unit
        lead, colon, _ = unit.text.partition(":")
        introduced = lead if colon and not lead[:1].isdigit() else ""
        named = read(f"{unit.topic}. {unit.title or ''}. {introduced}").senses
        spoken = named.union(*(item.reading.senses for item in items))
        if wanted <= named or (wanted & named and named <= wanted <= spoken):
            return [item for item in items if not item.text.endswith(":")]
    return []


def _by_unit(statements: Iterable[Statement]) -> Iterator[list[Statement]]:
    units: dict[str, list[Statement]] = {}
    for item in statements:
        units.setdefault(item.unit_id, []).append(item)
    yield from units.values()


def _path(wanted: frozenset[str], text: _Text) -> list[Statement]:
    """Return the shortest chain of facts between two named things, each fact once, in the order of the path."""
    edges: dict[frozenset[str], list[tuple[frozenset[str], Statement]]] = {}
    for item in text.items:
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
                return path[:_FACTS_MAX]
            for target, item in edges.get(node, ()):
                if target not in seen:
                    seen.add(target)
                    queue.append((target, [*path, item]))
    return []
