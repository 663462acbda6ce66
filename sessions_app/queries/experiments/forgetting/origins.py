"""The rows that came from a message, a unit, a source or a session, and the texts to search for.

Rows are found by recorded references: the turn that staged a unit, the unit that another was derived from, the message
that a fork copied. Texts also find rows without such a record.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import replace
from dataclasses import dataclass, field, fields
from itertools import batched
from typing import Any, Self

from django.db.models import Q

from mrpvm.errors import InvalidInput, NotFound, TooLarge
from mrpvm.wire import to_wire
from sessions_app.models import (
    ContextUnit,
    Derivation,
    ExplainabilityTurn,
    Forgetting,
    KnowledgeSource,
    LayerUnit,
    Message,
    Project,
    QuarantinedChunk,
    Session,
    UnitEvent,
)
from sessions_app.models.knowledge.unit_fields import UnitFields
from sessions_app.queries.experiments.forgetting.phrases import Phrases, WordRun, phrases_of, word_run_of
from sessions_app.queries.experiments.forgetting.tables import ProjectRows, StoredRow, table_of
from sessions_app.queries.knowledge.bases import knowledge_base
from sessions_app.queries.sessions.lookups import session as session_of

MOST_PHRASES = 50_000
_ROWS_A_QUERY = 500
_UNIT_TEXTS = ("title", "claim", "procedure", "condition", "text_body")
Kind = Forgetting.Kind

type OnRows = Callable[[str, int], None]
"""Called after each batch with the stage and the number of rows. It may raise an exception to stop the work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The subject of an act of forgetting: one message, unit, source or session by its ids, or a text."""

    kind: str
    session_id: str = ""
    sequence: int = 0
    unit_id: str = ""
    kb_id: str = ""
    source_id: str = ""
    text: str = ""

    def as_record(self) -> dict[str, Any]:
        """Return the given ids, but not the text."""
        return {name: value for name, value in to_wire(self).items() if value and name not in ("kind", "text")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The content to remove: phrases, rows by key, units by hash and id. `name` has to be typed in to confirm."""

    name: str
    phrases: frozenset[WordRun] = frozenset()
    together: frozenset[WordRun] = frozenset()
    turns: frozenset[int] = frozenset()
    messages: frozenset[int] = frozenset()
    sources: frozenset[int] = frozenset()
    hashes: frozenset[str] = frozenset()
    unit_ids: frozenset[str] = frozenset()
    session: int | None = None

    def as_record(self) -> dict[str, Any]:
        """Return the subject as stored data."""
        members = ((item.name, getattr(self, item.name)) for item in fields(self))
        return {name: sorted(value) if isinstance(value, frozenset) else value for name, value in members}

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self:
        pairs: dict[str, Any] = {name: frozenset(map(tuple, record[name])) for name in ("phrases", "together")}
        sets: dict[str, Any] = {
            name: frozenset(value) for name, value in record.items() if isinstance(value, list) and name not in pairs
        }
        return cls(name=record["name"], session=record["session"], **pairs, **sets)

    def looked_for(self) -> Phrases:
        """Return the texts as phrases to search for."""
        return Phrases(self.phrases, self.together)


@dataclass(slots=True)
class _Gathered:
    """The rows and texts gathered so far."""

    phrases: set[WordRun] = field(default_factory=set)
    turns: set[int] = field(default_factory=set)
    messages: set[int] = field(default_factory=set)
    sources: set[int] = field(default_factory=set)
    hashes: set[str] = field(default_factory=set)
    unit_ids: set[str] = field(default_factory=set)

    def add_units(self, units: Iterable[Any]) -> None:
        for unit in units:
            self.hashes.add(unit.hash)
            self.unit_ids.add(unit.unit_id)
            for name in _UNIT_TEXTS:
                self.add_text(getattr(unit, name) or "")

    def add_text(self, text: str) -> None:
        self.phrases |= phrases_of(text)


def check_subject(project: Project, subject: Subject) -> None:
    """Raise an error if the subject does not exist.

    Raises:
        NotFound: there is no such row in the project.
        InvalidInput: the text is too short to be searched for.
    """
    if subject.kind in (Kind.TEXT, Kind.WORDS):
        words = word_run_of(subject.text)
        if sum(map(len, words)) < _FEWEST_LETTERS:
            raise InvalidInput(f"A text to forget has at least {_FEWEST_LETTERS} letters or digits.")
    elif subject.kind == Kind.SOURCE:
        _sources(project, subject)
    elif subject.kind == Kind.UNIT:
        _units(project, subject)
    elif subject.kind == Kind.MESSAGE:
        _message(project, subject)
    else:
        session_of(project, subject.session_id)


_FEWEST_LETTERS = 3


