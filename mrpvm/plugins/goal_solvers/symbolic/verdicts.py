"""Yes or no, when one statement says it or says what excludes it [BP-36 a]."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mrpvm.knowledge.lexicon import (
    ANTONYMS,
    BE_FORMS,
    COLOURS,
    DEFINITE,
    DO_FORMS,
    MODALS,
    MONTHS,
    NUMBER_WORDS,
    PARTIAL_ADVERBS,
    TIME_WORDS,
    TOTAL,
    WEEKDAYS,
    word_class,
)
from mrpvm.plugins.goal_solvers.symbolic.coordination import is_mixed
from mrpvm.plugins.goal_solvers.symbolic.frames.tagging import bare_adverbs
from mrpvm.plugins.goal_solvers.symbolic.matching import compatible, in_order, pair
from mrpvm.plugins.goal_solvers.symbolic.particles import denies_contrary, turns_contrary
from mrpvm.plugins.goal_solvers.symbolic.questions import Question
from mrpvm.plugins.goal_solvers.symbolic.reading import Reading, Word, is_past, read, sense
from mrpvm.plugins.goal_solvers.symbolic.reservations import is_reserved
from mrpvm.plugins.goal_solvers.symbolic.statements import Statement

_PARTIAL = PARTIAL_ADVERBS | word_class("some most many few several half")
_BEHIND = TIME_WORDS | NUMBER_WORDS | {"last", "next"}
_FORBIDDING = sense("forbid")
_PERMISSION = frozenset(("may", "can", "could"))
_EXEMPTING = frozenset(("without", "except", "despite", "unlike", "of", "by"))
_PAST_BE, _PRESENT_BE = frozenset(("was", "were")), frozenset(("is", "are", "am"))
_BOUNDS = frozenset(("under", "over", "above", "below", "before", "after", "until", "since", "within", "by"))
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Yes or no, and the statement it rests on."""

    is_yes: bool
    statement: Statement


def verdict_of(question: Question, statements: Sequence[Statement]) -> Verdict | None:
    """Give the verdict of the evidence, or None when nothing decides or statements contradict each other."""
    found: list[Verdict] = []
    for statement in statements:
        for reading in statement.readings:
            said = _says(question, reading, statement)
            if said is not None:
                found.append(Verdict(said, statement))
                break
    if not found or len({verdict.is_yes for verdict in found}) > 1:
        return None
    return found[0]


def _says(question: Question, reading: Reading, statement: Statement) -> bool | None:
    if is_reserved(question.reading, read(statement.text)):
        return None
    if not _is_plain(question, reading) or _is_of_the_other(question, reading, statement):
        return None
    paired = pair(question, reading, statement.inherited)
    if paired is not None:
        if not _is_exact(question, reading, paired) or _denies_only_part(question, reading, paired):
            return None
        if is_mixed(reading, {word.place for word in paired.values()}):
            return None
        agrees = reading.is_negated == question.reading.is_negated
        if turns_contrary(question.reading, reading):
            return False if agrees and not reading.is_negated and denies_contrary(question.reading, reading) else None
        return agrees
    if reading.is_negated or question.reading.is_negated:
        return None
    return False if _excludes(question, reading) else None


def _is_of_the_other(question: Question, reading: Reading, statement: Statement) -> bool:
    """Tell whether somebody speaks of himself who asks what the other can do; a document's "we" is whom one asks."""
    asked = {word.sense for word in question.reading.words if word.is_pronoun}
    first = next(iter(reading.words), None)
    speaks_of_self = first is not None and first.is_pronoun and first.sense in ("i", "we")
    return asked == {"you"} and speaks_of_self and not statement.is_of_document


def _is_plain(question: Question, reading: Reading) -> bool:
    """Tell whether the statement asserts outright, in the tense and strength that the question asks for."""
    asked, said = set(question.reading.tokens), set(reading.tokens)
    if reading.is_lacking != question.reading.is_lacking or not bare_adverbs(question.reading.tokens) <= said:
        return False
    if reading.is_conditional and not question.reading.is_conditional:
        return False
    if (reading.is_hedged and not question.reading.is_hedged) or not reading.attitudes <= question.senses:
        return False
    if _FORBIDDING in reading.senses - question.senses:
        return False  # "sailing is forbidden after dark" speaks of sailing, and does not say that one sails
    if (said & _PARTIAL) - asked or (asked & TOTAL) - said:
        return False
    if not _same_modality(question, reading):
        return False
    return _same_tense(question, reading)


