"""The catalogue of plugins: their descriptors, why one cannot be used, and their statistics."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings

from mrpvm import registry
from mrpvm.contracts import Descriptor
from sessions_app.language_model import NO_MODEL, is_configured
from sessions_app.models import PluginStatistics, Project
from sessions_app.queries.settings.plugin_statistics import plugin_statistics
from sessions_app.web.shell.words import FAMILIES
from sessions_app.web.turns.graph.status import duration_badge


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginEntry:
    """One plugin; `obstacle` is empty when it can be used, `learned` None before its first attempt."""

    plugin: Descriptor
    obstacle: str
    learned: PluginStatistics | None

    @property
    def time_limit(self) -> str:
        """Return how long a call may take, in words."""
        return duration_badge(self.plugin.timeout_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginFamily:
    """The plugins of one type."""

    title: str
    words: str
    entries: tuple[PluginEntry, ...]


def catalogue_context(project: Project) -> dict[str, Any]:
    """Return the families in the order of one turn."""
    learned = plugin_statistics(project.pk)
    families = [
        PluginFamily(
            title=title,
            words=words,
            entries=tuple(
                PluginEntry(plugin=item, obstacle=_obstacle(item), learned=learned.get((item.type, item.id)))
                for item in registry.installed.descriptors(family)
            ),
        )
        for family, (title, words) in FAMILIES.items()
    ]
    return {
        "families": families,
        "has_model": is_configured(),
        "is_learning": settings.MRPVM_LEARN,
        "switched_off": settings.MRPVM_DISABLED_PLUGINS,
        "wrappers": registry.installed.wrappers,
    }


def _obstacle(descriptor: Descriptor) -> str:
    return NO_MODEL if descriptor.uses_llm and not is_configured() else ""
