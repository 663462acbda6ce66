"""Whether a statement says what a question asks, and what in it fills the gap [BP-36 a, b].

A statement matches only if it has every required word in a compatible case, argument order, owner, polarity and
modality. What remains of it must hold a value of the kind asked for. Too strict is cheap, too lax is a wrong answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mrpvm.knowledge.lexicon import (
    ALTERING,
    AUXILIARIES,
    BE_FORMS,
    COLOURS,
    CONJUNCTIONS,
    DETERMINERS,
    HAVE_FORMS,
    LOCATION_VERBS,
    MODALS,
)
from mrpvm.plugins.goal_solvers.symbolic.fillers import Filler, fillers_of
from mrpvm.plugins.goal_solvers.symbolic.headings import under_heading
from mrpvm.plugins.goal_solvers.symbolic.labels import is_labelled
from mrpvm.plugins.goal_solvers.symbolic.near_misses import is_near_miss
from mrpvm.plugins.goal_solvers.symbolic.particles import turns_contrary
from mrpvm.plugins.goal_solvers.symbolic.questions import ATTRIBUTES, FRONTED, Kind, Question
from mrpvm.plugins.goal_solvers.symbolic.reading import PASSIVE_SUBJECT, Reading, Word, is_past, sense
from mrpvm.plugins.goal_solvers.symbolic.statements import Statement

_SAME_PLACE = (
    ("in", "inside", "within", "into", "at"),
    ("on", "upon", "onto", "at"),
    ("under", "below", "beneath"),
    ("over", "above", "across"),
    ("near", "beside", "by", "at"),
    ("to", "towards", "toward", "into", "onto", "for"),
    ("from", "off"),
    ("of", "from", "for"),
    ("during", "in"),
)
_LOOSE = frozenset(("to", "for", "of", "by"))
_UNREAL = frozenset(("would", "might"))
POSSIBLE = frozenset(("can", "could", "may", "might"))
_DUTIES = frozenset(("must", "shall", "should"))
_NOT_YET = frozenset(("may", "can", "will", "shall"))
_PAST_BE, _PRESENT_BE = frozenset(("was", "were")), frozenset(("is", "are"))
_ADDING = frozenset(("including", "plus", "excluding"))
_EXCEPTIONS = frozenset(("except", "excluding"))
_PREFERRING = sense("prefer")
_OVER = frozenset(("to", "over"))
_GOALS = frozenset(("to", "for"))
_RELATIVES = frozenset(("who", "which", "that", "whose", "whom"))
_LOCATION_SENSES = frozenset(sense(verb) for verb in LOCATION_VERBS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A statement that answers; `fillers` are the possible values, best first; `extra_count` what it says besides."""

    statement: Statement
    reading: Reading
    fillers: tuple[Filler, ...]
    extra_count: int


def matches(question: Question, statements: Sequence[Statement]) -> list[Match]:
    """Give the statements that answer the question, the most exact first."""
    found = [match for statement in statements if (match := match_one(question, statement))]
    found = [match for match in found if not _denied(match, statements)]
    return sorted(found, key=lambda match: (match.extra_count, -match.statement.entry.score, match.statement.unit_id))


def _denied(match: Match, statements: Sequence[Statement]) -> bool:
    """Tell whether another statement says the same of a match with "not": then neither is to be told as the answer."""
    return any(
        reading.is_negated and not match.reading.is_negated and match.reading.senses <= reading.senses
        for statement in statements
        if statement is not match.statement
        for reading in statement.readings
    )


def match_one(question: Question, statement: Statement) -> Match | None:
    """Give the match of one statement, trying its clauses before the whole, or None."""
    if question.measure and _is_bare_label(statement):
        return None  # "Boats: 3 hours" does not say what is three hours long: its heading does
    heading = statement.entry.unit.section_title or statement.entry.unit.title
    for reading in statement.readings:
        paired = pair(question, reading, statement.inherited) or _named_beside(question, reading)
        if paired is None and (bare := under_heading(question, reading, heading)):
            paired = pair(bare, reading, statement.inherited)
        if paired is None or not truth_holds(question, reading):
            continue
        if not _linked(question, reading, paired) or not _does(question, reading, paired):
            continue
        if is_near_miss(question, reading, paired, statement):
            continue
        fillers = fillers_of(question, reading, paired)
        if fillers:
            return Match(
                statement=statement,
                reading=reading,
                fillers=tuple(fillers),
                extra_count=len(reading.senses - question.senses),
            )
    return None