def work_of(project: Project, subject: Subject, watch: OnRows = lambda stage, row_count: None) -> Work:
    """Return the rows that came from a subject, and the texts by which further ones are found.

    Args:
        watch: called while the project's units are read, which takes as long as there are many.

    Raises:
        NotFound: as for `check_subject`.
        TooLarge: it has more texts than one act can search for.
    """
    if subject.kind == Kind.TEXT:
        return _with_units(project, watch, Work(name=subject.text, phrases=frozenset([word_run_of(subject.text)])))
    if subject.kind == Kind.WORDS:
        return _with_units(project, watch, Work(name=subject.text, together=frozenset([word_run_of(subject.text)])))
    gathered, session_pk = _Gathered(), None
    if subject.kind == Kind.MESSAGE:
        name = _gather_message(project, subject, gathered)
    elif subject.kind == Kind.UNIT:
        units = _units(project, subject)
        gathered.add_units(units)
        name = units[0].text
    elif subject.kind == Kind.SOURCE:
        rows, loaded = _sources(project, subject)
        _gather_sources(rows, loaded, gathered)
        name = rows[0].name if rows else subject.source_id
    else:
        session = session_of(project, subject.session_id)
        _gather_session(session, gathered)
        name, session_pk = session.label, session.pk
    if len(gathered.phrases) > MOST_PHRASES:
        raise TooLarge(
            f"This has {len(gathered.phrases)} texts; at most {MOST_PHRASES} are looked for at once."
            " Forget parts of it.",
            details={"limit": MOST_PHRASES},
        )
    work = Work(
        name=" ".join(name.split())[:200],
        phrases=frozenset(gathered.phrases),
        turns=frozenset(gathered.turns),
        messages=frozenset(gathered.messages),
        sources=frozenset(gathered.sources),
        hashes=frozenset(gathered.hashes),
        unit_ids=frozenset(gathered.unit_ids),
        session=session_pk,
    )
    return _with_units(project, watch, work)


def _message(project: Project, subject: Subject) -> Message:
    session = session_of(project, subject.session_id)
    message = session.messages.select_related("turn").filter(sequence=subject.sequence).first()
    if message is None:
        raise NotFound(f"The session has no message {subject.sequence}.", code="NOT_FOUND")
    message.session = session
    return message


def _gather_message(project: Project, subject: Subject, gathered: _Gathered) -> str:
    """Gather an exchange: a message, its answer, and the results of its turn; return the message."""
    message = _message(project, subject)
    originals = {copy.turn_id for copy in copies_of([message]) if copy.turn_id is not None}
    _gather_turns(originals, gathered)
    if message.role == Message.Speaker.USER or not originals:
        gathered.add_text(message.content)
    gathered.messages |= {copy.pk for copy in copies_of([message])}
    return message.content


def _gather_turns(turns: Collection[int], gathered: _Gathered) -> None:
    gathered.turns |= set(turns)
    said = list(Message.objects.filter(turn__in=turns))
    gathered.messages |= {copy.pk for copy in copies_of(said)}
    for turn in ExplainabilityTurn.objects.filter(pk__in=turns).only("user_message"):
        gathered.add_text(turn.user_message)
    for message in said:
        if message.role == Message.Speaker.USER:
            gathered.add_text(message.content)
    gathered.add_units(ContextUnit.objects.filter(turn__in=turns))
    staged = UnitEvent.objects.filter(turn__in=turns, step=UnitEvent.Step.STAGED)
    for unit_id, text in staged.values_list("unit_id", "text"):
        gathered.unit_ids.add(unit_id)
        gathered.add_text(text)


def copies_of(messages: Collection[Message]) -> list[Message]:
    """Return these messages, their copies in forks, and the messages that they are copies of."""
    if not messages:
        return []
    family = _family({message.session_id for message in messages})
    times = {message.created_at for message in messages}
    said = {(message.role, message.content, message.created_at) for message in messages}
    rows = Message.objects.filter(session__in=family, created_at__in=times)
    return [row for row in rows if (row.role, row.content, row.created_at) in said]


def _family(sessions: Collection[int]) -> set[int]:
    """Return the sessions, those that they continue from, and those that continue from them."""
    family, new = set(sessions), set(sessions)
    while new:
        rows = Session.objects.filter(Q(pk__in=new) | Q(forked_from__in=new)).values_list("pk", "forked_from_id")
        new = {int(pk) for row in rows for pk in row if pk} - family
        family |= new
    return family


def _units(project: Project, subject: Subject) -> Sequence[UnitFields]:
    """Return the rows of a unit that a session or a base shows.

    Raises:
        NotFound: UNIT_NOT_FOUND.
    """
    if subject.kb_id:
        own: list[ContextUnit] = []
        chain = knowledge_base(project, subject.kb_id).head.chain
    else:
        session = session_of(project, subject.session_id)
        own = list(session.context_units.filter(unit_id=subject.unit_id))
        chain = session.journal.chain
    units = [*own, *LayerUnit.objects.filter(layer_id__in=chain, unit_id=subject.unit_id)]
    if not units:
        raise NotFound(f"There is no unit '{subject.unit_id}' here.", code="UNIT_NOT_FOUND")
    return units


