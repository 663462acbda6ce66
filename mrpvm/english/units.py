"""Units of measure: which words behind a number say what kind of value it is."""

from collections.abc import Sequence

from mrpvm.english.lexicon import listed, word_class

SPANS = listed("spans")
LENGTHS = listed("lengths")
MONEY_SIGNS = word_class("$ \u20ac \u00a3 \u00a5")
MONEY = MONEY_SIGNS | word_class(
    "euro euros dollar dollars pound pounds cent cents franc francs crown crowns krone kroner "
    "krona kronor yen zloty usd eur chf gbp pence penny shilling shillings guinea guineas florin florins mark marks "
    "rupee rupees"
)
_TEXTS = word_class("characters pages letters words")
_AREAS = word_class("square hectare hectares acre acres ha m2")
_WEIGHTS = listed("weights")
_BYTES = word_class("byte bytes kb mb gb tb kib mib gib tib kilobytes megabytes gigabytes terabytes")
_SPEEDS = word_class("km/h mph rpm revolution revolutions m/s knot knots")
_TEMPERATURES = word_class("degree degrees celsius fahrenheit c f k")
_VOLTAGES = word_class("v kv mv volt volts")
_POWERS = word_class("w kw mw watt watts kilowatt kilowatts megawatt megawatts")
_OTHERS = word_class("percent % per litre litres liter liters l kwh amp amps milliamp milliamps")

UNITS = {
    "duration": SPANS,
    "age": SPANS,
    "length": LENGTHS | _TEXTS,
    "weight": _WEIGHTS,
    "cost": MONEY,
    "size": LENGTHS | _TEXTS | _AREAS | _BYTES | {"pixels"},
    "speed": _SPEEDS,
    "temperature": _TEMPERATURES,
    "torque": word_class("nm newton-metres newton-meters lb-ft"),
    "pressure": word_class("bar mbar pascal pascals pa kpa hpa psi"),
    "voltage": _VOLTAGES,
    "power": _POWERS,
    "angle": word_class("degree degrees"),
    "measure": LENGTHS | _TEXTS | _WEIGHTS | MONEY | _AREAS | _SPEEDS | _TEMPERATURES | _VOLTAGES | _POWERS | _OTHERS,
}  # fmt: skip
"""The units of each kind of value; "measure" is any that an amount may have, but for data."""
_COMPARED = word_class("more less fewer")


def is_difference(tokens: Sequence[str], unit: int) -> bool:
    """Return whether the value whose unit stands at a place says how much more: "20 euros more", "2 m longer than"."""
    following = tokens[unit + 1 : unit + 3]
    return bool(following) and (following[0] in _COMPARED or "than" in following[1:])


def unit_of(token: str) -> str:
    """Return the unit that a number is one word with: "g" of "5g", and a word without a number as it is."""
    return token.lstrip("0123456789.,:")
