"""The composition root of language models: the provider as the environment names it, and a turn's view of it."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, cast

from django.conf import settings

from mrpvm.llm.absent import AbsentModel
from mrpvm.llm.bridge import ConfiguredModel
from mrpvm.llm.chain import Chain
from mrpvm.llm.endpoint import Endpoint, EndpointConfig
from mrpvm.llm.port import ModelSource, Sampling
from mrpvm.llm.roles import ModelConfig, model_config_of
from sessions_app.models import Session

NO_MODEL = "No language model is configured."


def is_configured() -> bool:
    """Return whether base URL and model are set."""
    return bool(settings.MRPVM_LLM_BASE_URL and settings.MRPVM_LLM_MODEL)


def endpoint() -> Endpoint | None:
    """Return the process's provider, None when none is configured."""
    if not is_configured():
        return None
    return _endpoint(
        EndpointConfig(
            base_url=settings.MRPVM_LLM_BASE_URL,
            model=settings.MRPVM_LLM_MODEL,
            api_key=settings.MRPVM_LLM_API_KEY,
            api=cast(Any, settings.MRPVM_LLM_API),
            timeout_ms=settings.MRPVM_LLM_TIMEOUT_MS,
            max_retries=settings.MRPVM_LLM_MAX_RETRIES,
            keeps_answers=settings.MRPVM_LLM_CACHE,
        )
    )


@lru_cache(maxsize=4)
def _endpoint(config: EndpointConfig) -> Endpoint:
    return Endpoint(config)


def model_source(
    config: Mapping[str, Any] | None = None,
    sampling: Sampling | None = None,
    chain: Chain | None = None,
    wish: str | None = None,
) -> ModelSource:
    """Return the models under one snapshot of the roles.

    Args:
        config: the stored table; the shipped defaults when None or empty.
        sampling: what a request asks of the model that writes its answer.
        chain: the turn's place in the provider's thread.
        wish: the model of the request or session, for calls whose plugin is not told of it.
    """
    provider = endpoint()
    if provider is None:
        return AbsentModel()
    roles = model_config_of(config) if config else ModelConfig()
    return ConfiguredModel(provider, roles, sampling or Sampling(), chain, wish)


def grounding_of(session: Session, requested: str | None) -> Literal["strict", "open"]:
    """Return whether answers may go beyond evidence: as the request, the session, the project or the server say.

    Without a model there is nobody to go beyond it.
    """
    if not is_configured():
        return "strict"
    chosen = requested or session.grounding or session.project.grounding or settings.MRPVM_GROUNDING
    return "strict" if chosen == "strict" else "open"


def model_names() -> tuple[str, ...]:
    """Return the configured model and those the provider lists; none without a provider."""
    provider = endpoint()
    return () if provider is None else provider.model_names()


def warm() -> None:
    """Load the SDK in the background if a model is configured."""
    provider = endpoint()
    if provider is not None:
        provider.warm()