def _same_modality(question: Question, reading: Reading) -> bool:
    """Tell whether a duty or permission is asked for as it is stated; what is forbidden is not permitted either."""
    said = set(reading.tokens) & MODALS
    asked = {question.auxiliary, *question.reading.tokens} & MODALS
    if not said or said <= asked or question.auxiliary == "":
        return True
    return bool(asked & _PERMISSION) and (bool(said & _PERMISSION) or reading.is_negated)


def _same_tense(question: Question, reading: Reading) -> bool:
    said = set(reading.tokens)
    if question.auxiliary in _PRESENT_BE and said & _PAST_BE and not said & _PRESENT_BE:
        return False
    if question.auxiliary in _PAST_BE and said & _PRESENT_BE and not said & _PAST_BE:
        return False
    verbs = [word.text for word in reading.words if word.sense in question.senses and is_past(word.text)]
    if question.auxiliary in ("do", "does") and verbs and not reading.is_passive:
        return False
    return not (question.auxiliary == "did" and said & DO_FORMS - {"did"})


def _is_exact(question: Question, reading: Reading, paired: dict[Word, Word]) -> bool:
    """Tell whether the matched words form the statement: nothing between or behind them changes what is said."""
    used = {word.place for word in paired.values()}
    core = [word.place for word in paired.values() if word.is_core]
    if not core or any(_is_somebodys(wanted, word, question) for wanted, word in paired.items()):
        return False
    low, high = min(core), max(core)
    by_place = {word.place: word for word in reading.words}
    for place in used:
        after = by_place.get(place + 1)
        changes = after and after.place not in used and not _is_harmless(by_place[place], after)
        if after and changes and not _enumerated(reading, after.place, used):
            return False
        if _counted_otherwise(question, reading, place):
            return False
    for word in reading.words:
        if low < word.place < high and word.place not in used and is_past(word.text) and word.is_core:
            return False
    first = next((word for word in reading.words if word.is_core and not word.is_owner), None)
    if first and first.place < low and not (first.is_pronoun or reading.is_passive):
        return False
    return not question.is_copular or _be_between(reading, used) or _attributive(paired)


def _is_somebodys(wanted: Word, word: Word, question: Question) -> bool:
    """Tell whether what is asked of all of a kind is said of somebody's: "Tom's dogs" are not dogs in general."""
    is_general = not wanted.is_owned_head and question.reading.tokens[max(wanted.place - 1, 0)] not in DEFINITE
    return is_general and word.is_owned_head and word.owner not in (None, "i", "we", "you")


def _denies_only_part(question: Question, reading: Reading, paired: dict[Word, Word]) -> bool:
    """Tell whether a denial is of narrower circumstances than asked: "not open on Sundays" leaves other days."""
    if not reading.is_negated or question.reading.is_negated:
        return False
    used = {word.place for word in paired.values()}
    narrower = any(_narrows(word) and word.place not in used for word in reading.words)
    last = max((word.place for word in paired.values() if word.is_core), default=0)
    other_object = any(word.is_core and word.place > last and word.text not in TIME_WORDS for word in reading.words)
    return narrower or other_object or not bare_adverbs(reading.tokens) <= bare_adverbs(question.reading.tokens)


def _narrows(word: Word) -> bool:
    """Tell whether a word names circumstances: when, where, for whom."""
    return bool(word.preposition) and word.preposition not in _EXEMPTING


def _attributive(paired: dict[Word, Word]) -> bool:
    """Tell whether "Is the cable red?" meets "a red cable": the last word asked stands right before the first."""
    asked = sorted(paired, key=lambda word: word.place)
    return len(asked) == 2 and asked[1].text in COLOURS and paired[asked[1]].place + 1 == paired[asked[0]].place


