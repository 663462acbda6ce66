"""What a question asks of a label and its value: which words have to stand there, and what value fits."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from mrpvm.knowledge.lexicon import MONTHS, PREPOSITIONS, TIME_WORDS, WEEKDAYS, word_class
from mrpvm.knowledge.pragmatics import expand_is, strip_lead
from mrpvm.plugins.goal_solvers.symbolic.addresses import CONTACTS
from mrpvm.plugins.goal_solvers.symbolic.reading import read, sense
from mrpvm.plugins.goal_solvers.symbolic.units import LABEL_UNITS, MONEY, MONEY_SIGNS, UNITS

_CANONICAL = (
    (re.compile(r"\b(?:e-?mail|mail)(?: addresse?s?)?\b", re.I), "email"),
    (re.compile(r"\b(?:(?:tele)?phone|tel)\b\.?(?: numbers?)?", re.I), "phone"),
    (re.compile(r"\bfax(?: numbers?)?\b", re.I), "fax"),
    (re.compile(r"\b(?:web ?site|web ?page|homepage|url|web address)\b", re.I), "website"),
    (re.compile(r"\b(?:opening|business|office) (?:hours|times)\b", re.I), "hours"),
    (re.compile(r"(?:^|(?<=\bthe )|(?<=maximum ))number of\b", re.I), ""),
    (re.compile(r"\bmax\b\.?", re.I), "maximum"),
    (re.compile(r"\bmin\b\.?(?! *$)", re.I), "minimum"),
)
_NUMBER = r"(?<!\d)(?<!\d[.,\u2019'])\d[\d.,\u2019']*"
_SIGN = f"[{''.join(MONEY_SIGNS)}]"
_CURRENCY = re.compile(
    rf"{_SIGN}\s?{_NUMBER}|{_NUMBER}\s?(?:{_SIGN}|(?:{'|'.join(MONEY - MONEY_SIGNS)})\b)|\bfree\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b\d{1,2}[:.]\d\d\b|\b\d{1,2} ?[ap]\.?m\b|\b(?:1[5-9]|20)\d\d\b"
    rf"|\b(?:{'|'.join(sorted(MONTHS | WEEKDAYS))})s?\b"
    r"|\bnoon\b|\bmidnight\b|\bdaily\b|\bround the clock\b",
    re.IGNORECASE,
)
_COUNT = re.compile(
    rf"^(?:(?:up to|at most|at least|about|max(?:imum)?\.?)\s+)?{_NUMBER}"
    rf"(?:\s*$|\s*[,;(/]|\s+(?:{'|'.join(sorted(PREPOSITIONS))}|each|every|a)\b)",
    re.IGNORECASE,
)
_COUNTED = re.compile(rf"^{_NUMBER}\s+[^\W\d_]{{3,}}")
_ANY_NUMBER = re.compile(r"\d")
_PERSON = re.compile(
    r"^(?:(?:Dr|Prof|Mr|Mrs|Ms)\.? )?[A-Z][\w'\u2019.-]*"
    r"(?: (?:[A-Z][\w'\u2019.&-]*|of|and|de|van|von|der|the))*(?:,.*)?$"
)
_SIZES = {
    "wide": ("width", "length"), "broad": ("width", "length"), "high": ("height", "length"),
    "tall": ("height", "length"), "deep": ("depth", "length"), "thick": ("thickness", "length"),
    "long": ("length", "length"), "heavy": ("weight mass", "weight"), "old": ("age", "age"),
    "hot": ("temperature", "temperature"), "fast": ("speed", "speed"), "large": ("size", "size"),
    "big": ("size", "size"),
}  # fmt: skip
"""The nouns that a label may name a size with, and the kind of its value."""


def _senses(listing: str) -> frozenset[str]:
    return frozenset(sense(word) for word in word_class(listing))


LIMITS = _senses("limit limitation maximum quota restriction allowance")
_NEEDS = _senses("requirement require required prerequisite need needed minimum")
_PRICES = _senses("price cost fee rate tariff charge pricing")
_HOURS = _senses("hours open opening")
_PLACES = _senses("address location place venue")
_TIMES = _senses("date time day hours schedule timetable deadline")
_LIGHT = _senses("make have use do get take send there cost amount to be allowed permitted possible")
_PLACING = _senses("locate located situate situated find found lie")
_NEEDING = _senses("require required need needed necessary")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelQuestion:
    """A question put to labels.

    `things` have to be said by the label or its heading, those that are `limits` ("per night") at least by the value;
    one of `said_by`, if there are any, by label or heading; `optional` words may stand there besides; where `links` are
    given, the label ends in one of them; `contact` is the kind of address asked for.
    """

    things: frozenset[str]
    fits: Callable[[str], bool]
    said_by: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    links: frozenset[str] = frozenset()
    limits: frozenset[str] = frozenset()
    contact: str | None = None


def canonical(text: str) -> str:
    """Give a text in which what has several usual names on labels has one: "telephone number", "Tel." are "phone"."""
    for pattern, name in _CANONICAL:
        text = pattern.sub(name, text)
    return text


def label_questions(text: str) -> Iterator[LabelQuestion]:
    """Give what a question may ask of a label, the plainest first; nothing for questions of another kind."""
    bare = strip_lead(expand_is(" ".join(text.split())).rstrip("?.! ")).strip()
    asked = canonical(bare)
    for pattern, build in _FORMS:
        match = pattern.match(asked)
        question = build(match) if match else None
        if question is not None and question.things | question.said_by:
            yield replace(question, limits=question.limits | _limits(asked))


def _limits(asked: str) -> frozenset[str]:
    """Give what a question only narrows its thing down with: behind a preposition, or a time ("30 francs a day")."""
    return frozenset(
        word.sense for word in read(asked).words if word.preposition not in (None, "of") or word.text in TIME_WORDS
    )


def _things(text: str, *without: frozenset[str]) -> frozenset[str]:
    found = frozenset(word.sense for word in read(text).words if not word.is_pronoun)
    return found.difference(*without)


def _named(match: re.Match[str]) -> LabelQuestion:
    things = _things(match["thing"])
    if LIMITS & things:
        return LabelQuestion(things=things - LIMITS, said_by=LIMITS, fits=lambda value: bool(_ANY_NUMBER.search(value)))
    if _PRICES & things:
        return LabelQuestion(things=things - _PRICES, said_by=_PRICES, fits=lambda value: bool(_CURRENCY.search(value)))
    return LabelQuestion(things=things, fits=bool)


def _contact(match: re.Match[str]) -> LabelQuestion | None:
    """Give the question for a number or address: what the value looks like says which kind it is."""
    things = _things(match["thing"])
    kind = next(iter(things & CONTACTS.keys()), None)
    if kind is not None and things == {kind} and match["thing"].lower().startswith("your "):
        things |= {"we"}
    if kind is None or things == {kind}:
        return None
    return LabelQuestion(things=things - {kind}, contact=kind, fits=lambda value: bool(CONTACTS[kind].search(value)))


def _person(match: re.Match[str]) -> LabelQuestion:
    return LabelQuestion(things=_things(match["thing"]), fits=lambda value: bool(_PERSON.match(value)))


def _chosen(match: re.Match[str]) -> LabelQuestion | None:
    rest = _things(match["thing"])
    needs = bool(rest & _NEEDING)
    return LabelQuestion(things=rest - _LIGHT - _NEEDING, said_by=_NEEDS if needs else frozenset(), fits=bool)


def _price(match: re.Match[str]) -> LabelQuestion:
    things = _things(match["thing"], _LIGHT, _PRICES)
    return LabelQuestion(things=things, optional=_PRICES, fits=lambda value: bool(_CURRENCY.search(value)))


def _paid(match: re.Match[str]) -> LabelQuestion:
    things = _things(match["thing"], _senses("pay"))
    return LabelQuestion(things=things, said_by=_PRICES, fits=lambda value: bool(_CURRENCY.search(value)))


def _size(match: re.Match[str]) -> LabelQuestion | None:
    nouns, kind = _SIZES[match["adjective"].lower()]
    things = _things(match["thing"])
    if match["be"].lower() in ("can", "may"):
        return LabelQuestion(things=things, said_by=LIMITS, optional=_senses(nouns), fits=_measured(kind))
    return LabelQuestion(things=things, said_by=_senses(nouns), fits=_measured(kind))


def _duration(match: re.Match[str]) -> LabelQuestion:
    return LabelQuestion(things=_things(match["thing"]), optional=_senses("duration"), fits=_measured("duration"))


def _weight(match: re.Match[str]) -> LabelQuestion:
    nouns, kind = _SIZES["heavy"]
    return LabelQuestion(things=_things(match["thing"]), said_by=_senses(nouns), fits=_measured(kind))


def _measured(kind: str) -> Callable[[str], bool]:
    units = "|".join((*UNITS[kind], *LABEL_UNITS.get(kind, ())))
    pattern = re.compile(rf"{_NUMBER}\s?(?:{units})(?:\b|$)", re.IGNORECASE)
    return lambda value: bool(pattern.search(value))


def _limit(match: re.Match[str]) -> LabelQuestion:
    things = _things(match["thing"], _LIGHT, LIMITS)
    return LabelQuestion(things=things, said_by=LIMITS, fits=lambda value: bool(_COUNT.match(value)))


def _count(match: re.Match[str]) -> LabelQuestion:
    things = _things(match["thing"], _LIGHT, _senses("hold contain include"))
    counted = frozenset(word.sense for word in read(match["counted"]).words)

    def fits(value: str) -> bool:
        following = _COUNTED.match(value)
        return bool(_COUNT.match(value) and not counted & read(value).senses) or bool(
            following and counted <= read(following.group()).senses
        )

    return LabelQuestion(things=things | counted, limits=counted, fits=fits)


def _need(match: re.Match[str]) -> LabelQuestion:
    things = _things(match["thing"], _LIGHT, _NEEDING)
    return LabelQuestion(things=things, said_by=_NEEDS, fits=lambda value: bool(_ANY_NUMBER.search(value)))


def _open(match: re.Match[str]) -> LabelQuestion:
    things = _things(match["thing"], _senses("open opened"))
    return LabelQuestion(things=things, said_by=_HOURS, optional=_TIMES, fits=lambda value: bool(_TIME.search(value)))


def _time(match: re.Match[str]) -> LabelQuestion:
    things = _things(match["thing"])
    return LabelQuestion(things=things, optional=_TIMES, fits=lambda value: bool(_TIME.search(value)))


def _place(match: re.Match[str]) -> LabelQuestion:
    return LabelQuestion(things=_things(match["thing"], _PLACING), said_by=_PLACES, fits=bool)


def _linked_place(match: re.Match[str]) -> LabelQuestion:
    return LabelQuestion(things=_things(match["thing"]), fits=bool, links=frozenset(("in", "at", "from")))


type _Build = Callable[[re.Match[str]], LabelQuestion | None]
_IS = r"(?:is|are|was|were)"
_WHEN = r"(?:when|(?:at )?what time|on (?:what|which) days?)"
_FORMS: tuple[tuple[re.Pattern[str], _Build], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), build)
    for pattern, build in (
        (rf"^(?:what|which) {_IS} (?P<thing>.+)$", _named),
        (rf"^(?:what|which) {_IS} (?P<thing>.+)$", _contact),
        (rf"^who {_IS} (?P<thing>(?:the|our|your|its) .+|.+['\u2019]s .+)$", _person),
        (r"^(?:what|which) (?P<thing>.+? (?:do|does) .+? (?:use|have|need|require))$", _chosen),
        (rf"^(?:what|which) (?P<thing>.+? {_IS} (?:required|needed|necessary))$", _chosen),
        (rf"^(?:what|which) (?P<thing>\w+(?: \w+)? {_IS} .+)$", _named),
        (r"^how much (?:does|do) (?P<thing>.+? costs?\b.*)$", _price),
        (r"^what (?:does|do) (?P<thing>.+? costs?\b.*)$", _price),
        (r"^how much (?:is|are) (?P<thing>.+)$", _price),
        (r"^how much (?:does|do) (?P<thing>.+? pay\b.*)$", _paid),
        (r"^(?:how much|what) (?:does|do) (?P<thing>.+?) weigh$", _weight),
        (rf"^how (?P<adjective>wide|broad|high|tall|deep|thick|long|heavy|old|hot|fast|large|big) (?P<be>{_IS}|can|may)"
         r" (?P<thing>.+?)(?: be)?$", _size),
        (r"^how long (?:is|are) (?P<thing>.+)$", _duration),
        (r"^how many (?P<thing>.+? (?:can|may) (?:i|we|you|one|(?:an? |each |every )?users?) .+)$", _limit),
        (r"^how many (?P<thing>.+? are (?:allowed|permitted|possible)\b.*)$", _limit),
        (r"^how many (?P<thing>(?P<counted>.+?) (?:are there|(?:do|does) .+ (?:have|hold|contain|include))\b.*)$",
         _count),
        (rf"^how (?:much|many) (?P<thing>.+? (?:{_IS} (?:required|needed|necessary)|do (?:i|we|you) need)\b.*)$",
         _need),
        (rf"^{_WHEN} (?:is|are|does|do) (?P<thing>.+? opens?\b.*)$", _open),
        (rf"^{_WHEN} (?:is|are|was|were) (?P<thing>.+)$", _time),
        (rf"^where {_IS} (?P<thing>.+)$", _place),
        (r"^where (?:can|do) (?:i|we|you) (?P<thing>find .+)$", _place),
        (rf"^where {_IS} (?P<thing>.+)$", _linked_place),
    )
)  # fmt: skip
