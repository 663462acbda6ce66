"""The parameters of the dialect: honoured, accepted with a warning, or refused; none is ignored silently."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from mrpvm.conversation.flags import ALIASES
from mrpvm.conversation.flags import NAMES as FLAGS
from mrpvm.errors import NotFound
from mrpvm.llm.port import Sampling
from mrpvm.llm.roles import NO_PREFERENCE
from sessions_app.api.openai.errors import invalid, missing, unsupported
from sessions_app.language_model import configuration, is_configured, model_names
from sessions_app.models import KnowledgeBase, Project
from sessions_app.queries.knowledge.bases import base_by_name, knowledge_base

NATIVE = (
    "session_id", "planner_plugin", "seed_detector_plugin", "kb_plugin", "goal_solver_plugin", "deliberation_level",
    "grounding", "kb_id", "wait_ms", "remember_choices",
)  # fmt: skip
"""Fields of the native API that the dialect takes too, beside the flags."""
BASE_MODEL = f"{NO_PREFERENCE}:"
"""Beginning of a model's name that names a base: clients often let their users choose a model and nothing else."""
_OURS = {*NATIVE, *FLAGS, *ALIASES}
_HONOURED = {
    "model", "messages", "input", "instructions", "stream", "stream_options", "max_tokens", "max_completion_tokens",
    "max_output_tokens", "temperature", "stop", "metadata", "user", "safety_identifier", "previous_response_id",
    "conversation", "background",
}  # fmt: skip
_WITHOUT_EFFECT: Mapping[str, tuple[Any, ...]] = {
    "n": (1,), "tool_choice": ("auto", "none"), "logprobs": (False,), "top_logprobs": (0,), "modalities": (["text"],),
    "response_format": ({"type": "text"},), "text": ({"format": {"type": "text"}}, {}), "store": (True,),
    "tools": ([],), "truncation": ("disabled", "auto"), "frequency_penalty": (0,), "presence_penalty": (0,),
    "include": ([],), "service_tier": ("auto", "default"), "top_p": (1,), "logit_bias": ({},), "functions": ([],),
    "function_call": ("auto", "none"),
}  # fmt: skip
"""Values that ask for nothing but what happens anyway."""
_REFUSED = {
    "n": "one answer is given to each request.",
    "logprobs": "answers are not all written by a model.",
    "top_logprobs": "answers are not all written by a model.",
    "audio": "only text is spoken here.",
    "modalities": "only text is spoken here.",
    "response_format": 'leave it out and ask for the form in the message, such as "Answer in JSON.".',
}
_METADATA_KEYS, _KEY_CHARS, _VALUE_CHARS = 16, 64, 512


def warnings_of(body: Mapping[str, Any]) -> list[str]:
    """Return a warning for each parameter that has no effect here.

    Raises:
        InvalidInput: `unsupported_parameter` for what cannot be done without.
    """
    warnings = []
    for name, value in body.items():
        if name in _OURS or name in _HONOURED or value is None or value in _WITHOUT_EFFECT.get(name, ()):
            continue
        if name in _REFUSED:
            raise unsupported(name, _REFUSED[name])
        if name == "text" and isinstance(value, dict) and _format_of(value) not in (None, "text"):
            raise unsupported("text.format", _REFUSED["response_format"])
        if name == "tool_choice":
            raise unsupported(name, "no tool of a client is ever called. Leave it out, or send 'none'.")
        if name == "tools" and body.get("tool_choice") == "none":
            continue
        warnings.append(f"{name} has no effect here.")
    return warnings


def _format_of(text: Mapping[str, Any]) -> Any:
    form = text.get("format")
    return form.get("type") if isinstance(form, dict) else None


