"""How frozen content is known: by the hash of its canonical JSON, equal wherever and whenever it was read."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def content_hash(record: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a JSON-ready record, as hex; the order of keys does not count."""
    text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
