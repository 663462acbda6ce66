"""Finds values in the phrases of a clause: places, times, durations, counts and measures."""

from collections.abc import Iterable

from mrpvm.english.sentences.structure import Clause, Phrase, Sentence
from mrpvm.english.words import lexicon
from mrpvm.english.words.reading import BE, GIVEN
from mrpvm.english.words.tagging import CLOCK, YEAR, is_money_sign, is_nominal, is_number
from mrpvm.english.words.text import MEASURES

_LIMITS = lexicon.classes("time_limits")
SPANS = lexicon.listed("spans")
UNITS = {kind: lexicon.word_class(words.replace("|", " ")) for kind, words in lexicon.section("units").items()}
"""The units of each kind of value; "measure" has all units of amounts except those of data."""
_EXTENTS = (
    *(frozenset((noun, *others)) for noun, others in MEASURES.items()),
    lexicon.word_class("late early behind ahead apart advance"),
)
"""Groups of words for one measure each; a value has at most one of them beside it."""
_STATED_ONLY = lexicon.classes("stated_only")
"""Measures that must be named: a bare length is not one of them."""
_ROUGHLY = lexicon.word_class(
    "about around nearly almost over under up to at least at most more less than some roughly"
)
_COMPARED = lexicon.word_class("more less fewer")
MEASURED_BY = {noun: others[0] for noun, others in MEASURES.items()}
"""Nouns for measures, and the word after "how" that asks for them."""
CALENDAR = (
    (lexicon.MONTHS - {"may"})
    | lexicon.WEEKDAYS
    | {f"{day}s" for day in lexicon.WEEKDAYS}
    | {"month-of-may", "a.m", "pm"}
)
PLACE_PREPOSITIONS = lexicon.listed("place_prepositions")
PLACE_ADVERBS = lexicon.word_class("home abroad upstairs downstairs outside inside nearby indoors outdoors away")
_PERIODICAL = lexicon.word_class("daily weekly monthly yearly hourly annually nightly quarterly fortnightly")
_EVERY = _PERIODICAL | lexicon.word_class("every each per once twice")
_WEEKLY = {f"{day}s" for day in lexicon.WEEKDAYS}
_TIME_ADVERBS = _PERIODICAL | lexicon.word_class("today tomorrow yesterday tonight now")


def has_number(tokens: Iterable[str]) -> bool:
    return any(is_number(token) for token in tokens)


def is_time(phrase: Phrase, preposition: str, parsed: Sentence) -> bool:
    """Return whether a phrase is a time: a date, a clock time, a day or part of a day."""
    tokens = parsed.tokens_of(phrase)
    if is_measure(phrase, "measure", parsed):
        return False  # 6.20 euros are no clock time, and 1999 euros no year
    if any(YEAR.fullmatch(token) or CLOCK.fullmatch(token) or token in CALENDAR for token in tokens):
        return True
    if phrase.head_text in lexicon.TIME_WORDS:
        return phrase.head_text not in ("second", "seconds", "minute", "minutes") or preposition in ("in", "after")
    bare_hour = preposition in ("at", "by", "until", "from", "before", "after", "past") and has_number(tokens)
    return bare_hour and len(tokens) <= 4 and "%" not in tokens and not any(token in UNITS["cost"] for token in tokens)


def is_span(phrase: Phrase, parsed: Sentence) -> bool:
    """Return whether a phrase is a duration."""
    tokens = parsed.tokens_of(phrase)
    return any(token in SPANS for token in tokens) and (has_number(tokens) or tokens[0] in ("a", "an", "one"))


