"""Whether a message leans on what was said before: the seed's rule, and a probability learned from its signs [O-36].

The rule decides whether a message is rewritten and a model asked; the probability decides what context weighs.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import exp

from mrpvm.conversation.rewriting.said import Exchange, mentions_in, words_of

SIGNALS = frozenset(
    "it this that they them same which those both either its too also likewise one ones here there so".split()  # noqa: SIM905  easier to read
)
"""[K21], by whole words."""
SIGNAL_PHRASES = frozenset({("as", "well"), ("the", "above")})
SHORT_WORDS = 3
"""A message of so few words needs what was said before [K22]."""

_WORD_CLASSES: Mapping[str, str] = {
    "it": "it it's itself", "its": "its", "this": "this", "that": "that that's",
    "they": "they they're them themselves", "their": "their theirs", "these": "these those",
    "he": "he he's she she's himself herself", "his": "his him her hers", "there": "there here", "one": "one ones",
    "same": "same similar", "so": "so then", "other": "other others another else", "more": "more further",
    "both": "both either neither each", "which": "which",
    "order": "first second third two three last former latter next",
    "any": "any some all", "compare": "compare compared difference between versus vs", "best": "most best better worse",
    "i": "i my me i'm i've", "you": "you your", "we": "we our us", "why": "why", "who": "who", "when": "when",
    "where": "where", "how": "how", "what": "what", "example": "example examples", "also": "also too likewise",
    "the": "the", "was": "did was were had", "about": "about", "of": "of", "in": "in at on from",
    "thanks": "thanks thank sorry please", "reply": "yes no ok okay great sure", "rest": "rest instead",
}  # fmt: skip
_CLASS_OF = {word: name for name, listing in _WORD_CLASSES.items() for word in listing.split()}
_REFERRING = frozenset(
    {"it", "its", "this", "that", "they", "their", "these", "he", "his", "there", "one", "same", "both"}
)
_RELATING = frozenset({"so", "other", "more", "order", "also", "rest"})
_OPENERS = frozenset({"and", "but", "so", "or", "ok", "yes", "no", "then", "thanks", "also", "i", "you"})
_PHRASES = frozenset(
    {("what", "about"), ("how", "about"), ("tell", "me"), ("what", "is"), ("what", "are"), ("how", "do"),
     ("can", "you"), ("is", "there"), ("are", "there"), ("do", "you"), ("how", "many"), ("how", "much"), ("who", "is")}
)  # fmt: skip
_ELLIPSES = frozenset({("what", "about"), ("how", "about")})
_MOST_CONTENT, _MOST_TURNS = 7, 4


def has_signal(message: str) -> bool:
    """Tell whether a message has one of the words that refer back [K21]."""
    words = words_of(message)
    return not SIGNALS.isdisjoint(words) or any(pair in SIGNAL_PHRASES for pair in pairwise(words))


def needs_rewrite(message: str) -> bool:
    """Tell whether the rule asks for a rewrite: a signal, or at most three words [K22]."""
    return has_signal(message) or len(words_of(message)) <= SHORT_WORDS


def need_probability(message: str, exchanges: Sequence[Exchange], weights: Mapping[str, float]) -> float:
    """Give how likely a message cannot be understood alone, as learned from the signs."""
    score = sum(weights.get(name, 0.0) * value for name, value in signs(message, exchanges).items())
    return 1 / (1 + exp(-score))


def signs(message: str, exchanges: Sequence[Exchange]) -> dict[str, float]:
    """Give what speaks for and against, by name; a sign that is missing is 0."""
    words = words_of(message)
    opening = tuple(words[:2])
    classes = {_CLASS_OF[word] for word in words if word in _CLASS_OF}
    found = {f"has {name}": 1.0 for name in classes} | {"always": 1.0}
    referring = sum(_CLASS_OF.get(word) in _REFERRING for word in words)
    found["refers"], found["refers twice"] = float(referring > 0), float(referring > 1)
    found["relates"] = float(not classes.isdisjoint(_RELATING))
    found["person"] = float(not classes.isdisjoint(("he", "his")))
    found["shows"] = float(not classes.isdisjoint(("this", "that", "these")))
    if opening and opening[0] in _OPENERS:
        found[f"opens with {opening[0]}"] = 1.0
    if opening in _PHRASES:
        found[f"opens with {' '.join(opening)}"] = 1.0
    found["ellipsis"] = float(opening in _ELLIPSES or (bool(opening) and opening[0] in ("and", "or", "but")))
    found["length"] = min(len(words), 25) / 12
    found[f"length {min(len(words) // 3, 5)}"] = 1.0
    found["asks"] = float(message.rstrip().endswith("?"))
    return found | _content_signs(message) | _context_signs({item.term for item in mentions_in(message)}, exchanges)


def _content_signs(message: str) -> dict[str, float]:
    said = mentions_in(message)
    count = len({item.term for item in said})
    definite = [item for item in said if item.led_by == "the" and not item.is_name]
    names = sum(item.is_name for item in said)
    return {
        f"content {min(count, _MOST_CONTENT)}": 1.0,
        "content": min(count, 12) / 6,
        **{f"content up to {most}": float(count <= most) for most in (1, 2, 3)},
        "name": float(names > 0),
        "names": min(names, 4) / 4,
        "number": float(any(item.word[0].isdigit() for item in said)),
        "definite": float(bool(definite)),
        "definite alone": float(any(not item.before and not item.after for item in definite)),
        "definite last": float(any(item.is_last for item in definite)),
    }


def _context_signs(terms: set[str], exchanges: Sequence[Exchange]) -> dict[str, float]:
    """Give how much of a message was spoken of before, as shares of its content words."""
    found = {f"turns {min(len(exchanges), _MOST_TURNS)}": 1.0}
    if not exchanges:
        return found
    asked = [{item.term for item in exchange.asked} for exchange in exchanges]
    answered = [{item.term for item in exchange.answered} for exchange in exchanges]
    found["unanswered"] = float(not answered[-1])
    if terms:
        all_asked, all_answered = set[str]().union(*asked), set[str]().union(*answered)
        known = {
            "new": terms - all_asked - all_answered, "known": terms & all_asked, "known last": terms & asked[-1],
            "known answer": terms & answered[-1], "known first": terms & asked[0],
        }  # fmt: skip
        found |= {name: len(of) / len(terms) for name, of in known.items()}
        found["all new"] = float(known["new"] == terms)
    return found
