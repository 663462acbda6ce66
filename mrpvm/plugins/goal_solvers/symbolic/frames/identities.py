"""Who somebody is, from what a sentence sets beside his name: that holds whatever else the sentence says.

"Nobody may enter without leave of the warden, Ida Roe" denies the entry, not that Ida Roe is the warden.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mrpvm.knowledge.lexicon import DETERMINERS, POSSESSIVES, PREPOSITIONS, word_class
from mrpvm.knowledge.text import words
from mrpvm.plugins.goal_solvers.symbolic.frames.answers import Framed
from mrpvm.plugins.goal_solvers.symbolic.frames.discourse import Discourse, Told
from mrpvm.plugins.goal_solvers.symbolic.frames.tagging import SUBORDINATORS
from mrpvm.plugins.goal_solvers.symbolic.reading import is_past, read

_WORD = r"[^\W\d_A-ZÀ-Þ][\w-]*"
_CAPITAL = r"(?:(?:Mr|Mrs|Ms|Dr)\.? )?[A-ZÀ-Þ][\w'\u2019-]*"
_NAME = rf"(?P<name>{_CAPITAL}(?: [A-ZÀ-Þ][\w'\u2019-]*){{0,2}})"
_DETERMINER = r"(?i:the|an?|our|my|his|her|their|its)"
_OF = r"(?: (?:of|for) (?:the |our |a )?[\w-]+(?: [\w-]+)?)?"
_GRANTED = (
    "permission|consent|approval|leave|authori[sz]ation|agreement|authority|knowledge|help|advice|signature|supervision"
    "|direction|leadership|presence|guidance|assistance|support|instructions?|orders?|care|responsibility"
)
"""What somebody gives: a name behind "the consent of the warden" can only be the warden's."""
_ROLE = (
    rf"(?P<owner>{_DETERMINER}) (?!(?:{_WORD} ){{0,2}}(?:{_GRANTED})\b)"
    rf"(?P<role>{_WORD}(?: {_WORD}){{0,2}}{_OF})"
)
_KIN = (
    "mother|father|sister|brother|son|daughter|wife|husband|uncle|aunt|niece|nephew|cousin|grandmother|grandfather"
    "|grandson|granddaughter|stepson|stepdaughter|twin|partner|widow|widower|fiancée?|friend|colleague|neighbou?r"
)
_END = r"(?=[.;!?)]|$|,(?! (?:(?:and|or|nor|the|a|an|our|my|his|her|their|its)\b|[A-ZÀ-Þ])))"
_SET_BESIDE = re.compile(rf"\b{_ROLE}, {_NAME}{_END}")
_AFTER_COLON = re.compile(rf"\b(?P<owner>(?i:the|our|an?)) (?P<role>{_WORD}(?: {_WORD}){{0,2}}{_OF}): {_NAME}[.!]?$")
_EQUATED = re.compile(rf"^(?P<owner>(?i:the|our)) (?P<role>{_WORD}(?: {_WORD}){{0,2}}{_OF}) (?:is|was) {_NAME}[.!]?$")
_BESIDE_NAME = re.compile(rf"\b{_NAME}, {_ROLE}{_END}")
_ONE_WORD = re.compile(rf"\b(?P<owner>(?i:the|a|our)) (?P<role>{_WORD}) {_NAME}{_END}")
_OWNED = re.compile(
    rf"\b(?P<owner>(?i:my|our|his|her|their|its)|(?i:the) {_WORD}['\u2019]s|{_CAPITAL}['\u2019]s)"
    rf" (?P<role>(?:{_WORD} )?(?:{_KIN})) {_NAME}(?![\w'\u2019-])"
)
_WHO = re.compile(r"^who(?:'s| is| was| are| were) (?P<thing>.+)$", re.IGNORECASE)
_WHOSE = re.compile(rf"^whose (?P<role>(?:{_KIN})) (?:is|was) (?P<thing>.+)$", re.IGNORECASE)
_WHETHER = re.compile(
    rf"^(?:is|was) (?P<thing>{_CAPITAL}(?: [A-Z\u00c0-\u00de][\w'\u2019-]*)*) (?P<role>(?:the|our|my) .+)$",
    re.IGNORECASE,
)
_TITLES = word_class("mr mrs ms dr")
_REACH = 3
"""How many sentences back the one may stand that names a possessor."""
_GENDERS = {"his": word_class("he him his"), "her": word_class("she her hers"), "their": word_class("they them their")}
_PAST_BE = re.compile(r"^(?:\w+ )?(?:was|were)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Identity:
    """A name, the role set beside it, and the statement that does so."""

    name: frozenset[str]
    role: frozenset[str]
    owner: str
    told: Told
    text: str


def identified(text: str, discourse: Discourse) -> Framed | None:
    """Give the statement that sets a name and a role side by side, or None where names differ."""
    asked = " ".join(text.split()).rstrip("?.! ")
    whether, whose, who = _WHETHER.match(asked), _WHOSE.match(asked), _WHO.match(asked)
    found = whether or whose or who
    if found is None:
        return None
    known = list(_identities(discourse))
    thing = found["thing"]
    if not _is_name(thing):
        return None if whether or whose else _answer(_in_role(thing, asked, known), discourse)
    named = [item for item in known if _same_name(thing, item)]
    if whose:
        named = [item for item in named if item.role == read(whose["role"]).senses and item.owner in POSSESSIVES]
    if whether:
        named = [item for item in named if _has_role(whether["role"], asked, item)]
    answer = _answer(named, discourse)
    return replace(answer, verdict=True) if whether and answer else answer


def _identities(discourse: Discourse) -> Iterator[_Identity]:
    for told in discourse.told:
        statement = told.statement
        if statement.speaker or statement.voiced.is_claim or statement.reading.attitudes:
            continue
        for pattern in (_SET_BESIDE, _AFTER_COLON, _EQUATED, _BESIDE_NAME, _ONE_WORD, _OWNED):
            for match in pattern.finditer(statement.plain):
                if _sets_beside(pattern, match, statement.plain):
                    yield _Identity(
                        name=_name_of(match["name"]),
                        role=read(match["role"]).senses,
                        owner=match["owner"].lower(),
                        told=told,
                        text=match["name"],
                    )


def _sets_beside(pattern: re.Pattern[str], match: re.Match[str], text: str) -> bool:
    """Tell whether a match names one thing twice, and does not open the sentence or call out to somebody."""
    if pattern is _OWNED:
        return True
    opening = text[: match.start()].strip()
    first = words(opening)[:1]
    leads = first and (first[0] in PREPOSITIONS | SUBORDINATORS | {"to"} or first[0].endswith("ing"))
    if leads and not re.search("[,;:]", opening):
        return False  # "in the hall, Ida Roe, ...", "when it rains in the valley, Ida Roe, ..."
    if re.search(r"\bof$", opening) and not re.search(rf"\b(?:{_GRANTED}) of$", opening):
        return False  # "a brother of the mayor, Tom Roe": either may be meant
    if re.search(r"(?:,|\b(?:and|or|nor))$", opening) and pattern is not _ONE_WORD:
        return False  # "Tom, the cook, Ida Roe": members of a list
    roles = words(match["role"])
    if any(is_past(word) for word in roles) or (set(roles) & DETERMINERS - {"the", "a"}):
        return False
    called_out = text[match.end() : match.end() + 1] != "," and " " not in match["name"].strip()
    return pattern is not _SET_BESIDE or not called_out  # "fetch the ladder, Ida!"


def _is_name(thing: str) -> bool:
    return all(word[:1].isupper() for word in thing.split())


def _name_of(text: str) -> frozenset[str]:
    return frozenset(word.removesuffix("'s") for word in words(text)) - _TITLES


def _same_name(asked: str, item: _Identity) -> bool:
    wanted = _name_of(asked)
    return bool(wanted) and (wanted <= item.name or item.name <= wanted)


def _in_role(thing: str, asked: str, known: Sequence[_Identity]) -> list[_Identity]:
    return [item for item in known if _has_role(thing, asked, item)]


def _has_role(thing: str, asked: str, item: _Identity) -> bool:
    """Tell whether a role asked for is the one told, no more and no less, and told of the time asked about."""
    determiner, _, role = thing.partition(" ")
    if determiner.lower() not in ("the", "our", "my") or item.owner not in ("the", "our", "my", "a", "an"):
        return False
    tokens = item.told.parsed.tokens
    past = any(is_past(token) for token in tokens) and not set(tokens) & {"is", "are", "may", "can", "must"}
    same_owner = determiner.lower() == item.owner or bool({"the", "a", "an"} & {determiner.lower(), item.owner})
    return same_owner and read(role).senses == item.role and past == bool(_PAST_BE.match(asked))


def _answer(found: Sequence[_Identity], discourse: Discourse) -> Framed | None:
    """Give the first statement, told with whom its possessive means; None where the names are not one."""
    if not found or any(not (item.name <= found[0].name or found[0].name <= item.name) for item in found):
        return None
    for item in found:
        if item.owner not in POSSESSIVES or item.owner in ("my", "our"):
            return Framed((item.told.statement,), (item.text,))
        before = _naming_owner(item, discourse)
        if before is not None:
            return Framed((replace(item.told.statement, before=before or None),), (item.text,))
    return None


def _naming_owner(item: _Identity, discourse: Discourse) -> str | None:
    """Give the sentences that name whose relation somebody is, empty if it is his own, None if none does.

    Where the sentence before speaks of "her" as well, who "her" is stands before that.
    """
    told = item.told
    meant = next(
        (owner for place, owner in told.meant.items() if told.parsed.tokens[place] == item.owner and owner.senses), None
    )
    if meant is None or meant.pronoun:
        return None
    if meant.senses <= read(told.statement.plain).senses:
        return ""
    place = next(at for at, other in enumerate(discourse.told) if other is told)
    before: list[str] = []
    for other in reversed(discourse.told[max(0, place - _REACH) : place]):
        if other.statement.unit_id != told.statement.unit_id:
            return None
        before.insert(0, other.statement.text)
        if not _GENDERS.get(item.owner, frozenset()) & set(other.parsed.tokens):
            return " ".join(before)
    return None
