"""One act of forgetting: planned by a search that changes nothing, carried out, and checked by a second search.

If a process ends during an act, another one starts the act again once its lease is over. That is safe: what was removed
already is not found again.
"""

from collections.abc import Callable, Mapping

from django.conf import settings

from mrpvm.errors import TurnCancelled, TurnInterrupted
from sessions_app.actions.experiments.forgetting.acts import (
    drop_lost_plans,
    end_act,
    is_act_wanted,
    leave_act,
    note_search,
    take_abandoned,
)
from sessions_app.actions.experiments.forgetting.files import (
    clear_caches,
    end_logins,
    files_holding,
    overwrite_free_space,
    renew_copies,
)
from sessions_app.actions.experiments.forgetting.rows import Removal
from sessions_app.database import as_own_error
from sessions_app.experiments.running.pool import pool
from sessions_app.experiments.running.watch import Watch
from sessions_app.layers import count_unused_words
from sessions_app.models import Forgetting
from sessions_app.queries.experiments.forgetting.origins import Subject, Work, work_of
from sessions_app.queries.experiments.forgetting.phrases import FEWEST_WORDS
from sessions_app.queries.experiments.forgetting.tables import text_tables

_PASSES = 3
"""How often rows are removed: turns that ran meanwhile may have written some again."""
FILES, INDEX_ROWS = "files of the data directory", "full-text index rows without a unit"
Status = Forgetting.Status


class ActWatch(Watch):
    """The watch of an act: notes its stage and how many rows it has read, and holds its lease."""

    def __init__(self, act: Forgetting) -> None:
        super().__init__(self._note, apart=True)
        self._act = act
        self._stage, self._row_count = "", act.row_count

    def __call__(self, stage: str, row_count: int) -> None:
        """Note the stage and so many more rows, and let turns go first.

        Raises:
            TurnInterrupted, TurnCancelled: as for `look`.
        """
        self._stage = stage[:60]
        self._row_count += row_count
        self.pause()
        self.look()

    def _note(self) -> bool:
        return is_act_wanted(self._act, self._stage, self._row_count)


def plan(act: Forgetting, subject: Subject) -> None:
    """Gather what came from a subject and count where it is; nothing is changed but the act's own row."""
    with_errors(act, lambda watch: _plan(act, subject, watch))


def _plan(act: Forgetting, subject: Subject, watch: ActWatch) -> None:
    work = work_of(act.project, subject, watch)
    counts = Removal(act, work, watch).count()
    end_act(act, Status.PLANNED, work=work.as_record(), before=dict(counts), notes=_planned_notes(work))


def _planned_notes(work: Work) -> list[str]:
    count = len(work.phrases) + len(work.together)
    notes = [f"{count} text{' is' if count == 1 else 's are'} looked for in every table of the project."]
    if not work.phrases and not work.together:
        notes = [
            f"The text has fewer than {FEWEST_WORDS} words, which says too little to look for it: only rows that came"
            " from it by record are removed."
        ]
    return notes


def carry_out(act: Forgetting) -> None:
    """Remove what an act's plan names, search for it everywhere, and end the act with the counts of that search."""
    with_errors(act, lambda watch: _carry_out(act, watch))


def _carry_out(act: Forgetting, watch: ActWatch) -> None:
    work = Work.of_record(act.work)
    left: Mapping[str, int] = {}
    for _ in range(_PASSES):
        removal = Removal(act, work, watch)
        removal.remove()
        left = removal.count_left()
        if not _is_anything_left(left):
            break
    notes = [*act.notes, *_prove_elsewhere(work, left := dict(left))]
    status = Status.INCOMPLETE if _is_anything_left(left) else Status.FINISHED
    subject = work.looked_for().masked_value(act.subject)  # an id may be made of the text
    end_act(act, status, after=left, notes=notes, subject=subject, work=None)
    # Last, so that the plan's own text is overwritten too.
    overwritten, renewed = overwrite_free_space(), renew_copies()
    held_count, held = files_holding(work.looked_for())
    left[FILES] = len(held)
    more = [overwritten, f"{held_count} files of the data directory were searched."]
    if renewed:
        more.append(f"{renewed} daily copies of the database were removed, and a new one was made.")
    if held:
        more.append(f"Still held by {', '.join(held[:10])}: edit or remove them by hand.")
    status = Status.INCOMPLETE if _is_anything_left(left) else Status.FINISHED
    note_search(act, left, [*notes, *more], status)


def _prove_elsewhere(work: Work, left: dict[str, int]) -> list[str]:
    clear_caches()
    ended = end_logins(work.looked_for())
    left[INDEX_ROWS] = count_unused_words()
    notes = [f"{len(text_tables())} tables were searched in all their text, JSON and binary columns."]
    if ended:
        notes.append(f"{ended} browser sessions that kept the text were ended.")
    if settings.MRPVM_WORKER_COUNT > 1:
        notes.append("Other processes of the server empty their caches with their next sweep.")
    return notes


def _is_anything_left(left: Mapping[str, int]) -> bool:
    accounts = {table.name for table in text_tables() if table.is_of_accounts}
    return any(count for name, count in left.items() if name not in accounts)


def with_errors(act: Forgetting, run: Callable[[ActWatch], None]) -> None:
    """Run a part of an act and close the act, also on an error; an interrupted act is left open to be resumed."""
    watch = ActWatch(act)
    try:
        with pool.place(watch.look):
            run(watch)
    except TurnCancelled:
        end_act(act, Status.CANCELLED, work=None)
    except TurnInterrupted:
        leave_act(act)
    except Exception as defect:
        error = as_own_error(defect, f"forgetting {act.forgetting_id}")
        end_act(act, Status.FAILED, error=error.as_record(), work=act.work if act.began_at else None)


def take_up_abandoned() -> int:
    """Continue acts whose process ended, on threads of their own, and remove plans that were not carried out.

    Return how many. A plan that was broken off is not taken up: its text was never stored.
    """
    count = drop_lost_plans()
    for act in take_abandoned():
        pool.start(carry_out, act)
        count += 1
    return count
