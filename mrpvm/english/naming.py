"""Whether a phrase of a question and one of a statement name the same."""

from mrpvm.english.discourse import Discourse, Told, of_another
from mrpvm.english.lexicon import ALTERING, NUMBER_WORDS, TIME_WORDS, word_class
from mrpvm.english.reading import sense
from mrpvm.english.structure import Phrase
from mrpvm.english.tagging import is_number

GENERIC = word_class("i we you one they anyone anybody someone somebody people everyone everybody it")
_ANYONE = word_class("anyone anybody everyone everybody someone somebody who whoever")
_NOBODY = word_class("nobody none no-one")
_TITLES = frozenset(sense(word) for word in ("mr", "mrs", "ms", "miss", "dr"))
_SPANNING = frozenset((sense("period"),))
_LIGHT = frozenset(sense(word) for word in ("own", "whole", "entire", "actual", "same"))
PARTNERS = frozenset(("my", "your", "our"))
_OTHERWISE = frozenset(sense(word) for word in ALTERING)
NUMBER_SENSES = frozenset(sense(word) for word in NUMBER_WORDS)


def is_generic(phrase: Phrase | None) -> bool:
    """Return whether a phrase names nobody in particular."""
    return phrase is None or phrase.pronoun in GENERIC


def is_nobody(phrase: Phrase) -> bool:
    """Return whether a phrase is "nobody" or "no one"."""
    return phrase.pronoun in _NOBODY or (phrase.determiner == "no" and phrase.head_text == "one")


def same(asked: Phrase, said: Phrase, told: Told, discourse: Discourse) -> bool:
    """Return whether `asked`, of the question, is what `said`, of the statement, speaks of."""
    for member in said.members:
        if any(_same_one(asked, found, told, discourse) for found in (member, *member.aliases)):
            return True
    return False


def _same_one(asked: Phrase, said: Phrase, told: Told, discourse: Discourse) -> bool:
    if asked.pronoun in _ANYONE and (said.pronoun == "nothing" or is_nobody(said)):
        return True
    if said.pronoun in _ANYONE:
        return asked.determiner in ("a", "an", "any", "") and not asked.is_name
    meant = told.resolved(said)
    if meant is not said:
        return any(_matches(asked, item, told, discourse) for item in (*meant.members, *meant.aliases))
    if said.pronoun:
        return said.pronoun == asked.pronoun and said.pronoun != ""
    return _matches(asked, said, told, discourse)


def _matches(asked: Phrase, said: Phrase, told: Told, discourse: Discourse) -> bool:
    if asked.pronoun or said.pronoun:
        return asked.pronoun == said.pronoun
    if asked.owner_pronoun in PARTNERS and said.owner_pronoun != asked.owner_pronoun:
        return False  # "my sister" is nobody's else
    if asked.head_text in TIME_WORDS and _numbers(asked) != _numbers(said):
        return False  # "every two years" is not every year
    if asked.is_name and said.is_name:
        left, right = asked.senses - _TITLES, said.senses - _TITLES
        if left <= right or right <= left:
            return not _owned_otherwise(asked, said, told)
    if said.head in _SPANNING and said.senses == {asked.head, said.head}:
        return not _owned_otherwise(asked, said, told)  # the warranty lasts as long as the warranty period
    if asked.head == said.head or (asked.head in said.senses and (asked.is_name or said.is_name)):
        return _described(asked, said, told) and not _owned_otherwise(asked, said, told)
    return discourse.same_thing(asked, said)


def _numbers(phrase: Phrase) -> frozenset[str]:
    return frozenset(word for word in phrase.senses if is_number(word) or word in NUMBER_SENSES)


def _described(asked: Phrase, said: Phrase, told: Told) -> bool:
    """Return whether what the question says of the thing is said of it, or was said just before."""
    if _OTHERWISE & said.senses - asked.senses:
        return False
    known = said.senses | told.owner_of(said)
    missing = asked.senses - known - _LIGHT
    if not missing:
        return True
    definite = said.determiner in ("the", "this", "that", "these", "those") or bool(said.owner_pronoun)
    numbers = any(char.isdigit() for word in missing for char in word)
    return definite and not numbers and missing <= told.around and not (said.senses - asked.senses)


def _owned_otherwise(asked: Phrase, said: Phrase, told: Told) -> bool:
    """Return whether the question names a possessor that the statement's phrase does not have."""
    if not asked.owner:
        return False
    known = told.owner_of(said) | said.senses
    if asked.owner & known:
        return of_another(asked, said)
    return bool(told.owner_of(said)) or not asked.owner <= told.around
