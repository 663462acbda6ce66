"""Whether a message is a follow-up of what was said before: a rule, and a probability learned from its signs.

The rule decides whether a message is rewritten and a model asked; the probability decides what context weighs.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from mrpvm.conversation.rewriting.said import Exchange, WordMention, mentions_in, words_of
from mrpvm.conversation.rewriting.weights import RewritingWeights
from mrpvm.english.scoring.weights import probability
from mrpvm.english.words.lexicon import STOP_WORDS, groups, listed
from mrpvm.english.words.text import QUESTION_MARKS

_SIGNALS = listed("follow_up_signals")
_SIGNAL_PHRASES = frozenset({("as", "well"), ("the", "above")})
_SHORT_WORDS = 3
"""A message of so few words needs what was said before."""

REFERRING = listed("references")
_REFERRING_ALONE = REFERRING - listed("unclear_references")
"""They mean what was said before, but for "that" behind a noun, "one" as a number, and "she" beside a name."""
PERSONS = listed("person_references")
_SHOWING = listed("pointing_references")
_RELATING = listed("relating_words")
_OPENERS = listed("follow_up_openers")
_PHRASES = groups("opening_phrases")
_ELLIPSES = groups("elliptic_phrases")
_MOST_TURNS = 4
_CROSSED = (
    ("refers", "asks"), ("refers", "content"), ("refers", "rarest"), ("all new", "rarity sum"), ("new", "rarity sum"),
    ("new", "all new"), ("new", "content"), ("rarest new", "asks"), ("rarest new", "definite"),
    ("rarest new", "rarity sum"), ("length", "asks"), ("length", "definite"),
)  # fmt: skip


def has_signal(message: str) -> bool:
    """Return whether a message has one of the words that refer back."""
    words = words_of(message)
    return not _SIGNALS.isdisjoint(words) or any(pair in _SIGNAL_PHRASES for pair in pairwise(words))


def points_back(message: str) -> bool:
    """Return whether a message continues from the one before by its form: "And the valve?", "Explain the above"."""
    words = words_of(message)
    return is_ellipsis(words) or ("the", "above") in pairwise(words)


def refers_back(message: str) -> bool:
    """Return whether a message has a word for something that was said, or continues from it by its form."""
    words = words_of(message)
    followed = zip(["", *words], words, [*words[1:], ""], strict=False)
    names_somebody = any(mention.is_name for mention in mentions_in(message))
    return points_back(message) or any(
        word in _REFERRING_ALONE
        and not (word == "that" and before and before not in STOP_WORDS)
        and not (word == "one" and after and after not in STOP_WORDS)
        and not (word in PERSONS and names_somebody)
        for before, word, after in followed
    )


def is_ellipsis(words: list[str]) -> bool:
    """Return whether words have the form of an incomplete question: "What about ...", "And ..."."""
    return words[:2] in _ELLIPSES or words[:1] in (["and"], ["or"], ["but"])


def needs_rewrite(message: str) -> bool:
    """Return whether the rule asks for a rewrite: a signal, or at most three words."""
    return has_signal(message) or len(words_of(message)) <= _SHORT_WORDS


def need_probability(message: str, exchanges: Sequence[Exchange], weights: RewritingWeights) -> float:
    """Return the probability that a message of this conversation cannot be understood alone."""
    return probability(weights.need, signs(message, exchanges, weights.rarity))


def with_crossed(features: Mapping[str, float]) -> dict[str, float]:
    """Return the signs of a message with those that say more together of whether it continues from the conversation."""
    return dict(features) | {
        f"{one} & {other}": features.get(one, 0.0) * features.get(other, 0.0) for one, other in _CROSSED
    }


def signs(message: str, exchanges: Sequence[Exchange], rarity: Callable[[str], float]) -> dict[str, float]:
    """Return what speaks for and against, by name; a sign that is missing is 0.

    Args:
        rarity: gives how seldom a stem is said at all, from 0 to 1.
    """
    words = words_of(message)
    referring = sum(word in REFERRING for word in set(words))
    features = {
        "always": 1.0,
        "refers": float(referring > 0),
        "refers twice": float(referring > 1),
        "relates": float(not _RELATING.isdisjoint(words)),
        "person": float(not PERSONS.isdisjoint(words)),
        "shows": float(not _SHOWING.isdisjoint(words)),
        "ellipsis": float(is_ellipsis(words)),
        "length": min(len(words), 25) / 12,
        "asks": float(message.rstrip().endswith(QUESTION_MARKS)),
    }
    if words and words[0] in _OPENERS:
        features[f"opens with {words[0]}"] = 1.0
    if words[:2] in _PHRASES:
        features[f"opens with {' '.join(words[:2])}"] = 1.0
    said = mentions_in(message)
    return features | _content_signs(said, rarity) | _context_signs(said, exchanges, rarity)


def _content_signs(said: Sequence[WordMention], rarity: Callable[[str], float]) -> dict[str, float]:
    terms = {item.term for item in said}
    rarities = sorted((rarity(term) for term in terms), reverse=True)
    definite = [item for item in said if item.led_by == "the" and not item.is_name]
    names = sum(item.is_name for item in said)
    return {
        "content": min(len(terms), 12) / 6,
        **dict(zip(("rarest", "second rarest", "third rarest"), rarities, strict=False)),
        "rarity sum": min(sum(rarities), 6) / 3,
        "name": float(names > 0),
        "names": min(names, 4) / 4,
        "number": float(any(item.word[0].isdigit() for item in said)),
        "definite": float(bool(definite)),
        "definite alone": float(any(not item.before and not item.after for item in definite)),
        "definite last": float(any(item.is_last for item in definite)),
    }


def _context_signs(
    said: Sequence[WordMention], exchanges: Sequence[Exchange], rarity: Callable[[str], float]
) -> dict[str, float]:
    """Return how much of a message was spoken of before, as shares of its content words, and its rarest such word."""
    features = {f"turns {min(len(exchanges), _MOST_TURNS)}": 1.0}
    if not exchanges:
        return features
    asked_terms = [{item.term for item in exchange.asked} for exchange in exchanges]
    answered = [{item.term for item in exchange.answered} for exchange in exchanges]
    features["unanswered"] = float(not answered[-1])
    terms = {item.term for item in said}
    if not terms:
        return features
    all_asked, all_answered = set[str]().union(*asked_terms), set[str]().union(*answered)
    known = {
        "new": terms - all_asked - all_answered, "known": terms & all_asked, "known last": terms & asked_terms[-1],
        "known answer": terms & answered[-1], "known first": terms & asked_terms[0],
    }  # fmt: skip
    features |= {name: len(of) / len(terms) for name, of in known.items()}
    features["all new"] = float(known["new"] == terms)
    for name in ("new", "known", "known first"):
        features[f"rarest {name}"] = max(map(rarity, known[name]), default=0.0)
    features["name known"] = float(any(item.is_name and item.term in all_asked for item in said))
    features["name new"] = float(any(item.is_name and item.term not in all_asked for item in said))
    return features
