"""Answers do not depend on particular names: renamed and inverted questions behave the same."""

from dataclasses import dataclass

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mrpvm.english.words.lexicon import STOP_WORDS, TIME_WORDS
from tests.plugins.conversation import Conversation

syllables = st.sampled_from(["ba", "ko", "ri", "lu", "mo", "ta", "ve", "zu", "ne", "pi"])
names = st.builds(lambda parts, last: ("".join(parts) + last).capitalize(),
                  st.lists(syllables, min_size=2, max_size=3), st.sampled_from("nrxlk"))  # fmt: skip
VERBS = ("chase", "repair", "paint", "guard", "visit", "follow", "rescue", "admire")
NOUNS = ("dog", "lamp", "raft", "pump", "tower", "garden", "wagon", "mirror", "piano", "kettle")
PLACES = ("kitchen", "cellar", "harbour", "attic", "tunnel", "stable")
COLOURS = ("red", "green", "blue", "yellow", "black", "white")


@dataclass(frozen=True)
class Cast:
    """Three different names."""

    a: str
    b: str
    c: str


@st.composite
def casts(draw: st.DrawFn) -> Cast:
    found = draw(st.lists(names, min_size=3, max_size=3, unique_by=str.lower))
    assume(not {name.lower() for name in found} & (STOP_WORDS | TIME_WORDS))
    stems = {name.lower()[:5] for name in found}
    assume(len(stems) == 3)
    return Cast(*found)


few = settings(max_examples=25)
two_nouns = st.lists(st.sampled_from(NOUNS), min_size=2, max_size=2, unique=True)


@pytest.mark.rule("BUILTIN-39")
@few
@given(casts(), st.sampled_from(VERBS))
def test_who_did_what_to_whom(cast: Cast, verb: str) -> None:
    past = verb + ("d" if verb.endswith("e") else "ed")
    talk = Conversation(f"{cast.a} {past} {cast.b}.", f"{cast.c} sleeps.")
    said = f"{cast.a} {past} {cast.b}. [1]"
    assert talk.ask(f"Who {past} {cast.b}?") == said
    assert talk.ask(f"Who did {cast.a} {verb}?") == said
    assert talk.ask(f"Did {cast.a} {verb} {cast.b}?") == f"Yes. {said}"
    assert talk.ask(f"Who {past} {cast.a}?") is None
    assert talk.ask(f"Who did {cast.b} {verb}?") is None
    assert talk.ask(f"Did {cast.b} {verb} {cast.a}?") is None
    assert talk.ask(f"Did {cast.c} {verb} {cast.b}?") is None


@few
@given(casts(), st.sampled_from(VERBS))
def test_passives_are_the_same_fact(cast: Cast, verb: str) -> None:
    past = verb + ("d" if verb.endswith("e") else "ed")
    talk = Conversation(f"{cast.b} was {past} by {cast.a}.")
    assert talk.ask(f"Who {past} {cast.b}?") is not None
    assert talk.ask(f"Who was {past} by {cast.a}?") is not None
    assert talk.ask(f"Did {cast.a} {verb} {cast.b}?") is not None
    assert talk.ask(f"Who {past} {cast.a}?") is None
    assert talk.ask(f"Did {cast.b} {verb} {cast.a}?") is None


@few
@given(casts(), two_nouns)
def test_what_things_are_called(cast: Cast, nouns: list[str]) -> None:
    first, second = nouns
    talk = Conversation(f"My {first} is called {cast.a}.", f"My {second} is called {cast.b}.")
    assert talk.ask(f"What is my {first} called?") == f"My {first} is called {cast.a}. [1]"
    assert talk.ask(f"What is the name of my {second}?") == f"My {second} is called {cast.b}. [1]"
    assert talk.ask(f"What is my {first}'s name? Answer in one word.") == cast.a
    assert talk.ask(f"Is my {first} called {cast.a}?") == f"Yes. My {first} is called {cast.a}. [1]"
    assert talk.ask(f"Is my {first} called {cast.b}?") == f"No. My {first} is called {cast.a}. [1]"
    assert talk.ask(f"What is your {first} called?") is None
    assert talk.ask("What is my canoe called?") is None


@few
@given(two_nouns, st.lists(st.sampled_from(COLOURS), min_size=3, max_size=3, unique=True))
def test_colours(nouns: list[str], colours: list[str]) -> None:
    talk = Conversation(f"The {nouns[0]} is {colours[0]}.", f"The {nouns[1]} is {colours[1]}.")
    assert talk.ask(f"What colour is the {nouns[0]}?") == f"The {nouns[0]} is {colours[0]}. [1]"
    assert talk.ask(f"Is the {nouns[1]} {colours[1]}?") == f"Yes. The {nouns[1]} is {colours[1]}. [1]"
    assert talk.ask(f"Is the {nouns[0]} {colours[2]}?") == f"No. The {nouns[0]} is {colours[0]}. [1]"


