"""What an act's plan and certificate say, place by place."""

from dataclasses import dataclass

from sessions_app.actions.experiments.forgetting.rows import AFTERWARDS
from sessions_app.models import Forgetting
from sessions_app.queries.experiments.forgetting.tables import text_tables

MASKED = "masked where it stands"
ACCOUNTS_STAY = "accounts are managed in the admin, and stay"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPlace:
    """One table or kind of file: rows meant, what happens to them, rows found at the end (None before that)."""

    name: str
    before: int
    afterwards: str
    after: int | None


def places_of(act: Forgetting) -> list[FoundPlace]:
    """Return where an act's text was or is, by name."""
    said = {
        table.name: ACCOUNTS_STAY if table.is_of_accounts else AFTERWARDS.get(table.model, MASKED)
        for table in text_tables()
    }
    names = sorted({*act.before, *(act.after or {})})
    return [
        FoundPlace(
            name=name,
            before=act.before.get(name, 0),
            afterwards=said.get(name, "searched at the end"),
            after=None if act.after is None else act.after.get(name, 0),
        )
        for name in names
    ]
