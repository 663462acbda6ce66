"""The printed diagnostics of refused documents, stored in vectors/reports.txt.

After an intended change, write the file again with MRPVM_UPDATE_GOLDEN=1 and review the difference.
"""

import os

import pytest

from mrpvm.lang import ControlLanguageError, DiagnosticCode, admit
from mrpvm.lang.diagnostics import CLASS_OF_CODE, SHOWN_LINE_CHARS
from tests.lang.control_vectors import FOLDER, REFUSED, Vector

GOLDEN = FOLDER / "reports.txt"


def report_of(vector: Vector) -> str:
    with pytest.raises(ControlLanguageError) as caught:
        vector.admit()
    return caught.value.report


@pytest.mark.rule("LANG-34")
def test_reports_of_all_refused_vectors() -> None:
    reports = "\n".join(f"--- {vector.name}\n{report_of(vector)}\n" for vector in REFUSED)
    if os.environ.get("MRPVM_UPDATE_GOLDEN"):
        GOLDEN.write_text(reports, encoding="utf-8")
    assert reports == GOLDEN.read_text(encoding="utf-8")


def refusal(text: str) -> ControlLanguageError:
    with pytest.raises(ControlLanguageError) as caught:
        admit(text, "intent")
    return caught.value


@pytest.mark.rule("LANG-36")
def test_every_code_has_a_class() -> None:
    assert CLASS_OF_CODE.keys() == set(DiagnosticCode)


def test_the_message_names_the_first_error_and_counts_the_others() -> None:
    error = refusal('@i1 intent ponder "a"\n@i2 intent ponder "b"\n')
    assert str(error).startswith("control document refused at line 1: the atom ponder cannot stand here; expected one")
    assert str(error).endswith("(and 1 more)")


@pytest.mark.rule("LANG-34")
def test_the_caret_stands_under_the_place_behind_tabs() -> None:
    lines = refusal('\t@i1\tintent "define" "x"').report.splitlines()
    assert lines[1] == '  \t@i1\tintent "define" "x"'
    assert lines[2] == "  \t   \t       ^"


def test_a_long_line_is_cut_around_the_caret() -> None:
    text = f'@i1 intent define {"x" * 500} "{"y" * 500}"'
    shown, caret = refusal(text).report.splitlines()[1:3]
    assert len(shown) <= SHOWN_LINE_CHARS + 4
    assert shown.startswith("  …x")
    assert shown.endswith("…")
    assert shown[caret.index("^") :].startswith('"yyy')
    late = refusal(f'@i1 intent define "{"y" * 500}" extra').report.splitlines()
    assert late[1].startswith("  …y")
    assert late[1][late[2].index("^") :] == "extra"


def test_nothing_unprintable_is_shown() -> None:
    report = refusal('@i1 intent define "\x1b[31mred\u2028" "b"').report
    assert "\x1b" not in report
    assert "\u2028" not in report


def test_a_flood_of_errors_is_cut_and_counted() -> None:
    error = refusal("".join(f'@i{number} intent ponder "x"\n' for number in range(150)))
    assert len(error.diagnostics) == error.details["diagnosticCount"] == 150
    assert len(error.details["diagnostics"]) == 100
    assert error.report.endswith("and 50 more")
