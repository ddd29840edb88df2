"""How many cores this process may really use: affinity and container limits counted."""

from __future__ import annotations

import math
import os
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")


def usable_cores(cgroup: Path = _CGROUP) -> int:
    """At least 1: the cores this process may run on, cut to the container's CPU quota."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    quota = _quota(cgroup)
    return max(1, cores if quota is None else min(cores, math.floor(quota + 0.5)))


def _quota(cgroup: Path) -> float | None:
    """Cores' worth of time that the control group grants; None without a limit."""
    try:
        allowed, period = (cgroup / "cpu.max").read_text().split()[:2]  # version 2
    except (OSError, ValueError):
        try:
            folder = cgroup / "cpu"  # version 1
            allowed = (folder / "cpu.cfs_quota_us").read_text().strip()
            period = (folder / "cpu.cfs_period_us").read_text().strip()
        except OSError:
            return None
    try:
        quota = int(allowed) / int(period)
    except (ValueError, ZeroDivisionError):
        return None
    return quota if quota > 0 else None
