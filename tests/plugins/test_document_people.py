"""People in documents: who they are, their actions, and their permissions."""

import pytest

from tests.plugins.document import answer

ORCHESTRA = (
    "Lakeside orchestra\n\nNobody may enter the archive without the consent of the librarian, Ruth Adler. If a lamp"
    " fails, tell the technician, Milo Brand, at once. The deputy conductor, Elsa Roth, leads the rehearsals. The"
    " orchestra has a new harpist: Noor Haddad.\n\nThe old cellist, Viggo Lund, retired in 2001. His daughter Astrid"
    ' composed a suite for strings, "Frost and Fire", in 1998. A nephew of the patron, Leo Stern, plays the horn. In'
    " the hall, Piet Kool, tired of waiting, fell asleep. The head of"
    " staging is Ole Frisk. The head of catering was not Nils Dorn."
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Who is the deputy conductor?", "The deputy conductor, Elsa Roth, leads the rehearsals."),
        ("Who is the conductor?", None),
        ("Who is the new cellist?", None),
        ("Who is the patron?", None),
        ("Is Milo Brand the librarian?", None),
        ("Who is Nils Dorn?", None),
    ],
)
def test_a_name_beside_a_role_tells_who_that_is(question: str, said: str | None) -> None:
    assert answer(ORCHESTRA, question) == said


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Who composed Frost and Fire?", True),
        ("What is the title of Astrid's opera?", False),
        ("What is the title of Viggo Lund's suite?", False),
    ],
)
def test_a_quoted_title_is_one_name_of_its_makers_work(question: str, *, said: bool) -> None:
    assert ("Frost and Fire" in (answer(ORCHESTRA, question) or "")) == said


def test_who_a_sentence_begins_with_as_he_or_she_is_told_with_it() -> None:
    document = (
        "Bakery notes\n\nOur baker, Tilda Moss, starts at four. She has two ovens. Her nephew Rolf sells the bread."
    )
    assert answer(document, "Who sells the bread?") == document.partition("\n\n")[2]


VALLEY = (
    "Valley notes\n\nThe sawmill belongs to Greta Holt. The cabin belonged to Arne Vik until 1970. The chapel, which"
    " the parish opens to walkers in June, is small. The quarry was opened to the public in 1920.\n\nArne Vik sold the"
    " meadow to Lina Berg. The parish may sell the orchard to a bank. Lina Berg gave Jon a violin. The cup was"
    " awarded to Tora Moe by the council. The shield was not awarded to Greta Holt. Lina Berg teaches Jon Latin."
    " The council gave Arne Vik's sister a lamp. The school was given ten chairs by the parish."
)


@pytest.mark.parametrize(
    "question",
    [
        "Does Arne Vik own the sawmill?",
        "Who owns the cabin?",
        "Who owns the meadow?",
        "Did Arne Vik buy the meadow?",
        "Who bought the orchard?",
        "Did Lina Berg get a violin from Jon?",
        "Did the council receive the cup?",
        "Was the cup awarded to the council?",
        "Who received the shield?",
        "Was a lamp given to Arne Vik?",
        "Did Arne Vik get a lamp?",
        "Who gave ten chairs to the parish?",
        "When is the quarry open to the public?",
    ],
)
def test_who_gave_is_not_who_received(question: str) -> None:
    assert answer(VALLEY, question) is None


RULES = (
    "Rules of the hut\n\nNobody may cook outside without a permit. No one may climb alone. Walkers may not camp in the"
    " gorge unless the guard agrees. Nobody is allowed to fish in the pond. Nobody can cancel after noon. Guests may"
    " use the stove unless it is hot. Cyclists may not park here if it snows."
    " Children are not allowed to light fires in the yard."
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("May I cook outside?", "No. Nobody may cook outside without a permit."),
        ("May I cook inside?", None),
        ("May I cook?", None),
        ("May I cook outside with a permit?", None),
        ("May I climb alone?", "No. No one may climb alone."),
        ("May I climb?", None),
        ("May walkers camp in the gorge?", "No. Walkers may not camp in the gorge unless the guard agrees."),
        ("May walkers camp in the wood?", None),
        ("Am I allowed to fish in the pond?", "No. Nobody is allowed to fish in the pond."),
        ("May I swim in the pond?", None),
        ("Can I cancel after noon?", "No. Nobody can cancel after noon."),
        ("Can I cancel?", None),
        ("May guests use the stove?", "It depends. Guests may use the stove unless it is hot."),
        ("May cyclists park here?", "It depends. Cyclists may not park here if it snows."),
        ("May children light fires?", None),
        ("May children light fires in the hut?", None),
    ],
)
def test_what_nobody_may_do_is_not_allowed_to_the_asker(question: str, said: str | None) -> None:
    assert answer(RULES, question) == said


def test_a_heading_that_names_a_thing_does_not_define_it() -> None:
    assert answer("Parking policy\n\nCyclists may use the yard.", "What is the parking policy?") is None
