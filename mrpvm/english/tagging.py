"""What class a word belongs to, as far as closed classes and endings tell it."""

from mrpvm.english.lexicon import (
    AUXILIARIES,
    BE_FORMS,
    CONJUNCTIONS,
    DETERMINERS,
    DO_FORMS,
    HAVE_FORMS,
    MODALS,
    NUMBER_WORDS,
    POSSESSIVES,
    PREPOSITIONS,
    listed,
    word_class,
)
from mrpvm.english.verbs import verb_forms
from mrpvm.text_cache import TextCache

SUBJECT_PRONOUNS = word_class("i we you he she it they who everyone everybody nobody someone anyone")
OBJECT_PRONOUNS = word_class("me us him them her it you whom himself herself itself themselves")
PRONOUNS = (
    SUBJECT_PRONOUNS
    | OBJECT_PRONOUNS
    | word_class("whoever whatever this that these those both all none something nothing")
)
SUBORDINATORS = listed("subordinators")
RELATIVES = word_class("who which that whose whom where")
CONTRACTED = {
    "can't": ("can", True), "couldn't": ("could", True), "won't": ("will", True), "wouldn't": ("would", True),
    "don't": ("do", True), "doesn't": ("does", True), "didn't": ("did", True), "isn't": ("is", True),
    "aren't": ("are", True), "wasn't": ("was", True), "weren't": ("were", True), "hasn't": ("has", True),
    "haven't": ("have", True), "hadn't": ("had", True), "mustn't": ("must", True), "shouldn't": ("should", True),
    "cannot": ("can", True),
}  # fmt: skip
NEGATORS = word_class("not never hardly neither")
_ADVERBS = listed("adverbs")
MORE_PREPOSITIONS = listed("more_prepositions")
PLURALS = word_class("people men women children feet teeth mice geese police sheep fish birds")
PARTICLES = word_class("off up out down away back over on")


def is_auxiliary(token: str) -> bool:
    """Return whether a word is a form of be, have, do or a modal, contracted or not."""
    return token in AUXILIARIES or token in BE_FORMS or token in HAVE_FORMS or token in CONTRACTED


def is_adverb(token: str) -> bool:
    """Return whether a word only qualifies its clause."""
    return token in _ADVERBS or (token.endswith("ly") and len(token) > 4 and token not in _NOT_ADVERBS)


def bare_adverbs(tokens: tuple[str, ...]) -> frozenset[str]:
    """Return the adverbs of place and company without a noun behind them: "outside", not "outside the house"."""
    return frozenset(
        token
        for token, following in zip(tokens, (*tokens[1:], ""), strict=True)
        if token in _NEVER_BEFORE_NOUN
        or (token in _BARE and (not following or not following[0].isalnum() or following in PREPOSITIONS))
    )


_BARE = word_class("home abroad away outside inside outdoors indoors upstairs downstairs alone together here there")
_NEVER_BEFORE_NOUN = frozenset(("here", "abroad", "together", "alone"))
_NOT_ADVERBS = listed("not_adverbs")


@TextCache
def is_nominal(token: str) -> bool:
    """Return whether a word can stand in a noun phrase behind its determiner: noun, adjective, number or name."""
    return (
        token[0].isalnum()
        and not is_auxiliary(token)
        and token not in DETERMINERS
        and token not in POSSESSIVES
        and token not in PREPOSITIONS
        and token not in CONJUNCTIONS
        and token not in NEGATORS
        and token not in SUBORDINATORS
        and token not in PRONOUNS
        and token not in MORE_PREPOSITIONS
        and token not in ("to", "than", "not", "no", "who", "which", "whose", "why", "how", "what")
        and not is_adverb(token)
    )


def is_number(token: str) -> bool:
    """Return whether a word is a number."""
    if token[:1].isdigit() or token in NUMBER_WORDS:
        return True
    return "-" in token and all(part in NUMBER_WORDS for part in token.split("-"))


__all__ = ["AUXILIARIES", "BE_FORMS", "DO_FORMS", "HAVE_FORMS", "MODALS", "verb_forms"]
