"""Speech acts: the act of a sentence, whether it asks for something, and the role of a statement."""

import re
from dataclasses import dataclass
from itertools import pairwise

from mrpvm.english.sentences.parsing import read
from mrpvm.english.words import lexicon
from mrpvm.english.words.reading import is_past
from mrpvm.english.words.tagging import verb_forms
from mrpvm.english.words.text import QUESTION_MARKS, words

ACT_VERBS = {act: tuple(verbs.split("|")) for act, verbs in lexicon.section("pragmatics.acts").items()}
"""Imperatives of each act."""
_TASK_VERBS = lexicon.listed("task_verbs")
"""Imperatives that ask for an answer; other imperatives state a procedure."""
_WORK_VERBS = lexicon.listed("work_verbs")
"""Imperatives to write or calculate something: "Translate this.", "Draft an apology."."""
_ANSWER_VERBS = lexicon.listed("answer_verbs")
"""Task verbs that only an answerer can follow: "Check the seal." is a step of a manual."""
_NOUN_LIKE = lexicon.word_class("list name check show find give rate review measure trace outline recap")
"""Task verbs that are often nouns: "List prices are high." asks for nothing."""
_EVERYTHING = lexicon.word_class("everything everybody everyone anything anybody anyone all")
_OBJECTS = (
    lexicon.DETERMINERS | lexicon.SPEAKERS | lexicon.INTERROGATIVES | lexicon.PREPOSITIONS | _EVERYTHING | {"it", "as"}
)
"""Words after an imperative, where another verb would follow a noun."""
_FAVOUR = lexicon.pattern("pragmatics.favour")
"""Imperatives to the answerer, which state nothing: "Write me a poem."."""
_WORK = lexicon.pattern("pragmatics.work")
_SEARCHED = lexicon.pattern("pragmatics.searched")
"""Words without a number, a colon or an owner, which would state something, or the kind of a text to write."""
_COURSE = lexicon.pattern("pragmatics.course")
"""Requests that a source states as steps: "Follow the path from the gate to the mill."."""
_ACTS = [(rule["act"], rule["pattern"]) for rule in lexicon.rules("pragmatics")]
_LEAD = lexicon.pattern("pragmatics.lead")
_CONTRACTED_IS = re.compile(r"\b(what|who|where|when|why|how|which)['\u2019]?s\b", re.IGNORECASE)
_QUOTES = "\"'\u201c\u201d\u2018\u2019([*_-\u2022 \t"


def strip_lead(sentence: str) -> str:
    """Return `sentence` without polite or connecting words at its start ("Please", "Can you", "Then")."""
    return _LEAD.sub("", sentence.strip().lstrip(_QUOTES))


_INDIRECT = lexicon.pattern("pragmatics.indirect")


def direct_question(sentence: str) -> str | None:
    """Return the indirect question of a sentence: "where Ida works?" in "I wonder where Ida works"; None for others."""
    match = _INDIRECT.match(sentence.strip())
    return f"{_IF.sub('whether', match['asked'])}?" if match else None


_IF = re.compile(r"^if\b", re.IGNORECASE)


def expand_is(sentence: str) -> str:
    """Return `sentence` with forms such as "what's" and "who's" written out."""
    return _CONTRACTED_IS.sub(r"\1 is", sentence)


@dataclass(frozen=True, slots=True)
class _Opening:
    """The beginning of a sentence, after its lead."""

    head: tuple[str, ...]
    first: str
    second: str


def _opening(sentence: str) -> _Opening:
    opening = tuple(words(expand_is(strip_lead(sentence))))
    return _Opening(opening, opening[0] if opening else "", opening[1] if len(opening) > 1 else "")


def act_of(sentence: str) -> str:
    """Return the pragmatic act of a sentence by the first matching rule, on whole words."""
    opening = _opening(sentence)
    lowered = " ".join(opening.head)
    for act, verbs in ACT_VERBS.items():
        if any(lowered == verb or lowered.startswith(verb + " ") for verb in verbs):
            return act
    return next((act for act, wording in _ACTS if wording.search(lowered)), "explain")


_ASKED_WITHIN = lexicon.pattern("pragmatics.asked_within")
"""Question words in the middle, as nobody puts them who states something: behind a preposition that begins or ends the
sentence, before "did", in the main clause behind a comma, or with nothing but a noun behind them."""


def is_yes_no(sentence: str) -> bool:
    """Return whether the sentence is a yes/no question: it begins with an auxiliary verb or "whether"."""
    return _opening(sentence).first in lexicon.AUXILIARIES | {"whether"} and is_task_request(sentence)


