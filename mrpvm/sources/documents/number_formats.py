"""Numbers and dates as a spreadsheet shows them, by the format codes of its cells."""

import datetime
import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal

type Moment = datetime.datetime | datetime.date | datetime.time | datetime.timedelta

_LITERAL = r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[\$(?P<currency>[^][-]*+)[^][]*\]'
_UNSEEN = r"[_*].|\[[^][]*\]"
_SECTION = re.compile(r'(?:^|(?<=;))(?:"[^"]*"|\\.|[^;])*')
_NUMBER = re.compile(
    rf"{_LITERAL}|{_UNSEEN}|(?P<digits>[0#?][0#?,]*(?:\.[0#?]*)?,*|\.[0#?]+,*)(?P<exponent>E[+-]0+)?|(?P<other>.)"
)
_MOMENT = re.compile(
    rf"{_LITERAL}|\[(?P<elapsed>h+|m+|s+)\]|{_UNSEEN}|(?P<half>AM/PM|A/P)|(?P<part>y+|m+|d+|h+|s+)(?P<fraction>\.0+)?"
    r"|(?P<other>.)",
    re.IGNORECASE,
)
_OF_COUNTRY = {"mm-dd-yy": "yyyy-mm-dd", "m/d/yy h:mm": "yyyy-mm-dd hh:mm"}
"""Formats that each program shows in the way of its user's country; here the one that every reader understands."""
_EXACT = 1e15
"""Whole numbers up to this one are exact, and are written out."""
_ROUNDING = Context(prec=60, rounding=ROUND_HALF_UP)
_SECONDS = {"h": 3600, "m": 60, "s": 1}
_DAY = datetime.timedelta(days=1)


def shown_number(value: float, code: str) -> str:
    """Return a number as its cell shows it; in its own digits where the format is none that is known here."""
    sections = _sections(code)
    place = 1 if value < 0 and len(sections) > 1 else 2 if value == 0 and len(sections) > 2 else 0
    parts = list(_NUMBER.finditer(sections[place]))
    others = "".join(part["other"] or "" for part in parts)
    if (
        sum(part["digits"] is not None for part in parts) > 1
        or "General" in sections[place]
        or not {"/", "@"}.isdisjoint(others)
        or abs(value) >= _EXACT
    ):
        return _general(value)
    amount = Decimal(repr(abs(value))) * 100 ** others.count("%")
    shown = [_digits(amount, part["digits"], part["exponent"]) if part["digits"] else _literal(part) for part in parts]
    text = "".join(shown).strip()
    is_negative = value < 0 and place == 0 and any(char in "123456789" for char in text)
    return f"-{text}" if is_negative else text


def _general(value: float) -> str:
    is_whole = abs(value) < _EXACT and value == int(value)
    return str(int(value)) if is_whole else f"{value:.10g}"


def _digits(amount: Decimal, code: str, exponent: str | None) -> str:
    thousands = len(code) - len(code.rstrip(","))
    whole, _, decimals = code.rstrip(",").partition(".")
    if exponent:
        return f"{amount:.{len(decimals)}E}"
    grouping = "," if "," in whole else ""
    rounded = (amount / 1000**thousands).quantize(Decimal(1).scaleb(-len(decimals)), context=_ROUNDING)
    before, _, after = f"{rounded:{grouping}.{len(decimals)}f}".partition(".")
    kept = len(decimals.rstrip("#"))
    after = after[:kept] + after[kept:].rstrip("0")
    return f"{before.zfill(whole.count('0'))}{'.' if after else ''}{after}"


def shown_moment(value: Moment, code: str) -> str:
    """Return a date, a time of the day or a length of time as its cell shows it, with English names."""
    if code == "General":  # of a day that is stored as text
        return str(value).removesuffix(" 00:00:00")
    parts = list(_MOMENT.finditer(_OF_COUNTRY.get(code, _sections(code)[0])))
    kinds = [(part["part"] or part["elapsed"] or "")[:1].lower() for part in parts]
    moment, seconds = _moment_of(value)
    is_halved = any(part["half"] for part in parts)
    text = ""
    for place, part in enumerate(parts):
        if part["elapsed"]:
            text += f"{seconds // _SECONDS[kinds[place]]:0{len(part['elapsed'])}d}"
        elif part["half"]:
            text += f"{moment:%p}"
        elif part["part"]:
            kind = "minute" if kinds[place] == "m" and _is_of_time(kinds, place) else kinds[place]
            text += _part(moment, kind, len(part["part"]), is_halved=is_halved)
            text += f".{moment.microsecond:06d}"[: len(part["fraction"])] if part["fraction"] else ""
        else:
            text += _literal(part)
    return text.strip()


def _moment_of(value: Moment) -> tuple[datetime.datetime, int]:
    """Return a moment of the value's day and time, and the seconds since its day began or, of a length, all of them."""
    if isinstance(value, datetime.timedelta):
        return datetime.datetime.min + value % _DAY, int(value.total_seconds())
    if isinstance(value, datetime.time):
        value = datetime.datetime.combine(datetime.date.min, value)
    elif not isinstance(value, datetime.datetime):
        value = datetime.datetime.combine(value, datetime.time.min)
    return value, value.hour * 3600 + value.minute * 60 + value.second


def _is_of_time(kinds: Sequence[str], place: int) -> bool:
    """Return whether an `m` means minutes: it stands behind hours or before seconds."""
    before = next((kind for kind in reversed(kinds[:place]) if kind), "")
    after = next((kind for kind in kinds[place + 1 :] if kind), "")
    return before == "h" or after == "s"


def _part(moment: datetime.datetime, kind: str, width: int, *, is_halved: bool) -> str:
    match kind:
        case "y":
            return f"{moment.year:04d}" if width > 2 else f"{moment.year % 100:02d}"
        case "m" | "d" if width > 2:
            name = moment.strftime("%B" if kind == "m" else "%A")
            return name if width > 3 else name[:3]
        case "h" if is_halved:
            number = moment.hour % 12 or 12
        case _:
            number = {
                "m": moment.month,
                "d": moment.day,
                "h": moment.hour,
                "minute": moment.minute,
                "s": moment.second,
            }[kind]
    return f"{number:0{min(width, 2)}d}"


def _sections(code: str) -> list[str]:
    """Return the parts of a code: for all numbers, or for positive ones, negative ones, zero and text."""
    return [match[0] for match in _SECTION.finditer(code)]


def _literal(part: re.Match[str]) -> str:
    return part["quoted"] or part["escaped"] or part["currency"] or part["other"] or ""
