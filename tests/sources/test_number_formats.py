"""Numbers and dates by the format codes of a spreadsheet."""

from datetime import date, datetime, time, timedelta

import pytest

from mrpvm.sources.documents.number_formats import Moment, shown_moment, shown_number

MOMENT = datetime(2026, 4, 3, 14, 5, 9, 500_000)
DOLLARS = r'"$"#,##0.00_);[Red]\("$"#,##0.00\)'
ACCOUNT = r'_(* #,##0_);_(* \(#,##0\);_(* "-"_);_(@_)'


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (38, "General", "38"),
        (38.0, "General", "38"),
        (0.1 + 0.2, "General", "0.3"),
        (1e20, "0.00", "1e+20"),
        (2.5, "0", "3"),
        (-2.5, "0", "-3"),
        (-0.001, "0.00", "0.00"),
        (7, "00000", "00007"),
        (1234.5, "#,##0.00", "1,234.50"),
        (12, "0.##", "12"),
        (12.5, "0.0##", "12.5"),
        (1_500_000, '0.0,,"M"', "1.5M"),
        (0.125, "0%", "13%"),
        (0.125, "0.0%", "12.5%"),
        (1_234_567, "0.00E+00", "1.23E+6"),
        (12.5, r"0.0\ \k\g", "12.5 kg"),
        (12.5, '0.0" kg; net"', "12.5 kg; net"),
        (2499.9, r"[$€-407]\ #,##0.00", "€ 2,499.90"),
        (-5, '"$"#,##0.00', "-$5.00"),
        (-1234.5, DOLLARS, "($1,234.50)"),
        (1234.5, DOLLARS, "$1,234.50"),
        (0, ACCOUNT, "-"),
        (5, ";;;", ""),
        (0.5, "# ?/?", "0.5"),
        (5551234, "000-0000", "5551234"),
        (2, "@", "2"),
        (1e14, "0." + "0" * 30, "100000000000000." + "0" * 30),
    ],
)
def test_a_number_as_its_cell_shows_it(value: float, code: str, shown: str) -> None:
    assert shown_number(value, code) == shown


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (MOMENT, "mm-dd-yy", "2026-04-03"),
        (MOMENT, "m/d/yy h:mm", "2026-04-03 14:05"),
        (MOMENT, "dd/mm/yyyy", "03/04/2026"),
        (MOMENT, "d-mmm-yy", "3-Apr-26"),
        (MOMENT, r"[$-409]mmmm\ d\,\ yyyy;@", "April 3, 2026"),
        (MOMENT, 'dddd", the "d', "Friday, the 3"),
        (MOMENT, "YYYY-MM-DD HH:MM", "2026-04-03 14:05"),
        (MOMENT, "h:mm AM/PM", "2:05 PM"),
        (MOMENT, "mm:ss.0", "05:09.5"),
        (date(2026, 1, 2), "ddd d mmm", "Fri 2 Jan"),
        (time(9, 5), "h:mm", "9:05"),
        (time(0, 5), "h:mm AM/PM", "12:05 AM"),
        (timedelta(hours=30, minutes=5), "[h]:mm:ss", "30:05:00"),
        (timedelta(hours=1, seconds=7), "[mm]:ss", "60:07"),
    ],
)
def test_a_moment_as_its_cell_shows_it(value: Moment, code: str, shown: str) -> None:
    assert shown_moment(value, code) == shown
