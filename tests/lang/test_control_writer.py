"""Control text written by plugins is admitted with the intended values, for any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.lang import ControlWriter, admit, quote


def test_intents_and_seeds() -> None:
    writer = ControlWriter()
    first = writer.intent("explain", "why the pump stalls", output="causal_chain", criterion="short, sourced")
    writer.constrain(first, "no guesses")
    one = writer.seed(first, "direct", "explain", "pump stall", priority=2)
    two = writer.seed(first, "explore", "locate", "valve faults", domain="hydraulics")
    writer.relate("split_from", two, one)
    document = admit(writer.text(), "intent")
    intent = document.intents[first]
    assert (intent.act, intent.output, intent.criterion) == ("explain", "causal_chain", "short, sourced")
    assert intent.constraints == ("no guesses",)
    assert document.seeds[one].priority == 2
    assert document.seeds[two].depends_on == (one,)


@given(st.text(), st.text(), st.text())
def test_any_text_is_safe(topic: str, claim: str, author: str) -> None:
    writer = ControlWriter()
    unit_id = writer.ku(
        "atomic",
        "session::turn::unit-000",
        source_id="session",
        chunk_id="session::turn",
        role="Description",
        topic=topic,
        claim=claim,
        author=author,
        title=None,
        phase_scopes=("kb-plugin", "gs-plugin"),
    )
    document = admit(writer.text(), "context")
    unit = document.kus[unit_id]
    assert (unit.topic, unit.claim, unit.author, unit.title) == (topic, claim, author, None)
    assert unit.phase_scopes == ("kb-plugin", "gs-plugin")


@given(st.text())
def test_a_quoted_text_is_one_string_on_one_line(text: str) -> None:
    assert "\n" not in quote(text)
    assert admit(f"@i1 intent define {quote(text)}\n@o1 set $i1 output x", "intent").intents["i1"].target == text


def test_a_field_can_be_set_later_by_its_name_in_the_language() -> None:
    writer = ControlWriter()
    unit_id = writer.ku("atomic", "u", source_id="s", chunk_id="c", role="Definition", topic="t", claim="c")
    writer.set(unit_id, "utilityActs", ("define", "identify"))
    assert admit(writer.text(), "context").kus[unit_id].utility_acts == ("define", "identify")


def test_what_cannot_be_written_is_refused_at_once() -> None:
    writer = ControlWriter()
    intent = writer.intent("define", "x", output="y")
    with pytest.raises(ValueError, match="atom"):
        writer.seed(intent, "two words", "define", "x")
    with pytest.raises(ValueError, match="mood"):
        writer.set(intent, "mood", "calm")
    with pytest.raises(ValueError, match="atom"):
        writer.ku("atomic", "u", utility_acts=("define]",))
    with pytest.raises(ValueError, match="reference"):
        writer.seed("i1 x", "direct", "define", "x")
    with pytest.raises(ValueError, match="relation"):
        writer.relate("status", intent, intent)


def test_nothing_written_is_no_text() -> None:
    assert ControlWriter().text() == ""
