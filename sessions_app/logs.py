"""What may stand in a log line."""

import asyncio
import logging

from mrpvm.llm.redaction import without_secrets


class PlainFormatter(logging.Formatter):
    """Writes `time level logger message`, secrets left out, also of tracebacks."""

    def format(self, record: logging.LogRecord) -> str:
        """Give the finished line."""
        return without_secrets(super().format(record))


class NotCutOff(logging.Filter):
    """Leaves out the traceback of a request that was cut off: the server, or a client going away, ended it."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Give False for a cancelled request."""
        return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))