def is_measure(phrase: Phrase, kind: str, parsed: Sentence) -> bool:
    """Return whether a phrase is a number with a unit of a kind."""
    tokens = parsed.tokens[phrase.start : phrase.end + 2]
    units = UNITS[kind]
    glued = any(token[0].isdigit() and _unit_of(token) in units for token in tokens)
    beside = (*parsed.tokens[max(phrase.start - 1, 0) : phrase.start], *tokens[1:][-1:])  # "€ 5", "5 €"
    signed = kind in ("cost", "measure") and any(map(is_money_sign, beside))
    number = has_number(tokens[:-1] or tokens)
    return (number and any(token in units for token in tokens)) or glued or (signed and number)


def _places_of_units(phrase: Phrase, units: frozenset[str], parsed: Sentence) -> list[int]:
    places = range(phrase.start, min(phrase.end + 2, len(parsed.tokens)))
    return [place for place in places if parsed.tokens[place] in units]


def _is_difference(phrase: Phrase, units: frozenset[str], parsed: Sentence) -> bool:
    """Return whether a value is a difference: "20 euros more than the red one"."""
    behind = [parsed.tokens[place + 1 : place + 3] for place in _places_of_units(phrase, units, parsed)]
    return any(words and (words[0] in _COMPARED or "than" in words[1:]) for words in behind)


def _tells(measure: str, phrase: Phrase, units: frozenset[str], parsed: Sentence) -> bool:
    """Return whether a value answers "how `measure`": it must not be of another or an unknown measure."""
    if not measure or measure == "much":
        return True
    tokens = parsed.tokens
    numbers = (place for place in range(phrase.start, phrase.end + 1) if is_number(tokens[place]))
    start = next(numbers, phrase.start)
    unit = (*_places_of_units(phrase, units, parsed), start)[0]
    if said := _extent_beside(tokens, start, unit):
        return measure in said
    is_length = _unit_of(tokens[unit]) in UNITS["length"]
    return not is_length or measure not in _STATED_ONLY or not _STATED_ONLY[measure].isdisjoint(tokens)


def _extent_beside(tokens: tuple[str, ...], start: int, unit: int) -> frozenset[str]:
    """Return the words for the measure named beside a value: "4 metres high", "4 metres in height", "a height of 4"."""
    following = [word for word in tokens[unit + 1 : unit + 3] if word != "in"]
    before = [word for word in tokens[max(start - 5, 0) : start] if word not in _ROUGHLY]
    beside = {*following[:1], *(before[-2:-1] if before[-1:] == ["of"] else [])}
    return next((group for group in _EXTENTS if group & beside), frozenset())


def _unit_of(token: str) -> str:
    """Return the unit in a word with a number: "g" in "5g"; a word without a number is returned unchanged."""
    return token.lstrip("0123456789.,:")


def phrases_of(clause: Clause) -> list[tuple[str, Phrase]]:
    """Return all phrases after the verb with their prepositions, with members of enumerations separated."""
    governed = [*(("", phrase) for phrase in clause.objects), *clause.modifiers]
    return [(word, item) for word, phrase in governed for item in phrase.members]


def times(clause: Clause, parsed: Sentence, limit: str = "") -> list[str]:
    """Return the times; questions such as "until when" only accept times after such a preposition."""
    wanted = limits(limit) if limit else frozenset[str]()
    texts = [
        parsed.text_of(phrase)
        for word, phrase in phrases_of(clause)
        if is_time(phrase, word, parsed) and (not limit or word in wanted)
    ]
    return texts if limit else texts + [word for word in clause.adverbs if word in _TIME_ADVERBS]


def places(clause: Clause, parsed: Sentence) -> list[str]:
    """Return the phrases that name a place."""
    texts = [
        parsed.text_of(phrase)
        for word, phrase in clause.modifiers
        if word in PLACE_PREPOSITIONS and not (word == "to" and clause.verb in GIVEN)
        and phrase.head_text not in lexicon.NO_PLACES
        and not is_time(phrase, word, parsed) and not is_span(phrase, parsed)
        and not (clause.is_passive and word == "by") and (phrase.senses or phrase.pronoun == "")
    ]  # fmt: skip
    return texts + [word for word in clause.adverbs if word in PLACE_ADVERBS]


