"""Symbolic facts of sentences: subject, relation, object."""

import re

from msgspec import Struct

from mrpvm.english.messages.kinds import is_task_request
from mrpvm.english.words.lexicon import pattern, section
from mrpvm.english.words.text import collapse, sentences
from mrpvm.text_cache import TextCache

FACT_CONFIDENCE = 0.9
"""Confidence of a fact that a pattern found."""

_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (relation, re.compile(rf"^(?P<subject>.+?)(?<!\s)\s+(?:{verbs})\s++(?P<object>.+)$", re.IGNORECASE))
    for relation, verbs in section("facts.relations").items()
)
_NOT_A_SUBJECT, _LEAD = pattern("facts.not_a_subject"), pattern("facts.lead")


class Fact(Struct, frozen=True):
    """One triple with the sentence's own spelling of its arguments."""

    subject: str
    relation: str
    object: str


def fact_of(sentence: str) -> Fact | None:
    """Return the first matching fact of a sentence, or None; questions and requests never state one.

    A negated, conditional or reported statement is none either: its triple would assert what the sentence does not.
    """
    text = _LEAD.sub("", collapse(sentence)).rstrip(".!?;: \t")
    if not text or is_task_request(sentence):
        return None
    for relation, wording in _PATTERNS:
        match = wording.match(text)
        if match is None:
            continue
        subject, obj = match["subject"].strip(" ,;:"), match["object"].strip(" ,;:")
        if subject and obj and subject.lower() != obj.lower() and not _NOT_A_SUBJECT.search(subject):
            return Fact(subject, relation, obj)
    return None


@TextCache
def facts_in(text: str) -> tuple[Fact, ...]:
    """Return the facts that the sentences of a text state, in order."""
    facts = (fact_of(sentence) for sentence in sentences(text))
    return tuple(dict.fromkeys(fact for fact in facts if fact is not None))
