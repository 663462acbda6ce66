"""The roles needed for each page and form: one entry for each address, by its name.

`reads` is the least role for GET, `writes` the least for POST; None if the address does not take the method.
"""

from typing import NamedTuple


class Needs(NamedTuple):
    """The least roles for an address."""

    reads: str | None
    writes: str | None


PUBLIC = {"login", "login-code", "login-enrolment", "login-link", "logout", "invitation", "slash"}
"""What answers whoever asks; each has tests of its own."""

_NAMES: dict[Needs, str] = {
    Needs("viewer", None): """
        sessions sessions-list start session session-head session-messages session-state session-diagnostics
        session-composer session-skills session-completion session-bisect unit turn turn-source turn-head turn-graph
        turn-timeline turn-outline turn-draft turn-remedies turn-context turn-section turn-requests turn-what-if
        turn-try turn-diagnosis turn-replay turn-state turn-compare turn-choice turn-export turn-picture turn-detail
        experiments experiment suite suite-file suite-run knowledge-base knowledge-tests knowledge-news
        knowledge-tree knowledge-compare plugins overview turns turn-filters review
        turn-filter search search-palette search-complete model-names
        projects review""",
    Needs("viewer", "viewer"): "password second-factor",
    Needs("viewer", "editor"): "session-create suites knowledge",
    Needs("viewer", "admin"): "settings",
    Needs("editor", None): "session-kb-saving session-kb-mounting",
    Needs("editor", "editor"): "turn-keep test-new test",
    Needs("admin", None): "forget forgetting audit storage",
    Needs("admin", "admin"): "members api-keys quotas retention alerts",
    # Actions that only run recorded turns and tests again, and members' own choices.
    Needs(None, "viewer"): """
        session-kb-test session-bisect-run turn-try-run turn-diagnose suite-run-start knowledge-test project-choose""",
    # Viewers may stop and delete the experiments that they started.
    Needs(None, "editor"): """
        session-import session-skills-reload session-take-models session-policies session-clear-preference
        session-memory-clear session-kb-mount session-kb-unmount session-kb-unstage session-kb-save session-kb-fork
        session-ask
        session-rename session-delete session-restore unit-retract unit-restore unit-correct turn-continue turn-cancel
        turn-rate suite-import suite-rename suite-delete test-delete knowledge-upload knowledge-remove knowledge-restore
        knowledge-rename knowledge-fork knowledge-delete knowledge-undelete knowledge-compact
        experiment-stop experiment-delete
        turn-filter-save turn-filter-change turn-filter-delete turns-keep turns-review
        review-clear review-rate""",
    Needs(None, "admin"): """
        forget-plan forgetting-run forgetting-cancel member-role member-remove invitation-withdraw retention-stop
        retention-start
        api-key-revoke alert-delete""",
}
PAGES = {name: needs for needs, names in _NAMES.items() for name in names.split()}

LIVE = {"live/sessions/<str:session_id>"}
"""The addresses of sockets; each is for whoever may read the session."""
