"""Calling a plugin outside of a turn, where no machine watches over its time."""

from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue

from django.conf import settings

from mrpvm.contracts import Descriptor
from sessions_app.turns.machine import workers


def called_in_time[Given](descriptor: Descriptor, call: Callable[[], Given]) -> Given:
    """Give what the call of a plugin gives, within that plugin's time and the server's [K-19].

    Raises:
        TimeoutError: it did not end in time, and is left behind.
        Exception: whatever the plugin raised.
    """
    limit_ms = min(descriptor.timeout_ms, settings.MRPVM_PLUGIN_TIMEOUT_MS)
    returned: SimpleQueue[Future[Given]] = SimpleQueue()
    give_up = workers.submit(call, returned.put)
    try:
        return returned.get(timeout=limit_ms / 1000).result()
    except Empty:
        give_up()
        raise TimeoutError(f"no answer within {limit_ms} ms") from None
