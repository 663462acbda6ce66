"""Instructions in messages: the form of the answer, the phases they apply to, and how long they hold."""

import re

from mrpvm.english.messages.pragmatics import strip_lead
from mrpvm.english.words.lexicon import pattern, patterns, section
from mrpvm.english.words.text import QUESTION_MARKS
from mrpvm.values import PHASE_SCOPES

_FORMS = section("instructions.forms")
_FORMS_ALONE = tuple((name, re.compile(rf"\b(?:{form})\b", re.IGNORECASE)) for name, form in _FORMS.items())
_FORM_PHRASE = pattern("instructions.form_phrase")
_ORDER = pattern("instructions.order")
_SCOPES = patterns("instructions.scopes")
_ABOUT_ANSWER = pattern("instructions.about_answer")
_SESSION_WIDE = pattern("instructions.session_wide")
_KEEP_IN_MIND = pattern("instructions.keep_in_mind")
_POLITE_REMINDER = pattern("instructions.polite_reminder")


def output_forms(*texts: str | None) -> tuple[str, ...]:
    """Return the output forms that labels or instructions name, in fixed order, without repeats.

    In a label the words suffice (`one_word`, "bullet list"); a sentence must phrase a form as an instruction.
    """
    named = set()
    for text in texts:
        if not text:
            continue
        spaced = text.replace("_", " ")
        scope = spaced if len(spaced.split()) <= 4 else " ".join(m.group() for m in _FORM_PHRASE.finditer(spaced))
        if scope:
            named |= {name for name, form in _FORMS_ALONE if form.search(scope)}
    if "step_by_step" in named:
        named.discard("bullet_list")
    return tuple(name for name in _FORMS if name in named)


def form_phrases(sentence: str) -> tuple[str, ...]:
    """Return the phrases of `sentence` that ask for an output form ("in one word", "as a table")."""
    return tuple(match.group() for match in _FORM_PHRASE.finditer(sentence))


def without_form_phrases(sentence: str) -> str:
    """Return `sentence` without its output instructions, so that the rest is the target."""
    bare = _FORM_PHRASE.sub(" ", sentence)
    bare = re.sub(r" ([,;:.!?])", r"\1", " ".join(bare.split()))
    return re.sub(r"(?<![,;:])[,;:]+(?=[.!?]?$)", "", bare).strip(" ,;:-")


def is_instruction(sentence: str) -> bool:
    """Return whether a sentence only says how to work or answer: an imperative that names a form, plan, split or check.

    The words alone do not make it one: "The table has four legs." is a fact.
    """
    if sentence.rstrip().endswith(QUESTION_MARKS) or not _ORDER.match(strip_lead(sentence)):
        return False
    return guidance_scopes(sentence) != ("kb-plugin",)


def guidance_scopes(sentence: str) -> tuple[str, ...]:
    """Return the phases that an instruction applies to, in the order of the scopes; `kb-plugin` if it names none."""
    scopes = {scope for scope, words in _SCOPES if words.search(sentence)}
    if _FORM_PHRASE.search(sentence) or _ABOUT_ANSWER.search(sentence):
        scopes.add("gs-plugin")
    return tuple(scope for scope in PHASE_SCOPES if scope in scopes) or ("kb-plugin",)


def is_session_wide(text: str | None) -> bool:
    """Return whether the wording asks to keep an instruction for the session."""
    return bool(text and _SESSION_WIDE.search(text))


def without_reminder(sentence: str) -> str:
    """Return a sentence without "Remember that", "Note that" or the like, beginning with a capital."""
    bare = _KEEP_IN_MIND.sub("", sentence, count=1)
    if bare == sentence:
        return sentence
    return bare[:1].upper() + bare[1:].rstrip("? ") + ("." if bare.endswith("?") else "")


def is_reminder(sentence: str) -> bool:
    """Return whether a question only asks to remember something: "could you note that ..."."""
    return _POLITE_REMINDER.match(sentence) is not None
