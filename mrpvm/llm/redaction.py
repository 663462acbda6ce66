"""Removes secrets from what is kept: requests to models, log lines, traces.

Keys are recognised by their endings, so `openai_api_key`, `access_token` and `secretKey` are found. Every text below
such a key is redacted, lists included. A secret in a text begins at the start of a word, so `task-...` stays. Host
names are matched whole, so `supabase.com` stays. The server's own secrets may have any form: `name_secrets` takes them.

Every text of every turn goes through here, and nearly none holds a secret. So each form has anchors, literals without
which it cannot occur: they are looked for first, which costs a small part of what the expressions would.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import replace
from functools import lru_cache
from typing import Any

import orjson
from ahocorasick_rs import AhoCorasick, BytesAhoCorasick, Implementation

from mrpvm.values import HistoryMessage
from mrpvm.wire import json_bytes

REDACTED = "[REDACTED]"
SECRET_CHARS = 8
"""The fewest of a named secret: a shorter one is a word, such as `ollama`, that ordinary texts hold too."""

_SECRET_KEY = re.compile(
    r"(?:apikeys?|authorization|secrets?|secretkey|password|passwd|pwd|passphrase|token|privatekey|credentials?"
    r"|(?:access|account|signing|encryption)key|cookies?|(?:anon|service|servicerole|supabase)key)$"
)
_ENTRY_NAMES = ("name", "key", "header")
"""Of an entry `{name, value}`, as headers and variables are often written."""

_BEGINS = r"(?<![A-Za-z0-9_-])"
# No word of a sentence holds a digit or one of these signs.
_CONSPICUOUS = r"""(?=[^\s"'\\&,;<>]{0,60}[\d$!%^_+=~@])([^\s"'\\&,;<>]{5,})"""
_QUOTED = r"""\\{0,7}["']([^"'\\\n]+)"""
# name=value, name: value, "name": "value", ["name", "value"], the name of something is value
_ASSIGNED = rf"""(?:
      (?:\\{{0,7}}["'])?\s{{0,3}}(?:=>|:=|[:=])\s{{0,3}}\[?(?:{_QUOTED}|{_CONSPICUOUS})
    | =([^\s"'\\&,;<>\[]{{4,}})
    | \\{{0,7}}["']\s{{0,3}},\s{{0,3}}{_QUOTED}
    | (?:\s{{1,3}}(?:of|for|to|on|at)(?:\s[^\s"'\\]{{1,30}}){{1,4}})?\s{{1,3}}(?:is|was)\s{{1,3}}{_CONSPICUOUS}
)"""
_KEY_OF = r"""(?:
    (?<=api)|(?<=api[-_\ ])|(?<=access|secret)|(?<=(?:access|secret)[-_\ ])|(?<=encryption)|(?<=encryption[-_\ ])
    |(?<=private|account|signing)|(?<=(?:private|account|signing)[-_\ ])
)"""

_SCHEME = r"(?:(?:basic|bearer|digest|token|apikey)\s+)?"
# A variable in the place of the secret, as the examples of a documentation have it, is none.
_VARIABLE = r"""(?-i:\$(?:[A-Z_][A-Z0-9_]{0,60}|\{[A-Z_][A-Z0-9_]{0,60}\})(?![^\s'",\\]))"""

# Forms of secrets: lower-case literals, one of which begins each occurrence, and the pattern tried there. The group
# that matches is the secret, without groups the whole.
_FORMS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("sk-",), _BEGINS + r"sk-[A-Za-z0-9_-]{5,}"),  # OpenAI and others
    (("mrp_", "sk_"), _BEGINS + r"(?:mrp|sk)_[A-Za-z0-9_-]{8,}"),  # this server, Stripe
    (("rk_live_", "rk_test_", "whsec_"), _BEGINS + r"(?:rk_(?:live|test)|whsec)_[A-Za-z0-9]{8,}"),  # Stripe
    (("eyj",), _BEGINS + r"eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+"),  # JSON web token
    (("bearer",), rf"""bearer\s+(?!{_VARIABLE})(?=[^\s'",\\]{{0,60}}[\d_+/=~]|[^\s'",\\]{{20}})([^\s'",\\]{{8,}})"""),
    (("://",), r"://([^\s:/@]*:[^\s/@]+)(?=@)"),  # an account in an address
    (("?key=", "&key="), r"""[?&]key=([^\s&'"\\]+)"""),
    (("token=", "password="), r"""(?<=[?&])(?:token|password)=([^\s&'"\\]+)"""),
    (("/login/link/", "/invitation/"), r"""/(?:login/link|invitation)/([^\s/?"'\\]+)"""),  # one-time links of ours
    (("akia", "asia"), r"(?-i:(?<![A-Za-z0-9])A(?:KI|SI)A[0-9A-Z]{16}(?![0-9A-Za-z]))"),  # AWS
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _BEGINS + r"gh[pousr]_[A-Za-z0-9]{20,}"),  # GitHub
    (("github_pat_",), _BEGINS + r"github_pat_[A-Za-z0-9_]{20,}"),
    (("glpat-",), _BEGINS + r"glpat-[A-Za-z0-9_-]{15,}"),  # GitLab
    (
        ("xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xapp-"),
        _BEGINS + r"(?:xox[bparse]|xapp)-[A-Za-z0-9-]{10,}",
    ),  # Slack
    (("hooks.slack.com/services/",), r"""hooks\.slack\.com/services/([^\s"'\\?]+)"""),
    (("aiza",), r"(?-i:(?<![A-Za-z0-9_-])AIza[0-9A-Za-z_-]{30,})"),  # Google
    (("hf_",), r"(?-i:(?<![A-Za-z0-9_-])hf_[A-Za-z0-9]{20,})"),  # Hugging Face
    (("npm_",), r"(?-i:(?<![A-Za-z0-9_-])npm_[A-Za-z0-9]{30,})"),
    (("pypi-",), r"(?-i:(?<![A-Za-z0-9_-])pypi-[A-Za-z0-9_-]{30,})"),
    (("sg.",), r"(?-i:(?<![A-Za-z0-9_-])SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})"),  # SendGrid
    (
        ("-----begin",),
        r"-----BEGIN[A-Z0-9\ ]{0,40}PRIVATE\ KEY(?:\ BLOCK)?-----(?:[^-]|-(?!----END)){0,20000}"
        r"(?:-----END[A-Z0-9\ ]{0,40}-----)?",
    ),
    (("http",), r"""https?://(?:[a-z0-9-]+\.)*supabase\.co(?![a-z0-9-]|\.[a-z0-9])(?::\d+)?(?:/[^\s?\#'"<>\\]*)?"""),
    (
        ("authorization",),
        r"""authorization(?:\\{0,7}["'])?\s{0,3}[:=,]\s{0,3}(?:\\{0,7}["'])?"""
        rf"""(?!{_SCHEME}{_VARIABLE}){_SCHEME}([^\s"'\\,]{{4,}})""",
    ),
    (("cookie",), r"""cookie(?:\\{0,7}["'])?\s{0,3}[:,]\s{0,3}(?:\\{0,7}["'])?([^\s"'\\=;]{1,80}=[^"'\\\n]{1,4000})"""),
    (
        ("password", "passwd", "passphrase", "pwd", "token", "secret", "credential"),
        rf"(?:password|passwd|passphrase|pwd|token|secrets?|credentials?){_ASSIGNED}",
    ),
    (("key",), rf"{_KEY_OF}keys?{_ASSIGNED}"),
    (("--",), rf"(?<=\s)--(?:password|token|secret|api-key)\s{{1,3}}{_CONSPICUOUS}"),
)
_TRIED = [
    (anchor, re.compile(pattern, re.IGNORECASE | re.VERBOSE)) for anchors, pattern in _FORMS for anchor in anchors
]
_FINDER = AhoCorasick([anchor for anchor, _ in _TRIED])
_BYTES_FINDER = BytesAhoCorasick([anchor.encode() for anchor, _ in _TRIED], implementation=Implementation.DFA)

