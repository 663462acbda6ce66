"""Rows as a file that is sent while they are read: CSV for tables, JSON lines for programs; without secrets."""

import csv
import io
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from asgiref.sync import sync_to_async
from django.http import StreamingHttpResponse

from mrpvm.llm.redaction import redacted_json, without_secrets
from mrpvm.wire import json_bytes
from sessions_app.database import living_connection

FORMS: Mapping[str, str] = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl"}
"""The media type by the ending of the file's name."""
_FORMULA_BEGINNINGS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

type FileRow = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Piece:
    """Some records, all with the file's columns, and the key after which the next ones are read; None at the end."""

    records: Sequence[FileRow]
    next_key: int | None


def file_response(
    name: str, form: str, columns: Sequence[str], read: Callable[[int | None], Piece]
) -> StreamingHttpResponse:
    """Return a download of all pieces.

    Args:
        name: of the file, without its ending.
        form: one of `FORMS`.
        read: gives the piece after a key, the first one for None.
    """
    headers = {"Content-Disposition": f'attachment; filename="{name}.{form}"'}
    return StreamingHttpResponse(_pieces(form, columns, read), content_type=FORMS[form], headers=headers)


async def _pieces(form: str, columns: Sequence[str], read: Callable[[int | None], Piece]) -> AsyncIterator[bytes]:
    if form == "csv":
        yield (",".join(columns) + "\r\n").encode()
    key = None
    while True:
        piece = await sync_to_async(_read)(read, key)
        yield csv_of(piece.records, columns) if form == "csv" else json_lines_of(piece.records)
        key = piece.next_key
        if key is None:
            return


def _read(read: Callable[[int | None], Piece], key: int | None) -> Piece:
    with living_connection():
        return read(key)


def csv_of(records: Sequence[FileRow], columns: Sequence[str]) -> bytes:
    """Return rows of CSV; a text that a spreadsheet would take for a formula begins with an apostrophe."""
    text = io.StringIO()
    csv.writer(text).writerows([_cell(record[column]) for column in columns] for record in records)
    return text.getvalue().encode()


def _cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool() | int() | float():
            return str(value)
        case datetime():
            return value.isoformat()
        case str():
            value = without_secrets(value)
            return f"'{value}" if value.startswith(_FORMULA_BEGINNINGS) else value
    return redacted_json(json_bytes(value)).decode()


def json_lines_of(records: Sequence[FileRow]) -> bytes:
    """Return one JSON object a line."""
    return b"".join(redacted_json(orjson.dumps(record)) + b"\n" for record in records)
