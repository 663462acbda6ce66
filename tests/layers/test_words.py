"""Free-text and phrase search of the pages: the same results as a scan of the visible units, on every database."""

import pytest
from django.db import connection
from hypothesis import HealthCheck, example, given
from hypothesis import settings as runs
from hypothesis import strategies as st

from mrpvm.knowledge.indexing import WORD_CHARS, index_words_of
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.forks import fork_base, save_session_kb
from sessions_app.actions.sessions.session import create_session
from sessions_app.layers import EffectiveView
from sessions_app.layers.upkeep.compaction import compact_base
from sessions_app.models import KnowledgeBase, LayerUnit, Project
from sessions_app.queries.search.units import ASKED_WORDS, asked_for, units_holding
from tests.actions.knowledge_scene import add_text, stage, tell
from tests.layers.units import make_unit


def add(base: KnowledgeBase, source_id: str, *claims: str) -> None:
    units = [make_unit(f"{source_id}::{number}", claim) for number, claim in enumerate(claims)]
    add_text(base, source_id, "", units, source_id=source_id)


def found(base: KnowledgeBase, asked: str, limit: int = 100) -> list[str]:
    head = KnowledgeBase.objects.select_related("head").get(pk=base.pk).head
    return [row.text for row in units_holding(EffectiveView.of_layer(head), asked_for(asked), limit)]


def indexed_count() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM sessions_app_unitwords")
        return int(cursor.fetchone()[0])


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("pump", [0, 1, 2]),
        ("PUMP blue", [0, 1]),
        ('"blue pump"', [1]),
        ('"blue pump" old', [1]),
        ('old "pump is"', [0]),
        ("größe", [3]),
        ("GRÖSSE", [3]),
        ("grosse", []),
        ("state of the art", [4]),
        ('"modern state-of-the-art engine"', [4]),
        ("decks.md", [5]),
        ('"see decks"', [5]),
        ("1e5", [5]),
        ("it's", [2]),
        ("阀门", [6]),
        ("阀 蓝色", [6]),
        ("门阀", []),
        ('"abc水泵"', [6]),
        ("もう", []),
        ("rotor", []),
        ("pum", []),
        ("", []),
        ('"', []),
        ("' OR 1=1 -- ) NEAR(* ^", []),
    ],
)
def test_words_and_phrases(project: Project, asked: str, expected: list[int]) -> None:
    base = create_base(project, "Pumps")
    claims = [
        "The old pump is blue.", "An old, blue Pump.", "It's a pump_house.", "Die Größe zählt.",
        "A modern state-of-the-art engine.", "See decks.md: 1e5 dogs.",
        "Abc水泵的阀门是蓝色的。",
    ]  # fmt: skip
    add(base, "a", *claims)
    assert found(base, asked) == [claims[place] for place in expected]


def test_a_phrase_does_not_reach_from_one_field_into_the_next(project: Project) -> None:
    base = create_base(project, "Pumps")
    add_text(base, "a", "", [make_unit("u", "valve leaks", topic="blue pump")])
    assert found(base, '"blue pump"') == ["valve leaks"]
    assert found(base, '"pump valve"') == []
    assert found(base, f'"pump {"0" * 65} valve"') == []


def test_only_what_the_base_shows(project: Project) -> None:
    """Units that are hidden, in other bases or in unsaved drafts are not found; forks find shared units."""
    base, other = create_base(project, "Pumps"), create_base(project, "Motors")
    add(base, "a", "The pump is blue.", "The pump is old.")
    add(other, "b", "The pump is foreign.")
    fork = fork_base(KnowledgeBase.objects.get(pk=base.pk))
    add(base, "a", "The pump is red.")
    session = create_session(project, base=KnowledgeBase.objects.get(pk=base.pk))
    stage(session, "c", "The pump is staged")
    tell(session, "The pump is told")
    assert found(base, "pump") == ["The pump is red."]
    assert found(fork, "pump") == ["The pump is blue.", "The pump is old."]
    assert found(other, "pump") == ["The pump is foreign."]
    save_session_kb(session)
    assert sorted(found(base, "pump")) == ["The pump is red.", "The pump is staged", "The pump is told"]
    assert sorted(found(base, '"is told"')) == ["The pump is told"]
    compact_base(KnowledgeBase.objects.select_related("head").get(pk=base.pk))
    assert sorted(found(base, "pump")) == ["The pump is red.", "The pump is staged", "The pump is told"]


def test_what_is_deleted_leaves_the_index(project: Project) -> None:
    """A trigger removes the index row of a deleted unit, and every migration must keep it."""
    add(create_base(project, "Pumps"), "a", "The pump is blue.")
    assert indexed_count() == 1
    LayerUnit.objects.all().delete()
    assert indexed_count() == 0


def test_a_limit_and_the_order_in_which_they_came(project: Project) -> None:
    base = create_base(project, "Pumps")
    add(base, "a", *(f"Pump {number}." for number in range(450)))
    assert found(base, "pump", 3) == ["Pump 0.", "Pump 1.", "Pump 2."]
    assert len(found(base, "pump", 500)) == 450


def test_words_that_nobody_writes_are_cut(project: Project) -> None:
    base = create_base(project, "Pumps")
    add(base, "a", "x" * 5_000, "pump " * 20_000)
    assert found(base, "x" * 4_000) == ["x" * 5_000]
    assert found(base, "x" * (WORD_CHARS - 1)) == []
    assert len(found(base, '"pump pump"')) == 1
    asked = asked_for('"pump pump" ' * 20 + "pump " * 60)
    assert (len(asked.words), asked.left_out_count) == (ASKED_WORDS, 100 - ASKED_WORDS)
    assert asked_for("pump " * ASKED_WORDS).left_out_count == 0


WORDS = st.sampled_from(["red", "Blue", "old", "größe", "日本", "naïve", "x1", "7"])
SENTENCES = st.lists(st.lists(WORDS, min_size=1, max_size=6), min_size=1, max_size=6)


@pytest.mark.rule("BASE-18")
@runs(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sentences=SENTENCES, wanted=st.lists(st.lists(WORDS, min_size=1, max_size=3), min_size=1, max_size=3))
@example(sentences=[["red"], ["red"]], wanted=[["red"]])
def test_it_finds_what_reading_every_unit_finds(
    project: Project, sentences: list[list[str]], wanted: list[list[str]]
) -> None:
    base = create_base(project, "Any")
    claims = list(dict.fromkeys(", ".join(words) for words in sentences))
    add(base, "a", *claims)
    asked = " ".join(f'"{" ".join(phrase)}"' if len(phrase) > 1 else phrase[0] for phrase in wanted)
    read = [
        claim
        for claim in claims
        if all(holds(index_words_of(claim), index_words_of(" ".join(phrase))) for phrase in wanted)
    ]
    assert found(base, asked) == read


def holds(words: list[str], phrase: list[str]) -> bool:
    return any(words[place : place + len(phrase)] == phrase for place in range(len(words)))
