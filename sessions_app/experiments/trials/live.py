"""Language models that trials ask live: how many tokens that is likely to take, and how many are allowed."""

from collections.abc import Callable, Iterable, Mapping
from copy import replace
from dataclasses import dataclass
from decimal import Decimal
from threading import Lock
from typing import Any

from django.conf import settings

from mrpvm.errors import Conflict, Unavailable
from mrpvm.llm.dialect import Completion
from mrpvm.llm.endpoint import Endpoint
from mrpvm.llm.port import OnText
from mrpvm.values import CHARS_PER_TOKEN, Usage
from sessions_app.actions.settings.quotas import check_model_use, count_model_use
from sessions_app.experiments.replays.recorded import RecordedTurn, recorded_requests
from sessions_app.language_model import NO_MODEL, endpoint
from sessions_app.models import Project

ANSWER_TOKENS = 500
"""Estimated tokens of an answer where the turn asked no model."""
_PRICED_TOKENS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The tokens and cost that trials are likely to take; `cost` is None where no price is set."""

    call_count: int
    token_count: int
    cost: Decimal | None
    budget: int

    @property
    def is_allowed(self) -> bool:
        """Return whether it is within `MRPVM_TRIAL_BUDGET`."""
        return self.token_count <= self.budget


def estimate(trials: Iterable[RecordedTurn]) -> Estimate:
    """Return what it would take to run these turns again with a model: what they sent, or else their conversations."""
    calls, used = 0, Usage(input_tokens=0, output_tokens=0)
    for recorded in trials:
        requests = recorded_requests(recorded)
        chars = sum(len(str(request["body"])) for request in requests)
        if not requests:
            state = recorded.state
            chars = len(recorded.message) + sum(len(said.content) for said in state.messages)
        count = max(1, len(requests))
        calls += count
        used += Usage(input_tokens=chars // CHARS_PER_TOKEN, output_tokens=count * ANSWER_TOKENS)
    return Estimate(
        call_count=calls,
        token_count=used.input_tokens + used.output_tokens,
        cost=token_cost(used),
        budget=settings.MRPVM_TRIAL_BUDGET,
    )


def with_messages(estimate: Estimate, messages: Iterable[str]) -> Estimate:
    """Return an estimate with one call more for each of these messages."""
    questions = list(messages)
    used = Usage(
        input_tokens=sum(len(message) for message in questions) // CHARS_PER_TOKEN,
        output_tokens=len(questions) * ANSWER_TOKENS,
    )
    cost = token_cost(used)
    return replace(
        estimate,
        call_count=estimate.call_count + len(questions),
        token_count=estimate.token_count + used.input_tokens + used.output_tokens,
        cost=None if estimate.cost is None or cost is None else estimate.cost + cost,
    )


def check_allowed(estimate: Estimate, project: Project) -> None:
    """Refuse trials that would ask a model for more than is allowed.

    Raises:
        Unavailable: LLM_NOT_AVAILABLE, no model is configured.
        Conflict: TRIAL_BUDGET, with the estimate.
        Unavailable: QUOTA_REACHED, the project has used what it may today.
    """
    if endpoint() is None:
        raise Unavailable(NO_MODEL, code="LLM_NOT_AVAILABLE")
    check_model_use(project)
    if not estimate.is_allowed:
        raise Conflict(
            f"These trials would take about {estimate.token_count} tokens from the model;"
            f" {estimate.budget} are allowed.",
            code="TRIAL_BUDGET",
            details={"tokens": estimate.token_count, "budget": estimate.budget},
        )


def token_cost(usage: Usage) -> Decimal | None:
    """Return what tokens cost, None where no price is set."""
    prices = settings.MRPVM_LLM_INPUT_PRICE, settings.MRPVM_LLM_OUTPUT_PRICE
    if not any(prices):
        return None
    hundredths = usage.input_tokens * prices[0] + usage.output_tokens * prices[1]
    return Decimal(hundredths) / 100 / _PRICED_TOKENS


class Allowance:
    """The tokens that an experiment may still take; safe to be used by several threads."""

    def __init__(self, token_count: int) -> None:
        self._lock = Lock()
        self._left = token_count

    @property
    def is_spent(self) -> bool:
        """Return whether nothing is left."""
        return self._left <= 0

    def take(self, usage: Usage) -> None:
        """Subtract the tokens of an answer."""
        with self._lock:
            self._left -= usage.input_tokens + usage.output_tokens


class LiveModel:
    """The configured provider as one trial asks it; `usage` counts its tokens."""

    def __init__(self, provider: Endpoint, allowance: Allowance, project_pk: int) -> None:
        self.config = provider.config
        self.usage = Usage(input_tokens=0, output_tokens=0)
        self._provider = provider
        self._allowance = allowance
        self._project_pk = project_pk
        self._lock = Lock()

    @property
    def is_allowed(self) -> bool:
        """Return whether it may be asked once more."""
        return not self._allowance.is_spent

    @property
    def cost(self) -> Decimal | None:
        """Return what was taken in the currency of the price, None where none is set."""
        return token_cost(self.usage)

    def send(
        self,
        body: Mapping[str, Any],
        timeout_ms: float,
        on_text: OnText | None,
        is_over: Callable[[], bool],
        headers: Mapping[str, str] | None = None,
    ) -> Completion:
        """Return the answer; see `Endpoint.send`."""
        completion = self._provider.send(body, timeout_ms, on_text, is_over, headers)
        usage = completion.usage or Usage(
            input_tokens=len(str(body)) // CHARS_PER_TOKEN,
            output_tokens=len(completion.text) // CHARS_PER_TOKEN,
            is_estimated=True,
        )
        self._allowance.take(usage)
        name = str(body.get("model") or self.config.model)
        count_model_use(self._project_pk, [(name, usage.input_tokens, usage.output_tokens)])
        with self._lock:
            self.usage += usage
        return completion
