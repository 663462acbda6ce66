"""What a sentence does: its act, whether it asks for something, and the role of what it states."""

import re
from dataclasses import dataclass

from mrpvm.english.lexicon import (
    AUXILIARIES,
    BE_FORMS,
    DETERMINERS,
    HAVE_FORMS,
    INTERROGATIVES,
    PREPOSITIONS,
    SPEAKERS,
    listed,
    word_class,
)
from mrpvm.english.text import QUESTION_MARKS, words

ACT_VERBS: dict[str, tuple[str, ...]] = {
    "compare": ("compare", "contrast"),
    "explain": ("explain",),
    "recommend": ("recommend", "suggest", "advise"),
    "diagnose": ("diagnose", "debug", "troubleshoot"),
    "implement": ("implement", "build", "create", "set up", "configure", "install"),
    "verify": ("verify", "check", "validate", "prove", "confirm"),
    "define": ("define",),
    "evaluate": ("evaluate", "assess", "measure", "rate", "review"),
    "identify": ("identify", "name"),
    "describe": ("describe", "characterize", "characterise"),
}
"""Imperatives of each act."""
_TASK_VERBS = listed("task_verbs")
"""Imperatives that ask for an answer; other imperatives state a procedure."""
_ANSWER_VERBS = listed("answer_verbs")
"""Those of them that only whoever answers can follow: "Check the seal." is a step of a manual."""
_NOUN_LIKE = word_class("list name check show find give rate review measure trace outline recap")
"""Task verbs that are as often nouns: "List prices are high." asks for nothing."""
_EVERYTHING = word_class("everything everybody everyone anything anybody anyone all")
_FAVOUR = re.compile(
    r"^(?:(?:write|draft|compose|sing|draw|paint|recite|read|translate|teach|help|remind) (?:me|us)"
    r"|(?:write|draft|compose|generate|recite|make up|invent) (?:an?|some|the|another)(?: \S+){0,3}"
    r" (?:poem|story|song|haiku|limerick|joke|essay|e-?mail|letter|tweet|blog post|paragraph|summary|slogan|script)"
    r"|sum up)\b"
)
"""Orders to whoever answers, which state nothing: "Write me a poem."."""
_PHRASES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (act, re.compile(pattern))
    for act, pattern in (
        ("compare", r"\bdifferences? between\b|\bversus\b|\bvs\b"),
        ("recommend", r"\bbest\b|\bshould (?:i|we)\b"),
        ("diagnose", r"\b(?:problem|issue) with\b|\bwhat is wrong\b"),
        ("define", r"\bmeaning of\b|\bdefinition of\b|\bwhat (?:does|do|did) .+ mean\b"),
        ("describe", r"\bproperties of\b|\btraits of\b|\blooks? like\b"),
    )
)
_LEAD = re.compile(
    r"^(?:(?:please|then|now|so|and|also|ok|okay|well|hi|hello|hey|first|next|finally)\b[\s,:]*"
    r"|(?:can|could|would|will) you(?: please)?\b[\s,]*(?=(?:" + "|".join(sorted(_TASK_VERBS)) + r")\b))+",
    re.IGNORECASE,
)
_CONTRACTED_IS = re.compile(r"\b(what|who|where|when|why|how|which)['\u2019]s\b", re.IGNORECASE)
_QUOTES = "\"'\u201c\u201d\u2018\u2019([*_-\u2022 \t"
_PAST_EVENT = re.compile(r"\b(?:yesterday|ago|once|last (?:night|week|month|year)|(?:1[0-9]|20)\d\d)\b|\b[a-z]{2,}ed\b")


def strip_lead(sentence: str) -> str:
    """Return `sentence` without polite or connecting words at its start ("Please", "Can you", "Then")."""
    return _LEAD.sub("", sentence.strip().lstrip(_QUOTES))


_INDIRECT = re.compile(
    r"^(?:(?:please|so|and|hi|hello|well)[\s,]+)*(?:i(?:['\u2019]m| am| was)? (?:just |still )?wonder(?:ing)?"
    r"|i(?:['\u2019]d| would) (?:like|love) to know|i (?:want|need) to know|i(?:['\u2019]m| am) curious"
    r"|do you (?:happen to )?know)[\s,:]+"
    r"(?P<asked>(?:who|whom|whose|what|which|where|when|why|how|if|whether)\s.*\w)\W*$",
    re.IGNORECASE,
)


def direct_question(sentence: str) -> str | None:
    """Return what a sentence asks indirectly: "where Ida works?" of "I wonder where Ida works"; None for others."""
    found = _INDIRECT.match(sentence.strip())
    return f"{_IF.sub('whether', found['asked'])}?" if found else None


