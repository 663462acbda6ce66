"""The provider behind the SDK: one attempt of one request at a time, every failure told in one way."""

import functools
import threading
import time
from collections.abc import Callable, Mapping
from copy import replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from math import ceil
from typing import Any, Literal

from msgspec import Struct

from mrpvm.errors import ModelFailed, ModelTimeout
from mrpvm.llm.cache import ResponseCache
from mrpvm.llm.dialect import DIALECTS, Completion, UnreadableAnswer
from mrpvm.llm.port import OnText
from mrpvm.llm.provider_thread import FOLLOWED, stand_in
from mrpvm.llm.redaction import redacted
from mrpvm.llm.storable import StorableText, storable

LISTING_TIMEOUT_MS = 3_000
"""How long the provider's list of models may take."""
LISTING_KEPT_MS = 60_000
"""How long a list of models is taken for current."""
_REASON_CHARS = 300
_RATE_LIMITED = 429
_TRANSIENT = (408, _RATE_LIMITED)
_LONGEST_ASKED_MS = 366 * 24 * 3_600_000
_OPTIONAL = (
    "temperature", "max_tokens", "stop", "stream_options", "store", "reasoning_effort", "reasoning", "verbosity",
    "text", "previous_response_id",
)  # fmt: skip
_LOADING = "Loading model"  # of llama.cpp's server, until it can answer
_UNKNOWN_RESPONSE = "previous_response_not_found"


class EndpointConfig(Struct, frozen=True, kw_only=True):
    """Where the models are and how they are asked; the key comes from the environment alone."""

    base_url: str
    model: str
    api_key: str = ""
    api: Literal["chat", "responses"] = "chat"
    timeout_ms: int = 30_000
    max_retries: int = 2
    keeps_answers: bool = False


class AttemptFailed(Exception):
    """One attempt gave no answer; `error` is what a caller is told, `status` the provider's HTTP status if it gave one.

    `is_transient`: the same request may work a moment later. `refused` names a parameter the provider does not
    know, `lost_thread` says that it does not know the response which the request follows. `is_loading`: the server
    still reads the model from its disk.
    """

    def __init__(
        self,
        error: ModelFailed,
        *,
        is_transient: bool = False,
        status: int | None = None,
        retry_after_ms: int = 0,
        refused: str | None = None,
        lost_thread: bool = False,
        is_loading: bool = False,
    ) -> None:
        super().__init__(error.message)
        self.error = error
        self.is_transient = is_transient
        self.status = status
        self.retry_after_ms = retry_after_ms
        self.refused = refused
        self.lost_thread = lost_thread
        self.is_loading = is_loading


