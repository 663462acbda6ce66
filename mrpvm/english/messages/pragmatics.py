"""Speech acts: the act of a sentence, and the role of a statement."""

import re

from mrpvm.english.words import lexicon
from mrpvm.english.words.text import words

ACT_VERBS = {act: tuple(verbs.split("|")) for act, verbs in lexicon.section("pragmatics.acts").items()}
"""Imperatives of each act."""
_ACTS = [(rule["act"], rule["pattern"]) for rule in lexicon.rules("pragmatics")]
_LEAD = lexicon.pattern("pragmatics.lead")
_CONTRACTED_IS = re.compile(r"\b(what|who|where|when|why|how|which)['\u2019]?s\b", re.IGNORECASE)
_QUOTES = "\"'\u201c\u201d\u2018\u2019([*_-\u2022 \t"


def strip_lead(sentence: str) -> str:
    """Return `sentence` without polite or connecting words at its start ("Please", "Can you", "Then")."""
    return _LEAD.sub("", sentence.strip().lstrip(_QUOTES))


def expand_is(sentence: str) -> str:
    """Return `sentence` with forms such as "what's" and "who's" written out."""
    return _CONTRACTED_IS.sub(r"\1 is", sentence)


def act_of(sentence: str) -> str:
    """Return the pragmatic act of a sentence by the first matching rule, on whole words."""
    lowered = " ".join(words(expand_is(strip_lead(sentence))))
    for act, verbs in ACT_VERBS.items():
        if any(lowered == verb or lowered.startswith(verb + " ") for verb in verbs):
            return act
    return next((act for act, wording in _ACTS if wording.search(lowered)), "explain")


_ROLES = lexicon.patterns("pragmatics.roles")


def role_of(text: str) -> str:
    """Return the role of the statement `text` by the first rule that matches its wording.

    A role only affects ranking; it never decides whether a unit may be evidence.
    """
    lowered = " ".join(text.lower().split())
    return next((role for role, wording in _ROLES if wording.search(lowered)), "Explanation")
