"""The arenas from which the server process allocates memory."""

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from sessions_app.management.server import ALLOCATION_ARENAS

THREADS_THAT_ALLOCATE = """
import ctypes, threading
from sessions_app.management.server import limit_arenas

limit_arenas()
libc, together = ctypes.CDLL(None), threading.Barrier(12)
libc.malloc.restype = ctypes.c_void_p

def allocate():
    together.wait()
    libc.malloc(2_000)

threads = [threading.Thread(target=allocate) for _ in range(12)]
for each in threads: each.start()
for each in threads: each.join()
libc.malloc_info(0, ctypes.c_void_p.in_dll(libc, "stdout"))
libc.fflush(None)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no arenas")
def test_threads_share_two_arenas() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", THREADS_THAT_ALLOCATE],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert ran.stdout.count("<heap nr=") == ALLOCATION_ARENAS