def _is_bare_label(statement: Statement) -> bool:
    """Tell whether a statement is a label with a value that is no sentence."""
    is_spoken = statement.speaker is not None or bool(AUXILIARIES & set(statement.reading.tokens))
    return not is_spoken and is_labelled(statement.text)


def pair(question: Question, reading: Reading, inherited: Sequence[Word] = ()) -> dict[Word, Word] | None:
    """Give for every required word its counterpart in the statement, or None if one is missing or misplaced."""
    if not question.required:
        return None
    paired: dict[Word, Word] = {}
    taken: set[int] = set()
    for wanted in question.required:
        options = [word for word in reading.words if word.sense == wanted.sense and word.place not in taken]
        options = [word for word in options if compatible(wanted, word, question, reading)]
        if not options:
            if wanted.is_pronoun and _is_order(question, reading):
                continue
            if not any(word.sense == wanted.sense and word.preposition == wanted.preposition for word in inherited):
                return None
            continue
        best = min(options, key=lambda word: word.is_core != wanted.is_core)
        paired[wanted] = best
        taken.add(best.place)
    if not paired or not in_order(question, paired) or _inside_relative(question, reading, paired):
        return None
    return None if _swaps_goal(question, reading, paired) else paired


def _swaps_goal(question: Question, reading: Reading, paired: dict[Word, Word]) -> bool:
    """Tell whether a subject meets the goal of the other sentence: "sold to a brewery" sells no brewery.

    Only an object may: "gave Ines a medal" is "gave a medal to Ines".
    """
    return any(
        (wanted.is_core and word.preposition in _GOALS and _is_first(wanted, question.reading))
        or (word.is_core and wanted.preposition in _GOALS and _is_first(word, reading))
        for wanted, word in paired.items()
    )


def _is_first(word: Word, reading: Reading) -> bool:
    """Tell whether a word is the subject: core words before it, if any, stand right before it and are no verb."""
    return word.rank >= PASSIVE_SUBJECT or not any(
        other.is_core and other.place < word.place - 1 for other in reading.words
    )


_NAMING = sense("called")


def _named_beside(question: Question, reading: Reading) -> dict[Word, Word] | None:
    """Give the counterpart of a thing whose name is asked for, where it stands beside it: "my sister Cleo sings"."""
    if question.kind is not Kind.WHAT or not (_NAMING in question.senses or question.attribute == "name"):
        return None
    bare = replace(question, required=tuple(word for word in question.required if word.sense != _NAMING))
    paired = pair(bare, reading)
    return paired if paired and _in_apposition(reading, paired) else None


def _is_order(question: Question, reading: Reading) -> bool:
    """Tell whether the statement tells to do what is asked: it begins with a verb of the question, without subject."""
    first = next(iter(reading.words), None)
    return first is not None and first.place == 0 and first.sense in question.senses and not reading.is_passive


def compatible(wanted: Word, word: Word, question: Question, reading: Reading) -> bool:
    """Tell whether a word of the statement can stand for a word of the question: case, owner and preposition."""
    if _EXCEPTIONS & set(reading.tokens[: word.place]) and not _EXCEPTIONS & set(question.reading.tokens):
        return False  # "welcome, except in the restaurant"
    before = reading.tokens[word.place - 1] if word.place else ""
    if _led_by(reading, word.place) in _ADDING - set(question.reading.tokens):
        return False  # "15 euros including the tube" is not what the tube costs
    if before in ALTERING and before not in question.reading.tokens:
        return False
    if (word.rank < 0 and wanted.preposition) or (wanted.rank < 0 and word.preposition):
        return False  # "awarded by the mayor" awards nothing to the mayor
    if word.text.endswith("ing") and before == word.preposition and not wanted.preposition:
        return False  # who thinks of selling a house does not sell it
    if before == "than" and not wanted.preposition and "than" not in question.reading.tokens:
        return False  # "fewer than ten", "rather fish than meat"
    if _PREFERRING in reading.senses and word.preposition in _OVER and not wanted.preposition:
        return False  # "prefers tea to coffee"
    names_it = "call" in reading.senses
    if word.is_owner != wanted.is_owner and not names_it and not _of_phrase(wanted, word):
        return False
    if wanted.is_owned_head and wanted.owner in ("i", "we", "you") and word.owner != wanted.owner:
        return False
    if word.owner in ("i", "we", "you") and wanted.owner in ("i", "we", "you") and word.owner != wanted.owner:
        return False
    if wanted.preposition == word.preposition or FRONTED <= wanted.rank < PASSIVE_SUBJECT:
        return True
    if wanted.preposition and word.preposition:
        return any(wanted.preposition in group and word.preposition in group for group in _SAME_PLACE)
    loose = wanted.preposition or word.preposition
    if loose in _LOOSE or _of_phrase(wanted, word):
        return not (loose == "of" and word.preposition == "of" and not _modifies(wanted, word, question, reading))
    return question.auxiliary == "" and question.kind is Kind.OPEN


