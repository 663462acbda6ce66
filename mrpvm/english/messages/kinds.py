"""The kind of a sentence: whether it asks, orders or states something, or is only talk."""

import re
from functools import cached_property
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from mrpvm.english.messages.instructions import is_reminder, without_reminder
from mrpvm.english.messages.pragmatics import expand_is, strip_lead
from mrpvm.english.messages.small_talk import is_remark
from mrpvm.english.questions.requests import is_work_on_sources, names_request
from mrpvm.english.sentences.parsing import read
from mrpvm.english.words import lexicon
from mrpvm.english.words.reading import is_past
from mrpvm.english.words.tagging import (
    CONTRACTED,
    PARTICLES,
    PREDICATE_ADJECTIVES,
    SUBJECT_PRONOUNS,
    SUBORDINATORS,
    is_number,
    verb_forms,
)
from mrpvm.english.words.text import QUESTION_MARKS, words
from mrpvm.text_cache import TextCache

Kind = Literal["question", "task", "order", "talk", "statement"]
"""A task asks for an answer ("Explain rust."), an order for what only a model or a person can do ("Draw a cat.")."""

_TASK_VERBS = lexicon.listed("task_verbs")
"""Imperatives that ask for an answer; other imperatives of a text state a procedure."""
_WORK_VERBS = lexicon.listed("work_verbs")
"""Imperatives to write, calculate or arrange something: "Translate this.", "Draft an apology."."""
_ANSWER_VERBS = lexicon.listed("answer_verbs")
"""Task verbs that only an answerer can follow: "Check the seal." is a step of a manual."""
_NOUN_LIKE = lexicon.listed("noun_like_verbs")
"""Task and work verbs that are often nouns: "List prices are high." asks for nothing."""
_EVERYTHING = lexicon.word_class("everything everybody everyone anything anybody anyone all something")
_OBJECTS = (
    lexicon.DETERMINERS | lexicon.SPEAKERS | lexicon.INTERROGATIVES | lexicon.PREPOSITIONS | _EVERYTHING | {"it", "as"}
)
"""Words after an imperative, where another verb would follow a noun."""
_SUBJECTS = SUBJECT_PRONOUNS | lexicon.DETERMINERS | lexicon.listed("unnamed_persons")
_EMBEDDING = lexicon.listed("embedding_words")
"""Words whose question is not asked: "I know who", "no matter what"."""
_FAVOUR = lexicon.pattern("kinds.favour")
"""Imperatives to the answerer, which state nothing: "Write me a poem."."""
_WORK, _TAG = lexicon.pattern("kinds.work"), lexicon.pattern("kinds.tag")
_POLITE = lexicon.pattern("kinds.polite")
_TEXT_WANTED, _AGAIN = lexicon.pattern("kinds.text_wanted"), lexicon.pattern("kinds.again")
_ATTRIBUTE, _SEARCHED = lexicon.pattern("kinds.attribute"), lexicon.pattern("kinds.searched")
"""The name of a property ("Tom's number", "the name of his wife"), and words that may be searched for."""
_COURSE = lexicon.pattern("kinds.course")
"""Requests that a source states as steps: "Follow the path from the gate to the mill."."""
_ASKED_WITHIN = lexicon.pattern("kinds.asked_within")
"""Question words in the middle, as nobody puts them who states something: behind a preposition that begins or ends the
sentence, before "did", in the main clause behind a comma, or with nothing but a noun behind them."""
_INDIRECT = lexicon.pattern("kinds.indirect")
_IF = re.compile(r"^if\b", re.IGNORECASE)
_ASKING_WORDS = 4
"""The most words behind a question word at the end of a sentence: "she gained what kind of throne"."""
_ORDER_WORDS = 7
_LABELLED = re.compile(r":\s+\S(?!.*\bor\b)")
"""A label with a value, which offers no choice: "What to bring: towels"."""
_AFTER_PARTICIPLES = (
    lexicon.PREPOSITIONS | lexicon.CONJUNCTIONS | lexicon.DETERMINERS | SUBORDINATORS | PARTICLES | {"to", "not"}
)
"""Words behind a participle that is a verb; behind one that describes a subject stands a noun: "used oil"."""
_NOTED = re.compile(r"[\d,;:(]")
_NOTING = SUBORDINATORS - lexicon.PREPOSITIONS | lexicon.word_class("i we he she they")
"""An imperative of more words, or with a number, an aside, a time or a condition, may note what is to be done."""


def direct_question(sentence: str) -> str | None:
    """Return the question of a sentence with the question word in front, None if it is there already or asks nothing.

    "where Ida works?" for "I wonder where Ida works" and "Ida works where".
    """
    match = _INDIRECT.match(sentence.strip())
    if match:
        return f"{_IF.sub('whether', match['asked'])}?"
    opening = _Opening(sentence)
    count = 0 if opening.is_closed or opening.is_asked else opening.asking_count
    said = opening.bare.rstrip("?").split()
    return f"{' '.join((*said[-count:], *said[:-count]))}?" if count else None


