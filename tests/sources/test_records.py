"""JSON and JSON lines: flat records become the rows of a table, anything else is refused."""

import json

import pytest

from mrpvm.errors import InvalidInput, Unreadable
from mrpvm.sources.documents.reading import read_document

HEAD = ["| name | kg |", "| --- | --- |"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('[{"name": "Elm", "kg": 1.50}, {"name": "Oak", "kg": 12}]', [*HEAD, "| Elm | 1.50 |", "| Oak | 12 |"]),
        ('[\n {"name": "a|b",\n  "kg": -1e3}\n]', [*HEAD, r"| a\|b | -1e3 |"]),
        ('{"name": "Elm", "kg": 1}\n\n{"name": "Oak", "kg": 2}\n', [*HEAD, "| Elm | 1 |", "| Oak | 2 |"]),
        ('{"name": "Elm"}\n{"kg": 2, "name": "two\\nlines"}', [*HEAD, "| Elm |  |", "| two lines | 2 |"]),
        ('{"name": "Elm", "kg": null}', [*HEAD, "| Elm |  |"]),
        ('{"name": ["Elm", "Ash", 3, null], "kg": true}', [*HEAD, "| Elm, Ash, 3 | true |"]),
        ('[{"text": "Dogs bark."}, {"text": "Cats purr."}]', ["Dogs bark.", "", "Cats purr."]),
    ],
)
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_flat_records_are_read_as_rows(name: str, text: str, lines: list[str]) -> None:
    document = read_document(text.encode(), name)
    assert (document.text.split("\n"), document.is_markdown) == (lines, True)


@pytest.mark.parametrize(
    "text", ['[{"a": {"b": 1}}]', '[{"a": [[1]]}]', '[{"a": [{}]}]', "[1, 2]", '"text"', "[[]]", "[" * 100_000]
)
def test_other_json_is_refused_with_what_is_accepted(text: str) -> None:
    with pytest.raises(Unreadable, match=r"no flat records.* one object in each line") as refused:
        read_document(text.encode(), "a.json")
    assert refused.value.code == "SOURCE_UNREADABLE"


@pytest.mark.parametrize(
    ("text", "line"), [('[\n{"a": 1},\n{a}]', 3), ('{"a": 1}\n\n{"a":', 3), ("Dogs bark.", 1), ("[" * 9, 1)]
)
def test_broken_json_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(Unreadable, match=rf"The JSON cannot be read: .* in line {line}\."):
        read_document(text.encode(), "a.json")


def test_records_with_too_many_fields_are_refused() -> None:
    records = [{f"field {number}": 1, "name": "x"} for number in range(500)]
    with pytest.raises(Unreadable, match="have 501 different fields; 500 are allowed"):
        read_document(json.dumps(records).encode(), "a.json")


def test_no_records_are_no_source() -> None:
    with pytest.raises(InvalidInput, match="There is no content"):
        read_document(b"[]", "a.json")
