"""Which model answers which plugin: roles, overrides, and a turn's snapshot of both."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, TypedDict

from msgspec import Struct, field

from mrpvm.errors import InvalidInput

MODEL_ROLES = (
    "seed-fast", "seed-deep", "goal-fast", "goal-deep", "kb-ingest", "kb-derive", "planner", "validation",
)  # fmt: skip
"""Roles that always exist; the shipped assignment leaves every one of them to the configured model."""
DEFAULT_TEMPERATURE = 0.1
THINKING_LEVELS = ("minimal", "low", "medium", "high")
VERBOSITIES = ("low", "medium", "high")
NO_PREFERENCE = "mrpvm"
"""The model's name by which a client says that it has no wish."""
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_NAME_CHARS = 100
MODEL_CHARS = 200


class RoleRecord(TypedDict):
    """The model of a role."""

    model: Annotated[str, "Empty for automatic."]


class OverrideRecord(TypedDict, total=False):
    """What one plugin uses instead: one of the two."""

    model: str
    role: str


class Override(Struct, frozen=True, kw_only=True):
    """What one plugin uses instead: a model, or the model of a role."""

    model: str | None = None
    role: str | None = None

    def as_record(self) -> OverrideRecord:
        """Return the override as stored data."""
        return {"model": self.model} if self.model is not None else {"role": self.role or ""}


DEFAULT_OVERRIDES: Mapping[str, Override] = {
    "sd-llm-fast": Override(role="seed-fast"),
    "sd-llm-deep": Override(role="seed-deep"),
    "gs-llm-fast": Override(role="goal-fast"),
    "gs-llm-deep": Override(role="goal-deep"),
}
"""The shipped overrides."""


class ModelTable(TypedDict):
    """Which model answers in which role."""

    roles: Annotated[Mapping[str, RoleRecord], "By role."]
    pluginOverrides: Annotated[Mapping[str, OverrideRecord], "By plugin id."]
    temperature: float | None
    thinkingLevel: Annotated[str | None, "Null leaves it to the provider."]
    verbosity: Annotated[str | None, "Null leaves it to the provider."]


class ModelConfig(Struct, frozen=True, kw_only=True):
    """A snapshot of the role table with the sampling that goes with it.

    `roles` maps every role to its model, empty for automatic. Temperature, thinking level and verbosity are left to
    the provider where they are None.
    """

    roles: Mapping[str, str] = field(default_factory=lambda: dict.fromkeys(MODEL_ROLES, ""))
    overrides: Mapping[str, Override] = field(default_factory=lambda: dict(DEFAULT_OVERRIDES))
    temperature: float | None = DEFAULT_TEMPERATURE
    thinking_level: str | None = None
    verbosity: str | None = None

    def as_record(self) -> ModelTable:
        """Return the table as stored data."""
        return {
            "roles": {role: {"model": model} for role, model in self.roles.items()},
            "pluginOverrides": {plugin_id: item.as_record() for plugin_id, item in self.overrides.items()},
            "temperature": self.temperature,
            "thinkingLevel": self.thinking_level,
            "verbosity": self.verbosity,
        }


class ResolvedModel(Struct, frozen=True, kw_only=True):
    """The model of one call, under which role, and why it is this one."""

    model: str
    role: str
    basis: str


def resolve_model(config: ModelConfig, plugin_id: str, role: str, wish: str | None, default: str,
                  *, keeps_role: bool = False) -> ResolvedModel:  # fmt: skip
    """Return the first model that is named: override, role, wish, default.

    Args:
        wish: the model of the request or session, None or empty for none.
        keeps_role: an override may name another model, but no other role.
    """
    override = config.overrides.get(plugin_id, Override())
    if override.role and not keeps_role:
        role = override.role
    wish = None if wish == NO_PREFERENCE else wish
    named = (
        (override.model, f"override of {plugin_id}"),
        (config.roles.get(role), f"role {role}"),
        (wish, "request or session"),
        (default, "default"),
    )
    model, basis = next((model, basis) for model, basis in named if model)
    return ResolvedModel(model=model, role=role, basis=basis)


def model_config_of(body: Any) -> ModelConfig:
    """Return the table that a body of settings states: both maps whole, roles left out at their defaults.

    Raises:
        InvalidInput: INVALID_SETTINGS, a shape is wrong; nothing of it holds then.
    """
    settings = _mapping(body, "The settings")
    roles = dict.fromkeys(MODEL_ROLES, "")
    for role, item in _mapping(settings.get("roles", {}), "roles").items():
        roles[_name(role, "a role")] = _model(_mapping(item, f"roles.{role}"), f"roles.{role}")
    overrides = {
        _name(plugin_id, "a plugin id"): _override(_mapping(item, f"pluginOverrides.{plugin_id}"), plugin_id, roles)
        for plugin_id, item in _mapping(settings.get("pluginOverrides", {}), "pluginOverrides").items()
    }
    temperature = settings.get("temperature", DEFAULT_TEMPERATURE)
    is_number = isinstance(temperature, int | float) and not isinstance(temperature, bool)
    if temperature is not None and not (is_number and 0 <= temperature <= 2):
        raise _invalid("temperature must be a number from 0 to 2, or null.")
    return ModelConfig(
        roles=roles,
        overrides=overrides,
        temperature=temperature,
        thinking_level=_one_of(settings, "thinkingLevel", THINKING_LEVELS),
        verbosity=_one_of(settings, "verbosity", VERBOSITIES),
    )


def _one_of(settings: Mapping[str, Any], name: str, choices: tuple[str, ...]) -> str | None:
    value = settings.get(name)
    if value is not None and value not in choices:
        raise _invalid(f"{name} must be one of {', '.join(choices)}, or null.")
    return value


def _override(item: Mapping[str, Any], plugin_id: str, roles: Mapping[str, str]) -> Override:
    place = f"pluginOverrides.{plugin_id}"
    if set(item) == {"model"}:
        return Override(model=_model(item, place))
    role = item.get("role") if set(item) == {"role"} else None
    if not isinstance(role, str) or role not in roles:
        raise _invalid(f"{place} must hold either a model or one of the roles {', '.join(roles)}.")
    return Override(role=role)


def _model(item: Mapping[str, Any], place: str) -> str:
    model = item.get("model")
    if not isinstance(model, str) or len(model) > MODEL_CHARS or not model.isprintable():
        raise _invalid(f"{place}.model must be a text of at most {MODEL_CHARS} characters, empty for automatic.")
    return model.strip()


def _mapping(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _invalid(f"{place} must be an object.")
    return value


def _name(name: str, what: str) -> str:
    if len(name) > _NAME_CHARS or not _NAME.fullmatch(name):
        raise _invalid(f"{name[:_NAME_CHARS]!r} is not {what}: lower-case words joined by hyphens.")
    return name


def _invalid(message: str) -> InvalidInput:
    return InvalidInput(message, code="INVALID_SETTINGS")
