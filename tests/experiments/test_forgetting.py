"""Forgetting: data derived from an item is removed everywhere, and the search that confirms it finds any rest."""

import time
from pathlib import Path

import pytest
import zstandard
from django.conf import settings
from django.db import connection

from mrpvm.errors import InvalidInput, NotFound, TurnInterrupted
from sessions_app.actions.experiments.forgetting.acts import cancel_act, create_act
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.forks import fork_base, save_session_kb
from sessions_app.actions.knowledge.mounts import mount_base
from sessions_app.actions.knowledge.source_rows import NewSource
from sessions_app.actions.sessions.forks import fork_session
from sessions_app.actions.sessions.session import create_session, rename_session
from sessions_app.actions.settings.projects import create_project
from sessions_app.actions.turns.ratings import rate_turn
from sessions_app.actions.upkeep.copies import make_daily_copy
from sessions_app.commands.messages import answer_message
from sessions_app.experiments.forgetting import work
from sessions_app.experiments.forgetting.acts import name_of, start_plan, start_removal
from sessions_app.experiments.replays.recorded import NotReplayable
from sessions_app.experiments.replays.replay import replay
from sessions_app.experiments.trials.changes import Changes
from sessions_app.layers.retrieval.chains import resolve_chain
from sessions_app.layers.upkeep.compaction import compact_base
from sessions_app.models import (
    ExplainabilityTurn,
    Forgetting,
    KnowledgeBase,
    KnowledgeLayer,
    KnowledgeSource,
    LayerUnit,
    Project,
    Session,
)
from sessions_app.models.sessions.session import ForkReason
from sessions_app.models.turns.compression import decompress
from sessions_app.queries.experiments.forgetting import tables
from sessions_app.queries.experiments.forgetting.origins import Subject
from sessions_app.queries.experiments.forgetting.phrases import Phrases, word_run_of
from sessions_app.turns.call import TurnCall
from tests.actions.knowledge_scene import add_text
from tests.actions.test_own_units import fresh, load, now, source
from tests.experiments.conftest import ANNA, stored, tried
from tests.experiments.walks import Walk, broken_solver_installed
from tests.walks import SEEDS

MARK = "quokkalantern"
_FRAME = b"\x28\xb5\x2f\xfd"


def say(session: Session, message: str) -> ExplainabilityTurn:
    return stored(answer_message(fresh(session), TurnCall(message=message)).turn)


def add(base: KnowledgeBase, new: NewSource) -> KnowledgeSource:
    return add_text(base, new.name, new.content, new.units, source_id=new.source_id, chunk_count=1)


def planned(project: Project, subject: Subject) -> Forgetting:
    act = start_plan(project, subject, ANNA, wait_ms=60_000)
    assert (act.status, act.error) == ("planned", None)
    return act


def forgotten(project: Project, subject: Subject) -> Forgetting:
    """Plan, confirm and carry out a forgetting; return it."""
    act = planned(project, subject)
    done = start_removal(act, name_of(act), wait_ms=120_000)
    assert (done.status, done.error, done.work) == ("finished", None, None), (done.after, done.notes)
    return done


def rows_holding(text: str) -> dict[str, int]:
    """Return the number of rows in each table that contain the text, without the code under test."""
    held: dict[str, int] = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')  # noqa: S608
            found = sum(text.casefold() in _as_text(row) for row in cursor.fetchall())
            held |= {table: found} if found else {}
    return held


def _as_text(row: tuple[object, ...]) -> str:
    return " ".join(_decoded(bytes(v)) if isinstance(v, bytes | memoryview) else str(v) for v in row).casefold()


def _decoded(data: bytes) -> str:
    parts = [_FRAME + part for part in data.split(_FRAME)[1:]] or [data]
    try:
        whole = b" ".join(decompress(part) if part.startswith(_FRAME) else part for part in parts)
        return whole.decode(errors="replace")
    except zstandard.ZstdError:
        return data.decode(errors="replace")


def files_holding(text: str) -> list[str]:
    files = [path for path in Path(settings.MRPVM_DATA_DIR).rglob("*") if path.is_file()]
    if connection.vendor == "sqlite":
        files += list(Path(connection.settings_dict["NAME"]).parent.glob("test.sqlite3*"))
    return [str(path) for path in files if text.casefold().encode() in path.read_bytes().lower()]


def check_counts() -> None:
    """Assert that every layer's counts equal the visible units of its chain."""
    for layer in KnowledgeLayer.objects.exclude(kind__in=("removed", "index")):
        found = resolve_chain(layer.chain)
        units = [unit for unit in LayerUnit.objects.filter(layer_id__in=layer.chain) if unit.pk not in found.hidden]
        told = (len(units), sum(u.is_evidence for u in units), sum(u.length for u in units if u.is_evidence))
        assert (layer.unit_count, layer.evidence_count, layer.term_count) == told, layer
        assert layer.own_unit_count == layer.units.count()
    for base in KnowledgeBase.objects.select_related("head"):
        rows = KnowledgeSource.objects.filter(layer_id__in=base.head.chain).latest_of_each()
        assert base.source_count == base.head.source_count == rows.filter(kind="source").count()