_WORD = re.compile(r"[A-Za-z0-9]+")

_HALF_PAIRS = re.compile("[\ud800-\udfff]")
_named: list[str] = []
_met: ContextVar[set[str] | None] = ContextVar("met", default=None)
"""Parts of secrets that were found in this block of `secrets_remembered`, in lower case."""


def name_secrets(secrets: Iterable[str]) -> None:
    """Redact these texts in this process wherever it redacts secrets, in place of those named before.

    Those of fewer than 8 characters are not looked for.
    """
    # The longest first: one may begin with another.
    _named[:] = sorted((item for item in secrets if len(item) >= SECRET_CHARS), key=len, reverse=True)


@contextmanager
def secrets_remembered() -> Iterator[None]:
    """Redact a secret that was recognised once wherever it occurs later in the block, also alone.

    A turn takes sentences apart, and writes down words of them. For the thread of the block.
    """
    token = _met.set(set())
    try:
        yield
    finally:
        _met.reset(token)


def note_secrets(texts: Iterable[str]) -> None:
    """Remember the secrets of these texts, in a block of `secrets_remembered`."""
    for text in texts:
        for _ in _spans(text):
            pass


def without_secrets(text: str) -> str:
    """Return a text with `[REDACTED]` in the place of every secret; log lines and stored requests alike."""
    for secret in _named:
        text = text.replace(secret, REDACTED)
    return _without_met(_without_spans(text, sorted(_spans(text))))


def messages_without_secrets(messages: Iterable[HistoryMessage]) -> tuple[HistoryMessage, ...]:
    """Return messages without the secrets in what they say."""
    return tuple(replace(item, content=without_secrets(item.content)) for item in messages)


