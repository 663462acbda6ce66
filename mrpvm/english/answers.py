"""The statements that answer a question by the roles of its clause, and why none does."""

from collections.abc import Sequence
from dataclasses import dataclass

from mrpvm.english.asking import Asked, asked_by
from mrpvm.english.coreference import has_open_pronoun
from mrpvm.english.discourse import Discourse
from mrpvm.english.entailment import Match, matches
from mrpvm.english.exchanges import replies
from mrpvm.english.orders import neighbours, ways
from mrpvm.english.reading import Reading, Word, read
from mrpvm.english.statements import Statement
from mrpvm.english.values import asked_with_how

_READINGS = 3
"""How many words of a question are tried for its verb."""


@dataclass(frozen=True, slots=True)
class Framed:
    """Statements that answer, with the bare values; `is_undecided` where they give more than one answer."""

    statements: tuple[Statement, ...]
    values: tuple[str, ...] = ()
    is_undecided: bool = False
    verdict: bool | None = None
    is_steps: bool = False


def framed_answer(text: str, discourse: Discourse) -> Framed | None:
    """Return the answer that the roles of clauses tell, or None."""
    readings: list[Asked] = []
    for wording in dict.fromkeys((text, asked_with_how(text))):
        found = (asked_by(wording, skipped_verbs=count) for count in range(_READINGS))
        readings += (asked for asked in found if asked is not None)
    answers = (_answer(asked, discourse.restricted(asked.manners)) for asked in _unique(readings))
    return next((found for found in answers if found is not None), None)


def _unique(readings: list[Asked]) -> list[Asked]:
    return [asked for place, asked in enumerate(readings) if asked not in readings[:place]]


def _answer(asked: Asked, discourse: Discourse) -> Framed | None:
    if asked.wants not in ("verdict", "reason"):
        if sequence := neighbours(asked, discourse):
            return Framed((sequence[0].statement,))
        steps = (ways(asked, discourse) or replies(asked, discourse)) if asked.wants == "manner" else []
        if steps:
            return Framed(tuple(item.statement for item in steps), is_steps=True)
    found = matches(asked, discourse)
    if not found:
        return None if asked.wants in ("verdict", "manner") else _reply(asked, discourse)
    first = found[0]
    if asked.wants == "verdict":
        is_clear = len({match.verdict for match in found}) == 1
        return Framed((first.told.statement,), verdict=first.verdict) if is_clear else None
    return Framed((first.told.statement,)) if asked.wants in ("reason", "manner") else _decided(found)


def replied(text: str, discourse: Discourse) -> Framed | None:
    """Return what was replied where somebody asked the same: all there is for a question that only points."""
    asked = asked_by(text)
    return _reply(asked, discourse) if asked else None


def _reply(asked: Asked, discourse: Discourse) -> Framed | None:
    told = replies(asked, discourse)
    if not told:
        return None
    names = [clause.subject for item in told for clause in item.parsed.clauses if clause.subject]
    values = [told[0].parsed.text_of(phrase) for phrase in names if phrase.is_name] if asked.wants == "person" else []
    return Framed(tuple(item.statement for item in told), tuple(values))


def _decided(found: list[Match]) -> Framed:
    first = found[0]
    rivals = [match for match in found[1:] if not _agree(first, match)]
    statements = [match.told.statement for match in found] if rivals else [first.told.statement]
    return Framed(tuple(statements), first.values, is_undecided=bool(rivals))


def _agree(left: Match, right: Match) -> bool:
    one, other = (set(" ".join(match.values).lower().split()) for match in (left, right))
    return one <= other or other <= one


def refusal(question: str, known: Sequence[frozenset[str]]) -> str:
    """Return what decided that a question has no answer: what the closest of the sentences lacks.

    Args:
        question: with what its pronouns mean in their place, where that is known.
        known: the senses of each sentence or passage that might answer it.
    """
    asked = read(question)
    wanted = {word.sense: word.text for word in asked.words if not word.is_pronoun and not _measures(asked, word)}
    closest = max(known, key=lambda senses: len(senses & wanted.keys()), default=frozenset[str]())
    if not closest & wanted.keys():
        return "refused: no sentence names what is asked"
    lacking = [text for sense, text in wanted.items() if sense not in closest]
    if lacking:
        return f"refused: the closest sentence does not name {', '.join(lacking[:3])}"
    if has_open_pronoun(question):
        return "refused: nothing said before tells who or what the question means"
    if asked_by(question) is None:
        return "refused: no rule reads a question of this form"
    return "refused: a sentence names all that is asked, no rule fits"


def _measures(asked: Reading, word: Word) -> bool:
    """Return whether a word only says with "how" what is measured: "how many", "how long"."""
    return word.place > 0 and asked.tokens[word.place - 1] == "how"