class _Opening(Struct, frozen=True, dict=True):
    """A sentence without its lead and its marks; a negated auxiliary at its beginning is written without "n't"."""

    sentence: str

    @cached_property
    def bare(self) -> str:
        return self.sentence.strip().rstrip("\"'\u201d\u2019)] \t")

    @cached_property
    def head(self) -> tuple[str, ...]:
        first, *others = [*words(expand_is(strip_lead(self.sentence))), ""]
        return (_AUXILIARY_OF.get(first, first), *others[:-1])

    @property
    def lowered(self) -> str:
        return " ".join(self.head)

    @property
    def first(self) -> str:
        return self.head[0]

    @property
    def second(self) -> str:
        return self.head[1] if len(self.head) > 1 else ""

    @property
    def is_asked(self) -> bool:
        return self.bare.endswith(QUESTION_MARKS)

    @property
    def is_closed(self) -> bool:
        return self.bare.endswith((".", "!"))

    @property
    def asking_count(self) -> int:
        """Return how many words at the end ask, where the answer would stand: "Anna lives where", "it is how old"."""
        head = self.head
        place = next((at for at in range(len(head) - 1, 0, -1) if head[at] in lexicon.INTERROGATIVES), 0)
        before, behind = head[:place], head[place + 1 :]
        is_long = len(behind) > (_ASKING_WORDS if head[place] in ("what", "which", "how") else 1)
        is_relative = head[place] == "which" and before[-1:] and before[-1] not in lexicon.PREPOSITIONS
        if not before or is_long or is_relative or not _EMBEDDING.isdisjoint(before[-2:]):
            return 0
        is_said = before[0] not in lexicon.INTERROGATIVES and any(map(_may_be_verb, before))
        is_clause = any(word in _SUBJECTS | lexicon.AUXILIARIES for word in behind) or any(map(is_past, behind[:1]))
        return len(behind) + 1 if is_said and not is_clause else 0

    @property
    def takes_object(self) -> bool:
        return self.second.partition("'")[0] in _OBJECTS

    @property
    def is_order(self) -> bool:
        """Return whether the parser reads an imperative."""
        clauses = read(strip_lead(self.sentence)).clauses
        return self.first == "be" or any(item.is_order and item.verb_place == 0 for item in clauses)

    @property
    def is_label(self) -> bool:
        """Return whether a bare noun follows a verb that is rather one too: "notice period"."""
        is_bare = bool(self.second) and not self.takes_object and self.second not in PARTICLES
        return self.first in _NOUN_LIKE and is_bare and not verb_forms(self.second)

    @property
    def reads_as_noun(self) -> bool:
        """Return whether a verb at the beginning is rather a noun: "List prices are high.", "Check 2041 bounced"."""
        if self.first not in _NOUN_LIKE:
            return False
        is_governed = self.second in lexicon.PREPOSITIONS
        if self.bare[len(self.first) :].lstrip().startswith(":"):
            return True
        if self.takes_object and not is_governed:
            return False
        may_be_past = is_governed or self.second[:1].isdigit()
        return any(word in lexicon.AUXILIARIES or (may_be_past and is_past(word)) for word in self.head[2:])


_AUXILIARY_OF = {form: word for form, (word, _) in CONTRACTED.items() if form != "cannot"}
_AUXILIARY_OF |= {form.replace("'", ""): word for form, word in _AUXILIARY_OF.items()}


def _may_be_verb(word: str) -> bool:
    return word in lexicon.AUXILIARIES or bool(verb_forms(word))


def is_yes_no(sentence: str) -> bool:
    """Return whether the sentence is a yes/no question: it begins with an auxiliary verb or "whether"."""
    return _Opening(sentence).first in lexicon.AUXILIARIES | {"whether"} and is_task_request(sentence)


@TextCache
def is_task_request(sentence: str) -> bool:
    """Return whether a sentence of any text asks for something.

    A final question mark decides. Without one the opening decides, unless the sentence is a statement: "When it
    stalls, drain it." is a condition, "Do not open it." a prohibition, "May 5 was wet." a date.
    """
    opening = _Opening(sentence)
    if opening.is_asked or direct_question(sentence):
        return True
    if opening.first in lexicon.INTERROGATIVES:
        return _asks_without_mark(opening)
    if opening.first in lexicon.AUXILIARIES - {"be"}:
        return _inverts(opening)
    if opening.first in _TASK_VERBS:
        return not opening.reads_as_noun
    if opening.first in lexicon.PREPOSITIONS and opening.second in lexicon.INTERROGATIVES:
        return not opening.is_closed  # "for how long do we keep it"
    if _FAVOUR.match(opening.lowered) or _COURSE.match(opening.lowered):
        return True
    if opening.is_closed:  # "Anna, who did the work, was paid." is a statement
        return False
    before, _, last = opening.bare.rpartition(", ")
    if before and _asks_at_end(_Opening(last)) and _is_finite(before):
        return True
    return bool(_ASKED_WITHIN.search(expand_is(opening.bare)) or _TAG.search(opening.bare))


