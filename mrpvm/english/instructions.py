"""Instructions inside messages: form of the answer, phase they speak to, how long they hold."""

import re

from mrpvm.english.pragmatics import strip_lead
from mrpvm.english.text import QUESTION_MARKS
from mrpvm.values import PHASE_SCOPES

_FORMS: tuple[tuple[str, str], ...] = (
    ("one_word", r"(?:one|a single|single)[- ]words?"),
    ("yes_no", r"yes[- ]?(?:/|or)?[- ]?no"),
    ("json", r"json"),
    ("yaml", r"yaml"),
    ("xml", r"xml"),
    ("table", r"table|tabular"),
    ("bullet_list", r"bullet(?:ed|s)?(?:[- ]points?|[- ]list)?|list"),
    ("step_by_step", r"step[- ]by[- ]step|numbered steps|numbered list"),
    ("brief", r"brief(?:ly)?|concise(?:ly)?|short(?:ly)?|(?:one|a single) sentence"),
    ("markdown", r"markdown"),
)
_FORMS_ALONE = tuple((name, re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)) for name, pattern in _FORMS)
_FORM_NAMES = "|".join(pattern for _, pattern in _FORMS)
_ANSWER_VERB = r"(?:answer|respond|reply|return|format|output)"
_SHORT = "brief|short|concise"
_FORM_PHRASE = re.compile(
    rf"(?:\b{_ANSWER_VERB}s?\b[^.!?;:\n]{{0,40}}?\b(?:{_FORM_NAMES})\b"
    rf"|\b(?:as|in|with|using|into|only|just|use)\s+(?:only\s+|just\s+)?(?:an?\s+)?(?:form of an?\s+)?"
    rf"(?:short\s+|simple\s+|valid\s+|plain\s+)?(?:{_FORM_NAMES})\b(?:\s+(?:points?|list|form|format|answer|only|steps?))*"
    rf"|\b(?:be|keep (?:it|your answers?|the answers?|answers?))\s+(?:very\s+)?(?:{_SHORT})\b"
    rf"|\b(?:an?\s+)?(?:{_SHORT})\s+(?:answers?|repl(?:y|ies)|responses?|summary)\b"
    rf"|\bstep[- ]by[- ]step\b|\bbriefly\b|\bconcisely\b|\byes(?:/| or )no\b)",
    re.IGNORECASE,
)
_ORDER = re.compile(
    rf"^(?:from now on\b[\s,:]*|for the rest of (?:this|the) session\b[\s,:]*|always\s+|only\s+|just\s+)*"
    rf"(?:{_ANSWER_VERB}|use|keep|write|be|do not|don't|never|prefer|avoid|include|mention|start|end"
    r"|plan (?:the|a|your|this|it)|decompose|split"
    r"|break|verify|validate|ground|base|cite|make|stay|choose|your answers?|the answers?|you (?:should|must))\b",
    re.IGNORECASE,
)
_SCOPES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (scope, re.compile(pattern, re.IGNORECASE))
    for scope, pattern in (
        ("mrp-plan-plugin", r"\b(?:plan|planner|planning|strategy|plugins?|solvers?)\b"),
        ("frame", r"\bdecompos\w+|\bsub-?tasks?\b|"
                  r"\b(?:split|break)\b.*\b(?:tasks?|questions?|problems?|requests?|parts)\b"
                  r"|\b(?:do not|don't|never) split\b"),
        ("val-plugin", r"\b(?:grounded|evidence|cite)\b"
                       r"|\b(?:verif|validat)\w+\b.*\b(?:answers?|claims?|facts?|sources?)\b"
                       r"|\b(?:must|do) (?:not )?mention\b|\bnever mention\b"),
    )
)  # fmt: skip
_ABOUT_ANSWER = re.compile(rf"\b(?:{_ANSWER_VERB}(?:s|ed|ing)?|answers?)\b", re.IGNORECASE)
_SESSION_WIDE = re.compile(
    r"\bfor the rest of (?:this|the) session\b|\bfrom now on\b|\bremember (?:this|that)\b"
    r"|\bkeep (?:this|that) (?:for|throughout) (?:this|the) session\b|\bsession-wide\b"
    r"|\bpersist this (?:instruction|preference|rule)\b|\bmake this (?:the )?default\b",
    re.IGNORECASE,
)
_REMIND = r"(?:remember|note(?: down)?|keep in mind|be aware|know|bear in mind|write down)"
_ASKING_YOU = r"(?:can|could|would|will) you (?:please )?"
_KEEP_IN_MIND = re.compile(
    rf"^(?:please\s+)?(?:{_ASKING_YOU})?{_REMIND}(?:\s+(?:this|that))?(?:\s*[:,])?\s+(?=\S+\s+\S)", re.IGNORECASE
)
_POLITE_REMINDER = re.compile(rf"^(?:please\s+)?{_ASKING_YOU}{_REMIND} that\s+\S+\s+\S", re.IGNORECASE)


