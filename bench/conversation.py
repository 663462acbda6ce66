"""The messages of the measured client: facts about new subjects, and questions about facts told earlier."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, product
from pathlib import Path

WORDS: dict[str, list[str]] = json.loads((Path(__file__).parent / "data" / "words.json").read_text())
_FACTS = (
    ("My {0} is called {1}.", "What is my {0} called?", ("which", "thing"), "name"),
    ("{0} works at {1}.", "Where does {0} work?", ("first", "last"), "company"),
    ("{0} lives in {1}.", "Where does {0} live?", ("first", "last"), "city"),
    ("The {0} costs {1} euros.", "How much does the {0} cost?", ("which", "device"), "price"),
)
"""How a fact is told and asked for, the words of its subjects, and those of what may be true of them."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message. `expected` is a word that the right answer contains, None if nothing is asked."""

    message: str
    expected: str | None = None


def conversation(seed: int) -> Iterator[Said]:
    """Return a conversation's messages: of every five, two tell a fact, two ask for one, and one does both.

    Each subject gets one fact, and only facts told earlier are asked for, so each question has one right answer. The
    same seed gives the same conversation.
    """
    chance = random.Random(seed)
    untold = list(facts(chance))
    answerable: list[tuple[str, str]] = []
    for does in cycle(("tell", "ask", "tell", "ask", "tell and ask")):
        parts, expected = [], None
        if "ask" in does:
            question, expected = chance.choice(answerable)
            parts.append(question)
        if "tell" in does:
            if not untold:
                return
            statement, its_question, value = untold.pop()
            answerable.append((its_question, value))
            parts.insert(0, statement)
        yield Said(" ".join(parts), expected)


def facts(chance: random.Random) -> Iterator[tuple[str, str, str]]:
    """Return the facts in random order, each as statement, question and value."""
    pairs = [
        (fact, " ".join(words)) for fact in _FACTS for words in product(*(WORDS[word_kind] for word_kind in fact[2]))
    ]
    chance.shuffle(pairs)
    for (statement, question, _, value_kind), subject in pairs:
        value = chance.choice(WORDS[value_kind])
        yield statement.format(subject, value), question.format(subject), value