def is_task_request(sentence: str) -> bool:
    """Return whether a sentence asks for something.

    A final question mark decides. Without one the opening decides, unless the sentence is a statement: "When it
    stalls, drain it." is a condition, "Do not open it." a prohibition, "May 5 was wet." a date.
    """
    bare = sentence.strip().rstrip("\"'\u201d\u2019)] \t")
    if bare.endswith(QUESTION_MARKS) or direct_question(sentence):
        return True
    opening = _opening(sentence)
    if opening.first in lexicon.INTERROGATIVES:
        return _asks_without_mark(opening)
    if opening.first in lexicon.AUXILIARIES:
        return _inverts(opening, closed=bare.endswith((".", "!")))
    if opening.first in _TASK_VERBS:
        return not _reads_as_noun(opening, bare)
    is_closed = bare.endswith((".", "!"))  # "Anna, who did the work, was paid." is a statement
    if opening.first in lexicon.PREPOSITIONS and opening.second in lexicon.INTERROGATIVES:
        return not is_closed  # "for how long do we keep it"
    lowered = " ".join(opening.head)
    return bool(_FAVOUR.match(lowered) or _COURSE.match(lowered) or (not is_closed and _ASKED_WITHIN.search(bare)))


def orders_work(sentence: str) -> bool:
    """Return whether a sentence of a message tells the answerer to write or calculate something.

    The same in a list of steps or a manual is a step: "Sort the parts." "Draft horses are strong." is a statement.
    """
    opening = _opening(sentence)
    if _WORK.match(" ".join(opening.head)):
        return True
    if opening.first not in _WORK_VERBS:
        return False
    is_asked = words(sentence)[0] in lexicon.AUXILIARIES
    clauses = read(strip_lead(sentence)).clauses
    return is_asked or _takes_object(opening) or any(item.is_order and item.verb_place == 0 for item in clauses)


def is_search(message: str) -> bool:
    """Return whether a message is a few words without a verb: "opening hours museum", "A poem about Ida"."""
    if not _SEARCHED.match(message) or any(clause.verb for clause in read(message).clauses):
        return False
    # The parser needs a subject, and takes "Bacteria live on roots" for a name.
    behind = lexicon.PREPOSITIONS | lexicon.DETERMINERS
    pairs = pairwise((*words(message), ""))
    return not any(is_past(word) or (after in behind and verb_forms(word)) for word, after in pairs)


def asks_reader(sentence: str) -> bool:
    """Return whether a sentence of a source asks its reader for an answer; other imperatives in sources are steps."""
    bare = sentence.strip().rstrip("\"'\u201d\u2019)] \t")
    if bare.endswith(QUESTION_MARKS):
        return True
    opening = _opening(sentence)
    if opening.first in lexicon.INTERROGATIVES | lexicon.AUXILIARIES:
        return not bare.endswith((".", "!", ":")) and is_task_request(sentence)
    if opening.first in _TASK_VERBS:
        is_asked = opening.first in _ANSWER_VERBS and opening.second != "of"
        return (is_asked or opening.second in ("me", "us")) and not _reads_as_noun(opening, bare)
    return bool(_FAVOUR.match(" ".join(opening.head)))


def _asks_without_mark(opening: _Opening) -> bool:
    if opening.first not in ("when", "where"):
        return len(opening.head) > 1
    return opening.second in lexicon.AUXILIARIES


def _inverts(opening: _Opening, *, closed: bool) -> bool:
    if len(opening.head) < 2 or opening.second in ("not", "never", "n't") or opening.second[:1].isdigit():
        return False
    if opening.first == "do" and opening.second not in lexicon.SPEAKERS | lexicon.DETERMINERS | {"they", "people"}:
        return not closed
    finite_later = any(word in lexicon.BE_FORMS | lexicon.HAVE_FORMS for word in opening.head[1:])
    return not (opening.first in ("may", "will", "must", "might") and closed and finite_later)


def _reads_as_noun(opening: _Opening, bare: str) -> bool:
    if opening.first not in _NOUN_LIKE:
        return False
    if bare[len(opening.first) :].lstrip().startswith(":"):
        return True
    return not _takes_object(opening) and any(word in lexicon.AUXILIARIES for word in opening.head[1:])


def _takes_object(opening: _Opening) -> bool:
    return opening.second.partition("'")[0] in _OBJECTS or opening.second[:1].isdigit()


_ROLES = lexicon.patterns("pragmatics.roles")


def role_of(text: str) -> str:
    """Return the role of the statement `text` by the first rule that matches its wording.

    A role only affects ranking; it never decides whether a unit may be evidence.
    """
    lowered = " ".join(text.lower().split())
    return next((role for role, wording in _ROLES if wording.search(lowered)), "Explanation")
