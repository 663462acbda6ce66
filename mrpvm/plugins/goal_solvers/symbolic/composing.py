"""Answers of several statements: comparisons, lists, accounts, chains and steps, in the order of their sources.

The statements that have most of a request's words are chosen first, then those that are linked to them. Two statements
are linked if they share a rare word, or if one continues the one before it.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log

from msgspec import Struct

from mrpvm.english.context.discourse import Discourse, Premise
from mrpvm.english.questions.requests import SENTENCES_MAX, Kind, Request, senses_of
from mrpvm.english.sentences.dialogue import UTTERANCE
from mrpvm.english.sentences.parsing import read
from mrpvm.english.sentences.statements import Statement, whole_steps
from mrpvm.english.words.lexicon import REFERRING_PRONOUNS, pattern
from mrpvm.english.words.reading import denies

_FACTS_MAX = 6
"""The most facts in a chain of relations."""
_LEAST_KNOWN, _LEAST_KNOWN_OF_SUMMARY = 0.5, 0.3
"""More than this share of a request's plain words must be in its source; less for a summary, which asserts no event."""
_ANCHOR = 0.4
"""A statement is an anchor if it has this share of the wanted words that the best one has."""
_LINK_REACH = 3
"""The largest distance of two linked statements."""
_COMMON = 0.25
"""A word does not link statements if more than this share of them, and more than two, have it."""
_NEXT, _LINKED = 0.7, 0.9
"""The strength of links between neighbours, and between statements that share a rare word or continue one another."""
_NEXT_OF_TOPIC = 0.5
"""The strength of links between neighbours where all about a topic is asked for: only the nearest may be about it."""
_LEAST_STRENGTH = 0.34
"""A statement belongs to an answer up to the third neighbour of one that has the request's words."""
_SHORT = 2 * SENTENCES_MAX
"""A text of at most so many statements is short."""
_TITLE_WORDS = 6
_GOES_ON = pattern("composing.goes_on")
"""The beginning of a statement that continues the one before it."""
_HAS_REASON = pattern("composing.has_reason")
"""What joins a reason to its statement: "because"."""
_ANSWERED, _TOLD = 0.5, 0.75
"""The least share of a question's words that a statement with a reason has to answer it, and one to tell its event."""
_FIRST_PERSON = pattern("composing.first_person")


class Composed(Struct, frozen=True, kw_only=True):
    """Statements of one answer in named groups; only a comparison has more than one group."""

    kind: Kind
    groups: dict[str, list[Statement]]

    @property
    def statements(self) -> list[Statement]:
        return [item for items in self.groups.values() for item in items]


def composed(request: Request, discourse: Discourse) -> Composed | None:
    """Return the statements that answer a request to compare, list, give steps, summarise or explain."""
    text = _Text(discourse)
    if request.kind == "comparison" and len(request.things) > 1:
        groups = _comparison(request, text)
        return Composed(kind="comparison", groups=groups) if groups else None
    statements = _found(request, text)
    return Composed(kind=request.kind, groups={"": statements}) if statements else None


def related(request: Request, discourse: Discourse) -> list[Statement]:
    """Return the statements closest to a request, with those linked to them, whether or not they can meet it."""
    text = _Text(discourse)
    return text.statements_at(_connected(request, text, _closest_sources(request, text))) if request.wanted else []


