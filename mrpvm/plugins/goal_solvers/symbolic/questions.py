"""What a question asks for: its kind, what a statement must say, and what may fill the gap [BP-36]."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from mrpvm.knowledge.lexicon import (
    AUXILIARIES,
    BE_FORMS,
    DETERMINERS,
    DO_FORMS,
    HAVE_FORMS,
    MODALS,
    PREPOSITIONS,
    REFERRING_PRONOUNS,
    word_class,
)
from mrpvm.knowledge.pragmatics import expand_is, strip_lead
from mrpvm.knowledge.text import words
from mrpvm.plugins.goal_solvers.symbolic.dimensions import MEASURED_BY
from mrpvm.plugins.goal_solvers.symbolic.reading import Reading, Word, read, sense

FRONTED = 500
"""Rank from which a word is an object moved to the front of its question; passive subjects rank higher still."""


class Kind(StrEnum):
    """What kind of thing would answer."""

    YES_NO = "yes-no"
    WHO = "who"
    WHAT = "what"
    WHICH = "which"
    WHERE = "where"
    WHEN = "when"
    WHOSE = "whose"
    QUANTITY = "quantity"
    WHY = "why"
    HOW = "how"
    OUTCOME = "outcome"
    OPEN = "open"
    COMPARE = "compare"


SINGLE = frozenset((Kind.WHO, Kind.WHICH, Kind.WHERE, Kind.WHEN, Kind.WHOSE, Kind.QUANTITY))
"""Kinds that have one right answer: rival answers decide nothing [BP-36 b]."""

_ASKING = re.compile(
    r"^(?:(?:can|could|would|will) you (?:please )?)?(?:please )?"
    r"(?:(?:tell|show|give|remind) (?:me|us)(?: again)?|do you (?:know|remember)|find out"
    r"|i (?:want|would like|'d like|need) to know"
    r"|what do (?:you|we) know)\b[\s,:]*",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"^(?:about|of|more about|something about|all about|everything about)\s+", re.IGNORECASE)
_OPEN_VERBS = word_class("explain describe summarize summarise analyze analyse characterize diagnose evaluate assess")
_NAMING_VERBS = frozenset(("identify", "name", "define", "find", "calculate", "give", "show", "tell"))
_OUTCOME = re.compile(
    r"(?:(?:happens|happened|(?:will|would|can|could|might) happen|follows|does it mean)(?: to [^,]+?)?"
    r"|(?:must|should|shall|can|may|do|does|did|has|have|is|are)\s+(?P<actor>(?:\S+\s+){0,4}?)(?:to\s+)?"
    r"(?:do|be done|happen))"
    r",?\s+(?P<condition>(?:if|when|whenever|once|as soon as|unless|before|after|until)\s.+)$",
    re.IGNORECASE,
)
_PROCEDURE = re.compile(
    r"(?:is|are) the (?:(?:right|correct|single|exact) )?(?:steps?|procedure|process|instructions?|way|order of steps)"
    r" (?:to|for|of|when) (?P<task>.+)$|steps (?:are (?:needed|required|necessary)|do (?:i|we|you) (?:need|take))"
    r" (?:to|for) (?P<needed>.+)$",
    re.IGNORECASE,
)
_PROCEDURE_LEAD = re.compile(
    r"^(?:the )?(?:steps?|procedure|process|instructions?|way)\s+(?:to|for|of)\s+(?P<task>.+)$|^how to\s+(?P<how>.+)$",
    re.IGNORECASE,
)
_LEADING_PREPOSITION = re.compile(r"^[a-z]{2,7}\s+(?=(?:which|what|whom|how (?:many|much|long))\b)", re.IGNORECASE)
_WHEN_LIMIT = re.compile(r"^(by|until|till|from|since) when\b\s*", re.IGNORECASE)
_DUTY = re.compile(r"\bdo (i|we|you) (?:have|need) to\b", re.IGNORECASE)
_CHECKING = re.compile(r"^(?:verify|check|confirm|prove|validate)\b(?:\s+(?:that|whether|if))?\s+", re.IGNORECASE)
_MEASURES = {
    "old": "age", "young": "age", "tall": "length", "high": "length", "long": "length-or-time", "wide": "length",
    "deep": "length", "far": "length", "heavy": "weight", "much": "amount", "many": "count", "often": "frequency",
    "big": "size", "large": "size", "fast": "speed", "hot": "temperature", "cold": "temperature",
    "warm": "temperature", "thick": "length",
}  # fmt: skip
ATTRIBUTES = {
    "colour": "colour", "color": "colour", "colours": "colour", "colors": "colour",
    "name": "name", "year": "year", "month": "month", "day": "day",
    "date": "date", "time": "time", "age": "age", "price": "amount", "cost": "amount",
    "amount": "amount", "temperature": "temperature", "weight": "weight", "height": "length", "length": "length",
    "width": "length", "depth": "length", "thickness": "length",
}  # fmt: skip
"""Nouns that name the kind of value asked for: the statement need not say them if it gives such a value."""
_GENERIC = {"person": Kind.WHO, "people": Kind.WHO, "place": Kind.WHERE, "location": Kind.WHERE, "reason": Kind.WHY}
_EMPTY = frozenset(("kind", "type", "sort", "thing", "happen", "exactly", "currently", "actually", "really"))
_EMPTY_SENSES = frozenset(sense(word) for word in _EMPTY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question made ready for comparison with statements.

    `required` must be said by a statement; `attribute` is the kind of value asked for; `gap_first` says that the answer
    is the subject; `stranded` is a preposition left at the end ("Who did she sell it to?"), `limit` one before "when"
    ("until when"); `is_copular` says that the question only joins a thing and what it is.
    """

    text: str
    kind: Kind
    reading: Reading
    required: tuple[Word, ...]
    attribute: str | None = None
    counted: str | None = None
    gap_first: bool = False
    is_copular: bool = False
    auxiliary: str = ""
    stranded: str | None = None
    has_open_pronoun: bool = False
    actor: frozenset[str] = frozenset()
    head: str | None = None
    asks_for_deed: bool = False
    measure: str | None = None
    limit: str | None = None

    @property
    def senses(self) -> frozenset[str]:
        """Give the senses a statement must have."""
        return frozenset(word.sense for word in self.required)


