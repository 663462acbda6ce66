"""A model writes the summaries of a source that a model reads; otherwise, or if that fails, the rules do."""

from collections import Counter

import pytest
from pytest_django import Settings

from sessions_app.actions.knowledge.bases import ensure_default_base
from sessions_app.actions.settings.model_roles import set_model_roles
from sessions_app.ingest.load import Upload, load_source
from sessions_app.layers import EffectiveView, SessionKnowledge
from sessions_app.models import KnowledgeSource, LayerUnit, Project
from tests.llm.provider import Asked, Behaviour, Provider, hang, refuse, say

SECTIONS = 4
DOCUMENT = """--- context ---
@k1 ku atomic "source::chunk::unit-000"
@k2 set $k1 sourceId "source"
@k3 set $k1 chunkId "source::chunk"
@k4 set $k1 role Description
@k5 set $k1 topic "ferry"
@k6 set $k1 claim "The ferry leaves at nine."
@m1 ku atomic "source::chunk::unit-001"
@m2 set $m1 sourceId "source"
@m3 set $m1 chunkId "source::chunk"
@m4 set $m1 role Description
@m5 set $m1 topic "ferry"
@m6 set $m1 claim "The ferry is red."
"""


def summing_up_by(sum_up: Behaviour) -> Behaviour:
    def answer(asked: Asked) -> None:
        is_summary = "You summarise a part of a document" in asked.body["messages"][0]["content"]
        (sum_up if is_summary else say(DOCUMENT))(asked)

    return answer


def load(project: Project, detector: str = "sd-llm-fast") -> KnowledgeSource:
    parts = (f"# Part {number}\n\nThe ferry leaves at nine. " + "word " * 900 for number in range(SECTIONS))
    upload = Upload(name="ferry.md", data="\n\n".join(parts).encode(), seed_detector=detector)
    return load_source(ensure_default_base(project), upload).source


def summaries(source: KnowledgeSource) -> dict[str, str]:
    rows = LayerUnit.objects.filter(origin=source).exclude(ku_type="atomic")
    return {unit_id.partition("::")[2]: claim for unit_id, claim in rows.values_list("unit_id", "claim")}


def test_sections_first_then_the_whole_from_their_summaries(provider: Provider, project: Project) -> None:
    set_model_roles(project, {"roles": {"kb-ingest": {"model": "reader"}, "kb-derive": {"model": "writer"}}})
    asked: list[str] = []

    def sum_up(found: Asked) -> None:
        asked.append(found.body["messages"][-1]["content"])
        say(f"The {'whole' if 'Boats' in asked[-1] else 'part'} is about\n Boats.  It ends. " + "x" * 400 + ".")(found)

    provider.otherwise = summing_up_by(sum_up)
    source = load(project)
    told = summaries(source)
    assert told.pop("source-summary") == "The whole is about Boats. It ends."
    assert Counter(told.values()) == {"The part is about Boats. It ends.": SECTIONS}
    assert asked[-1].count("The part is about Boats.") == SECTIONS
    assert all("The ferry is red." in text for text in asked[:-1])
    assert Counter(body["model"] for body in provider.bodies) == {"reader": SECTIONS, "writer": SECTIONS + 1}
    source.refresh_from_db()
    hits = SessionKnowledge(EffectiveView.of_layer(source.layer)).search({"whole": 1.0}, 10)
    assert [hit.unit.id for hit in hits] == [f"{source.source_id}::source-summary"]


def test_a_model_is_told_that_it_sees_the_beginning_alone(
    provider: Provider, project: Project, settings: Settings
) -> None:
    asked: list[str] = []

    def sum_up(found: Asked) -> None:
        asked.append(found.body["messages"][-1]["content"])
        say("It ends.")(found)

    settings.MRPVM_DERIVED_FROM_CHARS = 19
    provider.otherwise = summing_up_by(sum_up)
    load(project)
    assert asked[0].endswith("Only the first 19 of 43 characters:\n\nThe ferry leaves at")
    assert asked[-1].endswith("Only the first 19 of 35 characters:\n\nIt ends.\nIt ends.\nI")


@pytest.mark.parametrize("failure", [refuse(500), say("x" * 500), hang])
def test_the_rules_write_what_the_model_does_not(
    provider: Provider, project: Project, settings: Settings, failure: Behaviour
) -> None:
    settings.MRPVM_PLUGIN_TIMEOUT_MS = 700 if failure is hang else 1_500
    provider.otherwise = summing_up_by(failure)
    told = summaries(load(project))
    assert told["section-000"] == "Part 0. The ferry leaves at nine. The ferry is red."
    assert len(told) == SECTIONS + 1
    assert len(provider.asked) <= 2 * SECTIONS, "the whole is not asked for when no part was answered"


def test_no_model_is_asked_where_rules_read_the_source(provider: Provider, project: Project) -> None:
    assert "source-summary" in summaries(load(project, "sd-symbolic"))
    assert provider.asked == []
