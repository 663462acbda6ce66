"""The Django application: the conversation server."""

import gc

from django.apps import AppConfig


class SessionsConfig(AppConfig):
    """Registers the models, the start-up checks, the configured secrets and the plugins; starts nothing."""

    name = "sessions_app"
    verbose_name = "Conversations"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the system checks, the secrets to redact, the receivers for changes of users, and the plugins."""
        from mrpvm.llm.redaction import name_secrets
        from sessions_app import checks  # noqa: F401 (checks register when imported, after the settings)
        from sessions_app.actions.settings.users import watch_users
        from sessions_app.logs import configured_secrets
        from sessions_app.turns.machine import install_plugins

        name_secrets(configured_secrets())
        watch_users()
        install_plugins()
        # What is imported by now lives as long as the process: no garbage collection needs to traverse it.
        gc.freeze()
        gc.enable()