def check_replays(project: Project, act: Forgetting) -> int:
    """Assert that every turn replays, or names the forgetting that prevents it; return how many replay."""
    identical = 0
    for turn in ExplainabilityTurn.objects.filter(session__project=project, kind="chat"):
        refused = refusal_of(turn)
        if refused is None:
            identical += 1
        else:
            assert refused.details["since"] == act.began_at.isoformat()
            assert "forgotten" in refused.message
    return identical


def refusal_of(turn: ExplainabilityTurn) -> NotReplayable | None:
    """Return why a turn does not replay, or None if it replays identically."""
    try:
        result = replay(stored(turn))
    except NotReplayable as refused:
        return refused
    assert result.divergence is None, (turn.user_message, result.divergence)
    return None


class MarkedWalk(Walk):
    """A random walk of a session; some of its messages, sources and names contain the mark."""

    def mark(self) -> None:
        session, base = fresh(self.session), self.chance.choice(self.bases)
        number = self.chance.randint(1, 9)
        match self.chance.randint(0, 9):
            case 0:
                self.turn(f"My {MARK} number {number} is green.")
            case 1:
                self.turn(f"What colour is my {MARK} number {number}?")
            case 2:
                load(session, f"The {MARK} needs {number} bars", source_id=f"ctx-{number}")
            case 3:
                add(now(base), source(f"{MARK}-{number}", f"The {MARK.upper()} weighs {number} kg", "It is old"))
            case 4:
                rename_session(session, f"About the {MARK}")
            case 5:
                self.turn(f"/remember The {MARK} is kept in room {number}.")
            case 6:
                self.turn("Where is it?", system_prompt=f"You know the {MARK}.")
            case 7:
                fork_base(base, f"{MARK} {number}")
            case 8:
                last = ExplainabilityTurn.objects.filter(session=session).last()
                if last is not None and last.status == "succeeded":
                    rate_turn(last, "down", f"It forgot the {MARK}.")
            case 9:
                last = ExplainabilityTurn.objects.filter(session=session, kind="chat", status="succeeded").last()
                if last is not None:
                    tried(stored(last), Changes(message=f"And the {MARK}?"))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_text_goes_from_every_row_and_file(project: Project, seed: int) -> None:
    with broken_solver_installed():
        walk = MarkedWalk(project, seed)
        for _ in range(30):
            walk.chance.choice((walk.mark, walk.step))()
    make_daily_copy()
    assert len(rows_holding(MARK)) >= 6
    act = forgotten(project, Subject(kind="text", text=MARK))
    assert act.found_count >= 6
    assert not any(act.after.values())
    assert rows_holding(MARK) == {}
    assert files_holding(MARK) == []
    check_counts()
    with broken_solver_installed():  # a turn replays with the plugins that it had
        check_replays(project, act)


LOCKER = "The locker code of Marta is Quorzim."


@pytest.fixture
def told(project: Project) -> Session:
    """Return a session that was told a code and another fact, and asked for the code."""
    session = create_session(project)
    say(session, "My dog is called Rex.")
    say(session, LOCKER)
    say(session, "What is the locker code?")
    say(session, "What is my dog called?")
    return fresh(session)


class TestMessage:
    """What a message left is removed; facts of other messages stay and are still answered."""

    def test_its_units_answers_forks_and_saved_copies_go(self, project: Project, told: Session) -> None:
        fork = fork_session(told, told.message_sequence, ForkReason.EDITED)
        save_session_kb(told)
        other = create_session(project)
        mount_base(other, fresh(told).mounted_kb, reason="load-api")
        assert "Quorzim" in answer(say(other, "What is the locker code?"))
        act = forgotten(project, Subject(kind="message", session_id=told.session_id, sequence=3))
        for text in ("Quorzim", "locker code of Marta"):
            assert rows_holding(text) == {}
        check_counts()
        assert check_replays(project, act) == 1
        for session in (told, fork, other):
            assert "Quorzim" not in answer(say(session, "What is the locker code?"))
            assert "Rex" in answer(say(session, "What is my dog called?"))
        assert fresh(told).message_count == 6 + 4

    def test_turns_keep_their_graph(self, project: Project, told: Session) -> None:
        before = {turn.pk: shape(turn) for turn in told.turns.all()}
        forgotten(project, Subject(kind="message", session_id=told.session_id, sequence=3))
        assert {turn.pk: shape(turn) for turn in told.turns.all()} == before
        refused = refusal_of(told.turns.get(turn_index=3))
        assert refused is not None
        assert refused.details["missing"] == "forgotten"

    def test_what_is_too_short_to_look_for_is_said(self, project: Project) -> None:
        session = create_session(project)
        say(session, "Hello there")
        other = say(create_session(project), "Hello there")
        act = planned(project, Subject(kind="message", session_id=session.session_id, sequence=1))
        assert "says too little" in act.notes[0]
        start_removal(act, name_of(act), wait_ms=60_000)
        assert stored(other).user_message == "Hello there"
        assert fresh(session).message_count == 0


