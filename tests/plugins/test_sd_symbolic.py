"""sd-symbolic: intents and units of a message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.contracts import ChunkInput, DetectInput
from mrpvm.kernel.admission import Admitted, admit_detection
from mrpvm.lang import admit
from mrpvm.plugins.seed_detectors.symbolic import SymbolicSeedDetector
from mrpvm.plugins.seed_detectors.symbolic.segmentation import REQUESTS_MAX
from mrpvm.testing import call_context

detector = SymbolicSeedDetector()


def detect(message: str) -> Admitted:
    return admit_detection(detector.detect(DetectInput(message=message), call_context()), "req-1")


def targets(message: str) -> list[str]:
    return [intent.target for intent in detect(message).intents]


def told(message: str) -> list[str]:
    return [unit.text for unit in detect(message).units if unit.is_evidence]


@pytest.mark.rule("BUILTIN-6")
def test_a_statement_is_knowledge_with_one_intent() -> None:
    found = detect("My dog is called Rex.")
    assert [(item.act, item.target, item.output) for item in found.intents] == [
        ("explain", "My dog is called Rex.", "acknowledgement")
    ]
    assert [(unit.ku_type, unit.topic, unit.claim) for unit in found.units] == [
        ("atomic", "My dog", "My dog is called Rex.")
    ]


def test_statements_need_no_verb_of_a_list() -> None:
    assert told("Birds fly south.") == ["Birds fly south."]


@pytest.mark.rule("INGEST-14", "BUILTIN-7")
def test_questions_and_requests_are_never_knowledge() -> None:
    assert told("Where is X? Is the sky blue? Explain rust. where is y") == []


@pytest.mark.rule("BUILTIN-6")
def test_statements_and_questions_part() -> None:
    message = "My dog is called Rex. What is he called?"
    found = detect(message)
    assert targets(message) == ["What is he called?"]
    assert found.intents[0].context == "My dog is called Rex."
    assert told(message) == ["My dog is called Rex."]


@pytest.mark.rule("INGEST-17", "INTENT-3", "BUILTIN-6")
@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("What is rust? What is copper?", ["What is rust?", "What is copper?"]),
        ("Explain rust and compare rafts with tents.", ["Explain rust", "compare rafts with tents."]),
        ("1. What is rust?\n2. Who is Rex?", ["What is rust?", "Who is Rex?"]),
        ("1) what is X 2) who is Y", ["what is X", "who is Y"]),
        ("Explain the following:\n- rust\n- copper", ["Explain rust", "Explain copper"]),
        ("Answer each:\n- What is rust?\n- Who is Rex?", ["What is rust?", "Who is Rex?"]),
        (
            "Questions:\nQ1: The owner of the boat\nQ2: The colour of the car",
            ["The owner of the boat", "The colour of the car"],
        ),
        ("What is rust? Is it rust?", ["What is rust? Is it rust?"]),
        ("what is rust\nwho is rex", ["what is rust", "who is rex"]),
    ],
)
def test_every_task_is_its_own_intent(message: str, expected: list[str]) -> None:
    assert targets(message) == expected


def test_every_intent_has_its_seed() -> None:
    found = detect("What is rust? Explain copper.")
    assert [(seed.intent_id, seed.mode, seed.action, seed.implicit) for seed in found.seeds] == [
        ("i1", "direct", "define", False),
        ("i2", "direct", "explain", False),
    ]


@pytest.mark.rule("BUILTIN-8")
@pytest.mark.parametrize(
    ("message", "outputs"),
    [
        ("Who is Rex? Answer in one word.", ["one_word"]),
        ("Answer in JSON. Who is Rex? Who is Tom?", ["json", "json"]),
        ("Who is Rex? Answer in JSON. Who is Tom? Answer in one word.", ["json", "one_word"]),
        ("Is Rex a dog?", ["verdict"]),
        ("List the crew.", ["bullet_list"]),
        ("Why does it rust?", ["explanation"]),
        ("Who is Rex?", ["answer"]),
    ],
)
def test_outputs(message: str, outputs: list[str]) -> None:
    assert [intent.output for intent in detect(message).intents] == outputs


@pytest.mark.rule("BUILTIN-9")
def test_instructions_become_guidance_and_leave_the_target() -> None:
    found = detect("Who is Rex in one word?")
    assert found.intents[0].target == "Who is Rex?"
    assert [(unit.phase_scopes, unit.role, unit.text) for unit in found.units] == [
        (("gs-plugin",), "Constraint", "in one word")
    ]


@pytest.mark.rule("DECISION-49")
def test_an_instruction_of_one_request_is_conditioned_on_it() -> None:
    found = detect("Who is Rex? Answer in JSON. Who is Tom?")
    assert [(unit.text, unit.condition) for unit in found.units] == [("Answer in JSON.", "Who is Rex?")]
    assert [intent.output for intent in found.intents] == ["json", "answer"]


@pytest.mark.rule("INGEST-17")
@pytest.mark.parametrize("mark", ["{}.", "Q{}:"])
def test_questions_below_a_text_leave_the_text_as_knowledge(mark: str) -> None:
    asked = ["Who owns the boat?", "What colour is the car?"]
    listed = "\n".join(f"{mark.format(place)} {text}" for place, text in enumerate(asked, 1))
    found = detect(f"Rex barks at night.\n\nQuestions (answer each in one word):\n{listed}")
    assert [(intent.target, intent.output) for intent in found.intents] == [(text, "one_word") for text in asked]
    assert [(unit.role, unit.phase_scopes, unit.text) for unit in found.units] == [
        ("Explanation", ("kb-plugin",), "Rex barks at night."),
        ("Constraint", ("gs-plugin",), "Questions (answer each in one word)"),
    ]


def test_words_of_form_in_a_fact_make_no_guidance() -> None:
    assert [unit.phase_scopes for unit in detect("The table has four legs.").units] == [("kb-plugin",)]


@pytest.mark.rule("UNIT-17", "INGEST-2", "INTENT-3", "BUILTIN-11")
def test_related_sentences_are_one_unit_and_others_are_not() -> None:
    found = detect("Anna lives in Bern. She likes tea. Birds fly south.")
    assert [(unit.ku_type, unit.text) for unit in found.units] == [
        ("composite", "Anna lives in Bern. She likes tea."),
        ("atomic", "Birds fly south."),
    ]


@pytest.mark.rule("INGEST-2", "INGEST-13", "BUILTIN-12")
def test_a_fact_stands_alone_with_its_triple() -> None:
    found = detect("The pump depends on power. It is loud.")
    assert [(unit.ku_type, unit.subject, unit.relation, unit.object) for unit in found.units] == [
        ("atomic", "The pump", "depends_on", "power"),
        ("atomic", None, None, None),
    ]
    assert found.units[1].topic == "The pump"
    assert [unit.confidence for unit in found.units] == [0.9, None]


@pytest.mark.rule("INGEST-3")
def test_numbered_steps_are_one_procedure() -> None:
    found = detect("To reset the pump:\n1. Open the valve.\n2. Drain it.")
    assert [(unit.role, unit.topic, unit.procedure) for unit in found.units] == [
        ("Procedure", "reset the pump", "To reset the pump: 1. Open the valve. 2. Drain it.")
    ]


def test_reminders_are_stripped() -> None:
    assert told("Remember that my dog is called Rex.") == ["My dog is called Rex."]


@pytest.mark.parametrize(
    "message",
    [
        "Hello!",
        "Thanks a lot.",
        "ok",
        "...",
        "?!",
        "\N{THUMBS UP SIGN}",
        "Yes.",
        "The second one",
        "both of them, please",
    ],
)
def test_phatic_words_are_no_knowledge(message: str) -> None:
    assert detect(message).units == ()


@pytest.mark.rule("BUILTIN-4")
@pytest.mark.parametrize("message", ["", " \n", "\x00"])
def test_nothing_to_find_is_unsupported(message: str) -> None:
    assert detector.detect(DetectInput(message=message), call_context()).status == "unsupported"


def normalise(text: str, **fields: str) -> list[str]:
    chunk = ChunkInput(text=text, source_id="src-1", source_name="a.md", chunk_id="src-1::chunk-000", **fields)
    found = detector.normalise(chunk, call_context())
    assert found.status == "success"
    if found.context_document is None:
        return []
    units = admit(found.context_document, "context").kus.values()
    assert all(unit.chunk_id == "src-1::chunk-000" for unit in units)
    return [unit.claim or unit.procedure or "" for unit in units]


@pytest.mark.rule("INGEST-14", "PLUGIN-7")
def test_normalising_leaves_out_questions_and_headings() -> None:
    assert normalise("# Pump\n\nThe pump is old.\nWhy is it old?", section_title="Pump") == ["The pump is old."]


def test_a_label_is_about_what_the_headings_around_its_own_name() -> None:
    router = "# Devices\n\n## Router X100\n\n### Data\n\nWeight: 640 g\n\nThe case is black."
    text = f"{router}\n\n## Switch\n\n- Ports: 8\n- Fans: 2"
    chunk = ChunkInput(text=text, source_id="s", source_name="a.md", chunk_id="s::chunk-000")
    found = admit(detector.normalise(chunk, call_context()).context_document or "", "context").kus.values()
    assert [(unit.topic, unit.section_title) for unit in found] == [
        ("Devices: Router X100", "Data"),
        ("case", "Data"),
        ("Devices", "Switch"),
    ]


def test_a_chunk_without_statements_gives_no_document() -> None:
    assert normalise("Why?") == []


@pytest.mark.rule("INGEST-7")
def test_an_oversized_chunk_is_an_error() -> None:
    chunk = ChunkInput(text="x" * 8_001, source_id="s", source_name="a", chunk_id="s::chunk-000")
    found = detector.normalise(chunk, call_context())
    assert found.status == "error"
    assert found.error is not None
    assert found.error.details == {"limit": 8_000, "size": 8_001}


@pytest.mark.rule("UNIT-17", "BUILTIN-4")
@given(st.text(max_size=400))
def test_any_message_gives_an_admissible_document_or_unsupported(message: str) -> None:
    detection = detector.detect(DetectInput(message=message), call_context())
    if detection.status == "success":
        found = admit_detection(detection, "req-1")
        assert found.intents
        assert len(found.seeds) == len(found.intents)
        assert not any(unit.parent_unit_ids or unit.child_unit_ids for unit in found.units)
    else:
        assert detection.status == "unsupported"
        assert not any(char.isprintable() and not char.isspace() for char in message)


def test_a_wrapped_line_continues_its_sentence() -> None:
    pump = "The main pump of the northern water works of the old town of Foo is driven by motor M7."
    message = pump.replace("Foo is", "Foo\nis") + " Where does it stand?"
    assert (told(message), targets(message)) == ([pump], ["Where does it stand?"])


def test_a_question_line_needs_no_question_mark() -> None:
    assert targets("Here is what I know of the pumps of the northern water works\nwhat is a pump") == ["what is a pump"]


def test_a_lead_that_is_a_sentence_of_its_own_asks_for_nothing() -> None:
    (unit,) = detect("The following valves exist:\n- V1 is red\n- V2 is blue").units
    assert unit.text == "The following valves exist:\n- V1 is red.\n- V2 is blue."
    assert targets("Say what you know of the following:\n- V1\n- V2") == ["V1", "V2"]
    assert targets("These are my three questions:\n- V1\n- V2") == ["V1", "V2"]


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("separator", [" ", "\n"])
def test_numbered_questions_are_counted_past_ninety_nine(first: int, separator: str) -> None:
    message = separator.join(f"{number}. Where is pump {number}?" for number in range(first, first + 120))
    *asked, left_out = targets(message)
    assert asked == [f"Where is pump {number}?" for number in range(first, first + REQUESTS_MAX)]
    assert left_out == "I answered the first 20 of 120 questions."


@pytest.mark.parametrize(
    ("message", "output"),
    [
        ("Explain the Oak table.", "explanation"),
        ("Describe the shopping list.", "explanation"),
        ("List the pumps as a table.", "table"),
        ("Answer in one word: where is Ida?", "one_word"),
    ],
)
def test_only_a_phrase_that_asks_for_a_form_sets_it(message: str, output: str) -> None:
    assert [intent.output for intent in detect(message).intents] == [output]