@few
@given(two_nouns, st.lists(st.sampled_from(PLACES), min_size=2, max_size=2, unique=True))
def test_places(nouns: list[str], places: list[str]) -> None:
    talk = Conversation(f"The {nouns[0]} is in the {places[0]}.", f"The {nouns[1]} is in the {places[1]}.")
    assert talk.ask(f"Where is the {nouns[0]}?") == f"The {nouns[0]} is in the {places[0]}. [1]"
    assert talk.ask(f"What is in the {places[1]}?") == f"The {nouns[1]} is in the {places[1]}. [1]"
    assert talk.ask(f"Is the {nouns[0]} in the {places[0]}?") is not None
    assert not (talk.ask(f"Is the {nouns[0]} in the {places[1]}?") or "").startswith("Yes")
    assert talk.ask("Where is the canoe?") is None


@few
@given(casts(), st.sampled_from(NOUNS), st.integers(2, 90), st.integers(2, 90))
def test_numbers(cast: Cast, noun: str, count: int, other: int) -> None:
    assume(count != other)
    talk = Conversation(f"{cast.a} owns {count} {noun}s.", f"{cast.b} is {other} years old.")
    assert talk.ask(f"How many {noun}s does {cast.a} own?") == f"{cast.a} owns {count} {noun}s. [1]"
    assert talk.ask(f"How old is {cast.b}?") == f"{cast.b} is {other} years old. [1]"
    assert talk.ask(f"Does {cast.a} own {other} {noun}s?") == f"No. {cast.a} owns {count} {noun}s. [1]"
    assert talk.ask(f"How many {noun}s does {cast.b} own?") is None
    assert talk.ask(f"How old is {cast.a}?") is None


@few
@given(casts(), two_nouns)
def test_negation_and_attitude(cast: Cast, nouns: list[str]) -> None:
    talk = Conversation(f"{cast.a} does not own a {nouns[0]}.", f"{cast.b} thinks that {cast.c} owns a {nouns[1]}.")
    assert talk.ask(f"Does {cast.a} own a {nouns[0]}?") == f"No. {cast.a} does not own a {nouns[0]}. [1]"
    assert talk.ask(f"Who owns a {nouns[0]}?") is None
    assert talk.ask(f"Does {cast.c} own a {nouns[1]}?") is None
    assert talk.ask(f"Who owns a {nouns[1]}?") is None


@few
@given(casts(), st.sampled_from(NOUNS))
def test_possessors_are_not_the_things_they_have(cast: Cast, noun: str) -> None:
    talk = Conversation(f"{cast.a}'s brother lives in {cast.b}.")
    assert talk.ask(f"Where does {cast.a}'s brother live?") == f"{cast.a}'s brother lives in {cast.b}. [1]"
    assert talk.ask(f"Where does {cast.a} live?") is None
    assert talk.ask(f"Does {cast.a} live in {cast.b}?") is None
    assert talk.ask(f"Where does {cast.a}'s {noun} live?") is None


@pytest.mark.parametrize("verb", ["owns", "sells"])
@few
@given(casts(), two_nouns)
def test_comparison_of_the_same_kind_keeps_its_direction(verb: str, cast: Cast, nouns: list[str]) -> None:
    talk = Conversation(f"The {nouns[0]} is heavier than the {nouns[1]}.", f"{cast.a} {verb} the {nouns[0]}.")
    assert talk.ask(f"Is the {nouns[0]} heavier than the {nouns[1]}?") is not None
    assert talk.ask(f"Is the {nouns[1]} heavier than the {nouns[0]}?") is None
    assert talk.ask(f"Who {verb} the {nouns[1]}?") is None


@pytest.mark.parametrize(
    ("told", "question", "said"),
    [
        ("I'm Sofia.", "What is my name?", "Sofia"),
        ("Hi, I'm Sofia and I work as a botanist in Turin.", "What is my job?", "botanist"),
        ("Sandra went to the garden. Sandra went back to the kitchen.", "Where is Sandra?", "kitchen"),
        ("In response to the strike, the plant closed.", "Why did the plant close?", "strike"),
    ],
)
def test_what_a_statement_says_besides_answers(told: str, question: str, said: str) -> None:
    assert said in (Conversation(told).ask(question) or "").split(". [")[0].split(" ", 1)[-1]


@pytest.mark.parametrize("told", ["I'm German.", "I'm Sofia's sister.", "I'm tired.", "I'm in Rome."])
def test_who_gives_no_name_has_none(told: str) -> None:
    assert Conversation(told).ask("What is my name?") is None
