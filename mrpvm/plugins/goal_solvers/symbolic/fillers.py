"""Values in a statement that may fill a question's gap, by the kind of value asked for [BP-36 b]."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from mrpvm.knowledge.lexicon import (
    COLOURS,
    DO_FORMS,
    MODALS,
    MONTHS,
    NO_PLACES,
    NUMBER_WORDS,
    PERSON_WORDS,
    PREPOSITIONS,
    TIME_WORDS,
    WEEKDAYS,
    word_class,
)
from mrpvm.plugins.goal_solvers.symbolic.measuring import NUMBER, measured_spans, numbers
from mrpvm.plugins.goal_solvers.symbolic.questions import Kind, Question
from mrpvm.plugins.goal_solvers.symbolic.reading import GIVEN, Reading, Word, is_past
from mrpvm.plugins.goal_solvers.symbolic.times import CLOCK, YEAR, is_ahead, limits, opens_time

_LOCATIVE = word_class(
    "in at on near under behind inside beside below above beneath between along outside around into to from through "
    "across within beyond over off toward towards by"
)
_PLACE_ADVERBS = frozenset(
    ("home", "abroad", "upstairs", "downstairs", "outside", "inside", "nearby", "everywhere", "indoors")
)
_FREQUENCY = word_class(
    "hourly daily nightly weekly fortnightly monthly quarterly yearly annually once twice every always never"
)


@dataclass(frozen=True, slots=True)
class Filler:
    """A value with its place in the statement."""

    text: str
    place: int


def fillers_of(question: Question, reading: Reading, paired: dict[Word, Word]) -> list[Filler]:
    """Give the values of the kind asked for that the question does not itself name, the likeliest first."""
    used = {word.place for word in paired.values()}
    free = [word for word in reading.words if word.place not in used and word.sense not in question.senses]
    if question.head:
        named = _modifiers(question, reading, free, paired)
        if named:
            return named
    if question.stranded:
        return _phrases(reading, [word for word in free if word.preposition == question.stranded])
    finder = _BY_ATTRIBUTE.get(question.attribute or "") or _BY_KIND.get(question.kind)
    if finder is None:
        return _phrases(reading, _near(free, used))
    return finder(question, reading, free, used)


def _modifiers(question: Question, reading: Reading, free: list[Word], paired: dict[Word, Word]) -> list[Filler]:
    """Give what tells which one is meant: names beside the noun asked about, or behind it with "of"."""
    head = next((word for wanted, word in paired.items() if wanted.sense == question.head), None)
    if head is None:
        return []
    beside = [
        word
        for word in free
        if word.is_name
        and (abs(word.place - head.place) == 1 or (word.preposition == "of" and 1 < word.place - head.place <= 3))
    ]
    return _phrases(reading, beside)


def _near(free: Iterable[Word], used: set[int]) -> list[Word]:
    """Give the free words sorted by how close they stand to a matched one."""
    return sorted(free, key=lambda word: (min((abs(word.place - place) for place in used), default=0), word.place))


def _phrases(reading: Reading, found: Iterable[Word]) -> list[Filler]:
    """Give each word with the free neighbours that belong to its phrase ("Anna Schmidt", "red brick")."""
    seen: set[str] = set()
    fillers = []
    content = {word.place: word for word in reading.words}
    chosen = list(found)
    places = {word.place for word in chosen}
    for word in chosen:
        start = end = word.place
        while start - 1 in places and _same_phrase(content[start - 1], content[start]):
            start -= 1
        while end + 1 in places and _same_phrase(content[end], content[end + 1]):
            end += 1
        text = " ".join(reading.surfaces[start : end + 1]).removesuffix("'s")
        if text.lower() not in seen:
            seen.add(text.lower())
            fillers.append(Filler(text, start))
    return fillers


def _same_phrase(left: Word, right: Word) -> bool:
    return left.is_name == right.is_name and not is_past(right.text) and left.preposition == right.preposition


def _side(question: Question, reading: Reading, free: list[Word], used: set[int]) -> list[Word]:
    """Give the free words on the side of the verb where the gap is: before it when the subject is asked for."""
    if not question.gap_first:
        return free
    first = min((word.rank for word in reading.words if word.place in used and word.is_core), default=None)
    return [word for word in free if word.is_core and (first is None or word.rank < first)]


def _who(question: Question, reading: Reading, free: list[Word], used: set[int]) -> list[Filler]:
    sided = _side(question, reading, free, used)
    people = [
        word
        for word in sided
        if not word.is_owner
        and (word.is_name or word.is_pronoun or word.text in PERSON_WORDS)
        and word.text not in TIME_WORDS
    ]
    if not people and (question.gap_first or reading.is_passive):
        people = [word for word in sided if word.is_core and not word.is_owner]
    return _phrases(reading, _near(people, used))


def _what(question: Question, reading: Reading, free: list[Word], used: set[int]) -> list[Filler]:
    sided = _side(question, reading, free, used)
    if not question.gap_first and question.auxiliary in DO_FORMS:
        subject = min((word.rank for word in reading.words if word.place in used and word.is_core), default=0)
        sided = [word for word in sided if word.rank > subject and word.is_core]
    return _phrases(reading, _near(sided, used))


def _where(question: Question, reading: Reading, free: list[Word], used: set[int]) -> list[Filler]:
    placed = [
        word
        for word in free
        if (
            word.preposition in (_LOCATIVE - {"to"} if reading.senses & GIVEN else _LOCATIVE)
            and word.text not in NO_PLACES
            and not _opens_time(reading, word)
            and not _is_hour(reading, word)
        )
        or word.text in _PLACE_ADVERBS
    ]
    return _phrases(reading, sorted(placed, key=lambda word: word.place))


def _is_time(text: str) -> bool:
    return (
        text in TIME_WORDS or text.removesuffix("s") in WEEKDAYS or bool(YEAR.fullmatch(text) or CLOCK.fullmatch(text))
    )


def _is_time_in(reading: Reading, word: Word) -> bool:
    """Tell whether a word is a time where it stands: in "the second frame" it counts."""
    ordinal = word.text == "second" and reading.tokens[word.place - 1 : word.place] == ("the",)
    return _is_time(word.text) and not ordinal


def _opens_time(reading: Reading, word: Word) -> bool:
    """Tell whether a word is, or stands before, a time behind its preposition: "in the first two weeks"."""
    phrase: Word | None = word
    while phrase is not None and phrase.preposition == word.preposition:
        if _is_time_in(reading, phrase):
            return True
        phrase = reading.word_at(phrase.place + 1)
    return False


def _is_hour(reading: Reading, word: Word) -> bool:
    """Tell whether a bare number is a time of day: "leaves at seven"."""
    following = reading.tokens[word.place + 1 : word.place + 2]
    alone = not following or not following[0][0].isalnum() or following[0] in PREPOSITIONS
    return word.preposition == "at" and alone and (word.text in NUMBER_WORDS or word.text.isdigit())


def _when(question: Question, reading: Reading, free: list[Word], used: set[int]) -> list[Filler]:
    if _is_of_other_time(question, reading):
        return []
    if question.limit:
        return _limited(question.limit, reading, free)
    timed = [word for word in free if _is_time_in(reading, word) or _is_hour(reading, word)]
    if not timed:
        clause = next((place for place, token in enumerate(reading.tokens) if place and token in _TIME_CLAUSE), None)
        if clause is not None:
            return [Filler(" ".join(reading.surfaces[clause:]), clause)]
    places = {word.place for word in timed}
    widened = [
        word for word in reading.words
        if word.place in places or ({word.place - 1, word.place + 1} & places and NUMBER.fullmatch(word.text))
    ]  # fmt: skip
    return _phrases(reading, widened)


def _is_of_other_time(question: Question, reading: Reading) -> bool:
    """Tell whether what was is asked, and what is told: "is closed on Mondays" does not say when it was closed."""
    said, asked = set(reading.tokens), question.auxiliary
    return (asked in _WAS and bool(said & _IS) and not said & _WAS) or (
        asked in _IS and bool(said & _WAS) and not said & _IS
    )


_IS, _WAS = frozenset(("is", "are")), frozenset(("was", "were"))


def _limited(asked: str, reading: Reading, free: list[Word]) -> list[Filler]:
    """Give the time behind a preposition that answers "by when" or "until when", or how long in advance it is."""
    if asked in ("by", "until", "till"):
        ahead = (at for at in range(1, len(reading.tokens)) if is_ahead(reading.tokens, at) or _ends_span(reading, at))
        place = next(ahead, None)
        if place is not None:
            return _phrases(reading, [word for word in free if 0 < place - word.place <= 3])
    wanted = limits(asked)
    return _phrases(
        reading,
        [word for word in free if word.preposition in wanted and opens_time(reading.tokens, _governor(reading, word))],
    )


def _ends_span(reading: Reading, place: int) -> bool:
    """Tell whether "before" stands behind a length of time: "up to three days before arrival"."""
    counted = reading.tokens[max(place - 3, 0) : place - 1]
    is_number = any(NUMBER.fullmatch(token) or token in NUMBER_WORDS for token in counted)
    return reading.tokens[place] == "before" and reading.tokens[place - 1] in TIME_WORDS and is_number


def _governor(reading: Reading, word: Word) -> int:
    """Give the place of the preposition of a word."""
    return max((at for at in range(word.place) if reading.tokens[at] == word.preposition), default=0)


_RELATIVES = frozenset(("who", "which", "that"))
_TIME_CLAUSE = frozenset(("before", "after", "when", "while", "until", "since", "during", "if", "once", "unless"))


def _whose(question: Question, reading: Reading, free: list[Word], used: set[int]) -> list[Filler]:
    owners = [Filler(word.text.removesuffix("'s").capitalize(), word.place) for word in reading.words if word.is_owner]
    if owners:
        return owners
    belongs = [word for word in free if word.preposition == "to" and "belong" in reading.senses]
    first = [Filler("mine" if word.owner == "i" else "yours", word.place) for word in reading.words
             if word.place in used and word.owner in ("i", "you")]  # fmt: skip
    return _phrases(reading, belongs) or first


def _count(question: Question, reading: Reading, free: list[Word], used: set[int]) -> list[Filler]:
    """Give numbers that stand right before the counted thing, with at most two words between."""
    if question.auxiliary in MODALS and not MODALS & set(reading.tokens) and _RELATIVES & set(reading.tokens):
        return []  # "members who miss three" does not say how many they may miss
    counted = [word.place for word in reading.words if word.sense == question.counted]
    found = []
    for place in numbers(reading, set()):
        if any(0 < target - place <= 3 for target in counted):
            found.append(Filler(reading.surfaces[place], place))
    return found


def _measured(question: Question, reading: Reading, free: list[Word], used: set[int]) -> list[Filler]:
    return [
        Filler(" ".join(reading.surfaces[start : unit + 1]), start)
        for start, unit in measured_spans(question, reading, used)
    ]


def _frequency(question: Question, reading: Reading, free: list[Word], used: set[int]) -> list[Filler]:
    tokens = reading.tokens
    places = [
        place
        for place, token in enumerate(tokens)
        if token in _FREQUENCY
        or (token.endswith("s") and token[:-1] in WEEKDAYS)
        or (tokens[place + 1 : place + 2] == ("times",) and token in NUMBER_WORDS)
    ]
    return [Filler(" ".join(reading.surfaces[place : place + 3]), place) for place in places]


def _name(question: Question, reading: Reading, free: list[Word], used: set[int]) -> list[Filler]:
    """Give names the statement says the thing has; a thing that merely occurs beside a name is not called so."""
    naming = any(token in ("called", "named", "name", "names", "titled", "dubbed") for token in reading.tokens)
    equal = any(token in ("is", "are", "was", "were") for token in reading.tokens)
    names = [word for word in free if word.is_name and word.is_core]
    if not (naming or equal):
        names = [word for word in names if word.place - 1 in used]  # "my sister Cleo"
    return _phrases(reading, names)


def _colour(question: Question, reading: Reading, free: list[Word], used: set[int]) -> list[Filler]:
    """Give colours said of the thing, not those that stand before something else: "is next to a green gate"."""
    found = []
    for word in free:
        following = reading.word_at(word.place + 1)
        is_others = following is not None and following.place not in used and following.text not in COLOURS
        if word.text in COLOURS and not (is_others and not _is_time(following.text if following else "")):
            found.append(Filler(word.text, word.place))
    return found


def _one_of(values: Callable[[str], bool]) -> "Finder":
    def find(question: Question, reading: Reading, free: list[Word], used: set[int]) -> list[Filler]:
        return [Filler(word.text, word.place) for word in free if values(word.text)]

    return find


type Finder = Callable[[Question, Reading, list[Word], set[int]], list[Filler]]

_BY_KIND: dict[Kind, Finder] = {
    Kind.WHO: _who,
    Kind.WHAT: _what,
    Kind.WHICH: _what,
    Kind.WHERE: _where,
    Kind.WHEN: _when,
    Kind.WHOSE: _whose,
}
_BY_ATTRIBUTE: dict[str, Finder] = {
    "colour": _colour,
    "name": _name,
    "year": _one_of(lambda text: bool(YEAR.fullmatch(text))),
    "month": _one_of(lambda text: text in MONTHS),
    "day": _one_of(lambda text: text in WEEKDAYS),
    "date": _when,
    "time": _when,
    "count": _count,
    "frequency": _frequency,
    **dict.fromkeys(("age", "length", "length-or-time", "weight", "amount", "size", "speed", "temperature"), _measured),
}