def _asks_at_end(last: _Opening) -> bool:
    """Return whether the last clause is a yes/no question: "I'm not a member, are guests allowed"."""
    return len(last.head) > 2 and last.first in lexicon.AUXILIARIES - {"be"} and _inverts(last)


def asks_reader(sentence: str) -> bool:
    """Return whether a sentence of a source asks its reader for an answer; other imperatives in sources are steps."""
    opening = _Opening(sentence)
    if opening.is_asked:
        return True
    if opening.first in lexicon.INTERROGATIVES | lexicon.AUXILIARIES:
        return not opening.bare.endswith((".", "!", ":")) and is_task_request(sentence)
    if opening.first in _TASK_VERBS:
        is_asked = opening.first in _ANSWER_VERBS and opening.second != "of"
        return (is_asked or opening.second in ("me", "us")) and not opening.reads_as_noun
    return bool(_FAVOUR.match(opening.lowered))


def kind_of(sentence: str, *, is_alone: bool = False) -> Kind:
    """Return the kind of a sentence of a message.

    Args:
        is_alone: it is the whole message, where a few words without a verb are searched for and a bare imperative is
            an order: in a longer text they are parts of lists and steps.
    """
    opening = _Opening(sentence)
    if is_reminder(sentence) or (not opening.is_asked and without_reminder(sentence) != sentence):
        return "statement"
    if opening.first == "forget" and not is_remark(sentence):
        return "statement"  # it is kept with what it takes back
    if _orders_work(opening):
        return "task" if is_alone and is_work_on_sources(sentence) else "order"
    if is_alone and _ATTRIBUTE.match(opening.bare) and not _is_finite(opening.bare):
        return "question"
    if is_alone and opening.first not in lexicon.INTERROGATIVES and _names_text(opening):
        return "task" if is_work_on_sources(sentence) else "order"
    if is_remark(sentence) and not direct_question(sentence):
        return "talk"
    if is_task_request(sentence):
        return "task" if opening.first in _TASK_VERBS or _FAVOUR.match(opening.lowered) else "question"
    if is_alone and _requests(opening):
        return "task"
    if is_alone and _is_bare_order(opening):
        return "order"
    if is_alone and (_POLITE.match(sentence) or (_POLITE.search(sentence) and not _is_finite(opening.bare))):
        return "task"  # "Principle of operation of the pump, please."
    return "question" if is_alone and _is_search(sentence) else "statement"


def _orders_work(opening: _Opening) -> bool:
    """Return whether a sentence tells the answerer to write, calculate or arrange something.

    The same in a list of steps or a manual is a step: "Sort the parts." "Draft horses are strong." is a statement.
    """
    if _WORK.match(opening.lowered):
        return True
    if opening.first not in _WORK_VERBS or opening.reads_as_noun:
        return False
    if words(opening.sentence)[0] in lexicon.AUXILIARIES or opening.takes_object:
        return True
    counts = opening.second[:1].isdigit()
    return not opening.is_asked and opening.first not in _NOUN_LIKE and (counts or opening.is_order)


def _requests(opening: _Opening) -> bool:
    """Return whether a message names a request for what sources say."""
    is_verbless = not opening.is_order and not _is_finite(opening.bare)
    return names_request(opening.sentence, is_order=opening.is_order, is_verbless=is_verbless)


def _names_text(opening: _Opening) -> bool:
    """Return whether a message only names the text to write, or how to change the last one: "A haiku", "again"."""
    text = _TEXT_WANTED.match(opening.bare)
    if text and not any(word in lexicon.AUXILIARIES for word in words(text["wanted"])):
        return True
    again = _AGAIN.match(opening.bare)
    return again is not None and not _is_finite(again["wanted"])


def _is_bare_order(opening: _Opening) -> bool:
    """Return whether a message is a polite or a short imperative; a longer one may note what is to be done."""
    if not opening.is_order or opening.is_label:
        return False
    is_note = _NOTED.search(opening.bare) or any(
        word in _NOTING or word.removesuffix("s") in lexicon.TIME_WORDS for word in opening.head
    )
    is_short = len(opening.head) <= _ORDER_WORDS and not is_note
    is_favour = opening.second in ("me", "us") and opening.first != "call"  # "Call me Sam." tells a name
    return (is_short and opening.second not in ("me", "us")) or is_favour or bool(_POLITE.search(opening.sentence))


