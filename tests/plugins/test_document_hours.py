"""Opening hours as they stand in documents, and what people ask of them [BP-36 b]."""

import pytest

from tests.plugins.document import answer

LINES = "# Opening hours\n\nMonday to Friday: 9:00 - 18:00\n\nSaturday: 10:00 - 14:00\n\nSunday: closed\n"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Are you open on Wednesdays?", "Yes. Monday to Friday: 9:00 - 18:00."),
        ("Are you closed on Wednesdays?", "No. Monday to Friday: 9:00 - 18:00."),
        ("Are you open on Sundays?", "No. Sunday: closed."),
        ("Are you closed on Sundays?", "Yes. Sunday: closed."),
        ("When are you open on Thursday?", "Monday to Friday: 9:00 - 18:00."),
        ("When do you close on Saturdays?", "Saturday: 10:00 - 14:00."),
        ("When are you open on the moon?", None),
        ("Is the museum next door open on Sundays?", None),
    ],
)
def test_lines_of_days_and_times(question: str, said: str | None) -> None:
    assert answer(LINES, question, "hours.md") == said


@pytest.mark.parametrize(
    ("document", "question", "said"),
    [
        ("The shop is open Monday to Friday from 9:00 to 18:00.", "Is the shop open on Tuesdays?", "Yes"),
        ("The shop is open Monday to Friday from 9:00 to 18:00.", "Is the shop open on Sundays?", None),
        ("The shop is open Monday to Friday from 9:00 to 18:00.", "Is the bank open on Tuesdays?", None),
        ("The shop is open Monday to Friday from 9:00 to 18:00.", "Are you open on Tuesdays?", "Yes"),
        ("We are open from 9:00 to 18:00 on weekdays.", "Are you open on Mondays?", "Yes"),
        ("Open daily except Mondays from 10 to 17.", "Are you open on Mondays?", "No"),
        ("Open daily except Mondays from 10 to 17.", "Are you open on Sundays?", "Yes"),
        ("Opening hours: Monday to Friday 9 to 18, closed on Sundays.", "Are you open on Sundays?", "No"),
        ("The bakery of the village is open on Sundays.", "Are you open on Sundays?", None),
        ("Breakfast is served Monday to Friday from 7:00 to 10:00.", "Are you open on Mondays?", None),
        ("The meeting is on Monday at 10:00.", "Are you open on Mondays?", None),
        ("The pool is open on Mondays and the sauna on Sundays.", "Is the pool open on Sundays?", None),
        ("If it rains, the pool is closed on Sundays.", "Is the pool closed on Sundays?", None),
    ],
)
def test_sentences_of_days(document: str, question: str, said: str | None) -> None:
    assert answer(document, question) == (said and f"{said}. {document}")


@pytest.mark.parametrize(
    ("document", "question", "is_answered"),
    [
        ("We are open from 9:00 to 18:00 on weekdays.", "When do you close?", True),
        ("The shop is open Monday to Friday from 9:00 to 18:00.", "When does the shop close?", True),
        ("The shop is open Monday to Friday from 9:00 to 18:00.", "When does the shop close on Sundays?", False),
        ("The shop is open on weekdays.", "When does the shop close?", False),
        ("The shop opens at 8.", "When does the shop close?", False),
        ("The shop opens at 8.", "When does the shop open?", True),
        ("The shop closes at 6.", "When does the shop open?", False),
        ("The shop is open until 6.", "When does the shop close?", True),
        ("The pool is open from May to September.", "When does the shop close?", False),
    ],
)
def test_when_it_opens_and_closes(document: str, question: str, *, is_answered: bool) -> None:
    assert answer(document, question) == (document if is_answered else None)