def _without_met(text: str) -> str:
    met = _met.get()
    return _anywhere(frozenset(met)).sub(REDACTED, text) if met else text


def _without_spans(text: str, spans: Sequence[tuple[int, int]]) -> str:
    if not spans:
        return text
    kept: list[str] = []
    done = 0
    for start, end in spans:
        if start >= done:
            kept += text[done:start], REDACTED
        done = max(done, end)
    return "".join((*kept, text[done:]))


def redacted(value: Any, secrets: Sequence[str] = ()) -> Any:
    """Return a deep copy without secrets; keys, structure and whatever is no text stay as they are.

    Args:
        secrets: texts to be taken out wherever they occur, except those of fewer than 8 characters.
    """
    known = re.compile("|".join(re.escape(item) for item in secrets if len(item) >= SECRET_CHARS) or r"(?!)")
    return _copy(value, known, is_secret=False)


def redacted_json(data: bytes) -> bytes:
    """Return JSON without secrets, the same object where it holds none.

    Raises:
        ValueError: it is no JSON, as a text that was cut may be.
    """
    if _is_plainly_clean(data):
        return data
    text = data.decode("utf-8", "surrogatepass")
    plain = text
    if "\\" in text:  # the first word of a line follows a letter, that of the escaped end of the one before
        plain = text.replace("\\n", "\n\n").replace("\\t", "\t\t").replace("\\r", "\r\r")
    is_clean = not list(_spans(plain)) and not any(secret in text for secret in _named)
    if is_clean and _without_met(text) == text:
        return data
    return json_bytes(redacted(orjson.loads(data)))


def _is_plainly_clean(data: bytes) -> bool:
    """Return whether JSON of ASCII holds no secret, in a third of the time that a look at its text takes.

    False where that look has to tell: letters beyond ASCII may stand for those of an anchor, and an escape before a
    word is no part of it.
    """
    if not data.isascii() or _met.get() or any(secret.encode("utf-8", "surrogatepass") in data for secret in _named):
        return False
    anchors = _BYTES_FINDER.find_matches_as_indexes(data.lower(), overlapping=True)
    if not anchors or b"\\" in data:
        return not anchors
    text = data.decode("ascii")
    return not any(_TRIED[number][1].match(text, start) for number, start, _ in anchors)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where secrets stand; they may overlap."""
    lower = text.lower()
    if len(lower) != len(text):  # some letters become two
        lower = "".join(char.lower() if char.isascii() else char for char in text)
    if not lower.isascii():  # the finder takes UTF-8, which has no halves of a surrogate pair
        lower = _HALF_PAIRS.sub("?", lower)
    met, done = _met.get(), 0
    for number, start, _ in _FINDER.find_matches_as_indexes(lower, overlapping=True):
        match = _TRIED[number][1].match(text, start) if start >= done else None
        if match is not None:
            if met is not None:
                met.update(_parts(match[match.lastindex or 0]))
            yield match.span(match.lastindex or 0)
            done = match.end()  # so that no part of a text is tried again and again


def _parts(secret: str) -> Iterator[str]:
    """Yield the parts of a secret that a list of words would hold, without those that may be ordinary words."""
    for part in _WORD.findall(secret):
        if len(part) >= SECRET_CHARS and any(char.isdigit() for char in part):
            yield part.lower()


@lru_cache(maxsize=16)
def _anywhere(parts: frozenset[str]) -> re.Pattern[str]:
    """Return what finds the parts, also where a stemmer has cut off up to three letters."""
    listed = "|".join(re.escape(part[:-3]) for part in sorted(parts, key=len, reverse=True))
    return re.compile(rf"(?:{listed})[A-Za-z0-9]{{0,3}}", re.IGNORECASE)


def _copy(value: Any, known: re.Pattern[str], *, is_secret: bool) -> Any:
    if isinstance(value, str):
        return REDACTED if is_secret else without_secrets(known.sub(REDACTED, value))
    if isinstance(value, Mapping):
        named = any(_is_secret(value.get(name)) for name in _ENTRY_NAMES) if "value" in value else False
        return {
            _key(key): _copy(item, known, is_secret=is_secret or _is_secret(key) or (named and key == "value"))
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        if len(value) == 2 and not is_secret and _is_secret(value[0]):  # a header as a pair
            return [value[0], _copy(value[1], known, is_secret=True)]
        return [_copy(item, known, is_secret=is_secret) for item in value]
    return value


def _key(key: Any) -> Any:
    # A list of words with their weights has them for its keys.
    return _without_met(key) if isinstance(key, str) else key


def _is_secret(key: Any) -> bool:
    return isinstance(key, str) and _SECRET_KEY.search(re.sub(r"[^a-z0-9]", "", key.lower())) is not None