def answer(turn: ExplainabilityTurn) -> str:
    return turn.assistant_preview


def shape(turn: ExplainabilityTurn) -> list[tuple[str, object]]:
    """Return the names and nodes of a turn's events."""
    batches = turn.event_batches.order_by("first_sequence").values_list("events", flat=True)
    return [(name, data.get("executionId") or data.get("frameId")) for batch in batches for name, _, data in batch]


class TestSource:
    """A source is removed from its base, forks and folded layers; others stay."""

    @pytest.fixture
    def base(self, project: Project) -> KnowledgeBase:
        base = create_base(project, "Pumps")
        add(now(base), source("old", "The pump a1 needs 3 bars", "The valve of pump a1 is blue"))
        add(now(base), source("new", "The pump b2 needs 5 bars"))
        return base

    def test_it_goes_from_forks_and_folded_layers(self, project: Project, base: KnowledgeBase) -> None:
        fork = fork_base(base, "Copy")
        compact_base(now(fork))
        compact_base(now(base))
        forgotten(project, Subject(kind="source", kb_id=base.kb_id, source_id="old"))
        for text in ("pump a1 needs", "valve of pump a1"):
            assert rows_holding(text) == {}
        check_counts()
        assert [now(each).source_count for each in (base, fork)] == [1, 1]
        session = create_session(project)
        mount_base(session, now(fork), reason="load-api")
        assert "5 bars" in answer(say(session, "How many bars does pump b2 need?"))

    def test_a_unit_alone_goes(self, project: Project, base: KnowledgeBase) -> None:
        unit_id = "old::The valve of pump a1 is blue"
        forgotten(project, Subject(kind="unit", kb_id=base.kb_id, unit_id=unit_id))
        assert rows_holding("valve of pump a1 is blue") == {}
        assert rows_holding("pump a1 needs") != {}
        check_counts()


def test_a_session_goes_with_what_it_saved(project: Project, told: Session) -> None:
    save_session_kb(told)
    kept = say(create_session(project), "The ferry to Nore leaves from gate A.")
    act = forgotten(project, Subject(kind="session", session_id=told.session_id))
    assert not Session.objects.filter(pk=told.pk).exists()
    for text in ("Quorzim", "called Rex", told.journal_source_id):
        assert {name: count for name, count in rows_holding(text).items() if "source" not in name} == {}
    check_counts()
    assert refusal_of(kept) is None
    assert act.subject == {"sessionId": told.session_id} or act.subject == {"session_id": told.session_id}


def test_a_person_goes_by_name_with_whole_sentences(project: Project) -> None:
    session = create_session(project)
    say(session, "Lindqvist, Marta lives in Oslo. The ferry leaves from gate A.")
    say(session, "Where does Marta Lindqvist live?")
    forgotten(project, Subject(kind="words", text="Marta Lindqvist"))
    for text in ("Marta", "Oslo"):
        assert rows_holding(text) == {}
    assert "gate A" in answer(say(session, "Where does the ferry leave from?"))


def test_open_pages_are_told_of_a_masked_title(project: Project) -> None:
    session = create_session(project, title="About Marta Lindqvist")
    forgotten(project, Subject(kind="words", text="Marta Lindqvist"))
    told = session.events.latest("sequence")
    assert (told.kind, told.payload) == ("session.renamed", {"title": fresh(session).title})
    assert "Marta" not in told.payload["title"]


def test_another_project_keeps_its_own(project: Project, told: Session) -> None:
    foreign = create_session(create_project("Other"))
    theirs = say(foreign, LOCKER)
    act = forgotten(project, Subject(kind="text", text="locker code of Marta"))
    assert stored(theirs).user_message == LOCKER
    assert refusal_of(theirs) is None
    assert not any(act.after.values())
    with pytest.raises(NotFound):
        start_plan(foreign.project, Subject(kind="session", session_id=told.session_id), ANNA)


