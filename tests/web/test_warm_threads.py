"""Warm threads: reused, never shared, never waited for."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from sessions_app.web.warm_threads import WarmThreads

SECONDS = 5


async def receive() -> dict[str, Any]:
    return {"type": "http.request", "body": b"", "more_body": False}


async def send(message: dict[str, Any]) -> None:
    return None


def recording(threads: list[int], pause: Callable[[], Awaitable[object]]) -> Callable[..., Awaitable[None]]:
    """Give an application that notes the thread of its synchronous part, before and after a pause."""

    async def application(scope: dict[str, Any], receive: object, send: object) -> None:
        for _ in range(2):
            threads.append(await sync_to_async(threading.get_ident)())
            await pause()

    return application


@pytest.mark.asyncio
async def test_one_request_after_another_uses_one_thread() -> None:
    threads: list[int] = []
    warm = WarmThreads(recording(threads, lambda: asyncio.sleep(0)), size=2)
    for _ in range(5):
        await warm({"type": "http"}, receive, send)
    warm.close()
    assert len(threads) == 10
    assert len(set(threads)) == 1


@pytest.mark.asyncio
async def test_requests_at_the_same_time_never_share_a_thread_and_never_wait() -> None:
    threads: list[int] = []
    all_started = asyncio.Barrier(5)
    warm = WarmThreads(recording(threads, all_started.wait), size=2)
    requests = [warm({"type": "http"}, receive, send) for _ in range(5)]
    await asyncio.wait_for(asyncio.gather(*requests), SECONDS)
    warm.close()
    assert len(set(threads[:5])) == 5
    assert sorted(threads[:5]) == sorted(threads[5:])


@pytest.mark.asyncio
async def test_a_thread_that_still_works_for_a_client_that_left_is_not_lent() -> None:
    busy, may_end = threading.Event(), threading.Event()
    left_behind: list[asyncio.Future[None]] = []
    threads: list[int] = []

    def slow_view() -> None:
        threads.append(threading.get_ident())
        busy.set()
        assert may_end.wait(SECONDS)

    async def abandoned(scope: dict[str, Any], receive: object, send: object) -> None:
        left_behind.append(asyncio.ensure_future(sync_to_async(slow_view)()))
        await asyncio.to_thread(busy.wait, SECONDS)

    warm = WarmThreads(abandoned, size=2)
    await asyncio.wait_for(warm({"type": "http"}, receive, send), SECONDS)

    warm.application = recording(threads, lambda: asyncio.sleep(0))
    await asyncio.wait_for(warm({"type": "http"}, receive, send), SECONDS)
    assert threads[0] not in threads[1:]

    may_end.set()
    await asyncio.wait_for(left_behind[0], SECONDS)
    warm.close()
