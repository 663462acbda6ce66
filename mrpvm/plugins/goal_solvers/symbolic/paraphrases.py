"""Questions that ask the same in other words, tried where a question as it stands has no answer."""

import re
from collections.abc import Iterator

from mrpvm.plugins.goal_solvers.symbolic.converses import converses
from mrpvm.plugins.goal_solvers.symbolic.services import service_wordings

_OWNERS = {"my": "I", "our": "we", "your": "you", "his": "he", "her": "she", "their": "they"}
_PLURAL = frozenset(("I", "we", "you", "they"))
_UNITS = ("days", "weeks", "months", "hours", "minutes", "years")
_EVENT = re.compile(
    r"^(?P<ask>when|where|at what time|on (?:what|which) day) (?P<be>is|are|was|were) "
    r"(?P<owner>my|our|your|his|her|their|(?:[A-Z]\w+ )*[A-Z]\w+['\u2019]s) (?P<event>.+)$",
    re.IGNORECASE,
)
_WORK = re.compile(r"^what (?P<do>do|does|did) (?P<who>.+?) do(?: for a living)?$", re.IGNORECASE)
_JOB = re.compile(
    r"^what (?:is|was) (?P<owner>my|our|your|his|her|their|.+['\u2019]s) (?:job|profession|occupation)$", re.IGNORECASE
)
_DEADLINE = re.compile(r"^how long (?P<do>do|does|did) (?P<who>.+?) have to (?P<what>.+)$", re.IGNORECASE)
_MAY = re.compile(r"^(?:may|can) (?P<what>.+)$", re.IGNORECASE)
_BE = {"i": "am", "anybody": "is", "anyone": "is"}
_PRONOUNS = frozenset(("i", "we", "you", "anybody", "anyone"))
_SUBJECT_MAX = 3
"""Words of a subject that may stand before a verb that no list has."""
_ALLOWED = re.compile(r"^(?:am|are|is) (?P<who>.+?) (?:allowed|permitted) to (?P<what>.+)$", re.IGNORECASE)


def paraphrases(question: str) -> Iterator[str]:
    """Give a question in other words: an appointment is had, a job is worked as, a deadline is a time within which."""
    bare = " ".join(question.split()).rstrip("?.! ")
    if event := _EVENT.match(bare):
        who = _owner(event["owner"])
        auxiliary = "did" if event["be"].lower() in ("was", "were") else _do(who)
        yield f"{event['ask']} {auxiliary} {who} have the {event['event']}?"
    if work := _WORK.match(bare):
        yield f"what {work['do']} {work['who']} work as?"
    if job := _JOB.match(bare):
        who = _owner(job["owner"])
        yield f"what {_do(who)} {who} work as?"
    if deadline := _DEADLINE.match(bare):
        for unit in _UNITS:
            yield f"within how many {unit} can {deadline['who']} {deadline['what']}?"
            yield f"within how many {unit} must {deadline['who']} {deadline['what']}?"
    if may := _MAY.match(bare):
        yield from _allowances(may["what"].split())
    if (allowed := _ALLOWED.match(bare)) and allowed["who"].lower() != "it":
        yield f"may {allowed['who']} {allowed['what']}?"
    yield from converses(bare)
    yield from service_wordings(bare)


def _allowances(rest: list[str]) -> Iterator[str]:
    """Give "are guests allowed to smoke" for "may guests smoke", at each place where the verb can begin."""
    first = rest[0].lower()
    ends = [1] if first in _PRONOUNS else range(1, min(_SUBJECT_MAX, len(rest) - 1) + 1)
    for end in ends:
        yield f"{_BE.get(first, 'are')} {' '.join(rest[:end])} allowed to {' '.join(rest[end:])}?"


def _owner(written: str) -> str:
    return _OWNERS.get(written.lower(), re.sub(r"['\u2019]s$", "", written))


def _do(who: str) -> str:
    return "do" if who in _PLURAL else "does"
