"""Why a base got a revision or was mounted, in the words of its pages."""

_WORDS = {
    "bundle": "imported with a session",
    "create": "made",
    "before": "kept from an earlier version",
    "source-add": "a source changed",
    "source-remove": "a source removed",
    "save": "saved from a session",
    "save-fork": "saved as a fork",
    "fork": "forked",
    "session-create": "when the session started",
    "session-fork": "when the session was forked",
    "chat": "mounted with a message",
    "mount-api": "mounted",
    "mount-page": "mounted on the session's page",
    "mount-admin": "mounted in the admin",
    "unmount-page": "another base was unmounted on its page",
    "unmount-admin": "another base was unmounted in the admin",
}
_RESTORED = "restore-"


def reason_in_words(reason: str) -> str:
    """Return a stored reason in words; one without words stays as it is."""
    if reason.startswith(_RESTORED):
        return f"revision {reason.removeprefix(_RESTORED)} restored"
    return _WORDS.get(reason, reason)