def _bare(text: str) -> str:
    stripped = expand_is(" ".join(text.split())).strip().rstrip("?.! \t").strip()
    stripped = _DUTY.sub(r"must \1", strip_lead(stripped))
    shorter = _ASKING.sub("", stripped, count=1)
    return shorter if words(shorter) else stripped


def analyse(text: str) -> Question:
    """Give the question that an intent's text asks."""
    bare = _LEADING_PREPOSITION.sub("", _bare(text), count=1)
    found = words(bare)
    if not found:
        return _open(text, bare)
    limited = _WHEN_LIMIT.match(bare)
    if limited:
        return replace(_gapped(text, Kind.WHEN, bare[limited.end() :]), limit=limited[1].lower())
    first = found[0]
    if first in ("compare", "contrast") or re.search(r"\bdifferences? between\b|\bversus\b|\bvs\b", bare.lower()):
        return _build(
            text, Kind.COMPARE, re.sub(r"^.*?(?:compare|contrast|differences? between)\b", "", bare, flags=re.I)
        )
    if _CHECKING.match(bare):
        return _build(text, Kind.YES_NO, _CHECKING.sub("", bare, count=1), auxiliary="")
    if first in _OPEN_VERBS or first in _NAMING_VERBS or first in ("list", "enumerate", "recommend", "suggest"):
        return _imperative(text, bare, first)
    if _ABOUT.match(bare):
        return _open(text, _ABOUT.sub("", bare, count=1))
    if first in AUXILIARIES:
        return _build(text, Kind.YES_NO, bare, auxiliary=first, is_copular=first in BE_FORMS)
    return _interrogative(text, bare, found)


def _imperative(text: str, bare: str, first: str) -> Question:
    rest = _ABOUT.sub("", bare.partition(" ")[2].strip(), count=1)
    asked = words(rest)
    steps = _PROCEDURE_LEAD.match(rest)
    if steps:
        return _build(text, Kind.HOW, steps["task"] or steps["how"])
    if asked and asked[0] in ("why", "how", "what", "who", "where", "when", "which", "whose"):
        return _interrogative(text, rest, asked)
    if first in ("identify", "name", "define", "find"):
        return _build(text, Kind.WHAT, f"is {rest}", is_copular=True)
    return _open(text, rest)


