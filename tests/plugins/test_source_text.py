"""Statements of a source: all sentences except questions, for any line breaks."""

import textwrap

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mrpvm.plugins.seed_detectors.symbolic.source_text import statements_of


def stated(text: str) -> list[str]:
    return [statement.text for statement in statements_of(text)]


@pytest.mark.parametrize(
    "text",
    [
        "1. Check the seal.\n2. Open valve V2.\n3. Press the green button.",
        "1. Check the seal.\n\n2. Open valve V2.\n\n3. Press the green button.",
        "1. Check\n   the seal.\n2. Open\n   valve V2.\n3. Press the\n   green button.",
    ],
)
def test_steps_are_one_procedure_whatever_their_verbs(text: str) -> None:
    (procedure,) = statements_of(text)
    assert procedure.is_procedure
    assert procedure.text == "1. Check the seal. 2. Open valve V2. 3. Press the green button."


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("This lists them:\n\n    pump --list\n\nIt is red.", ["This lists them: pump --list", "It is red."]),
        ("This lists them:\n```sh\n# all of them\npump --list\n```\nIt is red.",
         ["This lists them: all of them", "pump --list", "It is red."]),
        ("Use it as follows::\n\n  pump 3\n  pump 4", ["Use it as follows:: pump 3", "pump 4"]),
        ("These are sold:\n\nHoses and nuts.", ["These are sold: Hoses and nuts."]),
        ("One:\n\nTwo:\n\nThree.", ["One:", "Two: Three."]),
        ("This lists them:\n\n## Pumps\n\nIt is red.", ["This lists them:", "It is red."]),
        ("This lists them:\n\nIs it red?", ["This lists them:"]),
        ("They met at noon:\n\nAda: The gate is red.\nBen: The lock is old.\nAda: It is new.\n\nThey left.",
         ["They met at noon:", "Ada: The gate is red.", "Ben: The lock is old.", "Ada: It is new.", "They left."]),
        ("The ferry of the northern line has a mooring with the number\n#4 at the pier.",
         ["The ferry of the northern line has a mooring with the number #4 at the pier."]),
    ],
)  # fmt: skip
def test_a_sentence_goes_with_what_it_introduces(text: str, told: list[str]) -> None:
    assert stated(text) == told


def test_code_has_no_headings() -> None:
    text = "# Pumps\n\n```\n# Start it.\npump\n```\n\n~~~\n```\n# It runs.\n~~~\n\nIt stops."
    assert [(item.text, item.heading) for item in statements_of(text)] == [
        ("Start it.", "Pumps"), ("pump", "Pumps"), ("It runs.", "Pumps"), ("It stops.", "Pumps"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The following valves exist:\n- V1 is red", "The following valves exist:\n- V1 is red."),
        ("Tasks of the night shift:\n- Lock the doors", "Tasks of the night shift:\n- Lock the doors."),
        ("Answer codes:\n- 200 is fine", "Answer codes:\n- 200 is fine."),
        ("These rules hold below:\n\n* No smoking", "These rules hold below:\n- No smoking."),
        ("- It listens on port 80.\n- Check its log.", "- It listens on port 80.\n- Check its log."),
        ("Each room has:\n- a bed\n- a lamp with\nno shade", "Each room has:\n- a bed.\n- a lamp with no shade."),
    ],
)  # fmt: skip
def test_a_list_stays_whole_with_its_lead(text: str, expected: str) -> None:
    assert stated(text) == [expected]


@pytest.mark.rule("INGEST-14")
@pytest.mark.parametrize(
    "sentence",
    [
        "Output voltage is 5 V.",
        "Will Smith lives in hall 3.",
        "What matters is pressure.",
        "Can openers are in drawer 3.",
        "Always answer customers politely.",
        "Return the key to the office.",
        "Check the seal before you open the valve.",
        "Find the red lever.",
        "List of valves: V1 and V2.",
        '{"format": "json", "port": 8000}',
    ],
)
def test_what_only_begins_like_a_request_is_kept(sentence: str) -> None:
    assert stated(sentence) == [sentence]
    assert stated(f"The pump is old. {sentence}") == ["The pump is old.", sentence]


@pytest.mark.rule("INGEST-14", "INGEST-17")
@pytest.mark.parametrize(
    "text",
    [
        "Where is the pump?",
        "Where is the pump",
        "Explain how the pump works.",
        "Please describe the pump.",
        "Tell me about the pump.",
        "Show us the pump.",
        "Write me a poem.",
        "1. Where is the pump?\n2. Explain its motor.",
        "Questions\n1. Where is the pump?\n2. The motor.",
        "Answer the following questions in one word:\n- the pump\n- the motor",
    ],
)
def test_what_asks_is_left_out(text: str) -> None:
    assert stated(text) == []
    assert stated(f"The hall is high.\n\n{text}") == ["The hall is high."]