def _is_finite(text: str) -> bool:
    """Return whether a text has a verb that is neither an infinitive nor a noun at its beginning."""
    is_label = _Opening(text).is_label
    return any(
        item.link not in ("to", "ing") and not (is_label and item.is_order and item.verb_place == 0)
        for item in read(text).clauses
        if item.verb
    )


def _is_search(message: str) -> bool:
    """Return whether a message is a few words without a verb: "opening hours museum", "notice period"."""
    first, second = [*words(message), "", ""][:2]
    if not _SEARCHED.match(message) or _is_finite(message):
        return False
    if first in PREDICATE_ADJECTIVES and second in lexicon.PREPOSITIONS:
        return False  # "allergic to nuts", without its subject
    # The parser needs a subject, and takes "Bacteria live on roots" for a name.
    behind = lexicon.PREPOSITIONS | lexicon.DETERMINERS
    return not any(
        is_past(word) or (before not in behind and after in behind and "base" in verb_forms(word))
        for (before, word), (_, after) in pairwise(pairwise(("", *words(message), "")))
    )


def _asks_without_mark(opening: _Opening) -> bool:
    """Return whether a question word asks: "What I like is tea" begins with a subject, "What a day" with a cry."""
    if opening.second not in lexicon.AUXILIARIES and _LABELLED.search(opening.bare):
        return False
    if opening.first in ("when", "where"):
        return opening.second in lexicon.AUXILIARIES
    if opening.second not in _SUBJECTS or opening.second in ("who", "which"):
        return len(opening.head) > 1
    if opening.first == "what" and opening.second in ("a", "an"):
        return False
    has_verb = False
    for word in opening.head[2:]:
        if word in lexicon.INTERROGATIVES | lexicon.ATTITUDE_VERBS | {"that"}:
            return True
        if has_verb and word in lexicon.BE_FORMS:
            return False
        has_verb = has_verb or bool(verb_forms(word))
    return True


def _inverts(opening: _Opening) -> bool:
    """Return whether an auxiliary at the beginning has its subject behind it."""
    head, second, closed = opening.head, opening.second, opening.is_closed
    is_now = opening.first in ("is", "are")
    if len(head) < 2 or second in ("not", "never", "n't", "be") or (second[:1].isdigit() and not is_now):
        return False
    if words(strip_lead(opening.sentence))[0] in _AUXILIARY_OF and second not in _SUBJECTS | {"there"}:
        return False  # "Don't open it", "Haven't seen Tom"
    if opening.first == "do" and second not in lexicon.SPEAKERS | lexicon.DETERMINERS | {"they", "people"}:
        return not closed
    is_participle = opening.first in lexicon.BE_FORMS | lexicon.HAVE_FORMS and (is_past(second) or second == "been")
    if is_participle and is_now and not closed and len(head) > 3:  # "is used oil taken back", not "is moved to Monday"
        is_participle = head[2] in _AFTER_PARTICIPLES or head[2].removesuffix("s") in lexicon.TIME_WORDS
    if second in lexicon.PREPOSITIONS or is_participle or (opening.first == "am" and second != "i"):
        return False  # "was at the dentist", "was born in May", "am moving", without the subject
    if opening.first in lexicon.MODALS and "base" in verb_forms(second) and second not in _NOUN_LIKE:
        return any("base" in verb_forms(word) for word in head[2:])  # "will arrive on Friday", "will Grant come"
    if opening.first in lexicon.HAVE_FORMS and (second in ("a", "an") or is_number(second)):
        return any(map(is_past, head[2:]))
    if opening.first in lexicon.DO_FORMS and "," in opening.bare:
        return any("base" in verb_forms(word) or word in ("be", "have", "do") for word in head[2:])
    return opening.first not in ("may", "will", "must", "might", "can") or not _is_named(head)


def _is_named(head: tuple[str, ...]) -> bool:
    """Return whether the first word is a name, as the verb behind it is no infinitive: "Will is tall"."""
    if head[1] in lexicon.CONJUNCTIONS:
        return True
    for word in head[1:]:
        if word in lexicon.INTERROGATIVES | lexicon.CONJUNCTIONS | SUBORDINATORS | {"that"}:
            return False
        if word in lexicon.BE_FORMS | lexicon.HAVE_FORMS | lexicon.MODALS | CONTRACTED.keys():
            return word not in ("be", "have")
        forms = verb_forms(word)
        if forms == {"s"}:  # "May works here", not "Can plants grow"
            return not any(other == "be" or "base" in verb_forms(other) for other in head[2:])
        if "base" in forms:
            return False
    return False
