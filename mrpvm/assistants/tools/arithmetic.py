"""Exact arithmetic on short expressions, bounded so that no expression costs more than a moment."""

import ast
import operator
from collections.abc import Callable, Mapping
from decimal import Context, Decimal
from fractions import Fraction

from mrpvm.assistants.tools.tool import ToolInputInvalid

EXPRESSION_CHARS = 200
"""How long an expression may be; a longer one is invalid input."""
LARGEST_BITS = 2_048
"""How large numerator and denominator of any intermediate result may grow."""
LARGEST_EXPONENT = 512
SIGNIFICANT_DIGITS = 12
"""How many digits of a result that has no finite decimal form are given."""

_OPERATORS: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: lambda left, right: Fraction(left // right),
    ast.Mod: operator.mod,
}


def evaluate(expression: str) -> Fraction:
    """Return the value of an expression.

    Raises:
        ToolInputInvalid: it is none, divides by zero, or grows beyond the bounds.
    """
    if len(expression) > EXPRESSION_CHARS or not expression.isascii():
        raise ToolInputInvalid(expression)
    try:
        return _value(ast.parse(expression.strip(), mode="eval").body, expression.strip())
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        raise ToolInputInvalid(expression) from None


def _value(node: ast.expr, source: str) -> Fraction:
    match node:
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            return _literal(ast.get_source_segment(source, node) or "")
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, source)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand, source)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_value(left, source), _value(right, source))
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            return _bounded(_OPERATORS[type(sign)](_value(left, source), _value(right, source)))
    raise ToolInputInvalid(source)


def _literal(text: str) -> Fraction:
    """Return a number from its text as written: a float would have lost digits."""
    _, _, exponent = text.lower().partition("e")
    if exponent and abs(int(exponent)) > LARGEST_EXPONENT:
        raise ToolInputInvalid(text)
    return _bounded(Fraction(text.replace("_", "")))


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if exponent.denominator != 1 or abs(exponent) > LARGEST_EXPONENT or bits * abs(exponent) > LARGEST_BITS:
        raise ToolInputInvalid("power")
    return Fraction(base**exponent.numerator)


def _bounded(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > LARGEST_BITS:
        raise ToolInputInvalid("size")
    return value


def decimal_text(value: Fraction) -> str:
    """Return a number as people write it: exact where it has a finite decimal form, whole numbers without a point."""
    if value.denominator == 1:
        return str(value.numerator)
    twos, fives, rest = 0, 0, value.denominator
    while rest % 2 == 0:
        twos, rest = twos + 1, rest // 2
    while rest % 5 == 0:
        fives, rest = fives + 1, rest // 5
    digits = SIGNIFICANT_DIGITS if rest != 1 else len(str(abs(value.numerator))) + max(twos, fives) + 1
    quotient = Context(prec=digits).divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{quotient.normalize(Context(prec=digits)):f}"
