"""What may stand in a log line."""

import asyncio
import logging
from urllib.parse import unquote, urlsplit

from django.conf import settings

from mrpvm.llm.redaction import without_secrets


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


class PlainFormatter(logging.Formatter):
    """Writes `time level logger message`, secrets left out, also of tracebacks."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the finished line."""
        return without_secrets(super().format(record))


class NotCutOff(logging.Filter):
    """Leaves out the traceback of a request that was cut off: the server, or a client going away, ended it."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return False for a cancelled request."""
        return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))
