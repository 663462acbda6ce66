"""The composition root of language models: the provider as the environment names it, and a turn's view of it."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

from django.conf import settings

from mrpvm.llm.absent import AbsentModel
from mrpvm.llm.bridge import ConfiguredModel
from mrpvm.llm.endpoint import Endpoint, EndpointConfig
from mrpvm.llm.local_model import NAME, LocalModel
from mrpvm.llm.port import ModelSource, Sampling
from mrpvm.llm.provider_thread import ProviderThread
from mrpvm.llm.roles import ModelConfig, model_config_of

NO_MODEL = "No language model is configured."


def is_named() -> bool:
    """Return whether the environment names an endpoint and a model."""
    return bool(settings.MRPVM_LLM_BASE_URL and settings.MRPVM_LLM_MODEL)


def is_configured() -> bool:
    """Return whether there is a model to ask: one that the environment names, or the local one."""
    return is_named() or _local is not None


def configuration() -> EndpointConfig | None:
    """Return where and how models are asked, None when none is configured."""
    if is_named():
        where = (settings.MRPVM_LLM_BASE_URL, settings.MRPVM_LLM_MODEL, settings.MRPVM_LLM_API_KEY)
        api = settings.MRPVM_LLM_API
    elif _local is not None:
        where = (_local.url, NAME, _local.api_key)
        api = "chat"  # llama.cpp's Responses API takes no earlier answers
    else:
        return None
    base_url, model, api_key = where
    return EndpointConfig(
        base_url=base_url,
        model=model,
        api_key=api_key,
        api=cast(Any, api),
        timeout_ms=settings.MRPVM_LLM_TIMEOUT_MS,
        max_retries=settings.MRPVM_LLM_MAX_RETRIES,
        keeps_answers=settings.MRPVM_LLM_CACHE,
    )


def use_local_model(model: LocalModel | None) -> None:
    """Use the local model for every role without a model in the environment; none with None."""
    global _local
    _local = model


def local_model() -> LocalModel | None:
    """Return the local model, None if the environment names another or there is none."""
    return None if is_named() else _local


_local: LocalModel | None = None


def endpoint() -> Endpoint | None:
    """Return the process's provider, None when none is configured."""
    config = configuration()
    return None if config is None else _endpoint(config)


@lru_cache(maxsize=4)
def _endpoint(config: EndpointConfig) -> Endpoint:
    return Endpoint(config)


def model_source(
    config: Mapping[str, Any] | None = None,
    sampling: Sampling | None = None,
    provider_thread: ProviderThread | None = None,
    wish: str | None = None,
) -> ModelSource:
    """Return the models under one snapshot of the roles.

    Args:
        config: the stored table; the shipped defaults when None or empty.
        sampling: what a request asks of the model that writes its answer.
        provider_thread: the turn's place in the provider's thread.
        wish: the model of the request or session, for calls whose plugin is not told of it.
    """
    provider = endpoint()
    if provider is None:
        return AbsentModel()
    roles = model_config_of(config) if config else ModelConfig()
    return ConfiguredModel(provider, roles, sampling or Sampling(), provider_thread, wish)


def model_names() -> tuple[str, ...]:
    """Return the configured model and those the provider lists; none without a provider."""
    provider = endpoint()
    return () if provider is None else provider.model_names()


def warm() -> None:
    """Load the SDK in the background if a model is configured."""
    provider = endpoint()
    if provider is not None:
        provider.warm()
