"""Symbolic facts of sentences: subject, relation, object."""

import re
from dataclasses import dataclass

from mrpvm.english.messages.pragmatics import is_task_request
from mrpvm.english.words.text import collapse, sentences
from mrpvm.text_cache import TextCache

FACT_CONFIDENCE = 0.9
"""Confidence of a fact that a pattern found."""

_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (relation, re.compile(rf"^(?P<subject>.+?)(?<!\s)\s+(?:{verbs})\s++(?P<object>.+)$", re.IGNORECASE))
    for relation, verbs in (
        ("uses", "uses"),
        ("provides", "provides"),
        ("has_capability", r"has\s+(?:the\s+)?capability(?:\s+of)?"),
        ("depends_on", r"depends\s+(?:up)?on"),
        ("part_of", r"is\s+part\s+of"),
        ("instance_of", r"is\s+an?\s+instance\s+of"),
        ("relevant_for", r"is\s+relevant\s+for|helps\s+with|is\s+useful\s+for"),
        ("supports", r"supports|enables"),
        ("mentions", r"mentions"),
        ("about", r"is\s+about"),
        ("causes", r"caused|causes|triggers|triggered|leads\s+to|led\s+to"),
    )
)
_NOT_A_SUBJECT = re.compile(
    r"\b(?:not|never|no|nobody|nothing|if|when|unless|who|which|that|because|although|while|may|might|could|would"
    r"|does|do|did|said|says|thinks?|believes?)\b|[,;:]",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:so|and|but|also|then|however|moreover|furthermore|therefore|thus|meanwhile)\b[\s,]*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Fact:
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
    for relation, pattern in _PATTERNS:
        match = pattern.match(text)
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
