"""Decomposed intents and context profiles."""

import pytest

from mrpvm.knowledge.decomposition import PREFERRED_ROLES_BY_ACT, decompose, intent_target, profile_for
from mrpvm.values import Intent


def intent(target: str, act: str = "identify", **fields: str) -> Intent:
    return Intent(id="i1", group_number=1, act=act, target=target, **{"output": "answer", **fields})  # type: ignore[arg-type]


@pytest.mark.rule("INTENT-6", "INTENT-7")
@pytest.mark.parametrize(
    ("text", "act", "target"),
    [
        ("Compare rafts and tents.", "compare", "rafts and tents"),
        ("Comparing rafts and tents", "compare", "rafts and tents"),
        ("why the pump stalls?", "explain", "the pump stalls"),
        ("rafts and tents", "compare", "rafts and tents"),
        ("Explain rust!", "compare", "Explain rust"),
        ("Verifies the seal", "verify", "the seal"),
        ("explain", "explain", "explain"),
    ],
)
def test_targets(text: str, act: str, target: str) -> None:
    assert intent_target(text, act) == target


@pytest.mark.rule("INTENT-8")
def test_fields_are_split_at_commas() -> None:
    found = decompose(intent("a queue", "recommend", criterion="cheap, durable,, ", evidence="x,y", context="at sea"))
    assert found.criteria == ("cheap", "durable")
    assert found.evidence == ("x", "y")
    assert found.explicit_context == "at sea"


@pytest.mark.rule("INTENT-9", "INTENT-11")
def test_profile_terms_are_stemmed_unique_and_in_order() -> None:
    profile = profile_for(decompose(intent("What do the dogs of my dog's owner eat?", context="at the kennels")))
    assert profile.query_terms == ("dog", "owner", "eat", "kennel")
    assert profile.needed_roles == PREFERRED_ROLES_BY_ACT["identify"]
    assert profile.act_boost == "identify"


@pytest.mark.rule("INTENT-12")
def test_output_instructions_are_no_query_terms() -> None:
    assert profile_for(decompose(intent("Who is Rex? Answer in one word."))).query_terms == ("rex",)


@pytest.mark.rule("INTENT-9")
def test_words_that_only_ask_are_no_query_terms() -> None:
    assert profile_for(decompose(intent("How much does the wooden oven cost?"))).query_terms == (
        "wooden",
        "oven",
        "cost",
    )


@pytest.mark.rule("INTENT-10")
@pytest.mark.parametrize(
    ("act", "output", "limit"),
    [("identify", "answer", 4), ("define", "one_word", 5), ("evaluate", "yes_no", 5), ("explain", "explanation", 10)],
)
def test_max_results(act: str, output: str, limit: int) -> None:
    assert profile_for(decompose(intent("rust", act, output=output))).max_results == limit
