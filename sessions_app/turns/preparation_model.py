"""Model calls of a turn's preparation, within the limits of the turn."""

import functools
from threading import Event

from mrpvm.conversation.asking import Spent
from mrpvm.errors import BudgetExceeded, ModelTimeout, TurnCancelled, TurnInterrupted
from mrpvm.llm.port import CallScope, Prompt
from mrpvm.llm.recorder import ModelExchange, Recorder
from mrpvm.values import HistoryMessage
from sessions_app.language_model import is_configured, model_source
from sessions_app.models import ExplainabilityTurn
from sessions_app.plugin_threads import on_plugin_thread
from sessions_app.turns.cancel import CancelWatch
from sessions_app.turns.machine import machine, turn_limits

KEPT_CALLS = 3
"""Model calls kept for the turn itself, to detect, solve and validate; preparation works without a model."""


class TurnPreparationModel:
    """One turn's model calls before its machine runs, and the time that has passed since the turn took its slot.

    They count against the turn's limits and end when the turn must.
    """

    def __init__(self, turn: ExplainabilityTurn) -> None:
        self._call_count = 0
        self._exchanges: list[ModelExchange] = []
        self._ended: TurnCancelled | TurnInterrupted | None = None
        self._config = turn.session.model_config
        self._limits = turn_limits()
        self._watch = CancelWatch(turn)
        self._clock = machine().clock
        passed = self._clock.now() - turn.created_at  # KB plugins may have heard of another base since
        self._started_ms = self._clock.monotonic_ms() - max(0.0, passed.total_seconds() * 1000)

    @property
    def available(self) -> bool:
        """Return whether a model is configured."""
        return is_configured()

    def ask(self, plugin_id: str, role: str, system: str, text: str, *, timeout_ms: int) -> str:
        """Return the model's answer to one text.

        Raises:
            BudgetExceeded: the calls that are left are kept for the answer.
            ModelFailed, ModelTimeout: it did not deliver, or not in time.
            TurnCancelled, TurnInterrupted: the turn must end; `spent` raises it again.
        """
        self._raise_if_ended()
        if self._limits.max_llm_calls - self._call_count <= KEPT_CALLS:
            raise BudgetExceeded("The model calls that are left are kept for the answer.")
        self._call_count += 1
        recorder, stop = Recorder(), Event()
        timeout_ms = min(timeout_ms, self._left_ms())
        scope = CallScope(timeout_ms=timeout_ms, max_calls=1, stopped=stop.is_set, recorder=recorder)
        message = HistoryMessage(role="user", content=text)
        prompt = Prompt(plugin_id=plugin_id, role=role, system=system, messages=(message,))
        call = functools.partial(model_source(self._config).bind(scope).call, prompt)
        try:
            return on_plugin_thread(timeout_ms, call, self._patience).text
        except TimeoutError:
            raise ModelTimeout("The model did not answer in time.") from None
        finally:
            stop.set()
            self._exchanges += [{**record, "purpose": plugin_id} for record in recorder.as_records()]

    def spent(self) -> Spent:
        """Return what was taken since the turn took its slot.

        Raises:
            TurnCancelled, TurnInterrupted: a call met it, after which the caller went on without a model.
        """
        self._raise_if_ended()
        return Spent(self._spent_ms(), self._call_count, tuple(self._exchanges))

    def _raise_if_ended(self) -> None:
        if self._ended is not None:
            raise self._ended

    def _spent_ms(self) -> int:
        return int(self._clock.monotonic_ms() - self._started_ms)

    def _left_ms(self) -> int:
        return self._limits.request_timeout_ms - self._spent_ms()

    def _patience(self) -> float:
        """Return the milliseconds that the turn has left, or note and raise that it must end."""
        try:
            self._watch.look()
        except (TurnCancelled, TurnInterrupted) as error:
            self._ended = error
            raise
        return self._left_ms()