def sampling_of(body: Mapping[str, Any]) -> Sampling:
    """Return what bounds the answer.

    Raises:
        InvalidInput: a value is out of range.
    """
    names = ("max_completion_tokens", "max_output_tokens", "max_tokens")
    name = next((name for name in names if body.get(name) is not None), None)
    most = body[name] if name else None
    if name and not (isinstance(most, int) and not isinstance(most, bool) and most >= 1):
        raise invalid(name, "must be a whole number of 1 or more.")
    temperature = body.get("temperature")
    if temperature is not None and not (_is_number(temperature) and 0 <= temperature <= 2):
        raise invalid("temperature", "must be a number from 0 to 2.")
    stop = body.get("stop")
    stops = [stop] if isinstance(stop, str) else stop or []
    if not isinstance(stops, list) or len(stops) > 4 or not all(isinstance(item, str) and item for item in stops):
        raise invalid("stop", "must be a text or a list of up to four.")
    return Sampling(temperature=temperature, max_tokens=most, stop=tuple(stops))


def flag_of(body: Mapping[str, Any], name: str) -> bool:
    """Return a switch that is off unless it is true."""
    value = body.get(name)
    if value is not None and not isinstance(value, bool):
        raise invalid(name, "must be true or false.")
    return bool(value)


def user_of(body: Mapping[str, Any]) -> str | None:
    """Return the client's own name for its user."""
    for name in ("safety_identifier", "user"):
        value = body.get(name)
        if value is not None:
            if not isinstance(value, str):
                raise invalid(name, "must be a text.")
            return value
    return None


def metadata_of(body: Mapping[str, Any]) -> dict[str, str]:
    """Return the client's own notes.

    Raises:
        InvalidInput: they are not up to 16 short texts.
    """
    metadata = body.get("metadata")
    if metadata is None:
        return {}
    if not isinstance(metadata, dict) or len(metadata) > _METADATA_KEYS:
        raise invalid("metadata", f"must be an object of up to {_METADATA_KEYS} texts.")
    for key, value in metadata.items():
        if not isinstance(value, str) or len(value) > _VALUE_CHARS or len(key) > _KEY_CHARS:
            raise invalid("metadata", f"holds keys of up to {_KEY_CHARS} and texts of up to {_VALUE_CHARS} characters.")
    return metadata


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """What a request's `model` asks for: its name as the client knows it, a provider's model, a base."""

    name: str
    wish: str | None = None
    base: KnowledgeBase | None = None


def model_of(project: Project, body: Mapping[str, Any], warnings: list[str]) -> ModelChoice:
    """Return what a request's `model` asks for.

    Raises:
        InvalidInput: no name, or that of several bases.
        NotFound: `model_not_found`.
    """
    name = body.get("model", NO_PREFERENCE)
    if not isinstance(name, str) or not name:
        raise invalid("model", "must be the name of a model.")
    if name == NO_PREFERENCE:
        return ModelChoice(name)
    if name.startswith(BASE_MODEL):
        return ModelChoice(name, base=base_of_model(project, name))
    where = configuration()
    if where is not None and (name == where.model or name in model_names()):
        return ModelChoice(name, wish=name)
    if takes_any_model():
        warnings.append(f"The model '{name}' is not known here; '{NO_PREFERENCE}' answered.")
        return ModelChoice(name)
    raise unknown_model(name)


def base_of_model(project: Project, name: str) -> KnowledgeBase:
    """Return the base that a model's name names, by the base's id or its name.

    Raises:
        InvalidInput: several bases have the name.
        NotFound: `model_not_found`.
    """
    named = name.removeprefix(BASE_MODEL)
    for find in (knowledge_base, base_by_name):
        with suppress(NotFound):
            return find(project, named)
    raise unknown_model(name)


def unknown_model(name: str) -> NotFound:
    return missing(
        "model",
        "model_not_found",
        f"The model '{name}' does not exist. Ask '{NO_PREFERENCE}', or another that GET /v1/models lists.",
    )


def takes_any_model() -> bool:
    """Return whether an unknown model's name is taken for no wish."""
    chosen = settings.MRPVM_OPENAI_ANY_MODEL
    return chosen == "1" or (chosen == "auto" and not is_configured())


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
