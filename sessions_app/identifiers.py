"""Random ids with a readable prefix."""

import secrets


def new_id(prefix: str) -> str:
    """Return `<prefix>-` and 32 hex digits: 128 random bits, so that knowing an id may grant access to it."""
    return f"{prefix}-{secrets.token_hex(16)}"


OWN_SESSIONS = "sess-"
"""Prefix of the ids of sessions that no client has named."""


def new_session_id() -> str:
    return new_id("sess")


def new_kb_id() -> str:
    return new_id("kb")


def new_request_id() -> str:
    """Return the id of a turn or of another request."""
    return new_id("req")


def new_experiment_id() -> str:
    return new_id("exp")


def new_forgetting_id() -> str:
    """Return the id of an act of forgetting."""
    return new_id("forget")


def new_filter_id() -> str:
    """Return the id of a saved filter."""
    return new_id("filter")


def new_alert_id() -> str:
    return new_id("alert")


def new_crossing_id() -> str:
    """Return the id of one crossing of an alert's limit; its message carries it too."""
    return new_id("crossing")


def new_suite_id() -> str:
    return new_id("suite")


def new_test_id() -> str:
    return new_id("test")
