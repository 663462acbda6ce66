"""Expectations, tests and targets in the form that clients and suite files give them, and back."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Any, TypedDict, cast

from mrpvm.errors import InvalidInput
from mrpvm.values import AnswerStatus, Basis
from mrpvm.wire import from_wire
from sessions_app.actions.experiments.suites import TestFields
from sessions_app.experiments.suites.expected import MOST_CHARS, Expected
from sessions_app.experiments.suites.questions import Target
from sessions_app.experiments.suites.suites import kept_turn
from sessions_app.experiments.trials.changes import Changes
from sessions_app.experiments.trials.documents import REVISION_MAX, ChoicesDocument, changes_of, choices_of
from sessions_app.field_notes import Between, Length, Meaning
from sessions_app.models import KnowledgeBase, Project, TestCase
from sessions_app.queries.knowledge.bases import base_by_name, knowledge_base
from sessions_app.queries.sessions.lookups import session as session_of
from sessions_app.queries.turns import registry as turns

type Pattern = Annotated[str, Length(1, MOST_CHARS)]
type PositiveNumber = Annotated[int, Between(1, 1_000_000_000)]


class ExpectDocument(TypedDict, total=False):
    """What an answer must fulfil; what is absent is not looked at."""

    contains: Annotated[list[Pattern], Meaning("Texts, compared without case and white space.")]
    does_not_contain: Annotated[list[Pattern], Meaning("Texts that must not be there.")]
    equals: Pattern | None
    matches: Annotated[Pattern | None, Meaning("A regular expression.")]
    status: AnswerStatus | None
    basis: Basis | None
    cites: Annotated[list[Pattern], Meaning("Ids of units.")]
    cites_sources: Annotated[list[Pattern], Meaning("Names of sources.")]
    cites_nothing_else: bool
    uses: Annotated[list[Pattern], Meaning("Ids of plugins that must have answered.")]
    max_tokens: PositiveNumber | None
    max_cost: Annotated[float, Between(0, 1_000_000_000)] | None
    reference_ms: PositiveNumber | None
    max_times: Annotated[Annotated[float, Between(0, 1_000_000_000)] | None, Meaning("Times `reference_ms`, at most.")]
    judged: Annotated[Pattern | None, Meaning("A criterion that a model applies; the run needs `allow_model`.")]


class TargetDocument(TypedDict, total=False):
    """What a suite is run against; with nothing said, each test where it was kept."""

    kb_id: Annotated[str | None, Meaning("The base that is put below all tests.")]
    revision: Annotated[int, Between(1, REVISION_MAX)] | None
    draft_of: Annotated[
        str | None,
        Meaning("Id of a session: the tests of its base run against what a save would make of it."),
    ]
    include_conversation_units: Annotated[
        bool, Meaning("Whether that save would take along what the conversation told; true if absent.")
    ]
    heads: Annotated[bool, Meaning("Each test against the present state of its own base.")]
    tags: Annotated[list[Annotated[str, Length(1, 40)]], Length(0, 20)]
    allow_model: Annotated[bool, Meaning("Whether a model may be asked.")]
    choices: ChoicesDocument


def expected_of(document: Mapping[str, Any]) -> Expected:
    """Return what a client expects."""
    named: dict[str, Any] = {
        item.name: tuple(value) if isinstance(value, list) else value
        for item in fields(Expected)
        if (value := document.get(item.name)) is not None
    }
    return Expected(**named)


def expected_document(expected: Expected) -> ExpectDocument:
    """Return expectations as `expected_of` takes them; what is not expected is left out."""
    named = {item.name: getattr(expected, item.name) for item in fields(Expected)}
    document = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in named.items()
        if value not in (None, (), False)
    }
    return cast("ExpectDocument", document)


class AskedDocument(TypedDict, total=False):
    """What a test asks: a turn again, or a base, at one revision or the present one; and what it chooses there."""

    session_id: str
    request_id: str
    kb_id: str
    revision: int
    choices: ChoicesDocument


class TestTags(TypedDict, total=False):
    """By what a test is found among others."""

    tags: list[str]


class TestDocument(AskedDocument, TestTags):
    """A test as clients and files have it."""

    name: str
    message: str
    expect: ExpectDocument


def document_of(test: TestCase) -> TestDocument:
    """Return a test as `fields_given` takes it, in an order that is always the same."""
    source: AskedDocument = {}
    if test.turn is not None:
        source = {"session_id": test.turn.session.session_id, "request_id": test.turn.request_id}
    elif test.base is not None:
        source["kb_id"] = test.base.kb_id
        if test.revision is not None:
            source["revision"] = test.revision
    choices = choices_of(from_wire(Changes, test.choices))
    if choices:
        source["choices"] = choices
    expected = expected_document(Expected.of_record(test.expected))
    tags: TestTags = {"tags": list(test.tags)} if test.tags else {}
    return {"name": test.name, "message": test.message, **source, "expect": expected, **tags}


def fields_given(project: Project, document: Mapping[str, Any], kept: TestFields | None = None) -> TestFields:
    """Return the fields of a test as a client or file gives it.

    `request_id` with `session_id` name a turn; without it `kb_id`, or `kb` by its name, the base that is asked. What is
    left out is as `kept` has it, else as the turn was answered.

    Raises:
        InvalidInput: a turn and a base are named; a name that several bases have.
        NotFound: KB_NOT_FOUND, TURN_NOT_FOUND.
        Conflict: NOT_REPLAYABLE.
    """
    turn, base, revision = (kept.turn, kept.base, kept.revision) if kept else (None, None, None)
    named_base = document.get("kb_id") or document.get("kb")
    if document.get("request_id"):
        if named_base:
            raise InvalidInput("A test asks over what a turn saw, or a knowledge base, not both.")
        if not document.get("session_id"):
            raise InvalidInput("A turn is named by session_id and request_id.")
        turn = turns.turn(project, document["session_id"], document["request_id"])
        from_turn = kept_turn(turn)
        base, revision, kept = from_turn.base, None, kept or from_turn
    elif named_base:
        turn, revision = None, None
        base = (
            knowledge_base(project, document["kb_id"])
            if document.get("kb_id")
            else base_by_name(project, document["kb"])
        )
    return TestFields(
        name=document.get("name") or (kept.name if kept else ""),
        message=document.get("message") or (kept.message if kept else ""),
        turn=turn,
        base=base,
        revision=document.get("revision", revision),
        choices=changes_of(document["choices"]).as_record()
        if document.get("choices") is not None
        else (kept.choices if kept else {}),
        expected=expected_of(document["expect"]).as_record()
        if document.get("expect") is not None
        else (kept.expected if kept else {}),
        tags=document["tags"] if document.get("tags") is not None else (kept.tags if kept else ()),
    )


def stored_fields(test: TestCase) -> TestFields:
    """Return the fields of a stored test."""
    return TestFields(
        name=test.name,
        message=test.message,
        turn=test.turn,
        base=test.base,
        revision=test.revision,
        choices=test.choices,
        expected=test.expected,
        tags=test.tags,
    )


def run_target_of(document: Mapping[str, Any]) -> Target:
    """Return what a client wants a suite to be run against."""
    return Target(
        base=document.get("kb_id"),
        revision=document.get("revision"),
        draft=document.get("draft_of"),
        without_told=document.get("include_conversation_units") is False,
        heads=bool(document.get("heads")),
        tags=tuple(document.get("tags") or ()),
        allow_model=bool(document.get("allow_model")),
        choices=changes_of(document.get("choices") or {}),
    )


def target_for(base: KnowledgeBase, document: Mapping[str, Any]) -> Target:
    """Return the state that a base may be given: what a save of the session `draft_of` makes, or a `revision`.

    Raises:
        InvalidInput: neither is named, or both.
        NotFound: SESSION_NOT_FOUND.
    """
    draft, revision = document.get("draft_of"), document.get("revision")
    if (draft is None) == (revision is None):
        raise InvalidInput("Name a session that would be saved (draft_of), or a revision.")
    if draft is None:
        return Target(base=base.kb_id, revision=revision)
    session_of(base.project, draft)
    return Target(draft=draft, without_told=document.get("include_conversation_units") is False)


def target_document(target: Target) -> TargetDocument:
    """Return a target as `run_target_of` takes it; what is not said is left out."""
    document = {
        "kb_id": target.base,
        "revision": target.revision,
        "draft_of": target.draft,
        "include_conversation_units": False if target.without_told else None,
        "heads": target.heads,
        "tags": list(target.tags),
        "allow_model": target.allow_model or None,
        "choices": choices_of(target.choices),
    }
    said = {name: value for name, value in document.items() if value or (value is False and name != "heads")}
    return cast("TargetDocument", said)
