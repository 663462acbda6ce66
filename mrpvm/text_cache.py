"""An LRU cache of values computed from texts, bounded by bytes."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from enum import Enum
from functools import cache, update_wrapper
from operator import attrgetter
from sys import getsizeof
from threading import Lock
from types import NoneType
from typing import Any

from mrpvm.fields import field_types

ENTRY_BYTES = 300
"""About what an entry takes beside its key and its value."""
MEASURED_ONE_IN = 16
"""The size of one result in so many is measured, and that of others estimated by the length of their texts."""


class CacheGroup:
    """Caches that together hold at most `max_bytes`; beyond, the largest one drops its least recently used results."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.held_bytes = 0
        self.lock = Lock()
        self.caches: list[TextCache[Any, Any]] = []


ALL_CACHES = CacheGroup(max_bytes=16_000_000)
"""Those of the process."""


class TextCache[**Given, Result]:
    """A function of texts that keeps its latest results."""

    def __init__(self, function: Callable[Given, Result], group: CacheGroup = ALL_CACHES) -> None:
        self._function, self._group = function, group
        self._results: OrderedDict[Hashable, tuple[Result, int]] = OrderedDict()
        self._kept_count = 0
        self._bytes_of_keys = self._bytes_of_results = 0  # of what was measured
        self.held_bytes = 0
        update_wrapper(self, function)
        group.caches.append(self)

    def __call__(self, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        """Return the function's result, computed again unless it is still held."""
        key: Hashable = (args, *kwargs.items()) if kwargs else args[0] if len(args) == 1 else args
        try:
            held = self._results[key]
            self._results.move_to_end(key)
        except KeyError:  # never held, or dropped by another thread in between
            result = self._function(*args, **kwargs)
            self._keep(key, result)
            return result
        return held[0]

    def _keep(self, key: Hashable, result: Result) -> None:
        group, size = self._group, ENTRY_BYTES + self._size(deep_size(key), result)
        with group.lock:
            if size > group.max_bytes or key in self._results:
                return
            self._results[key] = (result, size)
            self._count(size)
            while group.held_bytes > group.max_bytes:
                max(group.caches, key=lambda cache: cache.held_bytes)._drop()

    def _size(self, key_bytes: int, result: Result) -> int:
        """Return the bytes of a key and its result, measured or estimated."""
        self._kept_count += 1
        if self._kept_count % MEASURED_ONE_IN and self._bytes_of_keys:
            return key_bytes + key_bytes * self._bytes_of_results // self._bytes_of_keys
        result_bytes = deep_size(result)
        # Two threads may lose one of their sums here, which leaves the estimate as good.
        self._bytes_of_keys += key_bytes
        self._bytes_of_results += result_bytes
        return key_bytes + result_bytes

    def _drop(self) -> None:
        _, (_, size) = self._results.popitem(last=False)
        self._count(-size)

    def _count(self, size: int) -> None:
        self.held_bytes += size
        self._group.held_bytes += size

    def cache_clear(self) -> None:
        with self._group.lock:
            self._results.clear()
            self._count(-self.held_bytes)


def clear_all() -> None:
    """Drop what all caches of the process hold."""
    for each in ALL_CACHES.caches:
        each.cache_clear()


def deep_size(value: object) -> int:
    """Return the bytes of a value and of all that it holds, each object once.

    What all share (enum members, say) is left out.
    """
    if type(value) is str:  # most keys
        return getsizeof(value)
    size, seen = 0, set[int]()
    waiting: list[Iterable[object]] = [(value,)]
    while waiting:
        for item in waiting.pop():
            held_by = _held_by(type(item))  # type: ignore[arg-type]  # a class is hashable, whatever it defines
            if held_by is not None and id(item) not in seen:
                seen.add(id(item))
                size += getsizeof(item)
                waiting.append(held_by(item))
    return size


def _nothing(item: object) -> tuple[()]:
    return ()


def _keys_and_values(item: dict[object, object]) -> list[object]:
    return [*item, *item.values()]


def _itself(item: Iterable[object]) -> Iterable[object]:
    return item


def _attributes(item: object) -> list[object]:
    return list(getattr(item, "__dict__", {}).values())


@cache
def _held_by(kind: type) -> Callable[[Any], Iterable[object]] | None:
    """Return what reads the values that objects of this type hold; None where even the objects do not count."""
    is_callable = any("__call__" in vars(base) for base in kind.__mro__)
    if is_callable or issubclass(kind, NoneType | bool | int | float | Enum):
        return None
    if issubclass(kind, str | bytes):
        return _nothing
    if issubclass(kind, dict):
        return _keys_and_values
    if issubclass(kind, list | tuple | set | frozenset):
        return _itself
    if (types_of := field_types(kind)) is None:
        return _attributes
    names = [name for name, hint in types_of.items() if hint not in (bool, int, float)]
    if not names:
        return _nothing
    return attrgetter(*names) if len(names) > 1 else lambda item: [getattr(item, name) for name in names]