def spans(clause: Clause, parsed: Sentence, measure: str = "") -> list[str]:
    """Return the durations."""
    return [
        parsed.text_of(phrase)
        for word, phrase in phrases_of(clause)
        if is_span(phrase, parsed)
        and word not in ("per", "after", "before", "every")
        and parsed.tokens_of(phrase)[0] not in ("every", "each")
        and _tells(measure, phrase, SPANS, parsed)
    ]


def colours(clause: Clause, parsed: Sentence) -> list[str]:
    """Return the colours after the verb, without those of another thing: "painted red", "is long and green"."""
    texts = []
    for place in range(clause.verb_place + 1, min(clause.end, len(parsed.tokens))):
        before, following = parsed.tokens[place - 1], (*parsed.tokens[place + 1 : place + 2], ",")[0]
        is_last = not is_nominal(following) or following in lexicon.COLOURS or following in lexicon.TIME_WORDS
        opens = place - 1 == clause.verb_place or before in _BEFORE_COLOUR or before in lexicon.COLOURS
        if parsed.tokens[place] in lexicon.COLOURS and is_last and opens:
            texts.append(parsed.surfaces[place])
    return texts


_BEFORE_COLOUR = lexicon.word_class("and , in dark light bright pale all entirely completely")


def measures(clause: Clause, kind: str, parsed: Sentence, measure: str = "") -> list[str]:
    """Return numbers with a unit of a kind; if `measure` ("high", "long") is given, only values of this measure."""
    measured = [
        phrase
        for word, phrase in phrases_of(clause)
        if word != "by"  # by how much it changes
        and is_measure(phrase, kind, parsed)
        and _tells(measure, phrase, UNITS[kind], parsed)
        and not _is_difference(phrase, UNITS[kind], parsed)
    ]
    if kind == "age":
        ages = (phrase for _, phrase in phrases_of(clause) if phrase.head == "age")
        aged = [phrase for phrase in ages if has_number(parsed.tokens_of(phrase))]
        if clause.verb == BE and _is_somebody(clause.subject):
            aged += [phrase for phrase in clause.objects if is_number(phrase.head_text)]
        measured = aged + [phrase for phrase in measured if {"old", "age", "aged"} & set(parsed.tokens)]
    return [parsed.text_of(phrase) for phrase in measured]


def _is_somebody(subject: Phrase | None) -> bool:
    return subject is not None and (subject.is_person or subject.pronoun in ("i", "he", "she"))


def frequencies(clause: Clause, parsed: Sentence) -> list[str]:
    """Return how often something is done."""
    texts = [
        parsed.text_of(phrase)
        for word, phrase in phrases_of(clause)
        if word in ("per", "once", "twice")
        or phrase.head_text == "times"
        or set(parsed.tokens_of(phrase)) & (_EVERY | _WEEKLY)
    ]
    return texts + [word for word in clause.adverbs if word in _EVERY]


def counts(clause: Clause, noun: Phrase, parsed: Sentence) -> list[str]:
    """Return the numbers before a counted noun."""
    numbers = []
    phrases = [*([("", clause.subject)] if clause.subject else []), *phrases_of(clause)]
    for _, phrase in phrases:
        for item in phrase.members:
            if item.pronoun or not noun.senses <= item.senses | item.owner:
                continue
            number = [token for token in parsed.tokens_of(item) if is_number(token)]
            if number or item.determiner == "no":
                numbers.append(" ".join(number) or "no")
    return numbers


def limits(preposition: str) -> frozenset[str]:
    """Return the prepositions of times that answer "by when", "until when" and "from when"."""
    return _LIMITS.get(preposition, frozenset((preposition,)))


FINDERS = {"place": places, "time": times, "duration": spans, "colour": colours, "frequency": frequencies}
"""Functions that return the values of a kind in a clause."""