def _sources(project: Project, subject: Subject) -> tuple[list[KnowledgeSource], list[ContextUnit]]:
    """Return the rows of a source of a base, or those of a context load and the session's units of it.

    A forked or compacted base holds copies of a source's row, which are found by their text.

    Raises:
        NotFound: SOURCE_NOT_FOUND.
    """
    if subject.kb_id:
        base = knowledge_base(project, subject.kb_id)
        chains = [row.layer.chain for row in base.revisions.select_related("layer")]
        layers, loaded = {layer for chain in (base.head.chain, *chains) for layer in chain}, []
    else:
        session = session_of(project, subject.session_id)
        layers = set(session.journal.chain)
        loaded = list(session.context_units.filter(source_id=subject.source_id))
    of_id = KnowledgeSource.objects.filter(source_id=subject.source_id)
    rows = list(of_id.filter(layer_id__in=layers))
    if not rows and not loaded:
        raise NotFound(f"There is no source '{subject.source_id}' here.", code="SOURCE_NOT_FOUND")
    reach = ProjectRows(project)
    copies = of_id.filter(hash__in={row.hash for row in rows}).exclude(pk__in=[row.pk for row in rows])
    return [*rows, *(row for row in copies if reach.holds((), [row.layer_id]))], loaded


def _gather_sources(rows: Collection[KnowledgeSource], loaded: Iterable[ContextUnit], gathered: _Gathered) -> None:
    gathered.sources |= {row.pk for row in rows}
    gathered.add_units(LayerUnit.objects.filter(origin__in=gathered.sources))
    gathered.add_units(loaded)
    for row in rows:
        gathered.add_text(row.content)
        if row.kind == KnowledgeSource.Kind.LISTED:
            gathered.add_text(row.name)
    for text in QuarantinedChunk.objects.filter(origin__in=gathered.sources).values_list("text", flat=True):
        gathered.add_text(text)


def _gather_session(session: Session, gathered: _Gathered) -> None:
    _gather_turns(session.turns.values_list("pk", flat=True), gathered)
    said = list(session.messages.all())
    gathered.messages |= {copy.pk for copy in copies_of(said)}
    for message in said:
        if message.role == Message.Speaker.USER:
            gathered.add_text(message.content)
    for text in (*session.remembered_texts.values_list("content", flat=True), session.system_prompt or ""):
        gathered.add_text(text)
    gathered.add_units(session.context_units.all())
    own_layers = session.journal.chain[: session.journal.chain.index(session.mounted_layer_id)]
    own = Q(layer_id__in=own_layers) | Q(source_id=session.journal_source_id)
    reach = ProjectRows(session.project)
    rows = [row for row in KnowledgeSource.objects.filter(own) if reach.holds((), [row.layer_id])]
    _gather_sources(rows, (), gathered)


def _with_units(project: Project, watch: OnRows, work: Work) -> Work:
    """Return the work with every unit of the project that its texts find, and the units derived from those."""
    hashes, unit_ids = set(work.hashes), set(work.unit_ids)
    reach, looked_for = ProjectRows(project), work.looked_for()
    for model in (LayerUnit, ContextUnit):
        for batch in table_of(model).batches(reach):
            watch("searching units", len(batch))
            meant = [row for row in batch if is_unit_meant(row, work, looked_for)]
            hashes |= {row["hash"] for row in meant}
            unit_ids |= {row["unit_id"] for row in meant}
    new = set(unit_ids)
    while new:
        derived = list(_derived(new, reach))
        new = {unit.unit_id for unit in derived} - unit_ids
        unit_ids |= new
        hashes |= {unit.hash for unit in derived}
    return replace(work, hashes=frozenset(hashes), unit_ids=frozenset(unit_ids))


def is_unit_meant(row: StoredRow, work: Work, looked_for: Phrases) -> bool:
    """Return whether to remove a unit: it has the hash of a unit of the subject, or holds one of the texts."""
    if row["hash"] in work.hashes or row.get("origin_id") in work.sources or row.get("turn_id") in work.turns:
        return True
    columns = table_of(LayerUnit).columns
    return any(looked_for.are_in_value(row[name]) for name in columns if name in row)


def _derived(origins: Collection[str], reach: ProjectRows) -> Iterator[LayerUnit]:
    for batch in batched(origins, _ROWS_A_QUERY, strict=False):
        rows = Derivation.objects.filter(origin_unit_id__in=batch).select_related("unit")
        yield from (row.unit for row in rows if reach.holds((), [row.unit.layer_id]))
