"""Verbs of general English in their base form, with what the regular endings make of them.

A word of this list can be a verb; whether it is one where it stands, its sentence decides. As everywhere in the
lexicon, nothing may come from a particular text.
"""

from mrpvm.english.lexicon import AUXILIARIES, BE_FORMS, HAVE_FORMS, PAST_FORMS, listed
from mrpvm.text_cache import TextCache

COMMON_VERBS = listed("common_verbs")


def _s_form(base: str) -> str:
    if base.endswith(("s", "sh", "ch", "x", "z")) or base in ("go", "do"):
        return base + "es"
    return base[:-1] + "ies" if base.endswith("y") and base[-2:-1] not in "aeou" else base + "s"


PREDICATE_ADJECTIVES = listed("predicate_adjectives")
"""Adjectives that often stand behind a form of be: in a question they follow the subject without any mark."""


S_FORMS = {_s_form(base): base for base in COMMON_VERBS - {"be", "have"}}
S_FORM_OF = {base: form for form, base in S_FORMS.items()} | {"have": "has", "do": "does"}


@TextCache
def verb_forms(word: str) -> frozenset[str]:
    """Return what a lower-case word can be as a verb: "base", "s", "past" or "ing"; empty if it is none.

    Regular endings make verbs of unknown words too: "amputated" is a past form whether or not the list has "amputate".
    """
    if word in AUXILIARIES or word in BE_FORMS or word in HAVE_FORMS or not word.isalpha():
        return frozenset()
    found = set()
    if word in COMMON_VERBS:
        found.add("base")
        if word in _SAME_PAST:
            found.add("past")
    if word in S_FORMS:
        found.add("s")
    if word in PAST_FORMS or (word.endswith("ed") and len(word) > 3 and word not in _NOT_PAST):
        found.add("past")
    if word.endswith("ing") and len(word) > 4 and word not in _NOT_ING:
        found.add("ing")
    return frozenset(found)


_SAME_PAST = listed("same_past")
"""Verbs whose past form is their base form."""
_NOT_PAST = listed("not_past")
_NOT_ING = listed("not_ing")
