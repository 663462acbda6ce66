"""Reused threads: one per request, never shared, never waited for; streams release theirs."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from django.core.signals import request_finished, request_started
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.test import override_settings
from django.urls import path

from sessions_app.web.shell.warm_threads import ThreadHandler, WarmThreads

SECONDS = 5


@pytest.mark.asyncio
async def test_one_request_after_another_uses_one_thread() -> None:
    warm = WarmThreads(size=2)
    threads = {await warm.run(threading.get_ident) for _ in range(5)}
    warm.close()
    assert len(threads) == 1


@pytest.mark.asyncio
async def test_concurrent_requests_never_share_a_thread_or_wait() -> None:
    warm, all_started = WarmThreads(size=2), threading.Barrier(5)

    def work() -> int:
        all_started.wait(SECONDS)
        return threading.get_ident()

    threads = await asyncio.gather(*(warm.run(work) for _ in range(5)))
    warm.close()
    assert len(set(threads)) == 5


@pytest.mark.asyncio
async def test_a_thread_busy_for_a_client_that_left_is_not_lent() -> None:
    warm, busy, may_end = WarmThreads(size=2), threading.Event(), threading.Event()
    threads: list[int] = []

    def slow_view() -> None:
        threads.append(threading.get_ident())
        busy.set()
        assert may_end.wait(SECONDS)

    abandoned = asyncio.ensure_future(warm.run(slow_view))
    await asyncio.to_thread(busy.wait, SECONDS)
    abandoned.cancel()
    with pytest.raises(asyncio.CancelledError):
        await abandoned
    assert await warm.run(threading.get_ident) not in threads
    may_end.set()
    warm.close()


@pytest.mark.asyncio
async def test_an_error_comes_back_and_the_thread_is_lent_again() -> None:
    warm = WarmThreads(size=1)

    def fail() -> None:
        raise LookupError(threading.get_ident())

    with pytest.raises(LookupError) as raised:
        await warm.run(fail)
    assert await warm.run(threading.get_ident) == raised.value.args[0]
    warm.close()


# --- A whole request ------------------------------------------------------------------------------------


def plain(request: HttpRequest) -> HttpResponse:
    return HttpResponse(str(threading.get_ident()))


def file(request: HttpRequest) -> StreamingHttpResponse:
    response = StreamingHttpResponse(iter([b"part one, ", b"part two"]), status=206, headers={"X-Kept": "yes"})
    response.set_cookie("kept", "too")
    return response


def endless(request: HttpRequest) -> StreamingHttpResponse:
    async def pieces() -> AsyncIterator[bytes]:
        yield str(threading.get_ident()).encode()
        await asyncio.Event().wait()

    return StreamingHttpResponse(pieces())


def broken(request: HttpRequest) -> HttpResponse:
    raise LookupError


urlpatterns = [path("plain", plain), path("file", file), path("endless", endless), path("broken", broken)]


@pytest.fixture
def handler() -> Iterator[ThreadHandler]:
    warm = WarmThreads(size=1)
    with override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=["django.middleware.common.CommonMiddleware"]):
        yield ThreadHandler(warm)
    warm.close()


class Exchange:
    """A request and the messages sent in answer to it."""

    def __init__(self, address: str) -> None:
        self.scope = {
            "type": "http", "method": "GET", "path": address, "headers": [(b"host", b"127.0.0.1")], "query_string": b"",
        }  # fmt: skip
        self.sent: list[dict[str, Any]] = []
        self.began, self.leave = asyncio.Event(), asyncio.Event()
        self._is_asked = False

    async def receive(self) -> dict[str, Any]:
        if not self._is_asked:
            self._is_asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self.leave.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)
        if message.get("body"):
            self.began.set()

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)


async def answered(handler: ThreadHandler, address: str) -> Exchange:
    exchange = Exchange(address)
    await asyncio.wait_for(handler(exchange.scope, exchange.receive, exchange.send), SECONDS)
    return exchange


@pytest.mark.asyncio
async def test_a_request_and_its_signals_are_on_one_thread(handler: ThreadHandler) -> None:
    threads: list[int] = []

    def note(**_: object) -> None:
        threads.append(threading.get_ident())

    for signal in (request_started, request_finished):
        signal.connect(note)
    exchange = await answered(handler, "/plain")
    for signal in (request_started, request_finished):
        signal.disconnect(note)
    assert threads == [int(exchange.body)] * 2
    assert threading.get_ident() not in threads


@pytest.mark.asyncio
async def test_a_synchronous_iterator_goes_out_whole(handler: ThreadHandler) -> None:
    exchange = await answered(handler, "/file")
    headers = dict(exchange.sent[0]["headers"])
    assert (exchange.sent[0]["status"], exchange.body) == (206, b"part one, part two")
    assert headers[b"X-Kept"] == b"yes"
    assert headers[b"Set-Cookie"].startswith(b"kept=too")


@pytest.mark.asyncio
async def test_an_error_of_a_view_is_an_answer(handler: ThreadHandler) -> None:
    exchange = await answered(handler, "/broken")
    assert exchange.sent[0]["status"] == 500


@pytest.mark.asyncio
async def test_a_stream_holds_no_thread_and_ends_with_its_client(handler: ThreadHandler) -> None:
    finished: list[int] = []

    def note(**_: object) -> None:
        finished.append(threading.get_ident())

    exchange = Exchange("/endless")
    request_finished.connect(note)
    streaming = asyncio.ensure_future(handler(exchange.scope, exchange.receive, exchange.send))
    await asyncio.wait_for(exchange.began.wait(), SECONDS)
    assert finished == []
    other = await answered(handler, "/plain")
    finished.clear()
    exchange.leave.set()
    await asyncio.wait_for(streaming, SECONDS)
    request_finished.disconnect(note)
    assert finished == [int(other.body)], "the stream was closed on the one warm thread, which served others meanwhile"
    assert int(exchange.body) == threading.get_ident()
