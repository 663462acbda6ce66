"""The share of a core that the benchmarks let a process have."""

from pathlib import Path

import pytest

from bench.cpu_quota import cpu_quota


@pytest.mark.parametrize(
    ("directory", "limits"),
    [("cpu", {"cpu.cfs_period_us": "5000", "cpu.cfs_quota_us": "1750"}), (".", {"cpu.max": "1750 5000"})],
    ids=["first version", "second version"],
)
def test_a_quota_is_set_and_taken_back(tmp_path: Path, directory: str, limits: dict[str, str]) -> None:
    parent = tmp_path / directory
    parent.mkdir(exist_ok=True)
    with cpu_quota(4711, 0.35, tmp_path):
        (group,) = parent.glob("mrpvm-bench-*")
        assert {file.name: file.read_text() for file in group.iterdir()} == {**limits, "cgroup.procs": "4711"}
        for file in group.iterdir():  # a control group is removed with its files
            file.unlink()
    assert not group.exists()
    assert (parent / "cgroup.procs").read_text() == "4711"


def test_no_quota_without_control_groups(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"), cpu_quota(4711, 0.35, tmp_path / "none"):
        pass
