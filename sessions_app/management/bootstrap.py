"""What every start ensures: the first project, an admin with a way in, an API key, and once the demo."""

from dataclasses import dataclass

from django.conf import settings
from django.urls import reverse

from sessions_app.actions.experiments.experiments import close_abandoned_experiments
from sessions_app.actions.settings.api_keys import accept_key_of_setting, create_key
from sessions_app.actions.settings.projects import create_login_link, ensure_default_project, ensure_first_admin
from sessions_app.layers import sweep_staged
from sessions_app.management.demo import load_demo
from sessions_app.queries.settings.members import has_anybody_logged_in
from sessions_app.queries.settings.projects import api_keys
from sessions_app.turns.recovery import recover_abandoned, recover_all_running


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrapped:
    """What is printed for the operator; `api_key` is filled only if it was created just now.

    `login_url_path` is None in production once somebody has logged in: the output is collected and read by others.
    """

    login_url_path: str | None
    api_key: str | None
    is_given_key_revoked: bool
    first_start: bool


def bootstrap(api_key: str | None, demo: bool, *, alone: bool) -> Bootstrapped:
    """Prepare the database for use; idempotent.

    Args:
        api_key: a key to accept instead of a generated one.
        demo: load the demo on the first start.
        alone: no other process serves this database, so running turns and loads are left over from a crash.
    """
    project = ensure_default_project()
    admin = ensure_first_admin(project)
    # The key comes last: a start that was broken off before it is done again, and only then the key is shown.
    first_start = not api_keys(project).exists()
    recover_all_running() if alone else recover_abandoned()
    close_abandoned_experiments(alone=alone)
    sweep_staged(alone=alone)
    if first_start and demo:
        load_demo(project)
    generated, is_given_key_revoked = None, False
    if api_key is not None:
        is_given_key_revoked = accept_key_of_setting(project, api_key).revoked_at is not None
    elif first_start:
        _, generated = create_key(project, "First key", "admin", admin)
    path = None
    if not (settings.PRODUCTION and has_anybody_logged_in()):
        path = reverse("login-link", args=[create_login_link(admin)])
    return Bootstrapped(
        login_url_path=path, api_key=generated, is_given_key_revoked=is_given_key_revoked, first_start=first_start
    )