class Endpoint:
    """One provider; safe to be used by any number of threads.

    Args:
        pause: waits so many seconds.
    """

    def __init__(self, config: EndpointConfig, pause: Callable[[float], None] = time.sleep) -> None:
        self.config = config
        self.dialect = DIALECTS[config.api]
        self.url = config.base_url.rstrip("/") + self.dialect.path
        self.secrets = (config.api_key,) if config.api_key else ()
        self.cache = ResponseCache() if config.keeps_answers else None
        self.pause = pause
        self.refused: frozenset[tuple[str, str]] = frozenset()
        """Models and parameters that they do not take."""
        self._listed: tuple[float, tuple[str, ...]] | None = None

    def warm(self) -> None:
        """Load the SDK in the background, so that the first call does not wait for it."""
        threading.Thread(target=lambda: self._client, name="warm-model-sdk", daemon=True).start()

    @functools.cached_property
    def _client(self) -> Any:
        from openai import OpenAI

        # The SDK insists on a key; endpoints on one's own machine often have none.
        return OpenAI(base_url=self.config.base_url, api_key=self.config.api_key or "none", max_retries=0)

    def send(
        self,
        body: Mapping[str, Any],
        timeout_ms: float,
        on_text: OnText | None,
        is_over: Callable[[], bool],
        headers: Mapping[str, str] | None = None,
    ) -> Completion:
        """Return the answer to one request, sent once; `headers` go beside those of the SDK.

        Raises:
            AttemptFailed: there is none, for whatever reason.
        """
        try:
            answer = self.dialect.send(
                self._client.with_options(timeout=timeout_ms / 1000, default_headers=headers), body
            )
            if on_text is None:
                completion = _storable_completion(self.dialect.completion(answer))
            else:
                completion = self._followed(answer, on_text, is_over)
        except AttemptFailed:
            raise
        except ModelFailed as error:  # the reader of the stream refuses the answer
            raise AttemptFailed(error, status=200) from error
        except Exception as error:  # the SDK lets errors of its transport and of malformed answers through as they are
            raise self._failed(error, body) from error
        if not completion.text.strip():
            raise AttemptFailed(ModelFailed("The model's answer is empty."), status=200)
        return completion

    def _followed(self, stream: Any, on_text: OnText, is_over: Callable[[], bool]) -> Completion:
        """Return a stream's whole answer, handing on its pieces."""
        parts: list[str] = []
        storable_text = StorableText()

        def tell(text: str) -> None:
            if text:
                parts.append(text)
                on_text(text)

        with stream:
            for piece in self.dialect.pieces(stream):
                if is_over():
                    raise AttemptFailed(ModelTimeout("The model took too long to write its answer."), status=200)
                if isinstance(piece, Completion):
                    tell(storable_text.take("", is_last=True))
                    whole = replace(_storable_completion(piece), text="".join(parts))
                    return replace(whole, replaced_count=storable_text.replaced_count)
                tell(storable_text.take(piece))
        raise AttemptFailed(ModelFailed("The model's answer was cut off."), status=200, is_transient=True)

    def _failed(self, error: Exception, body: Mapping[str, Any]) -> AttemptFailed:
        """Return the failure that any exception of an attempt stands for."""
        import openai

        if isinstance(error, openai.APITimeoutError):
            return AttemptFailed(ModelTimeout("The model did not answer in time."), is_transient=True)
        if isinstance(error, openai.APIConnectionError):
            return AttemptFailed(ModelFailed("The model's provider cannot be reached."), is_transient=True)
        if isinstance(error, openai.APIStatusError):
            return self._refusal(error, body)
        if isinstance(error, openai.APIError):
            return AttemptFailed(ModelFailed(f"The model's provider reports: {self._reason(error)}"), status=200)
        why = str(error) if isinstance(error, UnreadableAnswer) else f"{type(error).__name__}"
        return AttemptFailed(ModelFailed(f"The model's answer cannot be read: {why}."), status=200)

    def _refusal(self, error: Any, body: Mapping[str, Any]) -> AttemptFailed:
        status = int(error.status_code)
        kind = ModelTimeout if status in (408, 504) else ModelFailed
        retry_after_ms = _retry_after_ms(error.response.headers.get("retry-after"))
        followed = str(body.get(FOLLOWED) or "")
        reason = self._reason(error)
        if followed:
            reason = reason.replace(followed, stand_in(followed))
        said, details = f"The model's provider answered {status}", {"status": status}
        if status == _RATE_LIMITED and retry_after_ms:
            said += f" (rate limited until {_now() + timedelta(milliseconds=retry_after_ms):%Y-%m-%d %H:%M:%S} UTC)"
            details["retry_after_seconds"] = ceil(retry_after_ms / 1000)
        failed = kind(f"{said}: {reason}", details=details)
        named = _named_parameter(error) if status == 400 else ""
        lost = bool(followed) and (error.code == _UNKNOWN_RESPONSE or followed in str(error.body))
        return AttemptFailed(
            failed,
            is_transient=status in _TRANSIENT,
            status=status,
            retry_after_ms=retry_after_ms,
            refused=named if named in _OPTIONAL and named in body and not lost else None,
            lost_thread=lost,
            is_loading=status == 503 and reason == _LOADING,
        )

    def _reason(self, error: Any) -> str:
        """Return the provider's own words, short and without secrets."""
        body = error.body if isinstance(error.body, Mapping) else {}
        said = body.get("message")
        return storable(str(redacted(said, self.secrets)))[:_REASON_CHARS] if isinstance(said, str) else "no reason"

    def model_names(self) -> tuple[str, ...]:
        """Return the configured model and what the provider lists; only the former when it lists nothing."""
        now = time.monotonic()
        if self._listed is None or (now - self._listed[0]) * 1000 >= LISTING_KEPT_MS:
            self._listed = (now, self._list_models())
        return tuple(dict.fromkeys((self.config.model, *self._listed[1])))

    def _list_models(self) -> tuple[str, ...]:
        try:
            listed = self._client.with_options(timeout=LISTING_TIMEOUT_MS / 1000).models.list()
            return tuple(sorted(storable(item.id) for item in listed.data if isinstance(item.id, str)))
        except Exception:  # a provider need not be able to list; whether it answers, the calls will show
            return ()


def _storable_completion(completion: Completion) -> Completion:
    """Return what the provider sent as it can be stored."""
    text = StorableText()
    return replace(
        completion,
        text=text.take(completion.text, is_last=True),
        finish_reason=storable(completion.finish_reason),
        response_id=completion.response_id and storable(completion.response_id),
        replaced_count=text.replaced_count,
    )


def _named_parameter(error: Any) -> str:
    """Return the parameter that a refusal names, in its field or, as llama.cpp does, in quotes in its words."""
    if isinstance(error.param, str):
        return error.param
    return next((name for name in _OPTIONAL if f"'{name}'" in str(error.body)), "")


def _retry_after_ms(header: str | None) -> int:
    """Return the wait that a provider asks for, in seconds or as a date; 0 for what is neither, or is past."""
    if header is None:
        return 0
    try:
        wait_ms = float(header) * 1000 if header[:1].isdigit() else _until(parsedate_to_datetime(header))
    except ValueError:
        return 0
    return ceil(max(0, min(wait_ms, _LONGEST_ASKED_MS)))


def _until(moment: datetime) -> float:
    return (moment.astimezone(UTC) - _now()) / timedelta(milliseconds=1)


def _now() -> datetime:
    return datetime.now(UTC)