def _led_by(reading: Reading, place: int) -> str:
    """Give the word before a noun and its article."""
    while place and reading.tokens[place - 1] in DETERMINERS:
        place -= 1
    return reading.tokens[place - 1] if place else ""


def _of_phrase(wanted: Word, word: Word) -> bool:
    """Tell whether "the ship's captain" meets "the captain of the ship"."""
    return (wanted.is_owner and word.preposition == "of") or (word.is_owner and wanted.preposition == "of")


def _modifies(wanted: Word, word: Word, question: Question, reading: Reading) -> bool:
    """Tell whether "the ship captain" meets "the captain of the ship": the same noun has both."""
    if wanted.is_owner:
        return True
    head = question.reading.word_at(wanted.place + 1)
    before = next((other for other in reversed(reading.words) if other.place < word.place), None)
    return head is not None and before is not None and head.sense == before.sense


def in_order(question: Question, paired: dict[Word, Word]) -> bool:
    """Tell whether the arguments stand in the same order: who did it, and to whom."""
    if (question.is_copular and question.kind is not Kind.YES_NO) or question.kind is Kind.WHOSE:
        return True
    core = [
        (wanted, word)
        for wanted, word in paired.items()
        if wanted.is_core and word.is_core and not (wanted.sense == "call" and question.reading.is_passive)
    ]
    for subordinate in (False, True):
        ranks = [(wanted.rank, word.rank) for wanted, word in core if wanted.is_subordinate == subordinate]
        if [rank for _, rank in sorted(ranks)] != sorted(rank for _, rank in ranks):
            return False
    return True


def truth_holds(question: Question, reading: Reading) -> bool:
    """Tell whether polarity, particles and attitude agree: "Anna thinks it is open" does not say that it is."""
    if reading.is_negated != question.reading.is_negated or reading.is_lacking != question.reading.is_lacking:
        return False
    if turns_contrary(question.reading, reading):
        return False
    unreal = _UNREAL & set(reading.tokens)
    if unreal and not unreal & set(question.reading.tokens) and question.auxiliary not in MODALS:
        return False  # "it would be opened" does not say that it was
    return reading.attitudes <= question.senses and _same_time(question, reading)


def _same_time(question: Question, reading: Reading) -> bool:
    """Tell whether what is asked as done is told as done, and what is asked of now is not told of the past."""
    asked, said = {question.auxiliary, *question.reading.tokens}, set(reading.tokens)
    if "May" in reading.surfaces[1:]:
        said.discard("may")  # the month
    verb = next((word for word in question.required if word.is_core), None)
    leading = verb.text if verb is not None and question.gap_first else ""
    if said & _NOT_YET and not asked & (MODALS | HAVE_FORMS):
        done = "did" in asked or (question.reading.is_passive and bool(asked & _PAST_BE))
        return not (done or is_past(leading))
    is_place_of_deed = question.kind is Kind.WHERE and question.reading.is_passive
    if asked & _PRESENT_BE and (question.kind is Kind.WHEN or is_place_of_deed):
        return not said & _PAST_BE or bool(said & _PRESENT_BE)
    if said & HAVE_FORMS or reading.is_passive:
        return True
    asks_now = bool(asked & {"do", "does"}) or leading.endswith("s")
    return not (asks_now and any(word.sense in question.senses and is_past(word.text) for word in reading.words))


def _inside_relative(question: Question, reading: Reading, paired: dict[Word, Word]) -> bool:
    """Tell whether the first matched word stands in a relative clause about something else."""
    if question.gap_first:
        return False
    core = [word.place for word in paired.values() if word.is_core]
    if not core:
        return False
    first = min(core)
    for place, token in enumerate(reading.tokens[:first]):
        if token in _RELATIVES and any(word.place == place - 1 for word in reading.words):
            return True
    return False


