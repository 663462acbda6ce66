"""One logical call from prompt to answer: model, cache, deadline, retries with back-off, record."""

import logging
import time
from collections.abc import Mapping, Sequence
from copy import replace
from typing import Any

from mrpvm.errors import BudgetExceeded, ModelFailed, ModelTimeout
from mrpvm.llm.dialect import Completion
from mrpvm.llm.endpoint import AttemptFailed, Endpoint
from mrpvm.llm.port import CallScope, LanguageModel, OnText, Prompt, Reply, Sampling
from mrpvm.llm.provider_thread import ProviderThread
from mrpvm.llm.recorder import estimated_tokens
from mrpvm.llm.roles import ModelConfig, ResolvedModel, resolve_model
from mrpvm.llm.trace_context import HEADER, current_trace
from mrpvm.values import Usage
from mrpvm.wire import to_wire

logger = logging.getLogger(__name__)

FIRST_WAIT_MS = 1_000
LONGEST_WAIT_MS = 10_000
"""Waits between attempts double from the first to the longest. If a provider demands a longer one, the call fails."""
LAST_WORDS_MS = 250
"""A call ends this long before its plugin is given up, so that the plugin can still say why."""
_POLL_MS = 50
ANSWERING_ROLES = ("goal-fast", "goal-deep")
AS_CONFIGURED = Sampling()


