"""The form of model roles: the stored table as fields, and what a form says as a table again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

from mrpvm import registry
from mrpvm.llm.endpoint import EndpointConfig
from mrpvm.llm.local_model import weights_path
from mrpvm.llm.roles import (
    DEFAULT_OVERRIDES,
    THINKING_LEVELS,
    VERBOSITIES,
    ModelTable,
    Override,
    OverrideRecord,
    RoleRecord,
)
from sessions_app.language_model import configuration, local_model

_ROLE_WORDS: Mapping[str, str] = {
    "seed-fast": "Reads messages, quickly",
    "seed-deep": "Reads long or hard messages",
    "goal-fast": "Answers, quickly",
    "goal-deep": "Answers what is hard",
    "kb-ingest": "Reads sources into a knowledge base",
    "kb-derive": "Writes the summaries of sources that a model reads",
    "planner": "Plans",
    "validation": "Checks answers",
}
BY_ROLE, BY_MODEL = "role:", "model"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleField:
    """The model of one role; empty is automatic."""

    role: str
    words: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OverrideField:
    """What one plugin uses: nothing of its own, another role (`role:NAME`), or a model of its own (`model`)."""

    plugin_id: str
    name: str
    choice: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingField:
    """A choice that goes with every request; empty leaves it to the provider."""

    name: str
    label: str
    words: str
    choices: tuple[str, ...]
    value: str


def roles_context(config: ModelTable) -> dict[str, Any]:
    """Return a table's fields: every role, and every plugin that uses a model or has an override."""
    overrides = config["pluginOverrides"]
    names = {item.id: item.name for item in registry.installed.descriptors() if item.uses_llm}
    where, local = configuration(), local_model()
    return {
        "roles": [
            RoleField(role=role, words=_ROLE_WORDS.get(role, "A role of your own"), model=item["model"])
            for role, item in config["roles"].items()
        ],
        "overrides": [
            _override(plugin_id, names.get(plugin_id, "not installed"), overrides.get(plugin_id, {}))
            for plugin_id in dict.fromkeys([*names, *overrides])
        ],
        "temperature": config["temperature"],
        "sampling": [
            SamplingField(
                name="thinkingLevel",
                label="Thinking",
                words="How long a model that reasons does so before it answers",
                choices=THINKING_LEVELS,
                value=config["thinkingLevel"] or "",
            ),
            SamplingField(
                name="verbosity",
                label="Verbosity",
                words="How much it writes, where the provider knows this setting",
                choices=VERBOSITIES,
                value=config["verbosity"] or "",
            ),
        ],
        "has_model": where is not None,
        "endpoint": None if where is None else _endpoint(where),
        "local_model": None if local is None else {"is_well": local.is_well},
        "can_be_local": weights_path() is not None,
    }


def _override(plugin_id: str, name: str, stored: OverrideRecord) -> OverrideField:
    choice = f"{BY_ROLE}{stored['role']}" if stored.get("role") else BY_MODEL if "model" in stored else ""
    return OverrideField(plugin_id=plugin_id, name=name, choice=choice, model=stored.get("model", ""))


def _endpoint(where: EndpointConfig) -> dict[str, Any]:
    """Return what may be shown of the endpoint: of its key only whether there is one."""
    address = urlsplit(where.base_url)
    return {
        "address": address._replace(netloc=address.netloc.rpartition("@")[2], query="", fragment="").geturl(),
        "model": where.model,
        "api": where.api,
        "has_key": bool(where.api_key),
        "timeout_ms": where.timeout_ms,
        "max_retries": where.max_retries,
    }


def model_table_of(form: Mapping[str, str]) -> ModelTable:
    """Return the table that a form's fields state, unchecked; fields are named as the template names them."""
    roles: dict[str, RoleRecord] = {
        name.removeprefix("role-"): {"model": value} for name, value in form.items() if name.startswith("role-")
    }
    overrides: dict[str, OverrideRecord] = {}
    for name, choice in form.items():
        plugin_id = name.removeprefix("override-")
        if plugin_id == name or not choice:
            continue
        if choice.startswith(BY_ROLE):
            overrides[plugin_id] = {"role": choice.removeprefix(BY_ROLE)}
        else:
            overrides[plugin_id] = {"model": form.get(f"model-{plugin_id}", "")}
    return {
        "roles": roles,
        "pluginOverrides": overrides,
        # Text that is no number is refused by its name when the table is stored.
        "temperature": cast("float | None", _number(form.get("temperature", ""))),
        "thinkingLevel": form.get("thinkingLevel") or None,
        "verbosity": form.get("verbosity") or None,
    }


def form_fields_of(config: ModelTable) -> dict[str, str]:
    """Return the text of each field of the form that shows a table, by name."""
    fields = {f"role-{role}": item["model"] for role, item in config["roles"].items()}
    for plugin_id, stored in config["pluginOverrides"].items():
        shown = _override(plugin_id, "", stored)
        fields |= {f"override-{plugin_id}": shown.choice, f"model-{plugin_id}": shown.model}
    fields["temperature"] = "" if config["temperature"] is None else str(config["temperature"])
    return {**fields, "thinkingLevel": config["thinkingLevel"] or "", "verbosity": config["verbosity"] or ""}


def _number(text: str) -> float | str | None:
    """Return the number, None for an empty text, or text that is not a number unchanged, so that it is refused."""
    try:
        return float(text) if text.strip() else None
    except ValueError:
        return text


def own_model_lines(config: ModelTable) -> list[tuple[str, str]]:
    """Return what a session's own table says, line by line; roles and plugins that are left open are not named."""
    named = [(role, item["model"]) for role, item in config["roles"].items() if item["model"]]
    for plugin_id, item in config["pluginOverrides"].items():
        if DEFAULT_OVERRIDES.get(plugin_id) != Override(**item):
            named.append((plugin_id, item["model"] if "model" in item else f"role {item['role']}"))
    sampling = (
        ("Temperature", config["temperature"]),
        ("Thinking", config["thinkingLevel"]),
        ("Verbosity", config["verbosity"]),
    )
    return [*((words, "the provider's" if value is None else str(value)) for words, value in sampling), *named]