def _linked(question: Question, reading: Reading, paired: dict[Word, Word]) -> bool:
    """Tell whether a question that only says "is" meets a statement that says what the thing is."""
    is_possible = bool(POSSIBLE & set(reading.tokens)) and not reading.is_passive
    if question.kind is Kind.WHERE and is_possible and reading.senses & _LOCATION_SENSES - question.senses:
        return False  # where one can park is not where the car is
    if question.kind is Kind.WHERE and question.is_copular:
        placed = any(token in BE_FORMS for token in reading.tokens) or bool(reading.senses & _LOCATION_SENSES)
        return placed and _is_subject(reading, paired)
    if not question.is_copular or question.kind not in (Kind.WHO, Kind.WHAT, Kind.WHICH):
        return True
    if question.attribute == "colour" and _has_attributive(reading, paired):
        return True
    if reading.is_passive and not (question.attribute or _NAMING in reading.senses):
        return _in_apposition(reading, paired)  # "it is written in Rust" does not say what it is
    return question.attribute == "name" or _joined_by_be(question, reading, paired) or _in_apposition(reading, paired)


def _does(question: Question, reading: Reading, paired: dict[Word, Word]) -> bool:
    """Tell whether a question what somebody does, or must do, meets a statement of his doing."""
    if not question.asks_for_deed:
        return True
    first = next((word for word in reading.words if word.is_core and not word.is_owner), None)
    said, asked = set(reading.tokens) & MODALS, {question.auxiliary} & MODALS
    is_deed = not reading.is_passive and not set(reading.tokens) & BE_FORMS
    return first in paired.values() and is_deed and bool(said & _DUTIES) == bool(asked & _DUTIES)


def _is_subject(reading: Reading, paired: dict[Word, Word]) -> bool:
    first = next((word for word in reading.words if word.is_core and not word.is_owner), None)
    return first is not None and (first in paired.values() or reading.is_passive or first.is_pronoun or first.is_name)


def _joined_by_be(question: Question, reading: Reading, paired: dict[Word, Word]) -> bool:
    """Tell whether a form of be stands between the whole matched phrase and the rest of its clause."""
    places = [word.place for word in paired.values()]
    low, high = min(places), max(places)
    for place, token in enumerate(reading.tokens):
        if token not in BE_FORMS or low < place < high:
            continue
        if place > high:
            between = reading.tokens[high + 1 : place]
            more = [word for word in reading.words if high < word.place < place and word.is_core]
            labels_only = all(ATTRIBUTES.get(word.text, "") == question.attribute for word in more)
            return low == _first_content(reading) and labels_only and "," not in between
        left = [word for word in reading.words if word.place < place and word.is_core]
        inner = [word for word in reading.words if place < word.place < low and word.is_core]
        return bool(left) and all(word.sense in _LOCATION_SENSES for word in inner)
    return False


def _has_attributive(reading: Reading, paired: dict[Word, Word]) -> bool:
    """Tell whether a colour stands right before a matched word ("a red cable")."""
    colours = {word.place for word in reading.words if word.text in COLOURS}
    return any(word.place - 1 in colours for word in paired.values())


def _first_content(reading: Reading) -> int:
    return next((word.place for word in reading.words if word.is_core), -1)


def _in_apposition(reading: Reading, paired: dict[Word, Word]) -> bool:
    """Tell whether a name stands beside the matched phrase: "Mara, the captain of the Argo" or "captain Mara"."""
    places = [word.place for word in paired.values()]
    low, high = min(places), max(places)
    for word in reading.words:
        if not word.is_name or word in paired.values():
            continue
        gap = reading.tokens[word.place + 1 : low]
        if gap[:1] == ("(",) and set(gap[1:]) <= {"the", "a", "an"} and reading.tokens[high + 1 : high + 2] == (")",):
            return True
        if not word.is_core:
            continue
        if word.place < low:
            if gap[:1] == (",",) and set(gap[1:]) <= {"the", "a", "an", "our", "my", "his", "her", "their"}:
                return True
        elif word.place > high:
            gap = reading.tokens[high + 1 : word.place]
            if gap in ((), (",",)) and not CONJUNCTIONS & set(gap):
                return True
    return False
