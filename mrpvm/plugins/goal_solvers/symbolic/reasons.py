"""Why something is so, and what follows from it: the words that join them tell cause and effect apart [BP-36 c]."""

import re
from collections.abc import Iterable, Sequence

from mrpvm.knowledge.verbs import base_of_past
from mrpvm.plugins.goal_solvers.symbolic.matching import pair, truth_holds
from mrpvm.plugins.goal_solvers.symbolic.questions import Question
from mrpvm.plugins.goal_solvers.symbolic.reading import Reading, read
from mrpvm.plugins.goal_solvers.symbolic.statements import Statement

_CAUSE = r"because|due to|owing to|thanks to|on account of|so that|in order to|in order that|as a result of"
_EFFECT_FIRST = re.compile(rf"^(?P<effect>.+?),?\s+(?:{_CAUSE}|for fear)\b", re.IGNORECASE)
_SINCE = re.compile(
    r"^(?P<effect>.+?),\s+(?:since|as|for)\s+(?=(?:the|a|an|he|she|it|they|his|her|its|their|no|there|[A-Z])\b)"
)
_CAUSE_FIRST = re.compile(r"^(?:because|since|as|due to|owing to|thanks to)\b[^,]+,\s+(?P<effect>.+)$", re.IGNORECASE)
_CONSEQUENCE = re.compile(
    r"^.+?,?\s+(?:so|therefore|and so|which is why|that is why)\s+(?!that\b)(?P<effect>.+)$", re.IGNORECASE
)
_CAUSAL_VERB = re.compile(
    r"^.+?\b(?:leads? to|led to|causes?|caused|triggers?|triggered|results? in|resulted in|makes?|made)"
    r"\s+(?P<effect>.+)$",
    re.IGNORECASE,
)
_EFFECTS = (_EFFECT_FIRST, _SINCE, _CAUSE_FIRST, _CONSEQUENCE, _CAUSAL_VERB)
_GIVES_REASON = re.compile(
    r"^(?:because|this is because|that is because|it was because|this was because|the reason|the cause)\b",
    re.IGNORECASE,
)
_DRAWS_CONCLUSION = re.compile(
    r"^(?:therefore|so|as a result|for this reason|for that reason|that is why|this is why|consequently|thus|hence)"
    r"\b[\s,]*(?P<effect>.+)$",
    re.IGNORECASE,
)
_CONDITION_FIRST = re.compile(
    r"^(?:if|when|whenever|once|as soon as|unless|before|after|until)\s+(?P<condition>[^,]+),\s+"
    r"(?:then\s+)?(?P<main>.+)$",
    re.IGNORECASE,
)
_MAIN_FIRST = re.compile(
    r"^(?P<main>.+?),?\s+(?:if|when|whenever|once|as soon as|unless|before|after|until)\s+(?P<condition>.+)$",
    re.IGNORECASE,
)
_WHOEVER = re.compile(
    r"^(?:whoever|(?:any|every)(?:one|body) who|(?:(?:all|any|every) )?(?:guest|visitor|customer|user|person|"
    r"participant|passenger|people|those)s? who) (?P<condition>.+?),? "
    r"(?P<main>(?:is|are|will|must|may|can|cannot|has to|have to|gets?|pays?|loses?|receives?)\b.+)$",
    re.IGNORECASE,
)
"""Whom something holds for, which says under which condition it holds for anybody."""
_DONE_TO = re.compile(
    r"^(?P<done>lost|missed|broken|damaged|cancelled|canceled|forgotten) (?P<thing>(?:[a-z-]+ )?[a-z-]+) "
    r"(?P<main>(?:costs?|must|has to|have to|(?:is|are|will be) (?:charged|billed|fined))\b.+)$",
    re.IGNORECASE,
)
"""What becomes of a thing that somebody did something to: "lost keys cost 20 euros"."""
_LINK = re.compile(r"^(?:if|when|whenever|once|as soon as|unless|before|after|until)\s+", re.IGNORECASE)
ANSWER_MAX = 2
"""Statements that give a reason or an outcome."""


def stated_reasons(question: Question, statements: Sequence[Statement]) -> list[Statement]:
    """Give the statements that say what is asked as the effect of something, with the sentence that goes with it."""
    found: list[Statement] = []
    for item in statements:
        if any(_says(question, effect) for effect in _effects(item)):
            found.append(item)
            continue
        following, before = next_of(item, statements), previous_of(item, statements)
        if following and _GIVES_REASON.match(following.text) and states(question, item):
            found += [item, following]
        elif (
            before and (drawn := _DRAWS_CONCLUSION.match(item.reading.text)) and _says(question, read(drawn["effect"]))
        ):
            found += [before, item]
    return found[:ANSWER_MAX]


def _effects(item: Statement) -> Iterable[Reading]:
    text = item.reading.text.rstrip(".! ")
    for pattern in _EFFECTS:
        match = pattern.match(text)
        if match:
            yield read(match["effect"])


def _says(question: Question, reading: Reading) -> bool:
    return pair(question, reading) is not None and truth_holds(question, reading)


def states(question: Question, item: Statement) -> bool:
    """Tell whether a statement, or a clause of it, says what the question takes for granted."""
    return any(_says(question, reading) for reading in item.readings)


def outcomes(question: Question, statements: Sequence[Statement]) -> list[Statement]:
    """Give the statements that say what holds, or is to be done, under the condition asked about."""
    link = _LINK.match(question.reading.text)
    found = []
    for item in statements:
        for condition, main, joined_by in _conditionals(item.reading.text.rstrip(".! ")):
            same_link = not link or _kind(link.group()) == _kind(joined_by)
            if same_link and question.actor <= main.senses and _says(question, condition):
                found.append(item)
                break
    return found[:ANSWER_MAX]


def _conditionals(text: str) -> Iterable[tuple[Reading, Reading, str]]:
    for pattern in (_CONDITION_FIRST, _MAIN_FIRST):
        match = pattern.match(text)
        if match:
            joined_by = text[: match.start("condition")].split()[-1]
            yield read(f"{joined_by} {match['condition']}"), read(match["main"]), joined_by
    if whoever := _WHOEVER.match(text):
        yield read(f"if I {whoever['condition']}"), read(whoever["main"]), "if"
    if (done_to := _DONE_TO.match(text)) and (deed := base_of_past(done_to["done"].lower())):
        yield read(f"if I {deed} {done_to['thing']}"), read(done_to["main"]), "if"


def _kind(link: str) -> str:
    """Give what a conjunction says: a condition, or a place in time."""
    word = link.strip().lower().split()[-1]
    return word if word in ("unless", "before", "after", "until") else "if"


def next_of(item: Statement, statements: Sequence[Statement]) -> Statement | None:
    """Give the sentence behind `item` in its unit."""
    return _at(item, item.position + 1, statements)


def previous_of(item: Statement, statements: Sequence[Statement]) -> Statement | None:
    """Give the sentence before `item` in its unit."""
    return _at(item, item.position - 1, statements)


def _at(item: Statement, position: int, statements: Sequence[Statement]) -> Statement | None:
    return next((other for other in statements if other.unit_id == item.unit_id and other.position == position), None)
