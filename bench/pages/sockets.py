"""Many readers of one session: sockets that record which events they received, and when."""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from websockets.asyncio.client import connect

PATIENCE_SECONDS = 60
"""How long a reader waits for the next event."""
LOOK_SECONDS = 0.5
"""How often a reader that hears nothing looks whether it has heard all."""


@dataclass(slots=True)
class Heard:
    """What one reader received: the event numbers in order, and the time of the last one."""

    numbers: list[int] = field(default_factory=list)
    last_at: float = 0.0


def listen(
    address: str, session_id: str, cookie: str, *, since: int, reader_count: int, act: Callable[[], int]
) -> list[Heard]:
    """Let this many readers listen while `act` runs, until each has received the last event.

    Args:
        address: host and port of the server.
        since: the number of the last event that the readers have.
        act: makes events and returns the number of the last one. It is called on a new thread once all listen.
    """
    return asyncio.run(_listen(address, session_id, cookie, since, reader_count, act))


async def _listen(
    address: str, session_id: str, cookie: str, since: int, reader_count: int, act: Callable[[], int]
) -> list[Heard]:
    url = f"ws://{address}/live/sessions/{session_id}?since={since}"
    everybody = [Heard() for _ in range(reader_count)]
    listening = asyncio.Barrier(reader_count + 1)
    last: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    headers = {"Cookie": cookie}

    async def read(heard: Heard) -> None:
        async with connect(url, origin=f"http://{address}", additional_headers=headers, open_timeout=60) as socket:
            await listening.wait()
            quiet_since = time.monotonic()
            while not last.done() or not heard.numbers or heard.numbers[-1] < last.result():
                try:
                    text = await asyncio.wait_for(socket.recv(), LOOK_SECONDS)
                except TimeoutError:  # the last event may have come before its number was known
                    if time.monotonic() - quiet_since > PATIENCE_SECONDS:
                        return
                    continue
                quiet_since = time.monotonic()
                number = json.loads(text).get("sequence")
                if number is not None:
                    heard.numbers.append(number)
                    heard.last_at = time.monotonic()

    async def make() -> None:
        await listening.wait()
        last.set_result(await asyncio.to_thread(act))

    await asyncio.gather(make(), *(read(heard) for heard in everybody))
    return everybody
