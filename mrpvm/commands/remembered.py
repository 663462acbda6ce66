"""What a session remembers: which texts a turn's prompt gets, and which facts its user's messages hold."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mrpvm.english.words.text import unique_terms

USER_PROFILE, PERSONA_CORE, WORKING_RULES, TASK = "user_profile", "persona_core", "working_rules", "task_memory"
EVIDENCE = "evidence"
"""Where chunks of files go; in a prompt they come after remembered texts."""
DOMAINS = (WORKING_RULES, PERSONA_CORE, USER_PROFILE, TASK)
"""Where a record belongs, in the order of the prompt; only task memory has namespaces."""
RECALLED_OF_DOMAIN, RECALLED_CHARS = 2, 900
"""Texts of each domain in one turn's prompt, and characters of all of them at most."""
LEAST_CONFIDENCE = 0.6
CONSOLIDATED_MESSAGES = 50
"""How many of the user's newest messages are looked at for facts."""
_WORD_CHARS = 3
_VALUE_CHARS = 200
_SECRET = re.compile(r"\b(?:api[ _-]?keys?|tokens?|passwords?|secrets?|ssn)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """The parts of a record that recall uses; `citation` names the chunk that evidence is."""

    content: str
    domain: str = USER_PROFILE
    confidence: float = 1.0
    citation: str = ""

    @property
    def prompt_text(self) -> str:
        """Return the text as it is in the prompt; evidence says what it is."""
        return f"{self.content} [evidence, not canonical: {self.citation}]" if self.citation else self.content


@dataclass(frozen=True, slots=True, kw_only=True)
class UserFact:
    """Something that a user said of themselves or of a task; facts of one `conflict_group` cannot both hold."""

    content: str
    domain: str
    confidence: float
    namespace: str = ""
    conflict_group: str = ""


def names_secret(content: str) -> bool:
    """Return whether a text speaks of credentials, which are never kept."""
    return _SECRET.search(content) is not None


def recalled(newest_first: Iterable[Remembered], message: str) -> tuple[str, ...]:
    """Return the texts of a turn's prompt: by domain, then those that share most words with the message, then newest.

    Evidence comes after all of them, and only what shares a word that tells something. None is cut; one that
    does not fit any more is left out.
    """
    said = _words(message)
    confident = [item for item in newest_first if item.confidence >= LEAST_CONFIDENCE]
    kept: list[str] = []
    for domain in (*DOMAINS, EVIDENCE):
        fitting = [
            item for item in confident if item.domain == domain and (domain != EVIDENCE or _bears_on(item, message))
        ]
        ranked = sorted(fitting, key=lambda item: -len(said & _words(item.content)))
        for text in (item.prompt_text for item in ranked[:RECALLED_OF_DOMAIN]):
            if sum(map(len, kept)) + len(text) <= RECALLED_CHARS:
                kept.append(text)
    return tuple(kept)


def _bears_on(item: Remembered, message: str) -> bool:
    return not set(unique_terms(message)).isdisjoint(unique_terms(item.content))


def _words(text: str) -> frozenset[str]:
    words = ("".join(char if char.isalnum() else " " for char in text)).casefold().split()
    return frozenset(word for word in words if len(word) >= _WORD_CHARS and not word.isdigit())


_VALUE = rf"(?P<value>[^.!?;\n]{{1,{_VALUE_CHARS}}})"
_FAVOURITE = re.compile(rf"\bmy\sfavou?rite\s(?P<subject>[\w -]{{1,60}}?)\sis\s{_VALUE}", re.IGNORECASE)
_NAME = re.compile(rf"\bmy\sname\sis\s{_VALUE}", re.IGNORECASE)
_PREFERENCE = re.compile(rf"\bI\sprefer\s{_VALUE}", re.IGNORECASE)
_TASK = re.compile(rf"^task\s(?P<subject>[\w.-]{{1,60}})\s?:\s?{_VALUE}", re.IGNORECASE | re.MULTILINE)
_BLANKS = re.compile(r"\s+")


def user_facts_in(messages: Sequence[str]) -> tuple[UserFact, ...]:
    """Return what the messages state by the four rules, in the order in which it was said.

    Of one conflict group the last one counts; what names credentials is left out.

    Args:
        messages: a user's, the oldest first.
    """
    facts_by_key: dict[tuple[str, str, str], UserFact] = {}
    for message in messages:
        for _, fact in sorted(_facts_of(message), key=lambda pair: pair[0]):
            if not names_secret(fact.content):
                key = (fact.domain, fact.namespace, fact.conflict_group or fact.content.casefold())
                facts_by_key.pop(key, None)
                facts_by_key[key] = fact
    return tuple(facts_by_key.values())


def _facts_of(message: str) -> Iterable[tuple[int, UserFact]]:
    message = _BLANKS.sub(lambda run: "\n" if "\n" in run[0] else " ", message.strip())  # repeats of blanks that meet
    # each other in a pattern would take a run of blanks cubic time
    for match in _FAVOURITE.finditer(message):
        subject, value = _clean(match["subject"]), _clean(match["value"])
        yield (
            match.start(),
            UserFact(
                content=f"My favorite {subject} is {value}.",
                domain=USER_PROFILE,
                confidence=0.8,
                conflict_group=f"favorite {subject.casefold()}",
            ),
        )
    for match in _NAME.finditer(message):
        yield (
            match.start(),
            UserFact(
                content=f"My name is {_clean(match['value'])}.",
                domain=USER_PROFILE,
                confidence=0.8,
                conflict_group="name",
            ),
        )
    for match in _PREFERENCE.finditer(message):
        yield (
            match.start(),
            UserFact(content=f"I prefer {_clean(match['value'])}.", domain=WORKING_RULES, confidence=0.8),
        )
    for match in _TASK.finditer(message):
        yield (
            match.start(),
            UserFact(
                content=f"{_clean(match['value'])}.",
                domain=TASK,
                confidence=0.75,
                namespace=f"task:{match['subject'].casefold()}",
            ),
        )


def _clean(text: str) -> str:
    return " ".join(text.split())
