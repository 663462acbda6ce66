"""Suites as files, on the command line and under pytest."""

import time
from collections.abc import Callable
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.errors import InvalidInput
from mrpvm.llm.port import Sampling
from mrpvm.values import Selection
from sessions_app.actions.experiments.suites import add_test
from sessions_app.experiments.suites.documents import expected_document, expected_of
from sessions_app.experiments.suites.expected import Expected
from sessions_app.experiments.suites.suite_files import FILE_VALUES, import_suite, read_suite, suite_text, yaml_of
from sessions_app.experiments.suites.suites import kept_turn
from sessions_app.experiments.trials.changes import Changes
from sessions_app.experiments.trials.documents import changes_of, choices_of
from sessions_app.models import AuditEntry, KnowledgeBase, Suite, TestCase
from tests.experiments.conftest import ANNA, GATE_A, Talk
from tests.experiments.test_suites import WHICH, asks

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)
lists = st.lists(texts, max_size=3).map(tuple)


@given(
    expected=st.builds(
        Expected, contains=lists, does_not_contain=lists, equals=st.none() | texts, basis=st.none() | st.just("quoted"),
        cites=lists, cites_nothing_else=st.booleans(), max_tokens=st.none() | st.integers(1, 9), uses=lists,
        max_times=st.none() | st.floats(0.1, 9),
    ),
    changes=st.builds(
        Changes, message=st.none() | texts, without_units=lists, deliberation_level=st.none() | st.integers(0, 3),
        pins=st.builds(Selection, kb=st.none() | texts), history_through=st.none() | st.integers(0, 3),
        sampling=st.none() | st.builds(Sampling, temperature=st.floats(0, 2)), without_preferences=st.booleans(),
        flags=st.dictionaries(texts, st.booleans(), max_size=2),
    ),
)  # fmt: skip
def test_what_a_file_holds_is_read_back(expected: Expected, changes: Changes) -> None:
    document = {"expect": expected_document(expected), "choices": choices_of(changes)}
    read = yaml.safe_load(yaml_of(document))
    assert (expected_of(read["expect"]), changes_of(read["choices"])) == (expected, changes)


