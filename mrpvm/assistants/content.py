"""The hash that identifies frozen content: that of its canonical JSON, so equal content has equal hashes."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def content_hash(record: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a JSON-ready record, as hex; the order of keys does not count."""
    text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