def output_forms(*texts: str | None) -> tuple[str, ...]:
    """Return the output forms that labels or instructions name, in fixed order, without repeats.

    A label is taken by its words (`one_word`, "bullet list"); a sentence must phrase a form as an instruction.
    """
    found = set()
    for text in texts:
        if not text:
            continue
        spaced = text.replace("_", " ")
        scope = spaced if len(spaced.split()) <= 4 else " ".join(m.group() for m in _FORM_PHRASE.finditer(spaced))
        if scope:
            found |= {name for name, form in _FORMS_ALONE if form.search(scope)}
    if "step_by_step" in found:
        found.discard("bullet_list")
    return tuple(name for name, _ in _FORMS if name in found)


def form_phrases(sentence: str) -> tuple[str, ...]:
    """Return the phrases of `sentence` that ask for an output form ("in one word", "as a table")."""
    return tuple(match.group() for match in _FORM_PHRASE.finditer(sentence))


def without_form_phrases(sentence: str) -> str:
    """Return `sentence` without its output instructions, so that the rest is the target."""
    bare = _FORM_PHRASE.sub(" ", sentence)
    bare = re.sub(r"\s+([,;:.!?])", r"\1", " ".join(bare.split()))
    return re.sub(r"[,;:]+(?=[.!?]?$)", "", bare).strip(" ,;:-")


def is_instruction(sentence: str) -> bool:
    """Return whether a sentence only says how to work or answer: an order that names a form, plan, split or check.

    The words alone do not make it one: "The table has four legs." is a fact.
    """
    if sentence.rstrip().endswith(QUESTION_MARKS) or not _ORDER.match(strip_lead(sentence)):
        return False
    return guidance_scopes(sentence) != ("kb-plugin",)


def guidance_scopes(sentence: str) -> tuple[str, ...]:
    """Return the phases an instruction speaks to, in the order of the scopes; `kb-plugin` when it names none."""
    scopes = {scope for scope, pattern in _SCOPES if pattern.search(sentence)}
    if _FORM_PHRASE.search(sentence) or _ABOUT_ANSWER.search(sentence):
        scopes.add("gs-plugin")
    return tuple(scope for scope in PHASE_SCOPES if scope in scopes) or ("kb-plugin",)


def is_session_wide(text: str | None) -> bool:
    """Return whether the wording asks to keep an instruction for the session."""
    return bool(text and _SESSION_WIDE.search(text))


def without_reminder(sentence: str) -> str:
    """Return what a sentence says after "Remember that", "Note that" and their kind, first letter raised."""
    bare = _KEEP_IN_MIND.sub("", sentence, count=1)
    if bare == sentence:
        return sentence
    return bare[:1].upper() + bare[1:].rstrip("? ") + ("." if bare.endswith("?") else "")


def is_reminder(sentence: str) -> bool:
    """Return whether a question only asks to keep something in mind: "could you note that ..."."""
    return _POLITE_REMINDER.match(sentence) is not None
