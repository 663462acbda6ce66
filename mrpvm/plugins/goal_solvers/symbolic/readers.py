"""What a reader asks, in the words of a document: who asks is "you" there, and who is asked is "we" [BP-36 b].

A document speaks to nobody in particular. So "my luggage" is "your luggage" in it, or any luggage.
"""

import re
from collections.abc import Iterator, Sequence

from mrpvm.knowledge.lexicon import AUXILIARIES, CONJUNCTIONS
from mrpvm.plugins.goal_solvers.symbolic.reading import read
from mrpvm.plugins.goal_solvers.symbolic.statements import Statement

_PAST = frozenset(("did", "was", "were", "had"))
_TURNED = {
    "i": "you", "we": "you", "me": "you", "us": "you", "my": "your", "our": "your", "mine": "yours", "ours": "yours",
    "i'm": "you are", "we're": "you are", "am": "are", "your": "our", "yours": "ours",
}  # fmt: skip
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
_OWN = re.compile(r"\b(?:my|our)(?: own)? ", re.IGNORECASE)
_ACTS = re.compile(
    r"\b(?:can|could|may|must|shall|should|do|have|need|am|are|if|when|before|after) (?:i|we)\b", re.IGNORECASE
)
_ANYBODYS = frozenset((None, "i", "we", "you", "their"))


def readers_wordings(question: str, statements: Sequence[Statement]) -> Iterator[tuple[str, list[Statement]]]:
    """Give a question as a document would put it, each time with the statements of documents that may answer it.

    Nothing for what has happened: a document does not know what its reader did.
    """
    words = [word.lower().replace("\u2019", "'") for word in _WORD.findall(question)]
    told = [item for item in statements if item.is_of_document]
    if not told or _PAST & set(words):
        return
    turned = _turned(question)
    if turned != question:
        yield turned, told
    reading = read(question)
    if _OWN.search(question) and (_ACTS.search(question) or reading.is_passive):
        owned = {word.sense for word in reading.words if word.owner in ("i", "we")}
        anybodys = [item for item in told if not _is_somebodys(item, owned)]
        if anybodys:
            yield _OWN.sub("", question), anybodys


def _turned(question: str) -> str:
    before = ""

    def turn(match: re.Match[str]) -> str:
        nonlocal before
        word = match[0].lower().replace("\u2019", "'")
        is_subject = not before or before in AUXILIARIES or before in CONJUNCTIONS
        before = word
        if word == "you":
            return "we" if is_subject else "us"
        return _TURNED.get(word, match[0])

    return _WORD.sub(turn, question)


def _is_somebodys(statement: Statement, owned: set[str]) -> bool:
    """Tell whether a statement is of such a thing of somebody else: "Anna's car can be parked in the yard"."""
    return any(word.sense in owned and word.owner not in _ANYBODYS for word in statement.reading.words)
