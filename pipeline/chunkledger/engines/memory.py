"""How much memory this process has had."""

from __future__ import annotations

import sys


def peak_bytes() -> int:
    """The most memory that was resident in this process so far, in bytes; 0 where the system does not say."""
    try:
        # Not getrusage: for a process that was just started it tells the peak of the one that started it.
        with open("/proc/self/status", encoding="ascii", errors="replace") as status:
            found = next((line for line in status if line.startswith("VmHWM:")), "")
        return int(found.split()[1]) * 1024
    except (OSError, IndexError, ValueError):
        return _by_usage()


def _by_usage() -> int:
    try:
        import resource  # not on every system
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