def test_a_suite_comes_out_as_it_went_in(talk: Talk, suite: Suite, handbook: KnowledgeBase) -> None:
    add_test(suite, kept_turn(talk(GATE_A, WHICH)), ANNA)
    choices = Changes(deliberation_level=2, flags={"enable_quotes": False}).as_record()
    add_test(suite, asks(handbook, revision=2, choices=choices, tags=["ferry", "nore"]), ANNA)
    text = suite_text(suite)
    import_suite(suite.project, text, ANNA)
    assert suite_text(suite) == text
    assert TestCase.objects.count() == 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("- a", "no mapping"), ("suite: x", "lacks"), ("suite: x\ntests: [a]", "Test 1 is no mapping"),
        ("suite: x\ntests: [{name: 3}]", "name must be a text"), ("a: &a [*a]", "aliases are not allowed"),
        ("suite: x\ntests: [{name: n, expect: {contain: [x]}}]", "Test 'n', expect: there is no field 'contain'"),
        ("suite: x\ntests: [{name: n, choices: {limits: {max_llm_calls: no}}}]", "limits must be a mapping of whole"),
        ('suite: x\ntests: [{name: "\\0"}]', "NUL"), ("suite: [", "no YAML"), ("x" * 1_000_001, "1000001 characters"),
        ("suite: x\ntests: [{name: n, revision: 99999999999999999999}]", "revision must be a whole number"),
        *((f"suite: {tag}", "tags are not allowed") for tag in ("!!int ''", "!!bool x", "!!timestamp x", "!a b")),
        ("suite: 1" + ":1" * 400, "invalid literal for int"), ("suite: 1" + ":1" * 400 + ".0", "to float"),
        ("suite: " + "[" * 100_000, "nested more than 100 deep"), ("- " * 100_000, "nested more than 100 deep"),
        ("suite: \ud800", "no YAML"), ("suite: 2026-99-99", "lacks"),
        ("suite: x\ntests: [{<<: {name: n}}]", "there is no field '<<'"),
    ],
    ids=lambda value: value[:30],
)  # fmt: skip
def test_a_file_that_is_no_suite_is_refused_by_its_place(text: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        read_suite(text)


def test_a_file_of_too_many_values_is_refused() -> None:
    document = "suite: x\ntests: [{name: n, expect: {contains: [" + "a," * 30 + "]}}]"
    assert read_suite(document, most_values=50)["suite"] == "x"
    with pytest.raises(InvalidInput, match="more than 50 keys and values"):
        read_suite(document.replace("a,", "a,a,"), most_values=50)


def test_the_largest_file_is_read_in_a_moment() -> None:
    """A reader in Python takes several times as long."""

    def seconds(read: Callable[[str], object], values: int) -> float:
        document = "suite: x\ntests: [{name: n, expect: {contains: [" + "a," * values + "]}}]"
        begun = time.process_time()
        read(document)
        return time.process_time() - begun

    ours = min(seconds(read_suite, FILE_VALUES - 20) for _ in range(2))
    a_tenth = seconds(partial(yaml.load, Loader=yaml.SafeLoader), FILE_VALUES // 10)
    assert ours < 10 * a_tenth / 2


def test_a_file_with_one_bad_test_changes_nothing(suite: Suite, handbook: KnowledgeBase) -> None:
    add_test(suite, asks(handbook), ANNA)
    text = suite_text(suite)
    bad = text + "- {name: bad, message: m, kb: Nobody's, expect: {contains: [x]}}\n"
    with pytest.raises(InvalidInput, match="Test 'bad': There is no knowledge base"):
        import_suite(suite.project, bad, ANNA)
    assert suite_text(suite) == text
    import_suite(suite.project, bad.replace("Nobody's", "Handbook"), ANNA)
    assert [test.base for test in TestCase.objects.all()] == [handbook, handbook]


@pytest.mark.parametrize("choice", ["temperature: 3", "temperature: -0.1", "max_tokens: 0"])
def test_sampling_out_of_its_bounds_is_refused(suite: Suite, handbook: KnowledgeBase, choice: str) -> None:
    tests = f"[{{name: n, message: m, kb: {handbook.name}, expect: {{contains: [x]}}, choices: {{{choice}}}}}]"
    with pytest.raises(InvalidInput, match=f"Test 'n': {choice.partition(':')[0]} "):
        import_suite(suite.project, f"suite: x\ntests: {tests}", ANNA)


def command(*arguments: Any) -> str:
    out = StringIO()
    call_command("suite", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_runs_a_suite_and_writes_junit(suite: Suite, handbook: KnowledgeBase, tmp_path: Path) -> None:
    add_test(suite, asks(handbook), ANNA)
    file, junit = tmp_path / "ferries.suite.yaml", tmp_path / "junit.xml"
    command("export", "Ferries", file)
    assert AuditEntry.objects.get(kind="export.made").subject == f"suite “Ferries” ({suite.suite_id})"
    assert command("import", file) == "Suite Ferries: 1 test.\n"
    assert command("run", "Ferries", "--junit", junit) == "passed  gate\n1 passed, 0 failed, 0 not run.\n"
    with pytest.raises(CommandError) as failed:
        command("run", "Ferries", "--base", "Handbook", "--revision", "2", "--junit", junit)
    assert failed.value.returncode == 1
    found = ElementTree.parse(junit).getroot()  # noqa: S314 (written here)
    [told] = found.findall("testsuite/testcase[@name='gate']/failure")
    assert told.get("message") == "The answer does not contain “gate B”."
    assert found.find("testsuite").attrib["failures"] == "1"  # type: ignore[union-attr]
    with pytest.raises(CommandError, match="There is no suite 'Trains'"):
        command("run", "Trains")
    binary = tmp_path / "a.zip"
    binary.write_bytes(b"PK\xe4")
    with pytest.raises(CommandError, match=r"a\.zip is no text in UTF-8"):
        command("import", binary)
    with pytest.raises(CommandError, match=r"none\.yaml cannot be read: No such file or directory\.$"):
        command("import", tmp_path / "none.yaml")


def test_runs_are_compared_over_an_import(suite: Suite, handbook: KnowledgeBase, tmp_path: Path) -> None:
    add_test(suite, asks(handbook), ANNA)
    file = tmp_path / "ferries.suite.yaml"
    command("export", "Ferries", file)
    command("run", "Ferries", "--file", file)
    told = StringIO()
    with pytest.raises(CommandError):
        call_command("suite", "run", "Ferries", "--file", file, "--base", "Handbook", "--revision", "2", stdout=told)
    assert "Since the run before: 0 fixed, 1 broken." in told.getvalue()
