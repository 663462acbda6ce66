"""Posting to an address that a member has chosen: signed, within limits, and to no private network.

Messages are signed as Standard Webhooks (https://www.standardwebhooks.com) are, so that receivers can check them with
the libraries that there are.
"""

import base64
import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from hmac import digest
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.utils.crypto import salted_hmac

from mrpvm.errors import InvalidInput

POST_SECONDS = 10.0
"""Time limit of a post: name lookup, connection, sending, and the first line of the answer."""
_NAT64 = ipaddress.ip_network("64:ff9b::/96")

type Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class PostFailedError(Exception):
    """The receiver has not taken the message; the text says why, in a few words."""


def checked_address(url: str) -> SplitResult:
    """Return the parts of a web hook's address.

    Raises:
        InvalidInput: it is none, it holds a password, or it names an address in a private network.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = SplitResult("", "", "", "", ""), 0
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or not url.isascii():
        raise InvalidInput("The address of a web hook begins with https:// or http:// and a host.")
    if any(char.isspace() or not char.isprintable() for char in url):
        raise InvalidInput("The address of a web hook holds no blanks.")
    if parts.username or parts.password:
        raise InvalidInput("The address of a web hook holds no user name and no password.")
    try:
        literal = ipaddress.ip_address(parts.hostname)
    except ValueError:
        return parts
    if not _is_allowed(literal):
        raise InvalidInput(_refused(literal))
    return parts


def signing_key(owner_id: str) -> str:
    """Return the secret with which receivers check an owner's messages; it is derived from the server's own secret."""
    secret = salted_hmac("mrpvm.web_hooks", owner_id, algorithm="sha256").digest()
    return f"whsec_{base64.b64encode(secret).decode()}"


def signature(key: str, message_id: str, sent_at: int, body: bytes) -> str:
    """Return the signature of a message.

    Args:
        sent_at: in seconds since 1970.
    """
    signed = f"{message_id}.{sent_at}.".encode() + body
    return "v1," + base64.b64encode(digest(base64.b64decode(key.removeprefix("whsec_")), signed, sha256)).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookMessage:
    """The body of a web hook, its id and the key that signs it."""

    message_id: str
    body: bytes
    key: str


def post(url: str, message: WebhookMessage, sent_at: int) -> None:
    """Post a message, within `POST_SECONDS`. Redirects are not followed, and nothing of the answer's body is read.

    Raises:
        PostFailedError: the receiver cannot be reached, may not be, or answers with another status than 2xx.
    """
    failures: list[PostFailedError] = []
    done = threading.Event()

    def work() -> None:
        try:
            _post(url, message, sent_at)
        except PostFailedError as error:
            failures.append(error)
        except (OSError, http.client.HTTPException, InvalidInput, UnicodeError) as error:
            failures.append(PostFailedError(_reason(error)))
        done.set()

    # A name server or a receiver that answers byte by byte would be waited for without end: the thread is left behind.
    threading.Thread(target=work, name="web-hook", daemon=True).start()
    if not done.wait(POST_SECONDS):
        raise PostFailedError(f"No answer within {POST_SECONDS:.0f} s.")
    if failures:
        raise failures[0]


def _post(url: str, message: WebhookMessage, sent_at: int) -> None:
    parts = checked_address(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    connection = _Connection(parts.hostname or "", port, is_secure=parts.scheme == "https")
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"mrpvm/{settings.MRPVM_VERSION}",
        "webhook-id": message.message_id,
        "webhook-timestamp": str(sent_at),
        "webhook-signature": signature(message.key, message.message_id, sent_at, message.body),
    }
    try:
        path = parts._replace(scheme="", netloc="", fragment="").geturl() or "/"
        connection.request("POST", path, message.body, headers)
        status = connection.getresponse().status
    finally:
        connection.close()
    if not 200 <= status < 300:
        raise PostFailedError(f"The receiver answered {status}.")


class _Connection(http.client.HTTPConnection):
    """Looks the name up itself and connects to an address that it has checked: a second lookup could give another."""

    def __init__(self, host: str, port: int, *, is_secure: bool) -> None:
        super().__init__(host, port, timeout=POST_SECONDS)
        self.default_port = 443 if is_secure else 80  # a port of its own is in the Host header
        self._is_secure = is_secure

    def connect(self) -> None:
        """Connect to the first of the host's addresses that can be reached; none of them may be private."""
        entries = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        addresses = [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in entries]
        for address in addresses:
            if not _is_allowed(address):
                raise PostFailedError(_refused(address))
        self.sock = _connected(list(dict.fromkeys(map(str, addresses))), self.port)
        self.sock.settimeout(POST_SECONDS)
        if self._is_secure:
            self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.host)


def _connected(addresses: Sequence[str], port: int) -> socket.socket:
    seconds = POST_SECONDS / len(addresses)
    for address in addresses[:-1]:
        with suppress(OSError):
            return socket.create_connection((address, port), seconds)
    return socket.create_connection((addresses[-1], port), seconds)


def _is_allowed(address: Address) -> bool:
    if settings.MRPVM_PRIVATE_WEB_HOOKS:
        return True
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
        if inner is not None and not _is_allowed(inner):
            return False
    return address.is_global and not address.is_multicast


def _refused(address: Address) -> str:
    return f"{address} is an address of a private network; MRPVM_PRIVATE_WEB_HOOKS allows these."


def _reason(error: Exception) -> str:
    if isinstance(error, InvalidInput):
        return error.message
    if isinstance(error, socket.gaierror):
        return "The host is not known."
    if isinstance(error, TimeoutError):
        return "The receiver does not answer."
    return f"{type(error).__name__}: {error}"[:200]