def test_a_question_among_the_items_goes_alone() -> None:
    assert stated("- The pump is red.\n- Is it?\n- It is old.") == ["- The pump is red.\n- It is old."]


@pytest.mark.parametrize(
    "text",
    [
        "Pump P1 is red\nMotor M7 is blue\nValve V2 is green",
        "name,colour,hall\npump P1,red,3\nmotor M7,blue,4",
        "| name | colour |\n| the pump of the works | red |",
        "Hall: on the left of the gate, open on all days from nine to five\nGate: closed",
        "Introduction\nThe pump is red.",
    ],
)
def test_lines_that_are_no_prose_stay_apart(text: str) -> None:
    assert stated(text) == [line for line in text.splitlines() if any(map(str.isalnum, line))]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "Stock:\n| Part | Price | Shelf |\n|---|:--:|---|\n| **Hose** | 3 euros | A4 |\n| Nut | 1 euro | |\nNew.",
            ["Stock:", "Hose:\n- Price: 3 euros.\n- Shelf: A4.", "Nut:\n- Price: 1 euro.", "New."],
        ),
        ("| Part | Price |\n|---|---|\n| Hose | 3 | 4 |", ["| Part | Price |", "| Hose | 3 | 4 |"]),
        ("| Part | |\n|---|---|\n| Hose | 3 m |", ["Hose: 3 m"]),
        ("| Property | Value |\n|---|---|\n| Width | 3 m |\n| Age | 2 years |", ["Width: 3 m", "Age: 2 years"]),
        (
            "| Part | Price | Size |\n|---|---|---|\n| Hose | 3 | 4 |\n| | Sum | 3 |\n| | | |\n| Nut | 1 | 2 |",
            ["Hose:\n- Price: 3.\n- Size: 4.", "Sum | 3", "Nut:\n- Price: 1.\n- Size: 2."],
        ),
        ("| Part | | A |\n|---|---|---|\n| Hose | 3 | 4 |", ["| Part | | A |", "| Hose | 3 | 4 |"]),
    ],
)
def test_a_row_of_a_table_is_told_with_the_heads_of_its_columns(text: str, told: list[str]) -> None:
    assert stated(text) == told


_WORDS = st.sampled_from(
    [
        "the",
        "is",
        "was",
        "can",
        "which",
        "what",
        "list",
        "check",
        "and",
        "of",
        "in",
        "Northern",
        "Water",
        "M7",
        "12",
        "valve",
    ]
)
_SENTENCES = st.lists(_WORDS, min_size=6, max_size=14).map(lambda chosen: f"The hall {' '.join(chosen)} works.")


@settings(deadline=None)
@given(
    paragraphs=st.lists(st.lists(_SENTENCES, min_size=3, max_size=6), min_size=1, max_size=3),
    width=st.integers(30, 110),
)
@example(
    paragraphs=[
        ["The hall the the the the the the works."],
        ["The hall the the check Northern the the the works."] * 2,
    ],
    width=30,
)
def test_the_width_of_the_lines_changes_nothing(paragraphs: list[list[str]], width: int) -> None:
    wrapped = "\n\n".join(textwrap.fill(" ".join(sentences), width) for sentences in paragraphs)
    assert stated(wrapped) == [sentence for sentences in paragraphs for sentence in sentences]


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("Manual\n\nLimits\nUploads: 4 GB\n\nThe end is near.", [None, None, "Limits", None]),
        ("Manual\n\nLimits\n\nUploads are small.\n\nThe end is near.", [None, None, "Limits", "Limits"]),
        ("How do I pay?\nPut cash into the box.\n\nThe end is near.", ["How do I pay?", None]),
        ("Roses\n\nViolets\n\nTulips", [None, None, None]),
        ("She stopped\nand the dog slept there.", [None, None]),
        ("# Manual\n\nLimits\nThe end is near.", ["Manual", "Manual"]),
        ("Manual\n\nHours of the desk at large\nThe desk opens at nine.", [None, None, "Hours of the desk at large"]),
        ("Manual\n\nHours of work\nThe office opens at nine.\nIt is closed.", [None] * 2 + ["Hours of work"] * 2),
        ("Manual\n\nThe office of this town\nOpens at nine o'clock sharp.\nIt closes at ten in winter.", [None] * 3),
    ],
)
def test_a_line_heads_what_stands_below_it(text: str, headings: list[str | None]) -> None:
    assert [statement.heading for statement in statements_of(text)] == headings


def test_labels_that_come_back_are_no_speakers() -> None:
    text = "Phone: 555 10\nCity: Bern\n\nPhone: 555 20\nCity: Basel"
    assert [statement.speaker for statement in statements_of(text)] == [None] * 4