_IF = re.compile(r"^if\b", re.IGNORECASE)


def expand_is(sentence: str) -> str:
    """Return `sentence` with "what's", "who's" and their kind written out."""
    return _CONTRACTED_IS.sub(r"\1 is", sentence)


@dataclass(frozen=True, slots=True)
class _Opening:
    """How a sentence begins, after its lead."""

    head: tuple[str, ...]
    first: str
    second: str


def _opening(sentence: str) -> _Opening:
    found = tuple(words(expand_is(strip_lead(sentence))))
    return _Opening(found, found[0] if found else "", found[1] if len(found) > 1 else "")


def act_of(sentence: str) -> str:
    """Return the pragmatic act of a sentence: the first rule that fires, on whole words."""
    opening = _opening(sentence)
    lowered = " ".join(opening.head)
    for act, verbs in ACT_VERBS.items():
        if any(lowered == verb or lowered.startswith(verb + " ") for verb in verbs):
            return act
    if opening.first in ("why", "how") and opening.second not in ("many", "much", "old", "long", "far", "tall", "big"):
        return "explain"
    for act, pattern in _PHRASES:
        if pattern.search(lowered):
            return act
    if opening.first == "what" and opening.second in ("is", "are"):
        return "define"
    if opening.first in ("who", "whom", "which", "where", "when", "whose", "what", "how"):
        return "identify"
    return "evaluate" if opening.first in AUXILIARIES else "explain"


_AUXILIARY = "|".join(sorted(AUXILIARIES))
_PRONOUN = "|".join(sorted(SPEAKERS | {"they", "he", "she", "it", "there"}))
_SUBJECT = f"{_PRONOUN}|{'|'.join(sorted(DETERMINERS))}"
_PREPOSITION = "|".join(sorted(PREPOSITIONS))
_KNOWING = word_class(
    "know knows knew guess see sees saw tell tells told show shows me us him her them remember forgot matter decide "
    "learn ask asks asked and or"
)
"""Behind these words "what" opens what somebody knows or says."""
_IN_PLACE = "".join(f"(?<!{word} )" for word in sorted(_KNOWING)) + r"\bwhat"
_DOING = r"happen\w*|matter\w*|follow\w*|seem\w*|look\w*|remain\w*|came|went|makes?|became|becomes?|truly|really|else"
_ASKED_WITHIN = re.compile(
    rf"^(?:{_PREPOSITION}) (?:what|which|whom|whose|how (?:many|much|long|far))\b"
    rf"(?! (?:case|be[a-z]+|seem\w*|appear\w*|{_SUBJECT}|{_AUXILIARY})\b)"
    r"|\b(?:whom|what|where|when|why|how|what \w+) (?:do|does|did|didn't|doesn't|don't)\b"
    rf"|,\s(?:what|why|how (?:many|much|long|old|far|often)) [\w-]+(?: [\w-]+){{0,2}} (?:{_AUXILIARY})\b"
    rf"|,\s(?:who (?:{_AUXILIARY}) (?:{_SUBJECT})|(?:where|when|how|what|why) (?:{_AUXILIARY})"
    rf"|(?:{_AUXILIARY}) (?:{_PRONOUN}))\b"
    rf"|^(?:{_PREPOSITION}|besides|aside|apart|along|despite)\b[^,]*,\s(?:{_AUXILIARY}) (?!not\b)[\w.'-]+ "
    rf"|\b(?:{_PREPOSITION}) (?:whom|whose|which)(?: (?!{_SUBJECT}|{_AUXILIARY})[\w-]+){{0,2}}\W*$"
    rf"|{_IN_PLACE} (?:type|kind|sort|form|percentage|number|group)s?\b"
    rf"|{_IN_PLACE} (?!(?:{_SUBJECT}|{_AUXILIARY}|{_DOING})\b)[\w'-]+"
    rf"(?: (?!(?:{_SUBJECT}|{_AUXILIARY})\b)[\w'-]+){{0,3}}\W*$"
    rf"|(?<!that's )(?<!so ){_IN_PLACE}\W*$|\bwhom\W*$"
    r"|\b(?:thought|thinks|believed|believes|claimed|claims|wanted|wants) (?:what|which|who) "
    r"(?!he\b|she\b|they\b|i\b|we\b)",
    re.IGNORECASE,
)
"""Question words in the middle, as nobody puts them who states something: behind a preposition that begins or ends the
sentence, before "did", in the main clause behind a comma, or with nothing but a noun behind them."""


def is_yes_no(sentence: str) -> bool:
    """Return whether the sentence asks for yes or no: it begins with an auxiliary verb or "whether"."""
    return _opening(sentence).first in AUXILIARIES | {"whether"} and is_task_request(sentence)


