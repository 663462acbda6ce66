"""What may be in a log line, and which request, session and turn it belongs to."""

import asyncio
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import replace
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from http import HTTPStatus
from urllib.parse import unquote, urlsplit

from django.conf import settings

from mrpvm.errors import StorageUnavailable
from mrpvm.llm.redaction import without_secrets
from sessions_app.database import outage_of


def configured_secrets() -> list[str]:
    """Return the secrets that the settings hold, the empty ones too; a log line or a plugin's error may repeat them."""
    redis_password = urlsplit(settings.REDIS_URL).password or ""
    database_passwords = [str(database.get("PASSWORD") or "") for database in settings.DATABASES.values()]
    return [
        settings.SECRET_KEY,
        settings.MRPVM_API_KEY,
        settings.MRPVM_LLM_API_KEY,
        *database_passwords,
        redis_password,
        unquote(redis_password),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogContext:
    """What is running where a line is logged; None where that is not known."""

    request_id: str | None = None
    session_id: str | None = None
    turn_id: str | None = None
    trace_id: str | None = None


_context: ContextVar[LogContext] = ContextVar("log_context", default=LogContext())  # noqa: B039 (it is frozen)


@contextmanager
def logging_with(**known: str | None) -> Iterator[None]:
    """Name in the lines of this block what is known, beside what was known before."""
    token = _context.set(replace(_context.get(), **known))
    try:
        yield
    finally:
        _context.reset(token)


def logged_request_id() -> str:
    """Return the id by which the log names the request that this thread serves, empty for none."""
    return _context.get().request_id or ""


class PlainFormatter(logging.Formatter):
    """Writes `time level logger message`, secrets left out, also of tracebacks."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the finished line."""
        return without_secrets(super().format(record))


class JSONFormatter(logging.Formatter):
    """Writes one JSON object a line: time, level, logger, message, the known ids, the traceback; secrets left out."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the finished line."""
        context = _context.get()
        known = {item.name: value for item in fields(context) if (value := getattr(context, item.name)) is not None}
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **known,
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return json.dumps({name: without_secrets(value) for name, value in entry.items()}, ensure_ascii=False)


_NO_DEFECT = (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.INSUFFICIENT_STORAGE)


class Outages(logging.Filter):
    """Lowers errors that an outage caused, and requests answered with 503 or 507, to a warning of one line.

    The server has no defect then, whichever of its parts met the outage. What a project may use, too, can be full.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True: the line is written in any case."""
        error = record.exc_info[1] if record.exc_info else None
        outage = error.message if isinstance(error, StorageUnavailable) else outage_of(error)
        if outage is not None or getattr(record, "status_code", None) in _NO_DEFECT:
            record.levelno, record.levelname = logging.WARNING, "WARNING"
            record.exc_info = record.exc_text = None
        if outage is not None:
            record.msg, record.args = f"{record.getMessage()}: {outage}", ()
        return True


class NotCutOff(logging.Filter):
    """Leaves out the traceback of a request that was cut off: the server, or a client going away, ended it."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return False for a cancelled request."""
        return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))
