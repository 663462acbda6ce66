"""Small talk such as greetings and thanks, which states and asks nothing, and the replies to it."""

import re
from collections.abc import Sequence

from mrpvm.english.words.lexicon import AUXILIARIES, BE_FORMS, INTERROGATIVES, listed, pattern, section, word_class
from mrpvm.english.words.tagging import CONTRACTED
from mrpvm.english.words.text import QUESTION_MARKS, words
from mrpvm.text_cache import TextCache

_GREETINGS = word_class("hi hello hey greetings morning afternoon evening howdy welcome")
_THANKS = word_class("thanks thank thx cheers")
_FAREWELLS = word_class("bye goodbye night")
_ASSENTS = listed("assents")
_INTERJECTIONS = listed("interjections")
_OWNERS = word_class("the my our his her their")
"""Words before what a statement is about: "Thanks, the meeting moved." states something."""
_OWN = word_class("my our")
_FILLERS = listed("fillers")
CHOICES = word_class("first second third fourth fifth last former latter one ones other both either neither")
"""Words that choose among things named before."""
_CORE = _GREETINGS | _THANKS | _FAREWELLS | _ASSENTS
_MEANS_ANSWER = word_class("that it this you")
"""What stands for the answer behind thanks: "Thanks, that saved me the trip."."""
_WORDS_MAX = 8
_EXCLAIMED_MAX = 5
"""Words of a sentence after an interjection that states nothing: "lol no way"."""
_NAMED = re.compile(r"\d|(?<=\W)(?!I\b)[A-Z]|[:=]")
"""What a reaction does not have: a number, a name behind its first word, a label."""
_LETTERS = re.compile(r"[^\W\d_]['\u2019]?[^\W\d_]")
_DRAWN_OUT = re.compile(r"(\w)\1{2,}")
_ABOUT_ME = pattern("small_talk.about_me")
_REMARK, _OF_YOU = pattern("small_talk.remark"), pattern("small_talk.of_you")
_PUZZLED = pattern("small_talk.puzzled")
"""A message that says only that its writer did not understand: "Huh?", "What do you mean?"."""
_CHOICE, _NOISE = pattern("small_talk.choice"), pattern("small_talk.noise")
_REMARK_WORDS = listed("remark_words") | AUXILIARIES | BE_FORMS | CONTRACTED.keys()
_REMARK_WORDS |= _CORE | _FILLERS | _INTERJECTIONS | CHOICES | word_class("the these those them")
"""Words that say nothing of the world by themselves: "I was just about to say that"."""
_FORGETS_UNNAMED = pattern("small_talk.forgets_unnamed")
"""A request to forget that does not say which statement: what states one's address may not have the word in it."""

REPLIES = section("small_talk.replies")
UNDERSTOOD_REPLY = "Understood."
"""The reply to an instruction on how to answer."""
NOTED_OPENING = "Noted:"
"""The beginning of the reply to a message that states something and asks nothing."""
FORGOTTEN_OPENING = "No longer used in answers:"
"""The beginning of the reply to "forget that ..."."""


def is_phatic(sentence: str) -> bool:
    """Return whether a sentence is only greeting, thanks, farewell, assent, emoji or punctuation.

    A request to forget something that it does not name counts too.
    """
    sentence_words = words(sentence)
    if _FORGETS_UNNAMED.match(sentence.strip()):
        return True
    if not sentence_words:
        return bool(sentence.strip())
    if len(sentence_words) > _WORDS_MAX or sentence.rstrip().endswith(QUESTION_MARKS):
        return False
    if sentence_words[0] in _CORE | {"good"} and all(word in _CORE | _FILLERS for word in sentence_words):
        return True
    return _is_reaction(sentence_words, sentence)


@TextCache  # the same messages are the history of turn after turn
def is_remark(sentence: str) -> bool:
    """Return whether a sentence of a message is only talk: of the conversation, the partner or an answer, or noise."""
    if is_phatic(sentence) or not _LETTERS.search(sentence):
        return bool(sentence.strip())
    bare, sentence_words = sentence.strip(), words(sentence)
    if _PUZZLED.match(bare):
        return True
    if bare.endswith(QUESTION_MARKS):
        return False
    if any(wording.match(bare) for wording in (_REMARK, _CHOICE, _NOISE)):
        return True
    if _NAMED.search(bare) or not _OWN.isdisjoint(sentence_words):
        return False
    if _OF_YOU.match(bare) or _is_reaction(sentence_words, sentence):
        return True
    asks = sentence_words[0] in INTERROGATIVES | AUXILIARIES or sentence_words[-1] in INTERROGATIVES
    return not asks and _REMARK_WORDS.issuperset(sentence_words)


def _is_reaction(sentence_words: Sequence[str], sentence: str) -> bool:
    """Return whether a sentence is thanks or an interjection that names nothing: "Thanks, that saved me an hour"."""
    first = _DRAWN_OUT.sub(r"\1", sentence_words[0])
    is_short = not _INTERJECTIONS.isdisjoint((first, sentence_words[0])) and len(sentence_words) <= _EXCLAIMED_MAX
    is_thanks = not _THANKS.isdisjoint(sentence_words[:2])
    if _NAMED.search(sentence.strip()) or not (is_short or is_thanks):
        return False
    return _OWNERS.isdisjoint(sentence_words) or not _MEANS_ANSWER.isdisjoint(sentence_words[1:3])


def is_assent(sentence: str) -> bool:
    """Return whether a sentence is only yes or no."""
    return words(sentence) in (("yes",), ("no",))


def small_talk_reply(message: str) -> str | None:
    """Return the reply to small talk, or None if the message is not small talk."""
    if _ABOUT_ME.match(message.strip()):
        return REPLIES["about_me"]
    if not is_remark(message):
        return None
    if _FORGETS_UNNAMED.match(message.strip()):
        return REPLIES["forgets_unnamed"]
    if _PUZZLED.match(message.strip()):
        return REPLIES["puzzled"]
    message_words = set(words(message))
    if not message_words:
        return REPLIES["wordless"]
    if message_words & _THANKS:
        return REPLIES["thanks"]
    if message_words & _FAREWELLS or {"see", "you"} <= message_words:
        return REPLIES["farewell"]
    return REPLIES["greeting"] if message_words & _GREETINGS else REPLIES["assent"]
