"""What may stand in a log line."""

import asyncio
import logging
import re

SECRET_PATTERN = re.compile(
    r"""
      (?P<key>\b(?:mrp|sk)[_-])[A-Za-z0-9_-]{8,}            # API keys, ours and a provider's
    | (?P<bearer>\bBearer\s+)[^\s'",]+                      # an Authorization header
    | (?P<query>[?&](?:token|key|api_key|password)=)[^\s&'"]+  # a query string
    | (?P<account>://[^\s:/@]*:)[^\s/@]+(?=@)               # the password in an address
    | (?P<link>/login/link/)[^\s/?]+                      # a one-time link
    """,
    re.VERBOSE | re.IGNORECASE,
)


def without_secrets(line: str) -> str:
    """Give the line with keys, tokens and passwords replaced by an ellipsis."""
    return SECRET_PATTERN.sub(lambda match: f"{match[match.lastgroup or 0]}…", line)


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