def _open(text: str, rest: str) -> Question:
    return _build(text, Kind.OPEN, rest)


def _interrogative(text: str, bare: str, found: list[str]) -> Question:
    first, second = found[0], found[1] if len(found) > 1 else ""
    rest = re.sub(r"^\S+\s*", "", bare)
    if first == "why" or (first == "how" and second in ("come",)):
        return _build(text, Kind.WHY, rest, auxiliary=second)
    if first == "how":
        return _how(text, rest, second)
    if first in ("who", "whom"):
        return _gapped(text, Kind.WHO, rest)
    if first in ("where", "when"):
        return _gapped(text, Kind.WHERE if first == "where" else Kind.WHEN, rest)
    if first == "whose":
        return _build(text, Kind.WHOSE, rest, gap_first=True)
    return _what(text, first, rest) if first in ("what", "which") else _open(text, bare)


def _how(text: str, rest: str, second: str) -> Question:
    if second in ("many", "much"):
        tail = re.sub(r"^\S+\s*", "", rest)
        counted = next((word.sense for word in read(tail).words), None) if second == "many" else None
        return _build(text, Kind.QUANTITY, tail, attribute=_MEASURES[second], counted=counted, gap_first=True)
    if second in _MEASURES:
        tail = re.sub(r"^\S+\s*", "", rest)
        head = words(tail)[:1]
        auxiliary = head[0] if head and head[0] in AUXILIARIES else ""
        return replace(
            _build(text, Kind.QUANTITY, tail, attribute=_MEASURES[second], auxiliary=auxiliary), measure=second
        )
    if re.match(r"(?:is|are|was|were)\b.*\b(?:called|named)$", rest):
        return _gapped(text, Kind.WHAT, rest)
    return _build(text, Kind.HOW, rest, auxiliary=second)


def _what(text: str, first: str, rest: str) -> Question:
    outcome = _OUTCOME.match(rest)
    if outcome:
        actor = frozenset(word.sense for word in read(outcome["actor"] or "").words if not word.is_pronoun)
        return replace(_build(text, Kind.OUTCOME, outcome["condition"]), actor=actor)
    steps = _PROCEDURE.match(rest)
    if steps:
        return _build(text, Kind.HOW, steps["task"] or steps["needed"])
    meaning = re.match(r"(?:does|do|did|is)\s+(.+?)\s+(?:mean|meant)(?:\s+by\s+(.+))?$", rest)
    if meaning:
        return _build(text, Kind.WHAT, f"is {meaning[2] or meaning[1]}", is_copular=True)
    kind = Kind.WHICH if first == "which" else Kind.WHAT
    deed = re.match(r"((?:must|shall|should|can|may|does|do|did|will)\s+.+?)\s+do$", rest, re.IGNORECASE)
    if deed:
        return replace(_gapped(text, kind, deed[1]), asks_for_deed=True)
    question = _which_or_what(text, kind, rest)
    noun = next(iter(read(rest).words), None)
    labels = noun is not None and noun.place == 0 and not question.attribute and noun.sense in question.senses
    return replace(question, head=noun.sense) if noun and labels else question


def _which_or_what(text: str, kind: Kind, rest: str) -> Question:
    head = words(rest)[:2]
    if head and head[0] in ("is", "are", "was", "were"):
        named = re.match(r"(?:is|are|was|were)\s+(?:the|an?)\s+(\w+)\s+(?:of|for)\s+(.+)$", rest)
        if named and named[1].lower() in ATTRIBUTES:
            noun = named[1].lower()
            thing = f"{head[0]} {named[2]}"
            if noun in MEASURED_BY:
                asked = _build(text, Kind.QUANTITY, thing, attribute=ATTRIBUTES[noun], auxiliary=head[0])
                return replace(asked, measure=MEASURED_BY[noun])
            return _build(text, kind, thing, attribute=ATTRIBUTES[noun], is_copular=True)
        if named and named[1].lower() == "reason":
            return _build(text, Kind.WHY, named[2])
        return _gapped(text, kind, rest)
    labelled = re.match(r"\w+(?:\s\w+)?\s+((?:is|was|are|were)\s+the\s(?:.+\sof\s|\w+est\s|most\s|only\s).+)$", rest)
    if labelled and head[0] not in ATTRIBUTES:
        # "Which city is the capital of ...": the noun only labels what the rest already pins down.
        return _gapped(text, kind, labelled[1])
    for word in head:
        if word in _GENERIC:
            return _gapped(text, _GENERIC[word], re.sub(rf"^.*?\b{word}\b\s*", "", rest))
        if word in ATTRIBUTES:
            asked = _gapped(text, kind, re.sub(rf"^.*?\b{word}\b\s*", "", rest), attribute=ATTRIBUTES[word])
            return replace(asked, measure=MEASURED_BY.get(word))
    return _gapped(text, kind, rest)


