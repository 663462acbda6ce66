"""Language models of a turn that is run again: what was answered then, and calls to the provider where allowed."""

import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from threading import Event, Lock
from typing import Any

from mrpvm.conversation.asking import Spent
from mrpvm.errors import BudgetExceeded, ModelFailed, ModelTimeout, MRPError
from mrpvm.llm.absent import AbsentModel
from mrpvm.llm.bridge import ConfiguredModel
from mrpvm.llm.dialect import Completion
from mrpvm.llm.endpoint import AttemptFailed, Endpoint, EndpointConfig
from mrpvm.llm.port import CallScope, ModelSource, OnText, Prompt, Sampling
from mrpvm.llm.recorder import ModelExchange, ModelResponse, Recorder
from mrpvm.llm.redaction import redacted
from mrpvm.llm.roles import model_config_of
from mrpvm.values import HistoryMessage, Usage
from mrpvm.wire import from_wire
from sessions_app.experiments.replays.recorded import RecordedTurn, recorded_requests
from sessions_app.experiments.trials.live import LiveModel
from sessions_app.turns.preparation_model import KEPT_CALLS

_OF_THE_CONNECTION = ("previous_response_id", "store")
"""Fields that place a request in the provider's thread, and say nothing of what is asked."""


class NeedsModel(MRPError):
    """A request that the recorded turn did not make, while no call is allowed; the details hold it."""

    default_code = "MODEL_NOT_RECORDED"

    def __init__(self, body: Mapping[str, Any]) -> None:
        super().__init__(
            "The model would be asked something that it was not asked in the recorded turn.",
            details={"request": dict(body)},
        )


class RecordedExchanges:
    """What models answered in a turn, by the content of the request; equal ones are answered in their order.

    `missing` are the requests that were not there and were not made.
    """

    def __init__(self, exchanges: Iterable[ModelExchange]) -> None:
        self._answers: dict[str, deque[ModelExchange]] = defaultdict(deque)
        self._lock = Lock()
        self.missing: list[Mapping[str, Any]] = []
        for exchange in exchanges:
            waiting = self._answers[_canonical(exchange["body"])]
            if exchange.get("attempt", 1) > 1 and waiting:
                waiting.pop()  # of several attempts the last one counts
            waiting.append(exchange)

    def answer_to(self, body: Mapping[str, Any]) -> ModelExchange | None:
        """Return the next recorded exchange with this content, None where there is none."""
        with self._lock:
            waiting = self._answers.get(_canonical(body))
            return waiting.popleft() if waiting else None

    def miss(self, body: Mapping[str, Any]) -> None:
        """Note a request that was not made."""
        with self._lock:
            self.missing.append(redacted(dict(body), ()))


def _canonical(body: Mapping[str, Any]) -> str:
    kept = {name: item for name, item in redacted(dict(body), ()).items() if name not in _OF_THE_CONNECTION}
    return json.dumps(kept, sort_keys=True, ensure_ascii=False)


class RecordedEndpoint(Endpoint):
    """A provider that replays the answers of a recorded turn; other requests go to `live`."""

    def __init__(self, config: EndpointConfig, exchanges: RecordedExchanges, live: LiveModel | None = None) -> None:
        super().__init__(config, pause=lambda seconds: None)
        self._exchanges = exchanges
        self._live = live

    def send(
        self,
        body: Mapping[str, Any],
        timeout_ms: float,
        on_text: OnText | None,
        is_over: Callable[[], bool],
        headers: Mapping[str, str] | None = None,
    ) -> Completion:
        """Return the recorded answer.

        Raises:
            AttemptFailed: the recorded failure, or MODEL_NOT_RECORDED.
        """
        exchange = self._exchanges.answer_to(body)
        if exchange is None:
            if self._live is not None and self._live.is_allowed:
                return self._live.send(body, timeout_ms, on_text, is_over, headers)
            self._exchanges.miss(body)
            raise NeedsModel(body)
        response = exchange.get("response")
        if response is None or "error" in response:
            raise AttemptFailed(_failure(response), status=(response or {}).get("status"))
        if on_text is not None:
            on_text(response["text"])
        usage = response.get("usage")
        return Completion(
            text=response["text"],
            finish_reason=response.get("finishReason") or "stop",
            usage=from_wire(Usage, usage) if usage else None,
        )


def _failure(response: ModelResponse | None) -> ModelFailed:
    if response is None:
        return ModelTimeout("The model did not answer in time.")
    error = response["error"]
    kind = ModelTimeout if error["code"] == ModelTimeout.default_code else ModelFailed
    return kind(error["message"], details=error.get("details") or {})


def recorded_exchanges(recorded: RecordedTurn) -> RecordedExchanges:
    """Return what models were asked in the turn, in preparing it and in its calls."""
    return RecordedExchanges(recorded_requests(recorded))


def models_of(
    recorded: RecordedTurn,
    exchanges: RecordedExchanges,
    sampling: Sampling | None = None,
    live: LiveModel | None = None,
) -> ModelSource:
    """Return the models of the turn; `live` is asked what the turn did not ask, where calls are allowed.

    A turn that had no model gets that one, with the roles of its session.
    """
    conditions = recorded.conditions["models"]
    if conditions is None:
        if live is None:
            return AbsentModel()
        roles = model_config_of(recorded.turn.session.model_config)
        return ConfiguredModel(RecordedEndpoint(live.config, exchanges, live), roles, sampling or Sampling())
    config = EndpointConfig(
        base_url=conditions["baseUrl"], model=conditions["model"], api=conditions["api"], max_retries=0
    )
    endpoint = RecordedEndpoint(config if live is None else live.config, exchanges, live)
    if sampling is None:
        sampling = from_wire(Sampling, conditions["sampling"])
    return ConfiguredModel(endpoint, model_config_of(conditions["config"]), sampling)


class RecordedPreparation:
    """The model as the preparation of a turn that is run again asks it."""

    def __init__(self, models: ModelSource, *, spent_ms: int, call_count: int, max_calls: int) -> None:
        self._spent_ms = spent_ms
        self._call_count = call_count
        self._models = models
        self._max_calls = max_calls

    @property
    def available(self) -> bool:
        """Return whether a model is configured."""
        return self._models.available

    def ask(self, plugin_id: str, role: str, system: str, text: str, *, timeout_ms: int) -> str:
        """Return the model's answer to one text; see `mrpvm.conversation.asking.PreparationModel`."""
        if self._max_calls - self._call_count <= KEPT_CALLS:
            raise BudgetExceeded("The model calls that are left are kept for the answer.")
        self._call_count += 1
        scope = CallScope(timeout_ms=timeout_ms, max_calls=1, stopped=Event().is_set, recorder=Recorder())
        message = HistoryMessage(role="user", content=text)
        prompt = Prompt(plugin_id=plugin_id, role=role, system=system, messages=(message,))
        return self._models.bind(scope).call(prompt).text

    def spent(self) -> Spent:
        """Return what was taken; a recorded turn is not stopped."""
        return Spent(self._spent_ms, self._call_count)