class ConfiguredModel:
    """The provider's models under one snapshot of the roles: one turn's source of models."""

    def __init__(
        self,
        endpoint: Endpoint,
        config: ModelConfig,
        sampling: Sampling = AS_CONFIGURED,
        provider_thread: ProviderThread | None = None,
        wish: str | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._config = config
        self._sampling = sampling
        self._provider_thread = provider_thread
        self._wish = wish

    @property
    def available(self) -> bool:
        return True

    def bind(self, scope: CallScope) -> LanguageModel:
        """Return the model for one plugin call."""
        return _BoundModel(self._endpoint, self._config, self._sampling, scope, self._provider_thread, self._wish)


class _BoundModel:
    def __init__(
        self,
        endpoint: Endpoint,
        config: ModelConfig,
        sampling: Sampling,
        scope: CallScope,
        provider_thread: ProviderThread | None,
        wish: str | None,
    ) -> None:
        self._endpoint = endpoint
        self._config = config
        self._sampling = sampling
        self._scope = scope
        self._provider_thread = provider_thread
        self._wish = wish
        self._deadline = time.monotonic() + (scope.timeout_ms - LAST_WORDS_MS) / 1000

    @property
    def available(self) -> bool:
        return True

    def call(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """Return the answer; see `LanguageModel.call`."""
        if self._scope.recorder.call_count >= self._scope.max_calls:
            allowed = self._scope.max_calls
            raise BudgetExceeded(f"The plugin {prompt.plugin_id} may make {allowed} model calls, and wants more.")
        endpoint = self._endpoint
        resolved = resolve_model(
            self._config, prompt.plugin_id, prompt.role, prompt.wish or self._wish, endpoint.config.model,
            keeps_role=prompt.keeps_role,
        )  # fmt: skip
        self._scope.recorder.call_began(resolved.model, resolved.role, endpoint.secrets)
        body = self._body(resolved.model, prompt, streams=on_text is not None)
        thread = self._provider_thread if prompt.role in ANSWERING_ROLES else None
        completion = self._cached(body, resolved, on_text)
        if completion is None:
            try:
                completion = self._asked(body, resolved, on_text, thread)
            except ModelFailed as error:
                if not self._scope.stopped():
                    logger.warning("the model %s failed %s: %s", resolved.model, prompt.plugin_id, error.message)
                raise
            if endpoint.cache is not None:
                endpoint.cache.put(body, completion)
        chars = len(prompt.system) + sum(len(item.content) for item in prompt.messages)
        usage = completion.usage or Usage(
            input_tokens=estimated_tokens(chars),
            output_tokens=estimated_tokens(len(completion.text)),
            is_estimated=True,
        )
        self._scope.recorder.used(usage)
        if completion.replaced_count:
            self._scope.recorder.warn(
                f"{completion.replaced_count} characters of the model's answer cannot be stored (half of a surrogate"
                " pair, or NUL); each was replaced by U+FFFD."
            )
        if completion.finish_reason == "length" and prompt.role in ANSWERING_ROLES:
            self._scope.recorder.answer_was_cut = True
        return Reply(
            text=completion.text,
            model=resolved.model,
            role=resolved.role,
            finish_reason=completion.finish_reason,
            usage=usage,
        )

    def _body(self, model: str, prompt: Prompt, *, streams: bool) -> dict[str, Any]:
        """Return the request; the client's sampling applies only to roles that write the answer."""
        sampling = self._sampling if prompt.role in ANSWERING_ROLES else AS_CONFIGURED
        config = (
            self._config if sampling.temperature is None else replace(self._config, temperature=sampling.temperature)
        )
        body = self._endpoint.dialect.body(model, prompt, config, streams=streams)
        return body | self._endpoint.dialect.limits(sampling.max_tokens, sampling.stop)

    def _cached(self, body: Mapping[str, Any], resolved: ResolvedModel, on_text: OnText | None) -> Completion | None:
        """Return a kept answer; it counts as a call like any other."""
        completion = None if self._endpoint.cache is None else self._endpoint.cache.get(body)
        if completion is not None:
            exchange = self._scope.recorder.sent(self._endpoint.url, body, basis=resolved.basis, attempt=0)
            exchange.ended({"text": completion.text, "finishReason": completion.finish_reason, "fromCache": True})
            if on_text is not None:
                on_text(completion.text)
        return completion

    def _asked(
        self, body: dict[str, Any], resolved: ResolvedModel, on_text: OnText | None, thread: ProviderThread | None
    ) -> Completion:
        """Send until there is an answer, the failure is final, or time is up; nothing is sent twice once text came."""
        parts: list[str] = []

        def tell(text: str) -> None:
            parts.append(text)
            if on_text is not None:
                on_text(text)

        transient_count, attempt = 0, 0
        while True:
            attempt += 1
            linked = body if thread is None else body | self._endpoint.dialect.following(thread.previous_id)
            sent = {name: item for name, item in linked.items() if (resolved.model, name) not in self._endpoint.refused}
            try:
                left_out = sorted(linked.keys() - sent.keys())
                completion = self._attempt(sent, left_out, resolved, attempt, None if on_text is None else tell)
                if thread is not None:
                    thread.answered(completion.response_id)
                return completion
            except AttemptFailed as failed:
                if parts:
                    raise failed.error from None
                if thread is not None and failed.lost_thread:
                    thread.broke()
                    continue
                if failed.refused in sent:
                    self._endpoint.refused |= {(resolved.model, str(failed.refused))}
                    continue
                if failed.is_loading:  # not an attempt: the request was not read
                    self._wait(FIRST_WAIT_MS, failed.error)
                    continue
                is_last = transient_count == self._endpoint.config.max_retries
                if not failed.is_transient or is_last or failed.retry_after_ms > LONGEST_WAIT_MS:
                    raise failed.error from None
                self._wait(max(FIRST_WAIT_MS * 2**transient_count, failed.retry_after_ms), failed.error)
                transient_count += 1

    def _attempt(
        self,
        body: Mapping[str, Any],
        left_out: Sequence[str],
        resolved: ResolvedModel,
        attempt: int,
        tell: OnText | None,
    ) -> Completion:
        remaining_ms = (self._deadline - time.monotonic()) * 1000
        if remaining_ms <= 0 or self._scope.stopped():
            raise AttemptFailed(ModelTimeout("No time was left for the model."))
        traced = trace.child() if (trace := current_trace.get()) is not None else None
        exchange = self._scope.recorder.sent(
            self._endpoint.url, body, basis=resolved.basis, attempt=attempt, left_out=left_out, trace=traced
        )
        timeout_ms = min(self._endpoint.config.timeout_ms, remaining_ms)
        try:
            completion = self._endpoint.send(
                body, timeout_ms, tell, self._is_over, {HEADER: traced.header} if traced else None
            )
        except AttemptFailed as failed:
            exchange.ended({"status": failed.status, "error": failed.error.as_record()})
            raise
        exchange.ended(
            {
                "status": 200, "text": completion.text, "finishReason": completion.finish_reason,
                "usage": to_wire(completion.usage),
            }
        )  # fmt: skip
        return completion

    def _is_over(self) -> bool:
        return self._scope.stopped() or time.monotonic() >= self._deadline

    def _wait(self, wait_ms: int, error: ModelFailed) -> None:
        """Wait before the next attempt.

        Raises:
            ModelFailed: the wait would outlast the call, or somebody stopped it.
        """
        wait_ms = min(wait_ms, LONGEST_WAIT_MS)
        if time.monotonic() + wait_ms / 1000 >= self._deadline:
            raise error
        while wait_ms > 0 and not self._scope.stopped():
            self._endpoint.pause(min(wait_ms, _POLL_MS) / 1000)
            wait_ms -= _POLL_MS
        if self._is_over():  # a busy machine may wake later than asked
            raise error