class _Text:
    """Statements in the order of their sources, and the rarity of their words."""

    def __init__(self, discourse: Discourse) -> None:
        self.items = [premise.statement for premise in discourse.premises]
        self.said = [_said(premise) for premise in discourse.premises]
        self._parsed = [premise.parsed for premise in discourse.premises]
        self._counts = Counter(word for said in self.said for word in said)

    def weight(self, word: str) -> float:
        """Return the weight of a word: highest if at most one statement has it."""
        return log((len(self.items) + 1) / (max(self._counts[word], 1) + 0.5))

    def coverage(self, wanted: frozenset[str], places: Iterable[int]) -> dict[int, float]:
        """Return the weight of the wanted words that each statement has."""
        weights = {word: self.weight(word) for word in sorted(wanted)}
        return {place: sum(weight for word, weight in weights.items() if word in self.said[place]) for place in places}

    def closest(self, wanted: frozenset[str], places: Iterable[int]) -> dict[int, float]:
        """Return the statements with most of the wanted words, and how much of them each has beside the best one."""
        covered = self.coverage(wanted, places)
        best = max(covered.values(), default=0.0)
        return {place: weight / best for place, weight in covered.items() if best and weight >= _ANCHOR * best}

    def words_at(self, places: Iterable[int]) -> frozenset[str]:
        """Return the senses of the words of the statements at these places."""
        return frozenset().union(*(self.said[place] for place in places))

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
        """Return whether a statement is a title within the text: a few words without a verb or a pronoun before it."""
        parsed = self._parsed[place]
        is_short = len(parsed.tokens) <= _TITLE_WORDS and parsed.tokens[0] not in REFERRING_PRONOUNS
        return is_short and not any(clause.verb for clause in parsed.clauses)

    def contrasts(self, place: int, things: Sequence[frozenset[str]]) -> bool:
        """Return whether each thing is the subject of its own clause: "Tomas grinds rye and Vera grinds spelt"."""
        subjects = [clause.subject.senses for clause in self._parsed[place].clauses if clause.subject]
        places = [next((at for at, senses in enumerate(subjects) if thing <= senses), -1) for thing in things]
        return -1 not in places and len(set(places)) == len(things)

    def goes_on(self, place: int) -> bool:
        """Return whether a statement continues the one before it."""
        is_next = 0 < place < len(self.items) and _is_one_source(self.items[place - 1], self.items[place])
        return is_next and _GOES_ON.match(self.items[place].text) is not None

    def link(self, one: int, other: int, next_strength: float) -> float:
        """Return the strength of the link between a statement and a later one, in [0, 1].

        Two messages of a conversation are not neighbours: each may begin a new topic, as a heading does.
        """
        before, after = self.items[one], self.items[other]
        if not _is_one_source(before, after) or before.entry.unit.title != after.entry.unit.title:
            return 0.0
        is_one_text = after.is_of_document or before.entry.unit.chunk_id == after.entry.unit.chunk_id
        is_next = other - one == 1 and is_one_text
        next_strength = _NEXT if before.entry.unit.title else next_strength  # a heading is about what is below it
        return max(next_strength * is_next, _LINKED * self.are_linked(one, other))

    def statements_at(self, places: Iterable[int]) -> list[Statement]:
        """Return the statements at these places in the order of the text."""
        return [self.items[place] for place in sorted(set(places))]

    def naming(self, wanted: frozenset[str]) -> list[int]:
        """Return the places of the statements that have all wanted words and others."""
        return [place for place, said in enumerate(self.said) if wanted <= said and said - wanted]


def _said(premise: Premise) -> frozenset[str]:
    """Return the senses of a statement's words, of its pronouns' antecedents, and of its introduction and title."""
    meant = (phrase.senses for phrase in premise.meant.values())
    above = (premise.statement.lead, premise.statement.entry.unit.title)
    return premise.statement.reading.senses.union(*meant, *(read(text).senses for text in above if text))


def _first_words(statement: Statement) -> frozenset[str]:
    """Return the senses of the first words of a statement, which contain its subject."""
    return frozenset(word.sense for word in statement.reading.words[:3] if word.is_core)


def _is_one_source(one: Statement, other: Statement) -> bool:
    return one.entry.unit.source_id == other.entry.unit.source_id


def _found(request: Request, text: _Text) -> list[Statement]:
    if request.kind == "steps":
        return _steps(request.wanted, text)
    if request.kind == "list" and (items := _items(request.wanted, text)):
        return items
    if request.kind in ("reason", "chain") and (path := _path(request.wanted, text)):
        return path
    if not request.is_ordered and not (request.kind == "reason" and _is_told(request, text)):
        return []
    sources = [source for source in _closest_sources(request, text) if _is_known(request, text, source)]
    return text.statements_at(_connected(request, text, sources))


