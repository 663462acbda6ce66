"""The shipped tools: exact arithmetic, on two numbers or on an expression."""

import re
from collections.abc import Callable
from fractions import Fraction
from functools import partial

from mrpvm.assistants.tools.arithmetic import decimal_text, evaluate
from mrpvm.assistants.tools.tool import Tool, ToolInputInvalid

_NUMBER = r"-?\d{1,30}(?:\.\d{1,30})?"
_RESULT = re.compile(r"-?\d+(\.\d+)?")

type Operands = tuple[Fraction, Fraction]


def _pair(sign: str, payload: str) -> Operands:
    match = re.fullmatch(rf"\s*({_NUMBER})\s*{re.escape(sign)}\s*({_NUMBER})\s*", payload, re.ASCII)
    if match is None:
        raise ToolInputInvalid(payload)
    return Fraction(match[1]), Fraction(match[2])


def _of_two(name: str, sign: str, summary: str, work: Callable[[Fraction, Fraction], Fraction]) -> Tool:
    def run(pair: Operands) -> str:
        return decimal_text(work(*pair))

    return Tool(provider="builtin", name=name, summary=summary, read=partial(_pair, sign), run=run,
                is_output=_is_number)  # fmt: skip


def _is_number(output: str) -> bool:
    return _RESULT.fullmatch(output) is not None


BUILTIN_TOOLS = (
    _of_two("add", "+", "Adds two numbers: 20+42", lambda left, right: left + right),
    _of_two("subtract", "-", "Subtracts a number from another: 62-20", lambda left, right: left - right),
    _of_two("multiply", "*", "Multiplies two numbers: 6*7", lambda left, right: left * right),
    Tool(
        provider="builtin",
        name="calculate",
        summary="Evaluates an expression of numbers with + - * / // % ** and parentheses: (20+42)*3",
        read=evaluate,
        run=decimal_text,
        is_output=_is_number,
    ),
)
