"""What a statement says besides, in the words in which it is asked for: rules on statements, one row each."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mrpvm.english.lexicon import BELONGING


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewording:
    """What a statement says too, and the topic under which that is found where it does not name it."""

    topic: str | None
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """A pattern of statements, and what those say too; both are filled in from the pattern's groups."""

    pattern: re.Pattern[str]
    topic: str | None
    said: tuple[str, ...]


_AM = r"\b(?:[Ii] am|[Ii]['\u2019]m)"
_NAME = r"(?P<name>[A-Z][\w-]+(?: (?:[A-Z][\w-]+|[A-Z]\.|van|von|de|da))*)"
_END = r"(?=[.,!;]|$| and\b| but\b)"
_RULES = (
    _Rule(
        pattern=re.compile(rf"(?:{_AM}|^(?:[Pp]lease )?[Cc]all me) {_NAME}{_END}"),
        topic="my name",
        said=("my name is {name}",),
    ),
    _Rule(
        pattern=re.compile(rf"{_AM} (?P<age>\d{{1,3}})(?: years old)?{_END}"),
        topic="my age",
        said=("I am {age} years old",),
    ),
    _Rule(
        pattern=re.compile(
            r"\b(?:I|We|we) (?:have |just )*(?:moved|relocated) (?:house |home )?(?:from .+? )?to "
            r"(?P<place>[A-Z][\w' -]*?)(?=[,.!;]|$| (?:in|last|on|at|this|because|for|with|two|three|and)\b)"
        ),
        topic="where I live",
        said=("we now live in {place}", "I now live in {place}"),
    ),
    _Rule(
        pattern=re.compile(
            r"\b[Ii] (?:now |currently )?(?:work|am working|['\u2019]m working) as "
            r"(?P<job>(?:an?|the) [\w-]+(?: [\w-]+){0,2}?)(?=[.,!;]|$| (?:and|but|in|at|for|with|on|since|near)\b)"
        ),
        topic="my job",
        said=("my job is {job}",),
    ),
    _Rule(
        pattern=re.compile(r"\b[Ii] have an? (?P<thing>[\w-]+(?: [\w-]+)?) (?P<when>(?:on|at) [^,;.!]+)"),
        topic=None,
        said=("my {thing} is {when}",),
    ),
    _Rule(
        pattern=re.compile(
            r"^(?P<who>(?:[Tt]he |[Mm]y )?[\w-]+(?: [A-Z][\w-]+)*) works as "
            r"(?P<job>(?:an?|the) [\w-]+(?: [\w-]+){0,2}?)(?=[.,!;]|$| (?:and|but|in|at|for|with|on|since|near)\b)"
        ),
        topic=None,
        said=("{who} is {job}",),
    ),
    _Rule(
        pattern=re.compile(
            r"^(?P<who>(?:[Tt]he |[Mm]y )?[\w-]+) (?:then |later |just )?(?:went|moved|travell?ed|journeyed|walked"
            r"|ran|drove|flew|returned|came|hurried)(?: back| over)? to (?P<place>(?:the |my |our )?[\w-]+)[.!]*$"
        ),
        topic=None,
        said=("{who} is now in {place}",),
    ),
)


def rewordings(text: str) -> Iterator[Rewording]:
    """Yield what a sentence says besides, in the order of the table."""
    for rule in _RULES:
        found = rule.pattern.search(text)
        if found is None or found.groupdict().get("name", "").split(" ")[0].lower() in BELONGING:
            continue
        for said in rule.said:
            yield Rewording(topic=rule.topic, said=said.format(**found.groupdict()))