def _gapped(text: str, kind: Kind, rest: str, attribute: str | None = None) -> Question:
    head = words(rest)[:1]
    auxiliary = head[0] if head and head[0] in AUXILIARIES else ""
    return _build(
        text,
        kind,
        rest,
        attribute=attribute,
        auxiliary=auxiliary,
        gap_first=not auxiliary,
        is_copular=auxiliary in BE_FORMS and auxiliary != "",
    )


def _build(
    text: str,
    kind: Kind,
    skeleton: str,
    *,
    attribute: str | None = None,
    counted: str | None = None,
    gap_first: bool = False,
    is_copular: bool = False,
    auxiliary: str = "",
) -> Question:
    reading = read(skeleton.strip())
    required = [word for word in reading.words if word.sense not in _EMPTY_SENSES]
    fronted = _fronted(reading)
    auxiliary = auxiliary or (reading.tokens[fronted] if fronted else "")
    if kind is Kind.HOW or auxiliary in MODALS:
        # Instructions are told to "you" or to nobody, but asked for by "I" and "we".
        required = [word for word in required if not word.is_pronoun]
    if is_copular and kind is not Kind.YES_NO and len(required) > 1 and _names_value(required[-1], reading):
        # "my dog's name", "the car's colour": the last noun only says which value is asked for.
        attribute = attribute or ATTRIBUTES[required.pop().text]
    if fronted:
        required = [replace(word, rank=word.rank + FRONTED) if word.place < fronted else word for word in required]
    return Question(
        text=text,
        kind=kind,
        reading=reading,
        required=tuple(required),
        attribute=attribute,
        counted=counted,
        gap_first=gap_first and not fronted,
        is_copular=is_copular and not reading.is_passive,
        auxiliary=auxiliary,
        stranded=reading.tokens[-1] if reading.tokens and reading.tokens[-1] in PREPOSITIONS else None,
        has_open_pronoun=_has_open_pronoun(reading),
    )


def _names_value(last: Word, reading: Reading) -> bool:
    return last.text in ATTRIBUTES and last.is_core and reading.tokens[last.place - 1] not in DETERMINERS


_EMPTY_IT = re.compile(r"it (?:(?:cost|take|possible|allowed|permitted|necessary|required|forbidden) )?to\b")
"""What "it" begins that stands for the deed behind it."""


def _has_open_pronoun(reading: Reading) -> bool:
    """Tell whether a pronoun has nothing before it in the question that it could stand for."""
    content = {word.place for word in reading.words if not word.is_pronoun}
    for place, token in enumerate(reading.tokens):
        pointing = token in ("this", "that", "these", "those") and place + 1 in content
        pointing = pointing or _EMPTY_IT.match(" ".join(reading.tokens[place:])) is not None
        if token in REFERRING_PRONOUNS and not pointing and not any(before < place for before in content):
            return True
    return False


def _fronted(reading: Reading) -> int:
    """Give the place of the auxiliary behind a fronted object ("legs does the table have"), 0 if there is none."""
    inverting = DO_FORMS | MODALS | HAVE_FORMS
    found = next((place for place, token in enumerate(reading.tokens) if token in inverting), 0)
    follows_noun = any(word.place < found for word in reading.words)
    precedes_more = found + 1 < len(reading.tokens) and any(word.place > found for word in reading.words)
    return found if follows_noun and precedes_more and reading.tokens[found] in DO_FORMS | MODALS else 0
