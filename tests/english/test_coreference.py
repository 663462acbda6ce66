"""What pronouns refer to."""

from mrpvm.english.context.coreference import Antecedents
from mrpvm.english.sentences.parsing import read


def test_a_reflexive_pronoun_names_its_own_subject() -> None:
    antecedents = Antecedents()
    antecedents.resolve(read("The order came from the lighthouse at Cape Ottilie."))
    carried = read("Vesna carried the lens to the coast herself because she did not trust the carter.")
    meant = antecedents.resolve(carried)
    assert {carried.tokens[place]: mention.text for place, mention in meant.items()} == {"she": "Vesna"}


def test_a_reflexive_pronoun_tells_the_gender_of_its_subject() -> None:
    antecedents = Antecedents()
    for sentence in ("Vesna stayed.", "Toma carried the lens himself."):
        antecedents.resolve(read(sentence))
    left = read("She left.")
    assert [mention.text for mention in antecedents.resolve(left).values()] == ["Vesna"]
