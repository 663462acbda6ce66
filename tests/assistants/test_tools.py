"""The shipped tools."""

from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrpvm.assistants.tools import BUILTIN_TOOLS, ToolInputInvalid, Tools

TOOLS = Tools(BUILTIN_TOOLS)


def run(name: str, payload: str) -> str:
    """Return the result of a tool for a payload."""
    tool = TOOLS.get("builtin", name)
    assert tool is not None
    output = tool.run(tool.read(payload))
    assert tool.accepts(output)
    return output


@pytest.mark.parametrize(
    ("name", "payload", "output"),
    [
        ("add", "20+42", "62"),
        ("add", " -1.5 + 1.5 ", "0"),
        ("add", "0.1+0.2", "0.3"),
        ("subtract", "20-42", "-22"),
        ("subtract", "2--3", "5"),
        ("multiply", "1.5*2", "3"),
        ("multiply", "6 * 7", "42"),
        ("calculate", "(20+42)*3", "186"),
        ("calculate", "1/4", "0.25"),
        ("calculate", "1/3", "0.333333333333"),
        ("calculate", "7//2 - 7%2", "2"),
        ("calculate", "2**-2", "0.25"),
        ("calculate", "-2**2", "-4"),
        ("calculate", "0.1+0.2", "0.3"),
        ("calculate", "12345678901234567890.5*2", "24691357802469135781"),
        ("calculate", "1e3/8", "125"),
        ("calculate", "1_000", "1000"),
        ("calculate", "1/2**60", "0.000000000000000000867361737988403547205962240695953369140625"),
    ],
)
def test_results_are_exact(name: str, payload: str, output: str) -> None:
    assert run(name, payload) == output


@pytest.mark.rule("FROZEN-27")
@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("add", "bad+payload"), ("add", "1-1"), ("add", "1+1+1"), ("add", ""), ("add", "1" * 31 + "+1"), ("add", "١+١"),
        ("calculate", ""), ("calculate", "a"), ("calculate", "1/0"), ("calculate", "1%0"), ("calculate", "0**-1"),
        ("calculate", "9**9**9"), ("calculate", "(9**500)**500"), ("calculate", "1e999999999"), ("calculate", "1<<9"),
        ("calculate", "__import__('os')"), ("calculate", "True"), ("calculate", "'a'*3"), ("calculate", "2j"),
        ("calculate", "(" * 150 + "1" + ")" * 150), ("calculate", "1" * 201), ("calculate", "2**0.5"),
        ("calculate", "-" * 199 + "1" * 5),
    ],
)  # fmt: skip
def test_what_is_no_input_is_refused(name: str, payload: str) -> None:
    with pytest.raises(ToolInputInvalid):
        run(name, payload)


@given(st.integers(-(10**12), 10**12), st.integers(-(10**12), 10**12), st.sampled_from("+-*"))
@settings(max_examples=50)
def test_the_two_ways_to_reckon_agree(left: int, right: int, sign: str) -> None:
    name = {"+": "add", "-": "subtract", "*": "multiply"}[sign]
    assert run(name, f"{left}{sign}{right}") == run("calculate", f"{left}{sign}({right})")
    assert Fraction(run("calculate", f"({left}){sign}({right})")) == eval(f"{left}{sign}({right})")  # noqa: S307


@given(st.text(alphabet="0123456789+-*/%(). e_", max_size=40))
@settings(max_examples=80)
def test_no_expression_does_more_than_fail(expression: str) -> None:
    with suppress(ToolInputInvalid):
        run("calculate", expression)


def test_names_are_those_that_skills_ask_for() -> None:
    assert TOOLS.names >= {"add", "builtin:add", "calculate", "builtin:calculate"}
    assert TOOLS.has_provider("builtin")
    assert not TOOLS.has_provider("mcp")
    assert TOOLS.get("mcp", "add") is None
