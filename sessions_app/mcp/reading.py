"""The tools that only read."""

from typing import Annotated

from pydantic import Field

from mrpvm.errors import InvalidInput
from sessions_app.mcp.caller import Caller
from sessions_app.mcp.texts import line, list_page, milliseconds, moment, page
from sessions_app.mcp.turn_text import outcome_words, turn_text
from sessions_app.queries.knowledge.provenance import life_of, provenance
from sessions_app.queries.paging import cursor_number, when
from sessions_app.queries.paging import page as keyset_page
from sessions_app.queries.search.filter_language import Filter, parse
from sessions_app.queries.search.results import found_sessions, found_turns
from sessions_app.queries.sessions import lookups as sessions
from sessions_app.queries.turns import registry as turns

type SessionId = Annotated[str, Field(description="id of a session", min_length=1, max_length=200)]
type TurnId = Annotated[str, Field(description="id of a turn, such as req-...", min_length=1, max_length=200)]
type Limit = Annotated[int, Field(description="how many at most", ge=1, le=100)]
type Cursor = Annotated[str, Field(description="where the page before ended, as its last line says", max_length=500)]
type Offset = Annotated[int, Field(description="character to go on from, as the page before says", ge=0)]
type FilterText = Annotated[
    str,
    Field(
        description=(
            'words, "several words" and filters such as status:failed rating:down kb:Handbook duration:>2s after:-7d;'
            " a minus before one takes what it finds away"
        ),
        max_length=500,
    ),
]


def list_sessions(caller: Caller, query: FilterText = "", limit: Limit = 20, cursor: Cursor = "") -> str:
    """List sessions, latest activity first: id, title, base, number of turns, how the latest turn ended."""
    wanted = _parsed(query)
    matching = sessions.with_counts(found_sessions(caller.project, wanted))
    listed = keyset_page(matching, (("-last_activity_at", when), ("-id", cursor_number)), limit, cursor)
    lines = [
        f"{row.session_id}  {sessions.session_status(row)}  turns={row.turn_count}  base={row.mounted_kb.name!r}"  # type: ignore[attr-defined] # by `with_counts`
        f"  active {moment(row.last_activity_at)}  {line(row.title or row.first_message or 'empty', 100)}"
        for row in listed.rows
    ]
    return list_page(lines, listed.next_cursor, "No matching sessions.")


def search_turns(caller: Caller, query: FilterText = "", limit: Limit = 20, cursor: Cursor = "") -> str:
    """Find turns of all sessions by words in question, answer, error or note and by filters, newest first."""
    listed = keyset_page(found_turns(caller.project, _parsed(query)), (("-id", cursor_number),), limit, cursor)
    lines = [
        f"{row.request_id} in {row.session.session_id}  {outcome_words(row)}  {milliseconds(row.duration_ms)}"
        f"  {moment(row.created_at)}\n  asked: {line(row.user_message)}\n  answered: {line(row.assistant_preview)}"
        for row in listed.rows
    ]
    return list_page(lines, listed.next_cursor, "No matching turns.")


def _parsed(query: str) -> Filter:
    """Return the filter.

    Raises: InvalidInput: a part is not understood. A page would show a hint beside the results instead.
    """
    wanted = parse(query)
    if wanted.problems:
        said = "; ".join(
            f"{problem.text}: {problem.reason}" + (f" Perhaps {problem.proposal}" if problem.proposal else "")
            for problem in wanted.problems
        )
        raise InvalidInput(f"The query is not understood: {said}")
    return wanted


def read_session(caller: Caller, session_id: SessionId, limit: Limit = 20, cursor: Cursor = "") -> str:
    """Read a session's conversation from its newest message back, each message with the id of its turn."""
    session = sessions.counted_session(caller.project, session_id)
    listed = keyset_page(sessions.messages(session), (("-sequence", cursor_number),), limit, cursor)
    head = (
        f"Session {session.session_id}: {line(session.title or session.first_message or 'empty')}\n"
        f"status={sessions.session_status(session)} turns={session.turn_count} base={session.mounted_kb.name!r}"  # type: ignore[attr-defined] # counted
        f" created={moment(session.created_at)}\n"
    )
    lines = [
        f"#{row.sequence} {row.role}{f' ({row.turn.request_id})' if row.turn else ''}: {line(row.content, 1_000)}"
        for row in listed.rows
    ]
    return head + list_page(lines, listed.next_cursor, "It holds no message.")


def read_turn(caller: Caller, session_id: SessionId, turn_id: TurnId, offset: Offset = 0) -> str:
    """Explain a turn or trial: question, answer, basis, what it cites, frames and plugins, evidence, changes, error."""
    return page(turn_text(turns.turn_or_trial(caller.project, session_id, turn_id)), offset)


def read_execution(
    caller: Caller,
    session_id: SessionId,
    turn_id: TurnId,
    node_id: Annotated[str, Field(description="id of a frame or execution in read_turn", min_length=1, max_length=200)],
    offset: Offset = 0,
) -> str:
    """Read what one plugin call of a turn got and gave, with its meta data and error, as JSON."""
    detail = turns.detail(turns.turn_or_trial(caller.project, session_id, turn_id), node_id)
    if detail.is_pruned:
        return "Retention has removed this payload; the structure of the turn is kept."
    cut = f"[storage cut {detail.cut_bytes} bytes of this payload]\n" if detail.cut_bytes else ""
    return page(cut + detail.text, offset)


def list_units(caller: Caller, session_id: SessionId, limit: Limit = 50, cursor: Cursor = "") -> str:
    """List what a session has learned from its conversation, newest first, each unit with the turn it came from."""
    session = sessions.session(caller.project, session_id)
    listed = keyset_page(sessions.units(session), (("-id", cursor_number),), limit, cursor)
    lines = [
        f"{row.unit_id}  {row.state}  {f'from {row.turn.request_id}' if row.turn else 'loaded'}: {line(row.text)}"
        for row in listed.rows
    ]
    return list_page(lines, listed.next_cursor, "The session has learned nothing yet.")


def explain_unit(
    caller: Caller,
    session_id: SessionId,
    unit_id: Annotated[str, Field(description="id of a unit", min_length=1, max_length=400)],
    cursor: Annotated[int, Field(description="step before which to go on, as the page before says", ge=0)] = 0,
) -> str:
    """Return where a unit came from and every turn that offered, selected, cited or dropped it, newest first."""
    session = sessions.session(caller.project, session_id)
    known = provenance(session, unit_id)
    steps, before = life_of(session, unit_id, cursor or None)
    origin = {
        "turn": known.turn.request_id if known.turn else None,
        "source": known.source.name if known.source else None,
        "base": known.base.name if known.base else None,
    }
    lines = [
        f"{moment(step.created_at)}  {step.step} in {step.turn.request_id if step.turn else 'no turn'}"
        + (f"  rank={step.rank}" if step.rank is not None else "")
        + (f"  score={step.score:.3f}" if step.score is not None else "")
        + (f"  {step.reason}" if step.reason else "")
        for step in steps
    ]
    came = ", ".join(f"{name} {value}" for name, value in origin.items() if value) or "no longer known"
    corrections = [
        *(f"Corrects: {other.unit_id}: {line(other.text)}\n" for other in known.corrects),
        *(f"Corrected by: {other.unit_id}: {line(other.text)}\n" for other in known.corrected_by),
    ]
    head = f"Unit {unit_id} ({known.state.label})\nText: {known.text}\nCame from: {came}\n"
    head += f"{''.join(corrections)}What happened to it:\n"
    return head + list_page(lines, str(before) if before else None, "Nothing is recorded.")
