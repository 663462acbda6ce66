"""Sentences that say the same of several things side by side: what is said of one part is not said of the other."""

from collections.abc import Collection

from mrpvm.knowledge.lexicon import AUXILIARIES, CONJUNCTIONS, DETERMINERS, POSSESSIVES, PREPOSITIONS
from mrpvm.knowledge.verbs import verb_forms
from mrpvm.plugins.goal_solvers.symbolic.frames.tagging import RELATIVES
from mrpvm.plugins.goal_solvers.symbolic.reading import Reading, Word

_LINKS = CONJUNCTIONS | {",", ";", "while", "whereas"}
_CONTRASTING = frozenset(("but", "whereas"))
_BEFORE_NOUN = DETERMINERS | POSSESSIVES | PREPOSITIONS


def is_mixed(reading: Reading, used: Collection[int]) -> bool:
    """Tell whether the words at some places say together what the sentence says of each apart.

    "I met Rob on Monday and Sue on Friday" has all words of "I met Sue on Monday": Monday has its counterpart beside
    Sue, and Sue hers beside Monday.

    Args:
        reading: the sentence.
        used: the places of the words that are taken together.
    """
    parts = _parts(reading)
    words = [word for word in reading.words if word.place in used]
    return any(
        _is_crossed(reading, parts, used, left, right)
        for left in words
        for right in words
        if parts[left.place] < parts[right.place]
    )


def _parts(reading: Reading) -> list[int]:
    """Give for each token the number of its part: divided by commas and conjunctions, but for relative clauses."""
    found, part = [], 0
    for place, token in enumerate(reading.tokens):
        before, behind = reading.tokens[max(place - 1, 0)], (*reading.tokens[place + 1 :], "")[0]
        if token in _LINKS and before not in _LINKS and behind not in RELATIVES:
            part += 1
        found.append(part)
    return found


def _is_crossed(reading: Reading, parts: list[int], used: Collection[int], left: Word, right: Word) -> bool:
    first, second = parts[left.place], parts[right.place]
    verbs = {parts[word.place] for word in reading.words if _is_verb(reading, word)}
    verbs |= {parts[place] for place, token in enumerate(reading.tokens) if token in AUXILIARIES}
    if first not in verbs:
        return False
    both_clauses = second in verbs
    here = [word for word in _heads(reading) if word.place not in used and parts[word.place] == first]
    there = [word for word in _heads(reading) if word.place not in used and parts[word.place] == second]
    has_own = any(_role(reading, word, both_clauses) == _role(reading, left, both_clauses) for word in there)
    links = {token for place, token in enumerate(reading.tokens) if parts[place] == second}
    if has_own and links & _CONTRASTING and left.preposition is not None:
        return True
    return has_own and any(_role(reading, word, both_clauses) == _role(reading, right, both_clauses) for word in here)


def _heads(reading: Reading) -> list[Word]:
    """Give the words that do not just stand before the noun of their phrase."""
    return [
        word
        for word in reading.words
        if (behind := reading.word_at(word.place + 1)) is None
        or behind.preposition != word.preposition
        or behind.is_pronoun
        or _is_verb(reading, word)
        or _is_verb(reading, behind)
    ]


def _role(reading: Reading, word: Word, both_clauses: bool) -> str:
    """Give what a word does in its part: verb, subject where both parts have one, object, or circumstance."""
    if word.preposition is not None or word.text in PREPOSITIONS or word.text in _WAYS:
        return "circumstance"
    if _is_verb(reading, word):
        return "verb"
    if both_clauses:
        verb = next((other for other in reading.words if _is_verb(reading, other) and other.place > word.place), None)
        if verb is not None and not _divided(reading, word.place, verb.place):
            return "subject"
    return "object"


def _divided(reading: Reading, start: int, end: int) -> bool:
    return any(token in _LINKS for token in reading.tokens[start:end])


def _is_verb(reading: Reading, word: Word) -> bool:
    before = reading.tokens[word.place - 1] if word.place else ""
    return word.is_core and not word.is_name and bool(verb_forms(word.text)) and before not in _BEFORE_NOUN


_WAYS = frozenset(("back", "home", "away", "there", "here"))
