"""A share of a core for a process, by the control groups of Linux."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_GROUPS = Path("/sys/fs/cgroup")
_PERIOD_US = 5_000
"""How often a process gets its share. A turn takes longer, so that it is slowed down evenly."""


@contextmanager
def cpu_quota(pid: int, cores: float, groups: Path = _GROUPS) -> Iterator[None]:
    """Let a process use at most this share of a core until the block ends.

    Raises:
        OSError: control groups are not for this user, or not of this system.
    """
    share = f"{int(cores * _PERIOD_US)}"
    if (groups / "cpu").is_dir():  # the first version
        parent, limits = groups / "cpu", {"cpu.cfs_period_us": f"{_PERIOD_US}", "cpu.cfs_quota_us": share}
    else:
        parent, limits = groups, {"cpu.max": f"{share} {_PERIOD_US}"}
    own = parent / f"mrpvm-bench-{os.getpid()}-{pid}"
    own.mkdir()
    try:
        for name, limit in limits.items():
            (own / name).write_text(limit)
        (own / "cgroup.procs").write_text(f"{pid}")
        yield
    finally:
        with suppress(OSError):  # the process has ended
            (parent / "cgroup.procs").write_text(f"{pid}")
        own.rmdir()