class TestDifferentReplay:
    """A replay that differs names an act of forgetting only if the act deleted something that the turn searched."""

    @pytest.fixture
    def base(self, project: Project) -> KnowledgeBase:
        base = create_base(project, "Pumps")
        add(now(base), source("pumps", "The pump b2 needs 5 bars", "Quokkas live on an island"))
        return base

    @pytest.fixture
    def asked(self, project: Project, base: KnowledgeBase) -> ExplainabilityTurn:
        """Return a turn over the base whose replay has another answer than is stored."""
        session = create_session(project)
        mount_base(session, now(base), reason="load-api")
        turn = say(session, "How many bars does pump b2 need?")
        turn.messages.filter(role="assistant").update(content="None.")
        return turn

    def test_what_other_turns_saw_is_not_named(
        self, project: Project, told: Session, asked: ExplainabilityTurn
    ) -> None:
        forgotten(project, Subject(kind="message", session_id=told.session_id, sequence=3))
        found = replay(stored(asked)).divergence
        assert found is not None
        assert (found.difference.part, found.reason) == ("answer", "unexplained")

    def test_a_unit_of_what_it_searched_is_named(
        self, project: Project, base: KnowledgeBase, asked: ExplainabilityTurn
    ) -> None:
        unit = Subject(kind="unit", kb_id=base.kb_id, unit_id="pumps::Quokkas live on an island")
        act = forgotten(project, unit)
        assert stored(asked).payloads_removed_at is None
        refused = refusal_of(asked)
        assert refused is not None
        assert refused.details == {"missing": "forgotten", "since": act.began_at.isoformat()}

    def test_what_was_forgotten_before_the_turn_is_not_named(
        self, project: Project, base: KnowledgeBase, request: pytest.FixtureRequest
    ) -> None:
        forgotten(project, Subject(kind="unit", kb_id=base.kb_id, unit_id="pumps::Quokkas live on an island"))
        asked: ExplainabilityTurn = request.getfixturevalue("asked")
        assert replay(stored(asked)).result == "diverged"


@pytest.mark.parametrize("step", [2, 9, 25, 60])
def test_what_is_broken_off_is_finished_by_the_sweeper(
    project: Project, told: Session, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    act = planned(project, Subject(kind="message", session_id=told.session_id, sequence=3))
    watched = work.ActWatch.__call__
    left = [step]

    def broken(self: work.ActWatch, stage: str, row_count: int) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise TurnInterrupted("The server was stopped while this ran.")
        watched(self, stage, row_count)

    with monkeypatch.context() as patch:
        patch.setattr(work.ActWatch, "__call__", broken)
        assert start_removal(act, name_of(act), wait_ms=60_000).status == "running"
    assert work.take_up_abandoned() == 1
    ended_by = time.monotonic() + 60
    while act.status == "running" and time.monotonic() < ended_by:
        time.sleep(0.05)
        act.refresh_from_db()
    assert (act.status, act.work) == ("finished", None)
    assert rows_holding("Quorzim") == {}
    check_counts()
    check_replays(project, act)


def test_a_plan_is_stopped_while_units_are_gathered(
    project: Project, told: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are those of the whole project, and the search for them keeps the plan's lease."""
    monkeypatch.setattr(work, "Removal", lambda *_: pytest.fail("the plan was not stopped"))
    subject = Subject(kind="text", text="Quorzim")
    act = create_act(project, subject, ANNA)
    cancel_act(act)
    work.plan(act, subject)
    act.refresh_from_db()
    assert act.status == "cancelled"


def test_rows_of_further_batches_go_too(project: Project, told: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_ROWS_A_QUERY", 2)
    forgotten(project, Subject(kind="text", text="Quorzim"))
    assert rows_holding("Quorzim") == {}


def test_a_plan_changes_nothing_and_needs_its_name(project: Project, told: Session) -> None:
    before = {name: count for name, count in rows_holding("Quorzim").items() if "forgetting" not in name}
    act = planned(project, Subject(kind="text", text="Quorzim"))
    with pytest.raises(InvalidInput, match="Nothing was forgotten"):
        start_removal(act, "4712")
    assert {name: count for name, count in rows_holding("Quorzim").items() if "forgetting" not in name} == before
    with pytest.raises(InvalidInput, match="letters"):
        start_plan(project, Subject(kind="text", text="a?"), ANNA)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("The LOCKER-code  of\nMarta, is it.", "The (forgotten), is it."),
        ("The ｌｏｃｋｅｒ code of Marta.", "The (forgotten)."),
        ("locker-code.of_marta", "locker-code.of_marta"),
        ("locker-code-of-marta-7", "forgotten-7"),
        ("A locker code of nobody", "A locker code of nobody"),
        ("He said: the locker code of Ma…", "He said: the (forgotten)…"),
    ],
)
def test_a_phrase_is_found_whatever_its_spelling(text: str, masked: str) -> None:
    assert Phrases([word_run_of("Locker code of Marta")]).masked(text) == masked