def is_task_request(sentence: str) -> bool:
    """Return whether a sentence asks for something.

    A final question mark decides; without one the opening does, unless the sentence reads as a statement: "When it
    stalls, drain it." is a condition, "Do not open it." a prohibition, "May 5 was wet." a date.
    """
    bare = sentence.strip().rstrip("\"'\u201d\u2019)] \t")
    if bare.endswith(QUESTION_MARKS) or direct_question(sentence):
        return True
    opening = _opening(sentence)
    if opening.first in INTERROGATIVES:
        return _asks_without_mark(opening)
    if opening.first in AUXILIARIES:
        return _inverts(opening, closed=bare.endswith((".", "!")))
    if opening.first in _TASK_VERBS:
        return not _reads_as_noun(opening, bare)
    is_closed = bare.endswith((".", "!"))  # "Anna, who did the work, was paid." states
    return bool(_FAVOUR.match(" ".join(opening.head)) or (not is_closed and _ASKED_WITHIN.search(bare)))


def asks_reader(sentence: str) -> bool:
    """Return whether a sentence of a source asks its reader for an answer; other orders in it are steps."""
    bare = sentence.strip().rstrip("\"'\u201d\u2019)] \t")
    if bare.endswith(QUESTION_MARKS):
        return True
    opening = _opening(sentence)
    if opening.first in INTERROGATIVES | AUXILIARIES:
        return not bare.endswith((".", "!", ":")) and is_task_request(sentence)
    if opening.first in _TASK_VERBS:
        is_asked = opening.first in _ANSWER_VERBS and opening.second != "of"
        return (is_asked or opening.second in ("me", "us")) and not _reads_as_noun(opening, bare)
    return bool(_FAVOUR.match(" ".join(opening.head)))


def _asks_without_mark(opening: _Opening) -> bool:
    if opening.first not in ("when", "where"):
        return len(opening.head) > 1
    return opening.second in AUXILIARIES


def _inverts(opening: _Opening, *, closed: bool) -> bool:
    if len(opening.head) < 2 or opening.second in ("not", "never", "n't") or opening.second[:1].isdigit():
        return False
    if opening.first == "do" and opening.second not in SPEAKERS | DETERMINERS | {"they", "people"}:
        return not closed
    finite_later = any(word in BE_FORMS | HAVE_FORMS for word in opening.head[1:])
    return not (opening.first in ("may", "will", "must", "might") and closed and finite_later)


def _reads_as_noun(opening: _Opening, bare: str) -> bool:
    if opening.first not in _NOUN_LIKE:
        return False
    if bare[len(opening.first) :].lstrip().startswith(":"):
        return True
    takes_object = (
        opening.second in DETERMINERS | SPEAKERS | INTERROGATIVES | PREPOSITIONS | _EVERYTHING
        or opening.second[:1].isdigit()
    )
    return not takes_object and any(word in AUXILIARIES for word in opening.head[1:])


_ROLE_RULES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (role, re.compile(pattern))
    for role, pattern in (
        ("Procedure", r"^(?:step \d+|first|install|to install|open|close|press|turn|click|run|connect)\b.*"
                      r"|\b(?:steps? (?:to|for)|step \d+|installation|how to)\b"),
        ("Definition", r"\b(?:is|are) an? \b|\bmeans\b|\bdefinition\b|\bis defined as\b"),
        ("Comparison", r"\bcompared?\b|\bversus\b|\bvs\b|\bthan\b"),
        ("Constraint", r"\bmust\b|\bnever\b|\bat most\b|\bat least\b|\bonly\b|\bmay not\b|\bshall\b|\bforbidden\b"),
        ("Explanation", r"\bcauses?d?\b|\bbecause\b|\bleads? to\b|\bled to\b|\btherefore\b"),
        ("Diagnostic", r"\bfails?\b|\bfailed\b|\berrors?\b|\bsymptoms?\b"),
        ("Evaluation", r"\bbetter\b|\bworse\b|\bpreferred\b|\bbest\b|\bworst\b"),
    )
)  # fmt: skip


def role_of(text: str) -> str:
    """Return the role of what `text` states, by its wording, first rule that fires.

    A role only ranks; it never decides whether a unit may be evidence.
    """
    lowered = " ".join(text.lower().split())
    for role, pattern in _ROLE_RULES:
        if pattern.search(lowered):
            return role
    if _PAST_EVENT.search(lowered) or re.search(r"\b(?:was|were|did|had)\b", lowered):
        return "Narrative"
    return "Description" if re.search(r"\b(?:has|have|is|are)\b", lowered) else "Explanation"
