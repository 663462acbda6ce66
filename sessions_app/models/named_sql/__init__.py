"""The SQL statements that are written by hand, each kept because it measurably costs less than the ORM's (ADR 21).

The ORM compiles a statement anew each time, which costs many times what the database needs for it; here its text is
built once for each shape. Columns are named as the models name them (`session_id`), and values go to and from the
driver as those of their fields do. Everything else goes by the ORM.
"""

from sessions_app.models.named_sql.cursor import (
    open_cursor,
)
from sessions_app.models.named_sql.keyed_rows import (
    look_up,
    read_related,
)
from sessions_app.models.named_sql.sessions import (
    beginning_count,
    continuation_pk,
    select_counted_session,
)
from sessions_app.models.named_sql.turns import (
    SaidColumns,
    advance_session,
    memory_change,
    pending_commitment,
    select_conversation,
    store_committed,
    turn_end,
)
from sessions_app.models.named_sql.writing import (
    POSTING_COLUMNS,
    Write,
    add_to_counts,
    insert_at_once,
    insert_copies,
    insert_postings,
    insert_rows,
    insert_values,
    insertions,
    update_each,
    value_insertions,
    write_all,
)

__all__ = [
    "POSTING_COLUMNS",
    "SaidColumns",
    "Write",
    "add_to_counts",
    "advance_session",
    "beginning_count",
    "continuation_pk",
    "insert_at_once",
    "insert_copies",
    "insert_postings",
    "insert_rows",
    "insert_values",
    "insertions",
    "look_up",
    "memory_change",
    "open_cursor",
    "pending_commitment",
    "read_related",
    "select_conversation",
    "select_counted_session",
    "store_committed",
    "turn_end",
    "update_each",
    "value_insertions",
    "write_all",
]
