"""What may be kept of a text: what was said to a model, or a log line, without what nobody may read [H60 to H64].

Over the source's rules: keys are known by what they end with, so `openai_api_key`, `access_token` and `secretKey` are
found; whatever text lies below such a key goes, lists included; a key in a text begins a word, so `task-...` stays;
a host ends where it ends, so `supabase.com` stays. The server's own secrets may have any form: it names them, once.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

REDACTED = "[REDACTED]"
SECRET_CHARS = 8
"""The fewest of a named secret: a shorter one is a word, such as `ollama`, that ordinary texts hold too."""

_SECRET_KEY = re.compile(
    r"(?:apikeys?|authorization|secrets?|secretkey|password|passwd|passphrase|token|privatekey|credentials?"
    r"|cookies?|(?:anon|service|servicerole|supabase)key)$"
)
_SECRET_TEXT = re.compile(
    r"""
      (?<![A-Za-z0-9_-])sk-[A-Za-z0-9_-]{5,}                              # a provider's API key
    | (?<![A-Za-z0-9_-])(?:mrp|sk)_[A-Za-z0-9_-]{8,}                      # one of ours, or of a provider's other form
    | (?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+ # a JSON web token
    | (?<=\bbearer\s)[^\s'",]{8,}                                         # an Authorization header
    | (?<=://)[^\s:/@]*:[^\s/@]+(?=@)                                     # an account in an address
    | (?P<query>[?&](?:token|key|api_key|password)=)[^\s&'"]+             # a secret in a query string
    | (?P<link>/login/link/)[^\s/?]+                                      # a one-time link of ours
    | \bhttps?://(?:[a-z0-9-]+\.)*supabase\.co(?![a-z0-9-]|\.[a-z0-9])(?::\d+)?(?:/[^\s?\#'"<>]*)?
    """,
    re.VERBOSE | re.IGNORECASE,
)


_named: list[str] = []


def name_secrets(secrets: Iterable[str]) -> None:
    """Have this process take these texts out wherever it takes out secrets, instead of those named before.

    Those of fewer than 8 characters are not looked for.
    """
    # The longest first: one may begin with another.
    _named[:] = sorted((item for item in secrets if len(item) >= SECRET_CHARS), key=len, reverse=True)


def without_secrets(text: str) -> str:
    """Return a text with `[REDACTED]` in the place of every secret; log lines and stored requests alike."""
    for secret in _named:
        text = text.replace(secret, REDACTED)
    return _SECRET_TEXT.sub(lambda match: (match[match.lastgroup] if match.lastgroup else "") + REDACTED, text)


def redacted(value: Any, secrets: Sequence[str] = ()) -> Any:
    """Return a deep copy without secrets; keys, structure and whatever is no text stay as they are [H60, H64].

    Args:
        secrets: texts to be taken out wherever they occur.
    """
    known = re.compile("|".join(re.escape(item) for item in secrets if item) or r"(?!)")
    return _copy(value, known, is_secret=False)


def _copy(value: Any, known: re.Pattern[str], *, is_secret: bool) -> Any:
    if isinstance(value, str):
        return REDACTED if is_secret else without_secrets(known.sub(REDACTED, value))
    if isinstance(value, Mapping):
        return {key: _copy(item, known, is_secret=is_secret or _is_secret(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_copy(item, known, is_secret=is_secret) for item in value]
    return value


def _is_secret(key: Any) -> bool:
    return isinstance(key, str) and _SECRET_KEY.search(re.sub(r"[^a-z0-9]", "", key.lower())) is not None
