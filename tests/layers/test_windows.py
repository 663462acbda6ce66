"""An utterance is also found by words of its neighbours and by its speaker."""

import random
from collections import Counter, defaultdict
from math import isclose, log
from statistics import mean

import pytest

from mrpvm.english.sentences.dialogue import UTTERANCE
from mrpvm.english.words.text import terms
from mrpvm.plugins.kb_retrievers.fast.plugin import POLICY as FAST_POLICY
from mrpvm.values import KnowledgeUnit
from sessions_app.layers import EffectiveView, SessionKnowledge, create_layer, hide_units, index_units, seal_layer
from sessions_app.models import KnowledgeLayer, LayerUnit
from tests.layers.units import make_unit
from tests.walks import SEEDS

pytestmark = pytest.mark.django_db

SHARES = {0: 1.0, 1: 0.5, 2: 0.3, 3: 0.2, 4: 0.1}


def said(place: int, speaker: str, text: str, talk: str = "talk", day: str | None = None) -> KnowledgeUnit:
    return make_unit(
        f"{talk}-{place}", text, topic=speaker, unit_type=UTTERANCE, source_id=talk, chunk_id=f"{talk}::chunk-000",
        unit_index=place, knowledge_date=day,
    )  # fmt: skip


def sealed(*units: KnowledgeUnit) -> KnowledgeLayer:
    layer = create_layer(KnowledgeLayer.Kind.BASE, None)
    index_units(layer, units)
    seal_layer(layer)
    return KnowledgeLayer.objects.get(pk=layer.pk)


def found(layer: KnowledgeLayer, question: str, limit: int = 50) -> dict[str, float]:
    hits = SessionKnowledge(EffectiveView.of_layer(layer)).search(dict.fromkeys(terms(question), 1.0), limit)
    return {hit.unit.id: hit.score for hit in hits}


ASKED = (
    said(0, "Ann", "Where did you leave the canoe?"),
    said(1, "Ben", "Under the willow, as always."),
    said(2, "Ann", "Good, thanks."),
    *(said(place, "Ann", f"Chapter {place} of the novel was dull.", talk="other") for place in range(20)),
)


def test_an_answer_is_found_by_the_words_of_its_question() -> None:
    hits = found(sealed(*ASKED), "canoe")
    assert list(hits) == ["talk-0", "talk-1", "talk-2"]
    assert hits["talk-0"] > hits["talk-1"] > hits["talk-2"] > 0


def test_conversations_do_not_touch_each_other() -> None:
    hits = found(sealed(*ASKED), "willow")
    assert "talk-1" in hits
    assert not any(name.startswith("other") for name in hits)


def test_a_named_speaker_is_preferred_and_the_name_is_no_word() -> None:
    units = [
        said(0, "Ann", "The kettle is broken, Ben."),
        said(9, "Ben", "The kettle is broken for good, I think."),
        said(18, "Ann", "Ben, hello Ben!"),
    ]
    hits = SessionKnowledge(EffectiveView.of_layer(sealed(*units))).search({"kettl": 1.0, "ben": 1.0}, 10)
    assert [hit.unit.id for hit in hits] == ["talk-9", "talk-0"]
    assert hits[0].term_scores.keys() == {"kettl", "said by ben"}
    assert isclose(hits[0].score, sum(hits[0].term_scores.values()))


PETS = (
    said(0, "Ann", "My dog is called Rex."),
    said(1, "Ann", "My cat is called Tom."),
    said(2, "Ben", "My bike is red."),
    said(3, "Ben", "I sold a boat in Ghent."),
)


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("What is the dog called?", 0),
        ("What is the cat called?", 1),
        ("What is Ann's cat called?", 1),
        ("Which colour has the bike?", 2),
        ("Which boat did Ben sell?", 3),
    ],
)
def test_a_short_dialogue_ranks_the_matching_utterance_first(question: str, place: int) -> None:
    assert next(iter(found(sealed(*PETS), question))) == f"talk-{place}"


@pytest.mark.parametrize("word", ["dog", "cat", "bike", "boat"])
@pytest.mark.parametrize("name", ["Ann", "Ben"])
def test_a_wrong_name_keeps_the_only_match_above_the_bar(word: str, name: str) -> None:
    hits = found(sealed(*PETS), f"What did {name} say about the {word}?")
    own = next(hits[unit.id] for unit in PETS if word in (unit.claim or ""))
    assert own > FAST_POLICY.min_score * max(hits.values())


def test_a_day_finds_what_was_said_then() -> None:
    units = [
        said(0, "Ann", "We went sailing.", talk="may", day="2023-05-08"),
        said(0, "Ann", "We went riding.", talk="june", day="2023-06-08"),
    ]
    assert next(iter(found(sealed(*units), "What did they do in May 2023?"))) == "may-0"


def test_what_is_hidden_gives_nothing_to_its_neighbours() -> None:
    base = sealed(*ASKED)
    layer = create_layer(KnowledgeLayer.Kind.DRAFT, base)
    hide_units(layer, LayerUnit.objects.filter(unit_id="talk-0"))
    layer.refresh_from_db()
    assert found(layer, "canoe") == {}


def windowed_scores(units: list[KnowledgeUnit], question: list[str]) -> dict[str, float]:
    """Return scores by the definition: each unit's words count for its neighbours too."""
    own = {unit.id: Counter(terms(unit.claim or "")) for unit in units}
    for unit in units:
        for term in terms(unit.topic):
            own[unit.id][term] += 1.5  # type: ignore[assignment]
    around: dict[str, list[tuple[str, float]]] = {}
    for unit in units:
        near = [
            other for other in units
            if other.source_id == unit.source_id and abs(other.unit_index - unit.unit_index) <= 4  # type: ignore[operator]
        ]  # fmt: skip
        around[unit.id] = [(other.id, SHARES[abs(other.unit_index - unit.unit_index)]) for other in near]  # type: ignore[operator]
    lengths = {name: sum(own[other].total() * share for other, share in near) for name, near in around.items()}
    average = mean(counts.total() for counts in own.values())
    scores: defaultdict[str, float] = defaultdict(float)
    for term in question:
        spread = {name: sum(own[other][term] * part for other, part in near) for name, near in around.items()}
        spread = {name: count for name, count in spread.items() if count}
        idf = log((len(units) + 18 - len(spread) + 0.5) / (len(spread) + 0.5) + 1)
        for name, count in spread.items():
            scores[name] += idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * lengths[name] / 3.2 / average))
    return scores


@pytest.mark.parametrize("seed", SEEDS)
def test_scores_are_those_of_the_definition(seed: int) -> None:
    chance = random.Random(seed)
    words = ["pump", "valve", "seal", "rotor", "motor", "pipe"]
    units = [
        said(place, "nobody", " ".join(chance.choices(words, k=chance.randint(1, 5))) + f" {talk}{place}", talk=talk)
        for talk in ("a", "b")
        for place in range(chance.randint(1, 12))
    ]
    layer = sealed(*units)
    for _ in range(5):
        question = chance.sample(words, 2)
        hits, expected = found(layer, " ".join(question)), windowed_scores(units, terms(" ".join(question)))
        assert hits.keys() == expected.keys()
        assert all(isclose(score, expected[name], abs_tol=1e-9) for name, score in hits.items())
