"""Suites as YAML files: the same text for the same tests, and read back with every field checked."""

from collections import Counter
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAliasType, Union, get_args, get_origin, get_type_hints

import yaml
from django.db import transaction

from mrpvm.errors import InvalidInput, MRPError
from mrpvm.llm.storable import is_storable
from mrpvm.plain_yaml import load_plain
from sessions_app.actions.experiments.experiments import Author
from sessions_app.actions.experiments.suites import (
    MOST_TESTS,
    TestFields,
    add_test,
    create_suite,
    record_suite_export,
    remove_test,
)
from sessions_app.experiments.suites.documents import ExpectDocument, TestDocument, document_of, fields_given
from sessions_app.experiments.suites.suites import check_test
from sessions_app.experiments.trials.documents import ChoicesDocument
from sessions_app.models import Project, Suite
from sessions_app.queries.experiments.suites import suite_named, tests_of
from sessions_app.queries.knowledge.bases import knowledge_bases

_WHOLE_MAX = 2_000_000_000
FILE_CHARS, FILE_VALUES = 1_000_000, 50_000
"""How large a suite's file may be, and how many keys, texts, numbers and lists it may hold: reading them takes time."""
_TEXTS, _TEXT, _TRUTH = "list of texts", "text", "true or false"
_WHOLE, _NUMBER, _MAPPING, _WHOLES = "whole number", "number", "mapping", "mapping of whole numbers"


def _kind_of(hint: Any) -> str:
    """Return what a file may give for a field of this type."""
    if isinstance(hint, TypeAliasType):
        return _kind_of(hint.__value__)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _kind_of(arguments[0])
    if origin in (Union, UnionType):
        return _kind_of(next(kind for kind in arguments if kind is not NoneType))
    if origin is Mapping:
        return _MAPPING if arguments[1] is Any else _WHOLES
    if origin is list:
        return _TEXTS
    return _TEXT if origin is Literal else _KINDS.get(hint, _MAPPING)


_KINDS = {str: _TEXT, bool: _TRUTH, int: _WHOLE, float: _NUMBER}
_CHOICES, _EXPECT, _TEST = (
    {name: _kind_of(hint) for name, hint in get_type_hints(document).items()}
    for document in (ChoicesDocument, ExpectDocument, TestDocument)
)
_TEST["kb"] = _TEXT  # a base by its name


def exported_suite(suite: Suite) -> str:
    """Return a suite as YAML for a file, and record that it was made."""
    record_suite_export(suite)
    return suite_text(suite)


def suite_text(suite: Suite) -> str:
    """Return a suite as YAML; a base is named by its name if no other has it, so that the file fits other servers."""
    named = list(knowledge_bases(suite.project).values_list("kb_id", "name"))
    counts = Counter(name for _, name in named)
    names = {kb_id: name for kb_id, name in named if counts[name] == 1}
    document = {"suite": suite.name, "tests": [_by_name(document_of(test), names) for test in tests_of(suite)]}
    return yaml_of(document)


def yaml_of(document: Mapping[str, Any]) -> str:
    """Return a document as YAML, its keys in their order."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


def _by_name(document: Mapping[str, Any], names: Mapping[str, str]) -> Mapping[str, Any]:
    """Return a test's document with the name of its base in place of the id, if it is among these."""
    if document.get("kb_id") not in names:
        return document
    return {"kb" if key == "kb_id" else key: names[item] if key == "kb_id" else item for key, item in document.items()}


def import_suite(project: Project, text: str, author: Author, *, name: str | None = None) -> Suite:
    """Return the suite that a file gives; one with its name gets the file's tests in place of its own.

    All or nothing.

    Args:
        name: in place of the name that the file gives.

    Raises:
        InvalidInput: the text is no suite, or a test that could never be run; the message names it.
        Conflict: too many suites or tests.
    """
    document = read_suite(text)
    name = name or document["suite"]
    with transaction.atomic():
        suite = suite_named(project, name) or create_suite(project, name, author)
        for test in tests_of(suite):
            remove_test(test)
        for number, entry in enumerate(document["tests"], start=1):
            try:
                add_test(suite, _checked(project, entry), author)
            except MRPError as refused:
                label = entry.get("name") or number
                raise InvalidInput(f"Test '{label}': {refused.message}", details={"code": refused.code}) from None
    return suite


def _checked(project: Project, test: Mapping[str, Any]) -> TestFields:
    fields = fields_given(project, test)
    check_test(fields)
    return fields


def read_suite(text: str, *, most_values: int = FILE_VALUES) -> dict[str, Any]:
    """Return a file's `suite`, its name, and `tests`, each with fields of the types that tests have.

    Raises:
        InvalidInput: what cannot be read, by its place or field.
    """
    if len(text) > FILE_CHARS:
        raise InvalidInput(f"The file has {len(text)} characters; {FILE_CHARS} are allowed.")
    try:
        document = load_plain(text, most_values=most_values)
    except (yaml.YAMLError, ValueError) as error:
        raise InvalidInput(f"The file is no YAML that can be read: {' '.join(str(error)[:300].split())}") from None
    if not is_storable(document):
        raise InvalidInput("The file holds a NUL or half of a surrogate pair: no text that could be stored.")
    if not isinstance(document, dict):
        raise InvalidInput("The file is no mapping with `suite` and `tests`.")
    _check(document, {"suite": _TEXT, "tests": "list"}, "The file")
    if not document.get("suite") or not document.get("tests"):
        raise InvalidInput("The file lacks `suite`, its name, or `tests`.")
    if len(document["tests"]) > MOST_TESTS:
        raise InvalidInput(f"A suite has at most {MOST_TESTS} tests.")
    for number, test in enumerate(document["tests"], start=1):
        if not isinstance(test, dict):
            raise InvalidInput(f"Test {number} is no mapping.")
        where = f"Test '{test.get('name') or number}'"
        _check(test, _TEST, where)
        _check(test.get("expect") or {}, _EXPECT, f"{where}, expect")
        _check(test.get("choices") or {}, _CHOICES, f"{where}, choices")
    return document


def _check(document: Mapping[Any, Any], kinds: Mapping[str, str], where: str) -> None:
    for name, value in document.items():
        if name not in kinds:
            raise InvalidInput(f"{where}: there is no field '{name}'.")
        if value is not None and not _is(value, kinds[name]):
            raise InvalidInput(f"{where}: {name} must be a {kinds[name]}.")


def _is(value: Any, kind: str) -> bool:
    match kind:
        case "text":
            return isinstance(value, str)
        case "whole number":
            return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _WHOLE_MAX
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "true or false":
            return isinstance(value, bool)
        case "mapping of whole numbers":
            return isinstance(value, dict) and all(_is(item, _WHOLE) for item in value.values())
        case "list":
            return isinstance(value, list)
        case "list of texts":
            return isinstance(value, list) and all(isinstance(item, str) for item in value)
        case _:
            return isinstance(value, dict)


class _Dumper(yaml.SafeDumper):
    """Escapes the one line break that is read back as another when it is written as it is."""

    def represent_text(self, text: str) -> yaml.ScalarNode:
        """Return the node of a text."""
        return self.represent_scalar("tag:yaml.org,2002:str", text, style='"' if "\x85" in text else None)


_Dumper.add_representer(str, _Dumper.represent_text)
