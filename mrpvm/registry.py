"""Typed plugin registry: built-ins and plugins of other packages are registered the same way."""

import re
from collections.abc import Iterable, Mapping
from importlib.metadata import entry_points
from typing import Any, cast

from mrpvm.contracts import (
    Descriptor,
    GoalSolver,
    KBRetriever,
    Planner,
    Plugin,
    ResponseValidator,
    SeedDetector,
)
from mrpvm.errors import MRPError, RegistryError
from mrpvm.field_types import misfit
from mrpvm.values import PLUGIN_TYPES
from mrpvm.wrappers.wrapper import Wrapper

ENTRY_POINT_GROUP = "mrpvm.plugins"
"""Packages offer plugins under this entry point group; each entry is a plugin or a callable that gives one."""

FAMILY_PROTOCOLS: Mapping[str, type] = {
    "sd-plugin": SeedDetector,
    "kb-plugin": KBRetriever,
    "gs-plugin": GoalSolver,
    "val-plugin": ResponseValidator,
    "mrp-plan-plugin": Planner,
}
"""Which contract a plugin type must fulfil."""

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_REQUIRED = ("id", "type", "name", "version", "description", "cost_class")


class Registry:
    """The plugins of one machine, by type and id, and the external programs that help its goal solvers."""

    def __init__(self, plugins: Iterable[Plugin] = ()) -> None:
        self._plugins: dict[tuple[str, str], Plugin] = {}
        self.wrappers: list[Wrapper] = []
        for plugin in plugins:
            self.register(plugin)

    def register(self, plugin: Plugin) -> None:
        """Add a plugin.

        Raises:
            RegistryError: the descriptor lacks a field or has one of another type, the plugin's type is unknown, the id
                is taken, the family's verb is missing, or a plugin that asks a model says that it is quick.
        """
        descriptor = getattr(plugin, "descriptor", None)
        if not isinstance(descriptor, Descriptor):
            raise RegistryError(f"A {type(plugin).__name__} is no plugin: it has no descriptor.")
        missing = [name for name in _REQUIRED if not getattr(descriptor, name, None)]
        if missing:
            raise RegistryError(f"The plugin's descriptor lacks {', '.join(missing)}.", details={"missing": missing})
        if descriptor.type not in PLUGIN_TYPES:
            raise RegistryError(
                f"Plugin '{descriptor.id}' has the unknown type '{descriptor.type}'.",
                code="PLUGIN_REGISTRY_UNSUPPORTED_TYPE",
                details={"type": descriptor.type, "known": list(PLUGIN_TYPES)},
            )
        if (complaint := misfit(descriptor, Descriptor)) is not None:
            raise RegistryError(f"The descriptor of plugin '{descriptor.id}' is not valid: {complaint}")
        if descriptor.timeout_ms <= 0:
            raise RegistryError(f"Plugin '{descriptor.id}' has no time: its timeout_ms is {descriptor.timeout_ms}.")
        if not _ID.fullmatch(descriptor.id):
            raise RegistryError(f"Plugin id '{descriptor.id}' is not kebab-case.")
        if (descriptor.type, descriptor.id) in self._plugins:
            raise RegistryError(f"A {descriptor.type} named '{descriptor.id}' is registered already.")
        if not isinstance(plugin, FAMILY_PROTOCOLS[descriptor.type]):
            raise RegistryError(f"Plugin '{descriptor.id}' does not fulfil the {descriptor.type} contract.")
        if descriptor.type in ("sd-plugin", "kb-plugin", "gs-plugin") and descriptor.planner_hints is None:
            raise RegistryError(f"Plugin '{descriptor.id}' needs planner hints.")
        if descriptor.is_quick and descriptor.uses_llm:
            raise RegistryError(f"Plugin '{descriptor.id}' uses a model, so it cannot be quick.")
        self._plugins[descriptor.type, descriptor.id] = plugin
        # In their order, which every turn reads many times.
        self._plugins = {key: self._plugins[key] for key in sorted(self._plugins)}

    def register_entry_points(self) -> None:
        """Register what installed packages offer under `mrpvm.plugins`.

        Raises:
            RegistryError: an entry point cannot be loaded, or gives no plugin that can be registered.
        """
        for entry in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda entry: entry.name):
            try:
                offered: Any = entry.load()
                # A class has its plugin's descriptor too, but is a callable that gives the plugin.
                is_plugin = hasattr(offered, "descriptor") and not isinstance(offered, type)
                self.register(offered if is_plugin else offered())
            except Exception as error:
                said = error.message if isinstance(error, MRPError) else f"{type(error).__name__}: {error}"
                code = error.code if isinstance(error, MRPError) else None
                raise RegistryError(
                    f"The entry point {entry.name} ({entry.value}) gives no plugin: {said}", code=code
                ) from error

    def get(self, plugin_type: str, plugin_id: str) -> Plugin | None:
        """Return the plugin, or None."""
        return self._plugins.get((plugin_type, plugin_id))

    def has(self, plugin_type: str, plugin_id: str) -> bool:
        """Return whether such a plugin is registered."""
        return (plugin_type, plugin_id) in self._plugins

    def descriptors(self, plugin_type: str | None = None) -> list[Descriptor]:
        """Return descriptors sorted by type, then id; an unknown type gives an empty list."""
        return [plugin.descriptor for (kind, _), plugin in self._plugins.items() if plugin_type in (None, kind)]

    def seed_detector(self, plugin_id: str) -> SeedDetector:
        """Return a seed detector by id; `KeyError` if there is none."""
        return cast(SeedDetector, self._plugins["sd-plugin", plugin_id])

    def kb_retrievers(self) -> list[KBRetriever]:
        """Return all KB retrievers in id order: the order in which lifecycle events reach them."""
        return [cast(KBRetriever, self._plugins["kb-plugin", item.id]) for item in self.descriptors("kb-plugin")]

    def kb_retriever(self, plugin_id: str) -> KBRetriever:
        """Return a KB retriever by id; `KeyError` if there is none."""
        return cast(KBRetriever, self._plugins["kb-plugin", plugin_id])

    def goal_solver(self, plugin_id: str) -> GoalSolver:
        """Return a goal solver by id; `KeyError` if there is none."""
        return cast(GoalSolver, self._plugins["gs-plugin", plugin_id])

    def response_validator(self, plugin_id: str) -> ResponseValidator:
        """Return a response validator by id; `KeyError` if there is none."""
        return cast(ResponseValidator, self._plugins["val-plugin", plugin_id])

    def planner(self, plugin_id: str) -> Planner:
        """Return a planner by id; `KeyError` if there is none."""
        return cast(Planner, self._plugins["mrp-plan-plugin", plugin_id])


installed = Registry()
"""The process's registry, filled once at start-up by the composition root (`sessions_app.turns.machine`)."""