def _is_harmless(word: Word, after: Word) -> bool:
    if word.is_owner or after.text.endswith("ly") or after.text in _BEHIND:
        return True
    return (word.is_name and after.is_name) or after.preposition != word.preposition


def _enumerated(reading: Reading, first: int, used: set[int]) -> bool:
    """Tell whether an unmatched word begins a list that holds a matched one ("cork, wine and oranges")."""
    content = {word.place for word in reading.words}
    for place in range(first, len(reading.tokens)):
        token = reading.tokens[place]
        if place in used:
            return place > first and reading.tokens[place - 1] in (",", "and", "or", "the", "a", "an")
        if place not in content and token not in (",", "and", "or", "the", "a", "an"):
            return False
    return False


def _counted_otherwise(question: Question, reading: Reading, place: int) -> bool:
    """Tell whether a number the question does not name stands before a matched word: "two years" is not "year"."""
    before = reading.tokens[place - 1] if place else ""
    is_number = bool(_NUMBER.fullmatch(before)) or before in NUMBER_WORDS
    return is_number and before not in question.reading.tokens and before != "one"


def _be_between(reading: Reading, used: set[int]) -> bool:
    """Tell whether a form of be joins the first matched word and the last, or stands before the only one."""
    low, high = min(used), max(used)
    if low == high:
        return any(token in BE_FORMS for token in reading.tokens[: high + 1])
    return any(token in BE_FORMS and low < place < high for place, token in enumerate(reading.tokens))


def _excludes(question: Question, reading: Reading) -> bool:
    """Tell whether the statement says the same thing but for one value, and that value excludes the one asked about."""
    missing: list[Word] = []
    paired: dict[Word, Word] = {}
    for wanted in question.required:
        options = [word for word in reading.words if word.sense == wanted.sense]
        options = [word for word in options if compatible(wanted, word, question, reading)]
        if options:
            paired[wanted] = options[0]
        else:
            missing.append(wanted)
    if len(missing) != 1 or not paired or not in_order(question, paired):
        return False
    used = {word.place for word in paired.values()}
    colours = {word.place for word in reading.words if word.text in COLOURS and word.text != missing[0].text}
    if missing[0].text in COLOURS and question.is_copular and any(place - 1 in colours for place in used):
        return True
    if any(word.place < min(used) and word.is_core and not word.is_pronoun for word in reading.words):
        return False
    free = [word for word in reading.words if word.place not in used]
    return any(_rival(missing[0], word, question, reading) for word in free)


def _rival(asked: Word, said: Word, question: Question, reading: Reading) -> bool:
    left, right = asked.text, said.text
    if asked.preposition in _BOUNDS:
        return False  # "under six" and "under ten" exclude nothing
    for values in (COLOURS, WEEKDAYS, MONTHS):
        if left in values and right in values:
            # Who works on Saturdays may work on Sundays too; what was on Saturday was not on Sunday.
            # Who carries a red phone may carry a blue one too.
            return asked.preposition == said.preposition and question.auxiliary not in ("do", "does", "did")
    if _NUMBER.fullmatch(left) or left in NUMBER_WORDS:
        numeric = bool(_NUMBER.fullmatch(right)) or right in NUMBER_WORDS
        return numeric and asked.preposition == said.preposition and _followed_alike(question, reading, asked, said)
    if right in ANTONYMS.get(left, ()):
        # "Birds fly south" does not say that none flies north; "The door is closed" says that it is not open.
        # That it is closed on Sundays leaves other days.
        is_told_whole = {word.sense for word in reading.words if _narrows(word)} <= question.senses | {said.sense}
        return is_told_whole and (question.is_copular or question.reading.is_passive)
    naming = "call" in question.senses and "call" in reading.senses
    return naming and asked.is_name and said.is_name and said.is_core


def _followed_alike(question: Question, reading: Reading, asked: Word, said: Word) -> bool:
    """Tell whether two numbers count the same thing: the same word follows both."""
    nexts = [next((word.sense for word in item.words if word.place > place), None)
             for item, place in ((question.reading, asked.place), (reading, said.place))]  # fmt: skip
    return nexts[0] == nexts[1] and (nexts[0] is not None or question.is_copular)