def _connected(request: Request, text: _Text, sources: Sequence[list[int]]) -> list[int]:
    """Return the places that belong to a request: those between the ends of a chain first, then the strongest."""
    places = _scope(request, text)
    is_of_topic = request.kind in ("account", "summary") and bool(request.wanted)
    next_strength = _NEXT_OF_TOPIC if is_of_topic else _NEXT
    strengths = _spread(_anchors(request, text, places, sources), text, frozenset(places), next_strength)
    ranked = sorted(strengths, key=lambda place: (-strengths[place], place))
    between = _between_ends(request, text, ranked) if request.kind == "chain" and ranked else []
    others = _around(ranked, text, places) if request.kind == "summary" and request.wanted else []
    return list(dict.fromkeys((*between, *ranked, *others)))[: request.sentences]


def _around(chosen: Sequence[int], text: _Text, places: Sequence[int]) -> list[int]:
    """Return the other statements of a short text that the chosen ones are of, the nearest first.

    A short text, without headings, is likely to be about one thing, which not each of its statements names.
    """
    sources = {text.items[place].entry.unit.source_id for place in chosen}
    around = [place for place in places if text.items[place].entry.unit.source_id in sources]
    if len(around) > _SHORT or any(text.items[place].entry.unit.title for place in around):
        return []
    return sorted(around, key=lambda place: (min(abs(place - one) for one in chosen), place))


def _scope(request: Request, text: _Text) -> list[int]:
    """Return the places of the statements that may belong to a request.

    A request without a topic means the only document, and nothing if there are several.
    """
    if request.is_of_told:
        return _told_of(request, text)
    places = [place for place in range(len(text.items)) if not text.is_title(place)] or list(range(len(text.items)))
    if request.wanted:
        return places
    of_documents = [place for place in places if text.items[place].is_of_document]
    sources = {text.items[place].entry.unit.source_id for place in of_documents}
    return of_documents if len(sources) == 1 else []


def _anchors(request: Request, text: _Text, places: Sequence[int], sources: Sequence[list[int]]) -> dict[int, float]:
    """Return the strength of the statements with most of the wanted words in each of the sources.

    Without a topic these are the first and the last statement, of a conversation all.
    """
    if request.is_of_told:
        return dict.fromkeys(places, 1.0)
    if not request.wanted:
        return dict.fromkeys((*places[:1], *places[-1:]), 1.0)
    anchors: dict[int, float] = {}
    for source in sources:
        anchors |= text.closest(request.wanted, source)
    return anchors


def _closest_sources(request: Request, text: _Text) -> list[list[int]]:
    """Return the places of each source that has most of a request's words."""
    sources: dict[str, list[int]] = {}
    for place in _scope(request, text):
        sources.setdefault(text.items[place].entry.unit.source_id, []).append(place)
    weights = [sum(map(text.weight, sorted(request.wanted & text.words_at(source)))) for source in sources.values()]
    best = max(weights, default=0.0)
    return [source for source, weight in zip(sources.values(), weights, strict=True) if weight == best]


def _is_known(request: Request, text: _Text, source: Sequence[int]) -> bool:
    """Return whether a source has the names of a request, and enough of its other words."""
    known, plain = request.wanted & text.words_at(source), request.wanted - request.names
    least = _LEAST_KNOWN_OF_SUMMARY if request.kind == "summary" else _LEAST_KNOWN
    return request.names <= known and (not plain or len(plain & known) / len(plain) > least)


def _is_told(request: Request, text: _Text) -> bool:
    """Return whether a document tells the event whose reason is asked for without joining a reason to it.

    If a statement about it has a reason, the rules for single statements decide.
    """
    if len(request.wanted) < 2:
        return False
    shares = {
        place: len(request.wanted & said) / len(request.wanted)
        for place, said in enumerate(text.said)
        if text.items[place].is_of_document and text.items[place].entry.unit.unit_type != UTTERANCE
    }
    if any(share >= _ANSWERED and _HAS_REASON.search(text.items[place].text) for place, share in shares.items()):
        return False
    return any(
        share >= _TOLD and request.names <= text.said[place] and (not request.denies or denies(text.items[place].text))
        for place, share in shares.items()
    )


