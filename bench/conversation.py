"""What the measured client says: facts about ever new subjects, and questions about facts told before."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, product

_FIRST = ("Ana", "Boris", "Clara", "David", "Elena", "Farid", "Grace", "Hugo", "Irene", "Jonas", "Katja", "Liam", "Mira")
_LAST = ("Adler", "Brandt", "Costa", "Dumas", "Egger", "Fontana", "Green", "Hansen", "Ito", "Jensen", "Klein", "Lopez", "Moreau")
_WHICH = ("old", "new", "small", "second", "spare", "wooden", "rented", "heavy", "folding", "quiet", "fast", "broken", "light")
_THINGS = ("boat", "bicycle", "guitar", "kite", "van", "telescope", "tent", "piano", "drone", "horse", "canoe", "robot", "sled")
_DEVICES = (
    "pump", "printer", "router", "scanner", "drill", "heater", "camera", "turbine", "sensor", "lathe", "oven", "crane",
    "welder",
)  # fmt: skip
_NAMES = ("Rex", "Luna", "Comet", "Pixel", "Juno", "Max", "Nova", "Otto", "Pearl", "Rusty", "Storm", "Willow", "Zephyr")
_COMPANIES = ("Acme", "Borealis", "Cobalt", "Dynatek", "Everline", "Fathom", "Granite", "Helios", "Ironwood", "Juniper")
_CITIES = ("Lisbon", "Oslo", "Prague", "Quito", "Riga", "Seville", "Turin", "Utrecht", "Vienna", "Warsaw", "Zagreb")
_PEOPLE = tuple(f"{first} {last}" for first, last in product(_FIRST, _LAST))

_FACTS = (
    ("My {0} is called {1}.", "What is my {0} called?", tuple(map(" ".join, product(_WHICH, _THINGS))), _NAMES),
    ("{0} works at {1}.", "Where does {0} work?", _PEOPLE, _COMPANIES),
    ("{0} lives in {1}.", "Where does {0} live?", _PEOPLE, _CITIES),
    (
        "The {0} costs {1} euros.",
        "How much does the {0} cost?",
        tuple(map(" ".join, product(_WHICH, _DEVICES))),
        tuple(str(price) for price in range(110, 990, 37)),
    ),
)
"""How a fact is told and asked for, its subjects, and what may be true of them."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message; `expected` is a word that the right answer holds, None where nothing is asked."""

    message: str
    expected: str | None = None


def conversation(seed: int) -> Iterator[Said]:
    """Give a conversation's messages: of five, two tell a fact, two ask for one, and one does both.

    No subject is told of twice, and what is asked for was told before, so each question has one right answer. The
    same seed gives the same conversation.
    """
    chance = random.Random(seed)
    facts = list(_shuffled_facts(chance))
    told: list[tuple[str, str]] = []
    for does in cycle(("tell", "ask", "tell", "ask", "tell and ask")):
        parts, expected = [], None
        if "ask" in does:
            question, expected = chance.choice(told)
            parts.append(question)
        if "tell" in does:
            if not facts:
                return
            statement, its_question, value = facts.pop()
            told.append((its_question, value))
            parts.insert(0, statement)
        yield Said(" ".join(parts), expected)


def _shuffled_facts(chance: random.Random) -> Iterator[tuple[str, str, str]]:
    """Give each fact as it is told, as it is asked for, and its value, in random order."""
    facts = [(fact, subject) for fact in _FACTS for subject in fact[2]]
    chance.shuffle(facts)
    for (statement, question, _, values), subject in facts:
        value = chance.choice(values)
        yield statement.format(subject, value), question.format(subject), value
