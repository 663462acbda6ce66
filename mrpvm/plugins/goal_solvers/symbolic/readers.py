"""What a reader asks, in the words of a document: who asks is "you" there, and who is asked is "we" [BP-36 b].

A document speaks to nobody in particular. So "my luggage" is "your luggage" in it, or any luggage.
"""

import re
from collections.abc import Iterator, Sequence

from mrpvm.knowledge.lexicon import AUXILIARIES, CONJUNCTIONS, DEFINITE, PREPOSITIONS
from mrpvm.plugins.goal_solvers.symbolic.frames.parsing import parse
from mrpvm.plugins.goal_solvers.symbolic.reading import ANYBODY, is_past, read
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
_ASKING = frozenset(("when", "where", "how", "what", "which", "until", "by", "from"))
_OWNERS = frozenset((None, "i", "we", "you"))
_REPORTED = re.compile(
    r"[\"\u201c\u201d\u201e]|\b(?:said|says|told|tells|wrote|writes|asked|answered|replied)\b", re.IGNORECASE
)
"""What marks words that are somebody's to somebody else."""


def readers_wordings(question: str, statements: Sequence[Statement]) -> Iterator[tuple[str, list[Statement]]]:
    """Give a question as a document would put it, each time with the statements of documents that may answer it.

    Nothing for what has happened: a document does not know what its reader did.
    """
    words = [word.lower().replace("\u2019", "'") for word in _WORD.findall(question)]
    told = [item for item in statements if _speaks_to_reader(item)]
    if not told or _PAST & set(words):
        return
    turned = _turned(question)
    if turned != question:
        yield turned, [item for item in told if not ("you" in words and _is_readers_deed(item))]
    reading = read(question)
    is_rule_asked = reading.is_passive and words[0] in _ASKING
    if _OWN.search(question) and (_ACTS.search(question) or is_rule_asked):
        owned = {word.sense for word in reading.words if word.owner in ("i", "we")}
        anybodys = [item for item in told if not _is_of_other(item, owned, reading.senses)]
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


def _speaks_to_reader(statement: Statement) -> bool:
    is_reported = bool(statement.voiced.voice) or _REPORTED.search(statement.text) is not None
    return statement.is_of_document and not is_reported


def _is_readers_deed(statement: Statement) -> bool:
    """Tell whether a statement says what its readers do, or tells them to: that is not what "we" do."""
    first = next(iter(statement.reading.words), None)
    clauses = parse(statement.plain).clauses
    return (first is not None and first.sense in ANYBODY | {"you"}) or (bool(clauses) and clauses[0].is_order)


def _is_of_other(statement: Statement, owned: set[str], asked: frozenset[str]) -> bool:
    """Tell whether a statement is of another such thing: "Anna's car", "toy cars", "the boots in the hall"."""
    reading = statement.reading
    for word in reading.words:
        if word.sense not in owned:
            continue
        is_theirs = word.owner == "their" and reading.words[0].sense in ANYBODY
        before, behind = reading.word_at(word.place - 1), (*reading.tokens[word.place + 1 :], "")[0]
        is_beside = before is not None and before.preposition == word.preposition and not is_past(before.text)
        is_kind = before is not None and is_beside and before.sense not in asked
        is_this = behind == "of" or (behind in PREPOSITIONS and reading.tokens[max(word.place - 1, 0)] in DEFINITE)
        if not (word.owner in _OWNERS or is_theirs) or is_kind or is_this:
            return True
    return False
