"""Counting attempts in the running minute, in the cache that all server processes share.

A cache that is away costs the limit, never the call: turns and logins continue.
"""

import hashlib
import logging
from ipaddress import IPv6Address, ip_address, ip_network
from time import time

from django.core.cache import cache

WINDOW_SECONDS = 60

logger = logging.getLogger(__name__)


def is_allowed(name: str, per_minute: int) -> bool:
    """Count one attempt under `name` and say whether it is within the limit; 0 switches the limit off."""
    if not per_minute:
        return True
    key = _key(name)
    try:
        cache.add(key, 0, timeout=2 * WINDOW_SECONDS)
        return cache.incr(key) <= per_minute
    except ValueError:  # the cache lost the counter between the two calls
        return True
    except Exception as error:
        logger.warning("an attempt was not counted, the cache is away: %s", error)
        return True


def network_of(address: str) -> str:
    """Return the address that is counted: itself, or its /64 network for IPv6, which belongs to one subscriber."""
    try:
        known = ip_address(address)
    except ValueError:
        return address
    if not isinstance(known, IPv6Address):
        return address
    return str(known.ipv4_mapped or ip_network((int(known), 64), strict=False))


def used_in_minute(name: str) -> int:
    """Return how many attempts were counted under `name` in the running minute; 0 while the cache is away."""
    try:
        return int(cache.get(_key(name), 0))
    except Exception as error:
        logger.warning("attempts could not be read, the cache is away: %s", error)
        return 0


def _key(name: str) -> str:
    # Hashed: a stranger chooses parts of the name, and no cache takes every character.
    return f"{hashlib.sha256(name.encode()).hexdigest()}:{int(time()) // WINDOW_SECONDS}"


def seconds_to_wait() -> int:
    """Return the whole seconds until the next minute begins to count."""
    return int(WINDOW_SECONDS - time() % WINDOW_SECONDS) + 1