def _spread(
    anchors: Mapping[int, float], text: _Text, places: frozenset[int], next_strength: float
) -> dict[int, float]:
    """Return the anchors and the places linked to them, directly or over others, each with its strength in (0, 1]."""
    strengths = dict(anchors)
    done: set[int] = set()
    while left := strengths.keys() - done:
        place = max(left, key=lambda place: (strengths[place], place))
        done.add(place)
        for other in range(place - _LINK_REACH, place + _LINK_REACH + 1):
            if other in places and other not in done:
                strength = strengths[place] * text.link(min(place, other), max(place, other), next_strength)
                if strength >= max(_LEAST_STRENGTH, strengths.get(other, 0.0)):
                    strengths[other] = strength
    return strengths


def _between_ends(request: Request, text: _Text, ranked: Sequence[int]) -> list[int]:
    """Return the two ends of a chain and what lies between them, the strongest first."""
    first, last = (senses_of(thing) for thing in request.things) if request.things else (frozenset(), frozenset())
    begun, ended = text.coverage(first, ranked), text.coverage(last, ranked)
    start = max(ranked, key=lambda place: (begun[place], -place))
    end = max((place for place in ranked if place >= start), key=lambda place: (ended[place], place))
    return [start, end, *(place for place in ranked if start < place < end)]


def _comparison(request: Request, text: _Text) -> dict[str, list[Statement]]:
    """Return the statements about each compared thing; nothing if one of them has none."""
    limit = max(1, request.sentences // max(len(request.things), 1))
    named = {name: senses_of(name) for name in request.things}
    if not all(named.values()):
        return {}
    shared = frozenset.intersection(*named.values())
    own = {name: senses - shared or senses for name, senses in named.items()}
    places = range(len(text.items))
    contrasting = [place for place in places if text.contrasts(place, list(named.values()))][:limit]
    groups: dict[str, list[Statement]] = {}
    for name, wanted in named.items():
        others = frozenset().union(*(senses for other, senses in own.items() if other != name))
        about = text.naming(wanted)
        if not about and shared and not request.names:  # beside "the new bell" the old one may be called "the bell"
            about = [place for place in text.naming(shared) if not others & text.said[place]]
        if not about:
            about = list(text.closest(frozenset(word for word in own[name] if not word.isdigit()), places))
        alone = [place for place in about if not others & text.said[place]]
        leading = [place for place in alone if wanted & _first_words(text.items[place])]
        going_on = [place + 1 for place in alone if text.goes_on(place + 1) and place + 1 not in about]
        chosen = list(dict.fromkeys((*contrasting, *leading, *alone, *going_on, *about)))[:limit]
        groups[name] = text.statements_at(chosen)
    return groups if len(groups) >= 2 and all(groups.values()) else {}


def _items(wanted: frozenset[str], text: _Text) -> list[Statement]:
    """Return the items of the list whose introduction or heading has the wanted words."""
    for items in _by_unit(item for item in text.items if item.lead is not None):
        if wanted and wanted <= read(f"{items[0].lead}. {items[0].entry.unit.title or ''}").senses:
            return items
    return []


def _told_of(request: Request, text: _Text) -> list[int]:
    """Return the places of statements from the conversation: all, those about a thing, or those of the asker about
    himself with their continuations.
    """
    places: list[int] = []
    for place, item in enumerate(text.items):
        is_meant = request.wanted <= text.said[place] and (
            not request.is_of_asker or _FIRST_PERSON.search(item.text) is not None
        )
        goes_on = place - 1 in places and text.goes_on(place)
        if not item.is_of_document and (is_meant or goes_on):
            places.append(place)
    return places


def _steps(wanted: frozenset[str], text: _Text) -> list[Statement]:
    """Return the steps of the procedure that has the wanted words, some of them in its heading or introduction."""
    for items in _by_unit(item for item in text.items if item.entry.unit.procedure):
        unit = items[0].entry.unit
        lead, colon, _ = unit.text.partition(":")
        introduced = lead if colon and not lead[:1].isdigit() else ""
        named = read(f"{unit.topic}. {unit.title or ''}. {introduced}").senses
        spoken = named.union(*(item.reading.senses for item in items))
        if wanted <= named or (wanted & named and named <= wanted <= spoken):
            return whole_steps(item for item in items if not item.text.endswith(":"))
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
